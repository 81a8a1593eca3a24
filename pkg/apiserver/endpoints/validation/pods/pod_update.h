/// @file
/// What an update may change in a pod.
#ifndef KUBEXX_APISERVER_ENDPOINTS_VALIDATION_PODS_POD_UPDATE_H_
#define KUBEXX_APISERVER_ENDPOINTS_VALIDATION_PODS_POD_UPDATE_H_

#include "kubexx/apiserver/endpoints/checks/field_causes.h"
#include "kubexx/codec/json_tree.h"

namespace kubexx::apiserver {

/// Adds what an update from the spec `old` to `spec` may not do, as kube-apiserver's
/// ValidatePodUpdate: images, the deadline, tolerations and the grace period may change, scheduling
/// gates may go, and while there are some the nodes that a pod may run on may become fewer.
void CheckPodUpdate(const codec::JsonTree& old, const codec::JsonTree& spec, FieldCauses& causes);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_VALIDATION_PODS_POD_UPDATE_H_
