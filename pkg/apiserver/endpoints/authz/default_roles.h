/// @file
/// The roles and bindings that every cluster with RBAC has.
#ifndef KUBEXX_APISERVER_ENDPOINTS_AUTHZ_DEFAULT_ROLES_H_
#define KUBEXX_APISERVER_ENDPOINTS_AUTHZ_DEFAULT_ROLES_H_

#include <vector>

#include "kubexx/apiserver/object/resource_type.h"
#include "kubexx/codec/json_tree.h"

namespace kubexx::apiserver {

/// The default ClusterRoles for people: cluster-admin; admin, edit and view with the rules of
/// kube-apiserver 1.36, which aggregate each other and roles with the labels
/// rbac.authorization.k8s.io/aggregate-to-*; and system:discovery, system:basic-user,
/// system:public-info-viewer and system:service-account-issuer-discovery.
std::vector<codec::JsonTree> DefaultClusterRoles();

/// The bindings of these roles to the groups system:masters, system:authenticated,
/// system:unauthenticated and system:serviceaccounts.
std::vector<codec::JsonTree> DefaultClusterRoleBindings();

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_AUTHZ_DEFAULT_ROLES_H_
