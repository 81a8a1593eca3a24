/// @file
/// Executor: runs commands in containers, and connects to ports of pods.
#ifndef KUBEXX_REMOTECOMMAND_EXECUTOR_H_
#define KUBEXX_REMOTECOMMAND_EXECUTOR_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "kubexx/apimachinery/status.h"
#include "kubexx/remotecommand/streams.h"
#include "kubexx/rest/rest_client.h"

namespace kubexx::remotecommand {

namespace internal {
class WebSocket;
}

/// One container.
struct Target {
  std::string namespace_{};
  std::string pod{};
  std::string container{};  ///< empty: the pod's only or default one
};

/// The result of a command.
struct Exit {
  int code = 0;
  std::string message{};  ///< the server's message when the code is not 0
};

/// Runs commands over WebSockets. Each call blocks until its end, on the calling thread; it has one
/// more thread for the network, one while there is input, and one while there are terminal sizes.
/// Input and output do not wait for each other. Errors are the server's Status when it refuses;
/// kUnavailable when the connection cannot be made, breaks or goes silent, or no thread is left for
/// it; and kCancelled after `stop` is requested, as soon as a running sink has returned.
/// Options bound the memory. Server, proxy, TLS and credentials are the client's, and the
/// credentials are shared with its requests; after a 401 a call tries once more if there are new
/// credentials. Thread-safe. Semantics: client-go tools/remotecommand, with its timeouts.
class Executor {
 public:
  /// Limits on time and size. A time of std::chrono::milliseconds::max() means that there is no
  /// limit.
  struct Options {
    /// The time limit for name resolution, connecting, a proxy's tunnel, TLS and the server's
    /// answer together.
    std::chrono::milliseconds connect_timeout = std::chrono::seconds(30);
    std::chrono::milliseconds ping_interval = std::chrono::seconds(5);
    /// The connection fails when nothing has arrived for this long, not even a pong. Time in which
    /// a sink keeps the call from reading does not count. While the pod has not taken all input of
    /// a forwarded port, the server does not answer pings. Such a connection fails only when the
    /// server's machine does not acknowledge the sent bytes for this long.
    std::chrono::milliseconds silence_timeout = std::chrono::seconds(61);
    /// The connection of a command fails when the server has accepted no bytes of input for this
    /// long. This limit does not apply to a forwarded port: the pod may take its input at any
    /// speed, as over a TCP connection.
    std::chrono::milliseconds write_timeout = std::chrono::seconds(60);
    /// The size of the largest accepted message; servers send up to 32 KiB.
    std::size_t max_message_bytes = 16 << 20;
  };

  Executor(std::shared_ptr<rest::RESTClient> client, Options options);
  explicit Executor(std::shared_ptr<rest::RESTClient> client);

  /// Runs `command` without a shell. The end of `streams.in` closes the command's standard input
  /// (protocol v5.channel.k8s.io, which Kubernetes supports since 1.30).
  apimachinery::Result<Exit> Exec(const Target& target, const std::vector<std::string>& command,
                                  const Streams& streams, const std::stop_token& stop = {}) const;

  /// Connects to the container's main process. Ends with that process.
  apimachinery::Result<Exit> Attach(const Target& target, const Streams& streams,
                                    const std::stop_token& stop = {}) const;

  /// Makes one connection to `port` of a pod, on its loopback interface. Ends without an error when
  /// the pod's side closes. Uses the protocol v4.channel.k8s.io, which kubelets support since 1.4.
  /// It cannot tell the pod that the input has ended, so the call then continues until the pod
  /// closes. An error of `in` ends the call and is returned. The call waits without a limit for a
  /// pod that takes no input, as client-go tools/portforward does.
  apimachinery::Result<void> Forward(const Target& target, std::uint16_t port, Source in, Sink out,
                                     const std::stop_token& stop = {}) const;

 private:
  apimachinery::Result<Exit> Run(std::string path, const std::string& query, const Streams& streams,
                                 const std::stop_token& stop) const;

  apimachinery::Result<std::unique_ptr<internal::WebSocket>> Open(
      const std::string& path_and_query, const std::string& protocol,
      const std::stop_token& stop) const;

  std::shared_ptr<rest::RESTClient> client_;
  Options options_;
};

}  // namespace kubexx::remotecommand

#endif  // KUBEXX_REMOTECOMMAND_EXECUTOR_H_
