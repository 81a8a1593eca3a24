/// @file
/// Checks of how workloads replace their pods.
#ifndef KUBEXX_APISERVER_ENDPOINTS_VALIDATION_WORKLOADS_UPDATE_STRATEGIES_H_
#define KUBEXX_APISERVER_ENDPOINTS_VALIDATION_WORKLOADS_UPDATE_STRATEGIES_H_

#include "kubexx/apiserver/endpoints/checks/field_causes.h"
#include "kubexx/codec/json_tree.h"

namespace kubexx::apiserver {

/// Adds what is wrong with the strategy in the spec of a Deployment, and with the numbers beside
/// it. As apps validation.
void CheckDeploymentStrategy(const codec::JsonTree& spec, FieldCauses& causes);
/// The same for a ReplicaSet, which has such a number but no strategy.
void CheckReplicaSetStrategy(const codec::JsonTree& spec, FieldCauses& causes);
/// The same for a DaemonSet.
void CheckDaemonSetStrategy(const codec::JsonTree& spec, FieldCauses& causes);
/// The same for a StatefulSet.
void CheckStatefulSetStrategy(const codec::JsonTree& spec, FieldCauses& causes);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_VALIDATION_WORKLOADS_UPDATE_STRATEGIES_H_
