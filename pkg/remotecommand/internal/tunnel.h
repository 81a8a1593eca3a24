/// @file
/// AsyncOpenTunnel: opens a tunnel through a proxy.
#ifndef KUBEXX_REMOTECOMMAND_INTERNAL_TUNNEL_H_
#define KUBEXX_REMOTECOMMAND_INTERNAL_TUNNEL_H_

#include <functional>
#include <string>

#include "kubexx/remotecommand/internal/byte_stream.h"
#include "kubexx/rest/stream_access.h"

namespace kubexx::remotecommand::internal {

/// Asks the proxy that `stream` is connected to for a tunnel to the server of `access`, which must
/// have a proxy; see rest::ProxyTunnel. Calls `done` with the reason when there is none, and with
/// "" when it is open; `stream` is then a connection to the server. `stream` must outlive the
/// operation.
void AsyncOpenTunnel(ByteStream& stream, const rest::StreamAccess& access,
                     std::function<void(std::string why)> done);

}  // namespace kubexx::remotecommand::internal

#endif  // KUBEXX_REMOTECOMMAND_INTERNAL_TUNNEL_H_
