/// @file
/// The subresource resize of pods, which changes the resources of a running pod.
#ifndef KUBEXX_APISERVER_ENDPOINTS_VALIDATION_PODS_POD_RESIZE_H_
#define KUBEXX_APISERVER_ENDPOINTS_VALIDATION_PODS_POD_RESIZE_H_

#include "kubexx/apiserver/endpoints/checks/field_causes.h"
#include "kubexx/codec/json_tree.h"

namespace kubexx::apiserver {

/// Copies resources and resize policies from `object` to `changed`, which is the pod before the
/// resize. When the containers are not the same in the same order, it copies them as they are, so
/// that CheckPodResize refuses them. As kube-apiserver's dropNonResizeUpdates.
void TakeResources(const codec::JsonTree& object, codec::JsonTree& changed);

/// Adds causes for changes that a resize from `current` to `object` may not make: to change
/// anything but cpu and memory, to remove one of them, or to change the pod's quality of service
/// class. As core validation's ValidatePodResize. CheckPodResources checks the amounts themselves.
void CheckPodResize(const codec::JsonTree& current, const codec::JsonTree& object,
                    FieldCauses& causes);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_VALIDATION_PODS_POD_RESIZE_H_
