/// @file
/// Checks of HorizontalPodAutoscalers.
#ifndef KUBEXX_APISERVER_ENDPOINTS_VALIDATION_WORKLOADS_AUTOSCALER_VALIDATION_H_
#define KUBEXX_APISERVER_ENDPOINTS_VALIDATION_WORKLOADS_AUTOSCALER_VALIDATION_H_

#include "kubexx/apiserver/endpoints/checks/field_causes.h"
#include "kubexx/codec/json_tree.h"

namespace kubexx::apiserver {

/// Adds what is wrong with the spec of a HorizontalPodAutoscaler in version v2. `old` is the spec
/// before an update, null for a new object; an unchanged target may keep its API version. As
/// autoscaling validation.
void CheckAutoscaler(const codec::JsonTree* old, const codec::JsonTree& spec, FieldCauses& causes);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_VALIDATION_WORKLOADS_AUTOSCALER_VALIDATION_H_
