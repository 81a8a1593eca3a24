/// @file
/// Commands in containers, and connections to their ports.
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

/// How a command has ended.
struct Exit {
  int code = 0;
  std::string message{};  ///< of the server when the code is not 0
};

/// Runs commands over WebSockets. Each call blocks until its end, on the calling thread, plus one
/// thread while there is input and one while there are terminal sizes. Errors are the server's
/// Status when it refuses, kUnavailable when the connection cannot be made, breaks or goes silent,
/// kCancelled as soon as `stop` is requested and a sink that is being called has returned. Memory
/// is bounded by Options. Server, proxy, TLS and credentials are the client's, which are shared
/// with its requests; after a 401 a call tries once more if there are new credentials. Thread-safe.
/// Semantics: client-go tools/remotecommand, with its timeouts.
class Executor {
 public:
  /// Limits on time and size.
  struct Options {
    /// For name resolution, connecting, a proxy's tunnel, TLS and the server's answer together.
    std::chrono::milliseconds connect_timeout = std::chrono::seconds(30);
    std::chrono::milliseconds ping_interval = std::chrono::seconds(5);
    /// The connection is given up when nothing at all has come for this long, pongs included.
    std::chrono::milliseconds silence_timeout = std::chrono::seconds(61);
    /// The same when the server takes nothing.
    std::chrono::milliseconds write_timeout = std::chrono::seconds(60);
    /// The largest message that is taken; servers send up to 32 KiB.
    std::size_t max_message_bytes = 16 << 20;
  };

  Executor(std::shared_ptr<rest::RESTClient> client, Options options);
  explicit Executor(std::shared_ptr<rest::RESTClient> client);

  /// Runs `command`, not through a shell. The end of `streams.in` closes the command's standard
  /// input (protocol v5.channel.k8s.io, which Kubernetes has had since 1.30).
  apimachinery::Result<Exit> Exec(const Target& target, const std::vector<std::string>& command,
                                  const Streams& streams, const std::stop_token& stop = {}) const;

  /// Connects to the process that the container runs anyway. Ends with it.
  apimachinery::Result<Exit> Attach(const Target& target, const Streams& streams,
                                    const std::stop_token& stop = {}) const;

  /// One connection to `port` of a pod, on its loopback interface. Ends without an error when the
  /// pod's side closes. Protocol v4.channel.k8s.io, of kubelets since 1.4, which cannot tell the
  /// pod that the input has ended: after that the call goes on until the pod closes. An error of
  /// `in` ends the call, and is returned.
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
