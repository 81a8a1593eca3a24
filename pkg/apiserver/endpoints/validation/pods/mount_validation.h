/// @file
/// Checks of how the containers of a pod mount its volumes.
#ifndef KUBEXX_APISERVER_ENDPOINTS_VALIDATION_PODS_MOUNT_VALIDATION_H_
#define KUBEXX_APISERVER_ENDPOINTS_VALIDATION_PODS_MOUNT_VALIDATION_H_

#include <functional>
#include <map>
#include <string_view>

#include "kubexx/apiserver/endpoints/checks/field_causes.h"
#include "kubexx/apiserver/endpoints/checks/field_path.h"
#include "kubexx/codec/json_tree.h"

namespace kubexx::apiserver {

/// The valid volumes of a pod by name. Valid as long as the pod's spec.
using PodVolumes = std::map<std::string_view, const codec::JsonTree*, std::less<>>;

/// Adds what is wrong with the members volumeMounts and volumeDevices of a container: volumes that
/// the pod does not have, paths that are used twice, and paths that lead outside the volume. As
/// core validation's ValidateVolumeMounts and ValidateVolumeDevices.
void CheckMounts(const codec::JsonTree& container, const PodVolumes& volumes, const FieldPath& path,
                 FieldCauses& causes);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_VALIDATION_PODS_MOUNT_VALIDATION_H_
