/// @file
/// Dial: opens a connection to a server, through a proxy if there is one.
#ifndef KUBEXX_REST_INTERNAL_STREAM_DIAL_H_
#define KUBEXX_REST_INTERNAL_STREAM_DIAL_H_

#include <expected>
#include <memory>
#include <optional>

#include "kubexx/rest/internal/stream/connection.h"
#include "kubexx/rest/internal/stream/io_wait.h"
#include "kubexx/rest/internal/stream/tls_context.h"
#include "kubexx/rest/internal/stream/waiting.h"
#include "kubexx/rest/proxy.h"
#include "kubexx/rest/url.h"

namespace kubexx::rest::internal {

/// The way to a server. A value type. It holds a password, so never log it.
struct Route {
  ServerUrl server{};
  std::optional<Proxy> proxy{};
  std::shared_ptr<TlsContext> tls{};        ///< for the server; null when it has no TLS
  std::shared_ptr<TlsContext> proxy_tls{};  ///< for the proxy; null when it has no TLS

  /// Whether requests go to the proxy, with the whole URL, and not through it to the server.
  bool AsksProxy() const { return proxy && !tls && proxy->protocol != ProxyProtocol::kSocks5; }
};

/// Looks the name up, connects, does the proxy's TLS handshake, opens its tunnel and does the
/// server's TLS handshake, as far as the route has all this. It tries the addresses of a name one
/// after the other, each with its share of the remaining time, as Go's dialer does. Where
/// Route::AsksProxy, the connection leads to the proxy.
std::expected<std::unique_ptr<Connection>, Trouble> Dial(const Route& route, const Waiting& waiting,
                                                         Offer offer = Offer::kHttp1);

}  // namespace kubexx::rest::internal

#endif  // KUBEXX_REST_INTERNAL_STREAM_DIAL_H_
