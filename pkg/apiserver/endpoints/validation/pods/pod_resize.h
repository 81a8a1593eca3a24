/// @file
/// The subresource resize of pods: other resources for a pod that runs.
#ifndef KUBEXX_APISERVER_ENDPOINTS_VALIDATION_PODS_POD_RESIZE_H_
#define KUBEXX_APISERVER_ENDPOINTS_VALIDATION_PODS_POD_RESIZE_H_

#include "kubexx/apiserver/endpoints/checks/field_causes.h"
#include "kubexx/codec/json_tree.h"

namespace kubexx::apiserver {

/// Gives `changed`, which is the pod as it was, what `object` has of resources and resize policies;
/// containers that are not the same ones in the same order as they are in `object`, for
/// CheckPodResize to refuse them. As kube-apiserver's dropNonResizeUpdates.
void TakeResources(const codec::JsonTree& object, codec::JsonTree& changed);

/// Adds what a resize from `current` to `object` may not do: change anything but cpu and memory,
/// take one of them away, or make the pod one of another class of service. As core validation's
/// ValidatePodResize; of the amounts themselves see CheckPodResources.
void CheckPodResize(const codec::JsonTree& current, const codec::JsonTree& object,
                    FieldCauses& causes);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_VALIDATION_PODS_POD_RESIZE_H_
