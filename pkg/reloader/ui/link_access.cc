#include "kubexx/reloader/ui/link_access.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <utility>

#include "kubexx/crypto/secrets.h"
#include "kubexx/reloader/ui/browser_request.h"

namespace kubexx::reloader {
namespace {

constexpr std::string_view kEntryPath = "/enter";
constexpr std::string_view kTokenParameter = "token=";

bool IsIpAddress(const std::string& host) {
  in_addr v4{};
  in6_addr v6{};
  return inet_pton(AF_INET, host.c_str(), &v4) == 1 || inet_pton(AF_INET6, host.c_str(), &v6) == 1;
}

http::Response NotIn() {
  return {.status = 401,
          .content_type = "text/html; charset=utf-8",
          .body = SmallPage("",
                            "This browser may not see the page, or not any more. Open the link "
                            "that the program has written last where it was started; each link "
                            "works once.")};
}

}  // namespace

bool IsLoopbackAddress(std::string_view address) {
  const std::string host = HostIn(address);
  in_addr v4{};
  in6_addr v6{};
  if (inet_pton(AF_INET, host.c_str(), &v4) == 1) {
    return (ntohl(v4.s_addr) >> 24U) == IN_LOOPBACKNET;
  }
  return host == "localhost" ||
         (inet_pton(AF_INET6, host.c_str(), &v6) == 1 && IN6_IS_ADDR_LOOPBACK(&v6));
}

LinkAccess::LinkAccess(Options options) : options_(std::move(options)), token_(options_.token) {}

void LinkAccess::SetPort(std::uint16_t port) {
  const base::MutexLock lock(mu_);
  port_ = port;
}

std::string LinkAccess::Link() const {
  const std::string& address = options_.address;
  std::string host = address.substr(0, address.rfind(':'));
  if (host.empty() || host == "0.0.0.0" || host == "[::]") {
    host = "localhost";
  }
  const base::MutexLock lock(mu_);
  return "http://" + host + ":" + std::to_string(port_) + std::string(kEntryPath) + "?" +
         std::string(kTokenParameter) + token_;
}

std::optional<std::string> LinkAccess::ClientOf(const http::Request& header) const {
  return HasSession(header) ? std::optional<std::string>("page") : std::nullopt;
}

std::optional<http::Response> LinkAccess::Answer(const http::Request& request) {
  if (request.method != "GET" && request.method != "HEAD") {
    return http::Response{.status = 405,
                          .body = "Only GET and HEAD are answered here.\n",
                          .headers = {{"Allow", "GET, HEAD"}}};
  }
  const std::string host = HostIn(request.Header("Host"));
  if (host != "localhost" && !IsIpAddress(host)) {
    return ForbiddenAnswer("The host in the address has to be localhost or an IP address.");
  }
  const bool is_entry = request.path == kEntryPath;
  if (IsFromElsewhere(request, is_entry)) {
    return ElsewhereAnswer(request);
  }
  if (is_entry) {
    return Enter(request);
  }
  if (!HasSession(request)) {
    return NotIn();
  }
  if (request.path == "/session") {
    return http::Response{.content_type = "application/json", .body = R"({"by":"link"})"};
  }
  return std::nullopt;
}

bool LinkAccess::HasSession(const http::Request& request) const {
  const base::MutexLock lock(mu_);
  const auto cookie = CookieOf(request, CookieName());
  return cookie && crypto::IsSameSecret(*cookie, options_.session);
}

http::Response LinkAccess::Enter(const http::Request& request) {
  std::string_view token = request.query;
  if (!token.starts_with(kTokenParameter) || request.method != "GET") {
    return NotIn();
  }
  token.remove_prefix(kTokenParameter.size());
  auto next = NewSecret();
  if (!next) {
    return {.status = 500, .body = next.error().message + "\n"};
  }
  std::string cookie;
  {
    const base::MutexLock lock(mu_);
    if (!crypto::IsSameSecret(token, token_)) {
      return NotIn();
    }
    token_ = *std::move(next);
    cookie = CookieName() + "=" + options_.session + "; HttpOnly; SameSite=Strict; Path=/";
  }
  if (options_.on_link) {
    options_.on_link(Link());
  }
  // Not a redirect: after one, a browser that came from a link in another page would not send the
  // cookie, which is for requests of this page only.
  return {.content_type = "text/html; charset=utf-8",
          .body = SmallPage("<meta http-equiv=\"refresh\" content=\"0;url=/\">",
                            "<a href=\"/\">The page of kubexx-reloader</a>"),
          .headers = {{"Set-Cookie", std::move(cookie)}}};
}

std::string LinkAccess::CookieName() const { return "kubexx-reloader-ui-" + std::to_string(port_); }

}  // namespace kubexx::reloader
