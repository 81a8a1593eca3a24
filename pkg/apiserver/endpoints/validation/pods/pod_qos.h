/// @file
/// The quality of service class of a pod.
#ifndef KUBEXX_APISERVER_ENDPOINTS_VALIDATION_PODS_POD_QOS_H_
#define KUBEXX_APISERVER_ENDPOINTS_VALIDATION_PODS_POD_QOS_H_

#include <string_view>

#include "kubexx/apiserver/endpoints/checks/field_causes.h"
#include "kubexx/codec/json_tree.h"

namespace kubexx::apiserver {

/// "Guaranteed", "Burstable" or "BestEffort", as what the pod's containers, or the pod itself, ask
/// for and may have makes it; call it when the pod has its defaults. As core/v1's ComputePodQOS.
std::string_view QosClassOf(const codec::JsonTree& pod_spec);

/// Keeps the class that the pod `current` has in the status of `pod`, and tells of another one that
/// that says.
void CheckQosClass(const codec::JsonTree& current, codec::JsonTree& pod, FieldCauses& causes);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_VALIDATION_PODS_POD_QOS_H_
