/// @file
/// What Roles and their bindings have to be like.
#ifndef KUBEXX_APISERVER_ENDPOINTS_VALIDATION_CLUSTER_RBAC_VALIDATION_H_
#define KUBEXX_APISERVER_ENDPOINTS_VALIDATION_CLUSTER_RBAC_VALIDATION_H_

#include "kubexx/apiserver/endpoints/checks/field_causes.h"
#include "kubexx/apiserver/object/resource_type.h"
#include "kubexx/codec/json_tree.h"

namespace kubexx::apiserver {

/// Adds what is wrong with an object of the group rbac.authorization.k8s.io, in kube-apiserver's
/// words; nothing for other types. `old` is null for a create: what a binding refers to cannot be
/// changed, so that those who may only add subjects give no more than it gave.
void CheckRbac(const ResourceType& type, const codec::JsonTree* old, const codec::JsonTree& object,
               FieldCauses& causes);

/// Fills in the API groups of a binding's role and subjects.
void SetRbacDefaults(const ResourceType& type, codec::JsonTree& object);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_VALIDATION_CLUSTER_RBAC_VALIDATION_H_
