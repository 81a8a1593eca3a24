#include "kubexx/apiserver/endpoints/request/origin.h"

#include <arpa/inet.h>

#include <algorithm>
#include <string_view>

#include "kubexx/apiserver/endpoints/request/media_type.h"
#include "kubexx/base/ascii.h"

namespace kubexx::apiserver {
namespace {

using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;

/// Returns the host without the port. An IPv6 address has no brackets.
std::string HostOf(std::string_view authority) {
  if (authority.starts_with('[')) {
    return std::string(authority.substr(1, authority.find(']') - 1));
  }
  return base::ToLower(authority.substr(0, authority.rfind(':')));
}

bool IsAddress(const std::string& host) {
  in6_addr address{};
  return ::inet_pton(AF_INET, host.c_str(), &address) == 1 ||
         ::inet_pton(AF_INET6, host.c_str(), &address) == 1;
}

/// The case of schemes and hosts does not matter.
bool IsOneOf(const std::vector<std::string>& list, const std::string& lower) {
  return std::ranges::any_of(list,
                             [&](const std::string& one) { return base::ToLower(one) == lower; });
}

}  // namespace

Result<void> CheckOrigin(const http::Request& request, const std::vector<std::string>& allowed) {
  const std::string_view origin = request.Header("Origin");
  if (origin.empty() || IsOneOf(allowed, base::ToLower(origin))) {
    return {};
  }
  const std::size_t slashes = origin.find("://");
  if (slashes != std::string_view::npos &&
      base::ToLower(origin.substr(slashes + 3)) == base::ToLower(request.Header("Host"))) {
    return {};
  }
  return Fail(Reason::kForbidden,
              "pages of other servers have no access; --allowed-origins lets them in", 403);
}

Result<void> CheckHost(const http::Request& request, const std::vector<std::string>& own) {
  const std::string_view header = request.Header("Host");
  const std::string host = HostOf(header);
  if (header.empty() || IsAddress(host) || host == "localhost" || host.ends_with(".localhost") ||
      IsOneOf(own, host)) {
    return {};
  }
  return Fail(Reason::kForbidden,
              "a server without tokens is not asked by the name in the header Host, which may be "
              "anybody's; give it a token, use its address, or name it in --allowed-hosts",
              403);
}

Result<void> CheckBody(const http::Request& request) {
  if (request.method != "POST" || request.body.empty() || !ContentTypeOf(request).empty()) {
    return {};
  }
  return Fail(Reason::kUnsupportedMediaType,
              "to a server without tokens the header Content-Type says what a body is", 415);
}

}  // namespace kubexx::apiserver
