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
#include "kubexx/base/function_ref.h"
#include "kubexx/reloader/observe/meta_info.h"
#include "kubexx/rest/config.h"
#include "kubexx/rest/rest_client.h"

namespace kubexx {

/// The operators that have published their flags in a ConfigMap.
struct FoundOperators {
  /// Their Deployment exists, as far as the caller may see.
  std::vector<reloader::ToldOperator> running{};
  std::vector<reloader::ToldOperator> gone{};  ///< their Deployments do not exist
};

/// Searches `namespace_`, or all namespaces when it is empty. Blocks.
apimachinery::Result<FoundOperators> FindOperators(const std::shared_ptr<rest::RESTClient>& client,
                                                   const std::string& namespace_,
                                                   const std::stop_token& stop);

/// How messages call the operator: "the operator NAMESPACE/NAME".
std::string NameOf(const reloader::ToldOperator& told);

/// Tells this process of the kinds that these operators, also those that are gone, have been told
/// of by --workload-kinds. What is known of a kind already counts, and a line on standard error
/// says where an operator describes it otherwise. Returns a sentence for each kind that operators
/// describe differently: this process stays without it.
std::vector<std::string> AddKindsOf(const FoundOperators& operators);

/// What a command line asks for, as far as it matters for kinds.
struct AskedKind {
  /// KIND/NAME or KIND NAME.
  const std::vector<std::string>& arguments;
  std::string namespace_{};  ///< the object's; empty: the kubeconfig's
  /// Only an operator in this namespace counts; empty: any.
  std::string operator_namespace{};
  rest::KubeconfigOptions kubeconfig{};
};

/// Asks the operators for the kind, when this process does not know it. Those count that watch the
/// object's namespace by their own flags; those that are gone only where no running one has such a
/// kind. A line on standard error says whose description is used. kConflict when two of them
/// describe it differently. What cannot be found out stays unknown, without an error. Blocks for
/// some seconds at most.
apimachinery::Result<void> LearnKindOf(const AskedKind& asked);

/// Deletes what former operators have left in their own namespace: the ConfigMaps that describe
/// them, and Leases; with `dry_run` only lists it. Calls `tell` once for each object, and skips
/// objects that do not exist. Blocks.
apimachinery::Result<void> CleanUpOwn(const std::shared_ptr<rest::RESTClient>& client,
                                      const std::string& namespace_, bool dry_run,
                                      base::FunctionRef<void(const std::string& object)> tell,
                                      const std::stop_token& stop);

/// Checks once whether the API server answers at all, because clients would try again and again
/// while somebody waits. A refusal for lack of rights counts as an answer.
apimachinery::Result<void> CheckReachable(const std::shared_ptr<rest::RESTClient>& client,
                                          const std::stop_token& stop);

/// The labels of a namespace. Blocks.
apimachinery::Result<apimachinery::LabelMap> LabelsOf(
    const std::shared_ptr<rest::RESTClient>& client, const std::string& name,
    const std::stop_token& stop);

}  // namespace kubexx

#endif  // KUBEXX_CMD_KUBEXX_RELOADER_RUNNING_OPERATOR_H_
