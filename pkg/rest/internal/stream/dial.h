/// @file
/// Dial: opens a connection to a server, through a proxy if there is one.
#ifndef KUBEXX_REST_INTERNAL_STREAM_DIAL_H_
#define KUBEXX_REST_INTERNAL_STREAM_DIAL_H_

#include <cstdint>
#include <expected>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "kubexx/rest/internal/stream/connection.h"
#include "kubexx/rest/internal/stream/tls_context.h"
#include "kubexx/rest/internal/stream/waiting.h"
#include "kubexx/rest/proxy.h"
#include "kubexx/rest/url.h"

namespace kubexx::rest::internal {

/// The way to a server. A value type. It holds a password, so never log it.
struct Route {
  ServerUrl server{};
  std::optional<Proxy> proxy{};
  std::shared_ptr<TlsContext> tls{};  ///< for the server; null when it has no TLS
};

/// What the client says in the TLS handshake that it speaks (ALPN).
enum class Offer : std::uint8_t {
  kHttp1,  ///< nothing: then the server takes it for HTTP/1.1
  kHttp2   ///< HTTP/2, or else HTTP/1.1; without TLS as kHttp1
};

/// Looks the name up, connects, opens the proxy's tunnel and does the TLS handshake. It tries the
/// addresses of a name one after the other, each with its share of the remaining time, as Go's
/// dialer does. With a proxy and without TLS, the connection leads to the proxy.
std::expected<std::unique_ptr<Connection>, Trouble> Dial(const Route& route, const Waiting& waiting,
                                                         Offer offer = Offer::kHttp1);

/// Writes all bytes of `bytes`.
std::expected<void, Trouble> WriteAll(Connection& connection, std::string_view bytes,
                                      const Waiting& waiting);

/// The value of Proxy-Authorization, or "".
std::string ProxyAuthorization(const Proxy& proxy);

}  // namespace kubexx::rest::internal

#endif  // KUBEXX_REST_INTERNAL_STREAM_DIAL_H_
