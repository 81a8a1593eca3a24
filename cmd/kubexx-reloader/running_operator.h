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
#include "kubexx/base/function_ref.h"
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

/// What operators that are gone have left in their own namespace: the ConfigMaps that tell of them
/// and Leases. Lists them, or deletes them, one line each to `tell`; what is not there is none.
/// Blocks.
apimachinery::Result<void> CleanUpOwn(const std::shared_ptr<rest::RESTClient>& client,
                                      const std::string& namespace_, bool dry_run,
                                      base::FunctionRef<void(const std::string& object)> tell,
                                      const std::stop_token& stop);

/// Whether the API server answers at all, asked once: clients would try again and again, and
/// somebody waits. Who may read what is not the question.
apimachinery::Result<void> CheckReachable(const std::shared_ptr<rest::RESTClient>& client,
                                          const std::stop_token& stop);

/// Of a namespace. Blocks.
apimachinery::Result<apimachinery::LabelMap> LabelsOf(
    const std::shared_ptr<rest::RESTClient>& client, const std::string& name,
    const std::stop_token& stop);

}  // namespace kubexx

#endif  // KUBEXX_CMD_KUBEXX_RELOADER_RUNNING_OPERATOR_H_
