/// @file
/// OpenTunnel: makes a connection to a proxy one to a server.
#ifndef KUBEXX_REST_INTERNAL_STREAM_TUNNEL_H_
#define KUBEXX_REST_INTERNAL_STREAM_TUNNEL_H_

#include <expected>
#include <memory>

#include "kubexx/rest/internal/stream/connection.h"
#include "kubexx/rest/internal/stream/tls_context.h"
#include "kubexx/rest/internal/stream/waiting.h"
#include "kubexx/rest/proxy.h"
#include "kubexx/rest/url.h"

namespace kubexx::rest::internal {

/// Does the TLS handshake with a proxy.
std::expected<void, Trouble> StartProxyTls(Connection& connection, std::shared_ptr<TlsContext> tls,
                                           const Waiting& waiting);

/// Asks `proxy`, to which the connection leads, for a tunnel to `server`; see ProxyTunnel. What has
/// been sent with credentials is overwritten in memory.
std::expected<void, Trouble> OpenTunnel(Connection& connection, const Proxy& proxy,
                                        const ServerUrl& server, const Waiting& waiting);

}  // namespace kubexx::rest::internal

#endif  // KUBEXX_REST_INTERNAL_STREAM_TUNNEL_H_
