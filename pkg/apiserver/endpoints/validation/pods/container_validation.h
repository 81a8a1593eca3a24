/// @file
/// Checks of the containers of a pod.
#ifndef KUBEXX_APISERVER_ENDPOINTS_VALIDATION_PODS_CONTAINER_VALIDATION_H_
#define KUBEXX_APISERVER_ENDPOINTS_VALIDATION_PODS_CONTAINER_VALIDATION_H_

#include "kubexx/apiserver/endpoints/checks/field_causes.h"
#include "kubexx/apiserver/endpoints/checks/field_path.h"
#include "kubexx/apiserver/endpoints/validation/pods/mount_validation.h"
#include "kubexx/codec/json_tree.h"

namespace kubexx::apiserver {

/// Adds what is wrong with the containers in all three lists of a pod's spec, whose path is `path`.
/// It does not check their resources; CheckPodResources does. As core validation's
/// validateContainers, validateInitContainers and validateEphemeralContainers.
void CheckContainers(const codec::JsonTree& pod_spec, const PodVolumes& volumes,
                     const FieldPath& path, FieldCauses& causes);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_VALIDATION_PODS_CONTAINER_VALIDATION_H_
