/// @file
/// AsyncOpenTunnel: opens a tunnel through a proxy.
#ifndef KUBEXX_REMOTECOMMAND_INTERNAL_TUNNEL_H_
#define KUBEXX_REMOTECOMMAND_INTERNAL_TUNNEL_H_

#include <utility>
// Asio needs <utility> first.
#include <boost/beast/core/tcp_stream.hpp>
#include <functional>
#include <string>

#include "kubexx/rest/stream_access.h"

namespace kubexx::remotecommand::internal {

/// Asks the proxy that `stream` is connected to for a tunnel (CONNECT, RFC 9110) to the server of
/// `access`, which must have a proxy. Calls `done` with the reason when there is none, and with ""
/// when it is open; `stream` is then a connection to the server. `stream` must outlive the
/// operation.
void AsyncOpenTunnel(boost::beast::tcp_stream& stream, const rest::StreamAccess& access,
                     std::function<void(std::string why)> done);

}  // namespace kubexx::remotecommand::internal

#endif  // KUBEXX_REMOTECOMMAND_INTERNAL_TUNNEL_H_
