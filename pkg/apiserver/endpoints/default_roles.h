/// @file
/// The roles that every cluster with RBAC has.
#ifndef KUBEXX_APISERVER_ENDPOINTS_DEFAULT_ROLES_H_
#define KUBEXX_APISERVER_ENDPOINTS_DEFAULT_ROLES_H_

#include <vector>

#include "kubexx/apiserver/object/resource_type.h"
#include "kubexx/codec/json_tree.h"

namespace kubexx::apiserver {

/// ClusterRoles for people: cluster-admin, admin, edit and view, which others may be aggregated to
/// by the labels rbac.authorization.k8s.io/aggregate-to-*; and system:discovery, system:basic-user
/// and system:public-info-viewer. `types` are those that admin, edit and view are about: the
/// namespaced ones.
std::vector<codec::JsonTree> DefaultClusterRoles(const std::vector<ResourceTypeRef>& types);

/// Their bindings to the groups system:masters, system:authenticated and system:unauthenticated.
std::vector<codec::JsonTree> DefaultClusterRoleBindings();

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_DEFAULT_ROLES_H_
