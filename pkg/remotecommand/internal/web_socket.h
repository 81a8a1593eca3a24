/// @file
/// WebSocket: a WebSocket client with blocking calls.
#ifndef KUBEXX_REMOTECOMMAND_INTERNAL_WEB_SOCKET_H_
#define KUBEXX_REMOTECOMMAND_INTERNAL_WEB_SOCKET_H_

#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>

#include "kubexx/apimachinery/status.h"
#include "kubexx/base/function_ref.h"
#include "kubexx/remotecommand/executor.h"
#include "kubexx/remotecommand/internal/liveness.h"
#include "kubexx/rest/stream_access.h"

namespace kubexx::remotecommand::internal {

/// How the other side has closed the connection.
struct Closed {
  std::uint16_t code = 0;  ///< that of the WebSocket protocol; 1005 when it has given none
  std::string reason{};

  /// Whether it has closed because it was done.
  bool in_order() const { return code == 1000 || code == 1005; }
};

/// One connection. One thread calls Open and Run; other threads may call Send during Run.
class WebSocket {
 public:
  using MessageSink = base::FunctionRef<apimachinery::Result<void>(std::string_view)>;

  /// Connects; `target` is path and query. When the server does not switch to `protocol`, returns
  /// its Status.
  static apimachinery::Result<std::unique_ptr<WebSocket>> Open(const rest::StreamAccess& access,
                                                               const std::string& target,
                                                               const std::string& protocol,
                                                               const Executor::Options& options,
                                                               const std::stop_token& stop);

  virtual ~WebSocket() = default;
  WebSocket(const WebSocket&) = delete;
  WebSocket& operator=(const WebSocket&) = delete;

  /// Passes each binary message to `sink`, on this thread, until the other side closes. Errors of
  /// `sink` are returned as they are, and what it throws goes on. A sink that takes its time holds
  /// up what comes, but not what is sent: the network has a thread of its own. kUnavailable when
  /// there is none left. Call it only once.
  virtual apimachinery::Result<Closed> Run(MessageSink sink, HeldUpInput held_up,
                                           const std::stop_token& stop) = 0;

  /// Sends a binary message; waits while the queue is full. False when the connection has ended or
  /// `stop` is requested. Thread-safe.
  virtual bool Send(std::string message, const std::stop_token& stop) = 0;

 protected:
  WebSocket() = default;
};

}  // namespace kubexx::remotecommand::internal

#endif  // KUBEXX_REMOTECOMMAND_INTERNAL_WEB_SOCKET_H_
