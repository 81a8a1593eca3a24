/// @file
/// Checks of the volume sources of pods and PersistentVolumes.
#ifndef KUBEXX_APISERVER_ENDPOINTS_VALIDATION_PODS_VOLUME_SOURCES_H_
#define KUBEXX_APISERVER_ENDPOINTS_VALIDATION_PODS_VOLUME_SOURCES_H_

#include <cstdint>
#include <string_view>

#include "kubexx/apiserver/endpoints/checks/field_causes.h"
#include "kubexx/apiserver/endpoints/checks/field_path.h"
#include "kubexx/codec/json_tree.h"

namespace kubexx::apiserver {

/// The owner of a volume. Some sources are allowed for only one of them, and others have more
/// required fields there.
enum class VolumeOwner : std::uint8_t { kPod, kPersistentVolume };

/// Adds what is wrong with the source of a volume. `volume` must have exactly one source among its
/// members; its path is `path`. As core validation's validateVolumeSource and
/// ValidatePersistentVolumeSpec.
void CheckVolumeSource(VolumeOwner owner, const codec::JsonTree& volume, const FieldPath& path,
                       FieldCauses& causes);

/// Adds a cause when the name of a CSI driver is invalid.
void CheckDriverName(std::string_view name, const std::string& field, FieldCauses& causes);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_VALIDATION_PODS_VOLUME_SOURCES_H_
