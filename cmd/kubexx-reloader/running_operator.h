/// @file
/// What the operators of a cluster tell of themselves.
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

/// Operators that have told their flags in a ConfigMap.
struct FoundOperators {
  std::vector<reloader::ToldOperator> running{};  ///< their Deployment is there, as far as one sees
  std::vector<apimachinery::ObjectKey> gone{};    ///< Deployments that are not there
};

/// In `namespace_`, or in all namespaces when that is empty. Blocks.
apimachinery::Result<FoundOperators> FindOperators(const std::shared_ptr<rest::RESTClient>& client,
                                                   const std::string& namespace_,
                                                   const std::stop_token& stop);

/// Of a namespace. Blocks.
apimachinery::Result<apimachinery::LabelMap> LabelsOf(
    const std::shared_ptr<rest::RESTClient>& client, const std::string& name,
    const std::stop_token& stop);

}  // namespace kubexx

#endif  // KUBEXX_CMD_KUBEXX_RELOADER_RUNNING_OPERATOR_H_
