#include "kubexx/reloader/ui/browser_request.h"

#include <algorithm>

#include "kubexx/base/ascii.h"
#include "kubexx/base/hex.h"
#include "kubexx/crypto/secrets.h"

namespace kubexx::reloader {
namespace {

bool HasForeignOrigin(const http::Request& request) {
  const std::string host(request.Header("Host"));
  const std::string_view origin = request.Header("Origin");
  return !origin.empty() && origin != "http://" + host && origin != "https://" + host;
}

}  // namespace

using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;

Result<std::string> NewSecret() {
  const auto random = crypto::Random256();
  if (!random) {
    return Fail(Reason::kInternalError, "there are no random bytes for a secret");
  }
  return base::ToHex(*random);
}

std::optional<std::string_view> CookieOf(const http::Request& request, std::string_view name) {
  for (const auto& [header, value] : request.headers) {
    if (base::ToLower(header) != "cookie") {
      continue;
    }
    std::string_view cookies = value;
    while (!cookies.empty()) {
      const std::size_t end = std::min(cookies.find(';'), cookies.size());
      std::string_view cookie = cookies.substr(0, end);
      cookie.remove_prefix(std::min(cookie.find_first_not_of(' '), cookie.size()));
      if (cookie.starts_with(name) && cookie.substr(name.size()).starts_with('=')) {
        return cookie.substr(name.size() + 1);
      }
      cookies.remove_prefix(std::min(end + 1, cookies.size()));
    }
  }
  return std::nullopt;
}

std::string HostIn(std::string_view address) {
  if (address.starts_with('[')) {
    const std::size_t end = address.find(']');
    return end == std::string_view::npos ? std::string() : std::string(address.substr(1, end - 1));
  }
  return std::string(address.substr(0, address.find(':')));
}

bool IsFromElsewhere(const http::Request& request, bool may_follow_links) {
  const std::string_view site = request.Header("Sec-Fetch-Site");
  if (site == "same-origin") {
    return false;
  }
  if (HasForeignOrigin(request)) {
    return true;
  }
  if (site.empty() || site == "none") {
    return false;
  }
  // What comes with a link is a document of its own, which the other page cannot read.
  const bool is_link = request.Header("Sec-Fetch-Mode") == "navigate" &&
                       request.Header("Sec-Fetch-Dest") == "document";
  return !(may_follow_links && is_link);
}

http::Response ElsewhereAnswer(const http::Request& request) {
  std::string why = "Pages of another origin may not ask this one.";
  if (request.Header("Sec-Fetch-Site").empty() && HasForeignOrigin(request)) {
    why += " The browser is at " + std::string(request.Header("Origin")) +
           ", and has asked the host " + std::string(request.Header("Host")) +
           ". If that is the same place, a proxy has changed the header Host, which it has to pass "
           "on as it is, with the port.";
  }
  return ForbiddenAnswer(why);
}

http::Response ForbiddenAnswer(std::string_view why) {
  return {.status = 403, .body = std::string(why) + "\n"};
}

std::string SmallPage(std::string_view head, std::string_view text) {
  return "<!doctype html>\n<html lang=\"en\">\n<head><meta charset=\"utf-8\"><meta "
         "name=\"viewport\" content=\"width=device-width\">"
         // Without it a browser asks for /favicon.ico, which is not there.
         "<link rel=\"icon\" href=\"/icon.svg\" type=\"image/svg+xml\">" +
         std::string(head) +
         "<title>kubexx-reloader</title></head>\n<body><main><h1>kubexx-reloader</h1><p>" +
         std::string(text) + "</p></main></body>\n</html>\n";
}

}  // namespace kubexx::reloader
