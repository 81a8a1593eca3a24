#include "kubexx/rest/internal/transport/http_message.h"

#include <string>

#include "kubexx/apimachinery/status.h"
#include "kubexx/rest/internal/message/request_body.h"

namespace kubexx::rest::internal {
namespace {

std::string HeaderOf(const web::http::http_headers& headers, const char* name) {
  const auto found = headers.find(name);
  return found == headers.end() ? std::string() : found->second;
}

}  // namespace

bool IsRead(const HttpRequest& request) {
  return request.method == "GET" || request.method == "HEAD";
}

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
