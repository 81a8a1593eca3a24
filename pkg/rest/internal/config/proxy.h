/// @file
/// Which HTTP proxy stands between us and the API server.
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

/// Reads "http://user:password@host:port", of which only the host must be. kInvalidConfig for
/// other schemes, and for what is no URL; the error never shows the URL, which may hold a password.
apimachinery::Result<Proxy> ParseProxyUrl(std::string_view url);

/// The value of an environment variable, "" when it is not set.
using Environment = base::FunctionRef<std::string(const char*)>;

/// `proxy_url` when it is not empty, otherwise what the environment says for `server`: HTTPS_PROXY
/// or HTTP_PROXY (small letters too, which count only if the others are not set), unless NO_PROXY
/// has the server: "*", names with their subdomains, ".name" for subdomains only, addresses,
/// networks as 10.0.0.0/8 or fd00::/8, each with an optional port. Loopback addresses never have a
/// proxy from the environment. Semantics: Go's http.ProxyFromEnvironment.
apimachinery::Result<std::optional<Proxy>> ChooseProxy(const std::string& proxy_url,
                                                       const ServerUrl& server, Environment env);

}  // namespace kubexx::rest::internal

#endif  // KUBEXX_REST_INTERNAL_CONFIG_PROXY_H_
