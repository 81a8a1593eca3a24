#include "connection.h"

#include <utility>

#include "running_operator.h"

namespace kubexx {

apimachinery::Result<Connection> Connect(const rest::KubeconfigOptions& kubeconfig,
                                         const std::string& namespace_, const std::string& command,
                                         const std::stop_token& stop) {
  KX_ASSIGN_OR_RETURN(rest::Config config, rest::LoadConfig(kubeconfig));
  Connection connection;
  connection.namespace_ = !namespace_.empty()         ? namespace_
                          : config.namespace_.empty() ? "default"
                                                      : config.namespace_;
  config.user_agent = "kubexx-reloader-" + command + "/" KUBEXX_VERSION;
  KX_ASSIGN_OR_RETURN(connection.client, rest::RESTClient::New(std::move(config)));
  KX_RETURN_IF_ERROR(CheckReachable(connection.client, stop));
  return connection;
}

}  // namespace kubexx
