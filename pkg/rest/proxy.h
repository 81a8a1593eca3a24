/// @file
/// Proxy: what stands between a client and a server, and opens connections for the client.
#ifndef KUBEXX_REST_PROXY_H_
#define KUBEXX_REST_PROXY_H_

#include <cstdint>
#include <string>

#include "kubexx/rest/url.h"

namespace kubexx::rest {

/// What a proxy speaks.
enum class ProxyProtocol : std::uint8_t {
  kHttp,   ///< HTTP: CONNECT for a server with TLS, and otherwise requests with the whole URL
  kHttps,  ///< the same over TLS to the proxy
  kSocks5  ///< RFC 1928; the proxy looks up the server's name
};

/// The address of a proxy, and the credentials for it. Holds a password: never log it.
struct Proxy {
  ProxyProtocol protocol = ProxyProtocol::kHttp;
  ServerUrl address{};  ///< with `tls` for kHttps
  std::string username{};
  std::string password{};

  /// Whether the URL named a user or a password. Either may be empty, as with "http://:token@host".
  bool has_login() const { return !username.empty() || !password.empty(); }
  /// Returns "https://host:port" or "socks5://host:port", without credentials: for errors.
  std::string Origin() const;
  /// Returns the value of the header Proxy-Authorization, or "" without has_login().
  std::string Authorization() const;
};

}  // namespace kubexx::rest

#endif  // KUBEXX_REST_PROXY_H_
