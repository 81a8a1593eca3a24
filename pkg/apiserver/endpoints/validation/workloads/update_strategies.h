/// @file
/// Checks of how workloads replace their pods.
#ifndef KUBEXX_APISERVER_ENDPOINTS_VALIDATION_WORKLOADS_UPDATE_STRATEGIES_H_
#define KUBEXX_APISERVER_ENDPOINTS_VALIDATION_WORKLOADS_UPDATE_STRATEGIES_H_

#include "kubexx/apiserver/endpoints/checks/field_causes.h"
#include "kubexx/apiserver/object/resource_type.h"
#include "kubexx/codec/json_tree.h"

namespace kubexx::apiserver {

/// Adds what is wrong with the strategy in the spec of a Deployment, DaemonSet or StatefulSet, and
/// with the numbers beside it. As apps validation.
void CheckUpdateStrategy(const ResourceType& type, const codec::JsonTree& spec,
                         FieldCauses& causes);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_VALIDATION_WORKLOADS_UPDATE_STRATEGIES_H_
