/// @file
/// UpdateServer: streams a node's pods to local programs.
#ifndef KUBEXX_KUBELET_CONFIG_UPDATE_SERVER_H_
#define KUBEXX_KUBELET_CONFIG_UPDATE_SERVER_H_

#include <cstddef>
#include <memory>
#include <string>

#include "kubexx/apimachinery/status.h"
#include "kubexx/kubelet/config/pod_config.h"

namespace kubexx::kubelet {

/// Listens on a unix socket and sends all pods and then every change to each client, one JSON line
/// each (ToJsonLine). Ignores what clients send. Disconnects a client when more than `max_unread`
/// bytes wait for it. Has a thread of its own. The destructor stops it and removes the socket.
class UpdateServer {
 public:
  /// The path of the socket, and the limits on clients.
  struct Options {
    std::string path{};
    std::size_t max_clients = 64;
    std::size_t max_unread = 64 << 20;
  };

  /// Starts the server. `pods` must outlive it. Only the process's user can connect to the socket.
  /// Replaces a socket that a dead process left. kInvalidConfig for a path that is too long;
  /// kUnavailable when the server cannot listen on it or another process does.
  static apimachinery::Result<std::unique_ptr<UpdateServer>> Start(Options options,
                                                                   PodConfig& pods);
  ~UpdateServer();
  UpdateServer(const UpdateServer&) = delete;
  UpdateServer& operator=(const UpdateServer&) = delete;

 private:
  class Impl;
  explicit UpdateServer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace kubexx::kubelet

#endif  // KUBEXX_KUBELET_CONFIG_UPDATE_SERVER_H_
