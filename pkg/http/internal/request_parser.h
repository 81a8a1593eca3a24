/// @file
/// RequestParser: turns bytes into a Request.
#ifndef KUBEXX_HTTP_INTERNAL_REQUEST_PARSER_H_
#define KUBEXX_HTTP_INTERNAL_REQUEST_PARSER_H_

#include <boost/beast/http/basic_parser.hpp>
#include <boost/optional.hpp>
#include <cstdint>
#include <string>

#include "kubexx/http/message.h"

namespace kubexx::http::internal {

/// Parses a request as it arrives. Not thread-safe. It differs from Beast's own parser as follows:
/// - Beast's container throws at a header field of 64 KiB; here only the limit of the whole header
///   counts.
/// - A body with a transfer coding other than "chunked" is an error, so that a proxy and this
///   server cannot disagree about where a body ends and the next request begins. Fields after the
///   body are dropped.
/// - An HTTP/1.1 request needs exactly one Host field; an HTTP/1.0 request may have at most one.
/// - When the target is in absolute form, as for proxies, the request has its path and query, and
///   its authority as the Host.
class RequestParser final : public boost::beast::http::basic_parser<true> {
 public:
  Request& request() { return request_; }
  /// Whether parsing failed because the body has an unknown transfer coding.
  bool unknown_coding() const { return unknown_coding_; }
  bool is_head() const { return request_.method == "HEAD"; }
  bool is_http10() const { return version_ < 11; }
  /// Whether the Connection header contains "upgrade" and the Upgrade header asks for a WebSocket.
  bool wants_websocket() const;

 private:
  using error_code = boost::beast::error_code;
  using string_view = boost::beast::string_view;

  void on_request_impl(boost::beast::http::verb method, string_view method_name, string_view target,
                       int version, error_code& error) override;
  void on_response_impl(int code, string_view reason, int version, error_code& error) override;
  void on_field_impl(boost::beast::http::field field, string_view name, string_view value,
                     error_code& error) override;
  void on_header_impl(error_code& error) override;
  void on_body_init_impl(const boost::optional<std::uint64_t>& length, error_code& error) override;
  std::size_t on_body_impl(string_view body, error_code& error) override;
  void on_chunk_header_impl(std::uint64_t size, string_view extensions, error_code& error) override;
  std::size_t on_chunk_body_impl(std::uint64_t remain, string_view body,
                                 error_code& error) override;
  void on_finish_impl(error_code& error) override;

  Request request_{};
  std::string authority_{};  // of a target in absolute form
  int hosts_ = 0;
  int version_ = 11;
  bool has_coding_ = false;
  bool unknown_coding_ = false;
  bool header_done_ = false;
};

}  // namespace kubexx::http::internal

#endif  // KUBEXX_HTTP_INTERNAL_REQUEST_PARSER_H_
