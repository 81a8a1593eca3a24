/// @file
/// Finds the operators of a cluster and what they have published about themselves.
#ifndef KUBEXX_CMD_KUBEXX_RELOADER_RUNNING_OPERATOR_H_
#define KUBEXX_CMD_KUBEXX_RELOADER_RUNNING_OPERATOR_H_

#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "kubexx/apimachinery/labels.h"
#include "kubexx/apimachinery/status.h"
#include "kubexx/reloader/observe/meta_info.h"
#include "kubexx/rest/rest_client.h"

namespace kubexx {

/// The operators that have published their flags in a ConfigMap.
struct FoundOperators {
  /// Their Deployment exists, as far as the caller may see.
  std::vector<reloader::ToldOperator> running{};
  std::vector<apimachinery::ObjectKey> gone{};  ///< the Deployments that do not exist
};

/// Searches `namespace_`, or all namespaces when it is empty. Blocks.
apimachinery::Result<FoundOperators> FindOperators(const std::shared_ptr<rest::RESTClient>& client,
                                                   const std::string& namespace_,
                                                   const std::stop_token& stop);

/// The labels of a namespace. Blocks.
apimachinery::Result<apimachinery::LabelMap> LabelsOf(
    const std::shared_ptr<rest::RESTClient>& client, const std::string& name,
    const std::stop_token& stop);

}  // namespace kubexx

#endif  // KUBEXX_CMD_KUBEXX_RELOADER_RUNNING_OPERATOR_H_
