/// @file
/// The way through a proxy.
#ifndef KUBEXX_REMOTECOMMAND_INTERNAL_TUNNEL_H_
#define KUBEXX_REMOTECOMMAND_INTERNAL_TUNNEL_H_

#include <utility>
// Asio needs <utility> first.
#include <boost/beast/core/tcp_stream.hpp>
#include <functional>
#include <string>

#include "kubexx/rest/stream_access.h"

namespace kubexx::remotecommand::internal {

/// Asks the proxy that `tcp` is connected to for a tunnel to the server of `access`, which has a
/// proxy (CONNECT, RFC 9110). Calls `done` with why there is none, "" when it is open: `tcp` is a
/// connection to the server then. `tcp` must outlive the operation.
void AsyncOpenTunnel(boost::beast::tcp_stream& stream, const rest::StreamAccess& access,
                     std::function<void(std::string why)> done);

}  // namespace kubexx::remotecommand::internal

#endif  // KUBEXX_REMOTECOMMAND_INTERNAL_TUNNEL_H_
