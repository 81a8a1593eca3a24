/// @file
/// Brings the default ClusterRoles and their bindings up to date.
#ifndef KUBEXX_APISERVER_ENDPOINTS_UPKEEP_DEFAULT_ROLE_UPKEEP_H_
#define KUBEXX_APISERVER_ENDPOINTS_UPKEEP_DEFAULT_ROLE_UPKEEP_H_

#include <stop_token>

#include "kubexx/apimachinery/status.h"
#include "kubexx/apiserver/endpoints/registry/type_registry.h"
#include "kubexx/apiserver/endpoints/store/object_store.h"

namespace kubexx::apiserver {

/// Creates the objects of DefaultClusterRoles and DefaultClusterRoleBindings that do not exist. As
/// kube-apiserver at its start, gives those that exist the labels, annotations, rules, aggregated
/// selectors and subjects that they lack, and makes a binding anew that is for another role. What
/// they have besides stays, and so does one whose annotation
/// rbac.authorization.kubernetes.io/autoupdate is "false". Returns errors of the store; of an
/// object that cannot be changed for another reason, it logs that.
apimachinery::Result<void> KeepDefaultRoles(const TypeRegistry& types, ObjectStore& objects,
                                            const std::stop_token& stop);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_UPKEEP_DEFAULT_ROLE_UPKEEP_H_
