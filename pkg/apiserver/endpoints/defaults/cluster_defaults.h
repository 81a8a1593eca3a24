/// @file
/// Defaults of the objects by which a cluster is set up: namespaces, Secrets, limits, volumes and
/// policies.
#ifndef KUBEXX_APISERVER_ENDPOINTS_DEFAULTS_CLUSTER_DEFAULTS_H_
#define KUBEXX_APISERVER_ENDPOINTS_DEFAULTS_CLUSTER_DEFAULTS_H_

#include "kubexx/codec/json_tree.h"

namespace kubexx::apiserver {

/// Sets the label with a namespace's name, and its phase when that is missing.
void SetNamespaceDefaults(codec::JsonTree& object);
/// Adds the finalizer "kubernetes" to the spec of a new namespace, which holds the namespace back
/// until the server has emptied it. That is not a default, since it can be taken away.
void AddNamespaceFinalizer(codec::JsonTree& object);
/// Sets a Secret's type when it is missing, and moves its stringData to data; see the API's field
/// of that name.
void SetSecretDefaults(codec::JsonTree& object);
/// Sets the missing defaults and default requests of containers in a LimitRange. As core/v1's
/// SetDefaults_LimitRangeItem.
void SetLimitRangeDefaults(codec::JsonTree& object);
/// Sets the defaults of a PersistentVolume's source, and rounds its capacity.
void SetPersistentVolumeDefaults(codec::JsonTree& object);
/// Rounds what a PersistentVolumeClaim requests.
void SetPersistentVolumeClaimDefaults(codec::JsonTree& object);
/// Sets the missing fields of what a ValidatingAdmissionPolicy or a MutatingAdmissionPolicy
/// matches.
void SetAdmissionPolicyDefaults(codec::JsonTree& object);
/// Sets the percentage that a limited PriorityLevelConfiguration lends, when it is missing.
void SetPriorityLevelDefaults(codec::JsonTree& object);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_DEFAULTS_CLUSTER_DEFAULTS_H_
