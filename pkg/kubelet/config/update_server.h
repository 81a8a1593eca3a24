/// @file
/// Streams a node's pods to local programs.
#ifndef KUBEXX_KUBELET_CONFIG_UPDATE_SERVER_H_
#define KUBEXX_KUBELET_CONFIG_UPDATE_SERVER_H_

#include <cstddef>
#include <memory>
#include <string>

#include "kubexx/apimachinery/status.h"
#include "kubexx/kubelet/config/pod_config.h"

namespace kubexx::kubelet {

/// Listens on a unix socket and gives everybody who connects all pods and then every change, a
/// JSON line each (ToJsonLine). What clients send is ignored. A client that does not read is cut
/// off once more than `max_unread` bytes wait for it. A thread of its own. The destructor stops
/// and removes the socket.
class UpdateServer {
 public:
  /// Where to listen, and the limits on clients.
  struct Options {
    std::string path{};
    std::size_t max_clients = 64;
    std::size_t max_unread = 64 << 20;
  };

  /// `pods` must outlive this. The socket is the owner's only. A socket that a dead process left is
  /// replaced; kInvalidConfig for a path that is too long, kUnavailable when it cannot be listened
  /// on or another process listens there.
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
