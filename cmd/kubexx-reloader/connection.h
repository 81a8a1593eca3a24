// The connection of a command to the cluster, by a person's kubeconfig.
#ifndef KUBEXX_CMD_KUBEXX_RELOADER_CONNECTION_H_
#define KUBEXX_CMD_KUBEXX_RELOADER_CONNECTION_H_

#include <memory>
#include <stop_token>
#include <string>

#include "kubexx/apimachinery/status.h"
#include "kubexx/rest/config.h"
#include "kubexx/rest/rest_client.h"

namespace kubexx {

struct Connection {
  std::shared_ptr<rest::RESTClient> client{};
  /// The namespace that was asked for, or else that of the kubeconfig, or else "default".
  std::string namespace_{};
};

/// Connects, and checks once that the API server answers. `command` is in the user agent. Blocks.
apimachinery::Result<Connection> Connect(const rest::KubeconfigOptions& kubeconfig,
                                         const std::string& namespace_, const std::string& command,
                                         const std::stop_token& stop);

}  // namespace kubexx

#endif  // KUBEXX_CMD_KUBEXX_RELOADER_CONNECTION_H_
