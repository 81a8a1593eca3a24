/// @file
/// Checks of updates of a pod.
#ifndef KUBEXX_APISERVER_ENDPOINTS_VALIDATION_PODS_POD_UPDATE_H_
#define KUBEXX_APISERVER_ENDPOINTS_VALIDATION_PODS_POD_UPDATE_H_

#include "kubexx/apiserver/endpoints/checks/field_causes.h"
#include "kubexx/codec/json_tree.h"

namespace kubexx::apiserver {

/// Adds causes for changes from the spec `old` to `spec` that an update may not make, as
/// kube-apiserver's ValidatePodUpdate. An update may change images and the tolerationSeconds of
/// tolerations, add tolerations, set the deadline or let it shrink, and make a negative grace
/// period 1. It may remove scheduling gates; while there are some, it may restrict the nodes on
/// which the pod may run.
void CheckPodUpdate(const codec::JsonTree& old, const codec::JsonTree& spec, FieldCauses& causes);

/// Adds a cause when an update from the pod `old` to `object` adds, changes or removes the
/// annotation by which a kubelet knows the mirror of a static pod.
void CheckMirrorAnnotation(const codec::JsonTree& old, const codec::JsonTree& object,
                           FieldCauses& causes);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_VALIDATION_PODS_POD_UPDATE_H_
