/// @file
/// The quality of service class of a pod.
#ifndef KUBEXX_APISERVER_ENDPOINTS_VALIDATION_PODS_POD_QOS_H_
#define KUBEXX_APISERVER_ENDPOINTS_VALIDATION_PODS_POD_QOS_H_

#include <string_view>

#include "kubexx/apiserver/endpoints/checks/field_causes.h"
#include "kubexx/codec/json_tree.h"

namespace kubexx::apiserver {

/// The class "Guaranteed", "Burstable" or "BestEffort" that follows from the requests and limits of
/// the pod or its containers. The pod must have its defaults. As core/v1's ComputePodQOS.
std::string_view QosClassOf(const codec::JsonTree& pod_spec);

/// Copies the class from the status of `current` to the status of `pod` when that has none, and
/// adds a cause when it has another one.
void CheckQosClass(const codec::JsonTree& current, codec::JsonTree& pod, FieldCauses& causes);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_VALIDATION_PODS_POD_QOS_H_
