#include "kubexx/rest/internal/transport/http_message.h"

#include <cpprest/astreambuf.h>
#include <cpprest/streams.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "kubexx/apimachinery/bytes.h"
#include "kubexx/apimachinery/status.h"

namespace kubexx::rest::internal {
namespace {

std::string HeaderOf(const web::http::http_headers& headers, const char* name) {
  const auto found = headers.find(name);
  return found == headers.end() ? std::string() : found->second;
}

/// The stream of BodyToSendOnce.
class OnceStreambuf final
    : public Concurrency::streams::details::streambuf_state_manager<std::uint8_t> {
 public:
  explicit OnceStreambuf(std::string_view body)
      : streambuf_state_manager<std::uint8_t>(std::ios_base::in), body_(std::string(body)) {}

  bool can_seek() const override { return false; }
  bool has_size() const override { return false; }
  std::size_t buffer_size(std::ios_base::openmode) const override { return 0; }
  void set_buffer_size(std::size_t, std::ios_base::openmode) override {}
  std::size_t in_avail() const override { return left().size(); }
  pos_type getpos(std::ios_base::openmode) const override { return Nowhere(); }
  pos_type seekpos(pos_type, std::ios_base::openmode) override { return Nowhere(); }
  pos_type seekoff(off_type, std::ios_base::seekdir, std::ios_base::openmode) override {
    return Nowhere();
  }
  bool acquire(std::uint8_t*& ptr, std::size_t& count) override {
    ptr = nullptr;
    count = 0;
    return false;
  }
  void release(std::uint8_t*, std::size_t) override {}

 protected:
  pplx::task<int_type> _putc(std::uint8_t) override { return Done(traits::eof()); }
  pplx::task<std::size_t> _putn(const std::uint8_t*, std::size_t) override {
    return pplx::task_from_result<std::size_t>(0);
  }
  pplx::task<int_type> _bumpc() override { return Done(_sbumpc()); }
  int_type _sbumpc() override {
    const int_type next = _sgetc();
    read_ += left().empty() ? 0 : 1;
    return next;
  }
  pplx::task<int_type> _getc() override { return Done(_sgetc()); }
  int_type _sgetc() override {
    return left().empty() ? traits::eof() : int_type(static_cast<std::uint8_t>(left().front()));
  }
  pplx::task<int_type> _nextc() override {
    (void)_sbumpc();
    return Done(_sgetc());
  }
  pplx::task<int_type> _ungetc() override { return Done(traits::eof()); }
  pplx::task<std::size_t> _getn(std::uint8_t* to, std::size_t count) override {
    const std::size_t copied = _scopy(to, count);
    read_ += copied;
    return pplx::task_from_result(copied);
  }
  std::size_t _scopy(std::uint8_t* to, std::size_t count) override {
    const std::string_view from = left().substr(0, count);
    std::ranges::copy(from, to);
    return from.size();
  }
  pplx::task<bool> _sync() override { return pplx::task_from_result(true); }
  std::uint8_t* _alloc(std::size_t) override { return nullptr; }
  void _commit(std::size_t) override {}

 private:
  static pplx::task<int_type> Done(int_type result) { return pplx::task_from_result(result); }
  static pos_type Nowhere() { return static_cast<pos_type>(traits::eof()); }
  std::string_view left() const { return body_.view().substr(read_); }

  const apimachinery::Bytes body_;
  std::size_t read_ = 0;
};

// Returns a stream over a copy of `body`, which is wiped at the end. The stream can be read once
// and not rewound. This keeps cpprestsdk from repeating a request: when a reused connection closes
// before the answer, cpprestsdk sends the request again, whatever its method, although the server
// may have executed it already. It fails the request instead when it cannot rewind the body, even
// if that is empty.
Concurrency::streams::istream BodyToSendOnce(std::string_view body) {
  return Concurrency::streams::streambuf<std::uint8_t>(std::make_shared<OnceStreambuf>(body))
      .create_istream();
}

// Whether the request changes nothing on the server.
bool IsRead(const HttpRequest& request) {
  return request.method == "GET" || request.method == "HEAD";
}

}  // namespace

web::http::http_request ToMessage(const HttpRequest& request, const ServerUrl& server) {
  web::http::http_request out(request.method);
  out.set_request_uri(web::uri(request.target));
  if (server.is_ipv6()) {
    // An IPv6 address keeps its brackets.
    out.headers()[web::http::header_names::host] = server.Authority();
  }
  for (const auto& [name, value] : request.headers) {
    // cpprestsdk would join values of the same name by a comma, so that two groups would become
    // one. It sends values as they are, and our values have no line breaks of their own, so this
    // line break begins another header.
    const auto there = out.headers().find(name);
    if (there == out.headers().end()) {
      out.headers()[name] = value;
    } else {
      there->second += "\r\n" + name + ": " + value;
    }
  }
  if (request.has_body || !IsRead(request)) {
    const bool has_type = out.headers().has(web::http::header_names::content_type);
    out.set_body(BodyToSendOnce(request.body), request.body.size());
    if (!has_type) {
      // Cpprestsdk has added it by itself.
      out.headers().remove(web::http::header_names::content_type);
    }
  }
  return out;
}

HttpHead HeadOf(const web::http::http_response& response) {
  const auto& headers = response.headers();
  return {.code = response.status_code(),
          .content_type = HeaderOf(headers, "Content-Type"),
          .retry_after = HeaderOf(headers, "Retry-After"),
          .warning = HeaderOf(headers, "Warning"),
          .content_encoding = HeaderOf(headers, "Content-Encoding")};
}

Failure InterimAnswer(int code) {
  return {.status = apimachinery::Status(
              apimachinery::Reason::kUnavailable,
              "the server sent the interim response " + std::to_string(code) +
                  ", which is not understood; the server may have executed the request")};
}

}  // namespace kubexx::rest::internal
