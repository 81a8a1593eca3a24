/// @file
/// From bytes to a Request.
#ifndef KUBEXX_HTTP_INTERNAL_REQUEST_PARSER_H_
#define KUBEXX_HTTP_INTERNAL_REQUEST_PARSER_H_

#include <boost/beast/http/basic_parser.hpp>
#include <boost/optional.hpp>
#include <cstdint>
#include <string>

#include "kubexx/http/message.h"

namespace kubexx::http::internal {

/// Fills in a request as it arrives. Beast's own container of fields throws at one of 64 KiB; here
/// the limit is that of the whole header. A body in other codings than "chunked" is an error, so
/// that nobody takes for the next request what somebody else took for a body, and fields after the
/// body are dropped. HTTP/1.1 needs one Host, and nobody may have two. Of a target in absolute
/// form, as proxies get it, the path and the query count, and its authority is the Host. Not
/// thread-safe.
class RequestParser final : public boost::beast::http::basic_parser<true> {
 public:
  Request& request() { return request_; }
  /// It ended with an error because the body has a coding that is not known.
  bool unknown_coding() const { return unknown_coding_; }
  bool is_head() const { return request_.method == "HEAD"; }
  bool is_http10() const { return version_ < 11; }
  /// The elements of the Connection header have "upgrade", and there is such a header for a
  /// WebSocket.
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
