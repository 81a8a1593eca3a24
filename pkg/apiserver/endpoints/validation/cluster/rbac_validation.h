/// @file
/// Checks and defaults of Roles and their bindings.
#ifndef KUBEXX_APISERVER_ENDPOINTS_VALIDATION_CLUSTER_RBAC_VALIDATION_H_
#define KUBEXX_APISERVER_ENDPOINTS_VALIDATION_CLUSTER_RBAC_VALIDATION_H_

#include "kubexx/apiserver/endpoints/checks/field_causes.h"
#include "kubexx/codec/json_tree.h"

namespace kubexx::apiserver {

/// Adds what is wrong with the rules of a Role, or with those of a ClusterRole and which
/// ClusterRoles it collects, in kube-apiserver's words. `namespaced`: whether it is a Role.
void CheckRole(bool namespaced, const codec::JsonTree& object, FieldCauses& causes);

/// The same for a RoleBinding or a ClusterRoleBinding. `old` is null for a create. An update cannot
/// change the role that a binding refers to, so that users who may only add subjects cannot grant
/// more than before.
void CheckRoleBinding(bool namespaced, const codec::JsonTree* old, const codec::JsonTree& object,
                      FieldCauses& causes);

/// Sets the missing API groups of the role and the subjects of a RoleBinding or ClusterRoleBinding.
void SetRoleBindingDefaults(codec::JsonTree& object);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_VALIDATION_CLUSTER_RBAC_VALIDATION_H_
