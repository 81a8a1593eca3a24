/// @file
/// ChooseProxy: finds the proxy for an API server.
#ifndef KUBEXX_REST_INTERNAL_CONFIG_PROXY_H_
#define KUBEXX_REST_INTERNAL_CONFIG_PROXY_H_

#include <optional>
#include <string>
#include <string_view>

#include "kubexx/apimachinery/status.h"
#include "kubexx/base/function_ref.h"
#include "kubexx/rest/proxy.h"
#include "kubexx/rest/url.h"

namespace kubexx::rest::internal {

/// Parses "http://user:password@host:port", of which only the host is required. The scheme may also
/// be https, socks5 or socks5h, which are the same; the port is then 443 or 1080 where there is
/// none. kInvalidConfig for other schemes, and for text that is not a URL; the error never contains
/// the URL, which may hold a password.
apimachinery::Result<Proxy> ParseProxyUrl(std::string_view url);

/// Returns the value of an environment variable, "" when it is unset.
using Environment = base::FunctionRef<std::string(const char*)>;

/// The Environment of this process, for start-up: nothing may change it meanwhile.
std::string ValueInEnvironment(const char* name);

/// Returns `proxy_url` when it is not empty, and otherwise the environment's proxy for `server`:
/// HTTPS_PROXY or HTTP_PROXY, or the lower-case names if these are unset. There is none when
/// NO_PROXY contains the server. Its entries may be "*", names, which include their subdomains,
/// ".name" for only the subdomains, addresses, and networks such as 10.0.0.0/8 or fd00::/8, each
/// with an optional port. Loopback addresses never have a proxy from the environment. Semantics:
/// Go's http.ProxyFromEnvironment.
apimachinery::Result<std::optional<Proxy>> ChooseProxy(const std::string& proxy_url,
                                                       const ServerUrl& server, Environment env);

}  // namespace kubexx::rest::internal

#endif  // KUBEXX_REST_INTERNAL_CONFIG_PROXY_H_
