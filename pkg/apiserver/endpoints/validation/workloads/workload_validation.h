/// @file
/// Checks of Deployments, ReplicaSets, DaemonSets, StatefulSets and ReplicationControllers.
#ifndef KUBEXX_APISERVER_ENDPOINTS_VALIDATION_WORKLOADS_WORKLOAD_VALIDATION_H_
#define KUBEXX_APISERVER_ENDPOINTS_VALIDATION_WORKLOADS_WORKLOAD_VALIDATION_H_

#include "kubexx/apiserver/endpoints/checks/field_causes.h"
#include "kubexx/codec/json_tree.h"

namespace kubexx::apiserver {

/// Adds what is wrong with the spec of a Deployment. As apps validation.
void CheckDeployment(const codec::JsonTree& spec, FieldCauses& causes);
/// The same for a ReplicaSet.
void CheckReplicaSet(const codec::JsonTree& spec, FieldCauses& causes);
/// The same for a DaemonSet.
void CheckDaemonSet(const codec::JsonTree& spec, FieldCauses& causes);
/// The same for a StatefulSet. Checks its volume claim templates only when it is new, because they
/// cannot change.
void CheckStatefulSet(bool is_new, const codec::JsonTree& spec, FieldCauses& causes);

/// The same for a ReplicationController, whose selector is only a map of labels.
void CheckReplicationController(const codec::JsonTree& spec, FieldCauses& causes);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_VALIDATION_WORKLOADS_WORKLOAD_VALIDATION_H_
