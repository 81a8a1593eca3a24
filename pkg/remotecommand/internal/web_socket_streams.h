/// @file
/// The two kinds of WebSockets, compiled one by one.
#ifndef KUBEXX_REMOTECOMMAND_INTERNAL_WEB_SOCKET_STREAMS_H_
#define KUBEXX_REMOTECOMMAND_INTERNAL_WEB_SOCKET_STREAMS_H_

#include <memory>
#include <stop_token>
#include <string>

#include "kubexx/apimachinery/status.h"
#include "kubexx/remotecommand/internal/web_socket.h"

namespace kubexx::remotecommand::internal {

using OpenResult = apimachinery::Result<std::unique_ptr<WebSocket>>;

OpenResult OpenPlain(const rest::internal::StreamAccess& access, const std::string& target,
                     const std::string& protocol, const Executor::Options& options,
                     const std::stop_token& stop);
OpenResult OpenTls(const rest::internal::StreamAccess& access, const std::string& target,
                   const std::string& protocol, const Executor::Options& options,
                   const std::stop_token& stop);

}  // namespace kubexx::remotecommand::internal

#endif  // KUBEXX_REMOTECOMMAND_INTERNAL_WEB_SOCKET_STREAMS_H_
