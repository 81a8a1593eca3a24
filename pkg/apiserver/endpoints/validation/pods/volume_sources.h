/// @file
/// Checks of what volumes are made of, those of pods and PersistentVolumes.
#ifndef KUBEXX_APISERVER_ENDPOINTS_VALIDATION_PODS_VOLUME_SOURCES_H_
#define KUBEXX_APISERVER_ENDPOINTS_VALIDATION_PODS_VOLUME_SOURCES_H_

#include <cstdint>
#include <string_view>

#include "kubexx/apiserver/endpoints/checks/field_causes.h"
#include "kubexx/apiserver/endpoints/checks/field_path.h"
#include "kubexx/codec/json_tree.h"

namespace kubexx::apiserver {

/// Whose volume it is: some sources are for one of them, and others need more there.
enum class VolumeOwner : std::uint8_t { kPod, kPersistentVolume };

/// Adds what is wrong with the source of a volume, of which there has to be exactly one, at `path`.
/// `volume` has it among its members. As core validation's validateVolumeSource and
/// ValidatePersistentVolumeSpec.
void CheckVolumeSource(VolumeOwner owner, const codec::JsonTree& volume, const FieldPath& path,
                       FieldCauses& causes);

/// Adds that the name of a CSI driver is none.
void CheckDriverName(std::string_view name, const std::string& field, FieldCauses& causes);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_VALIDATION_PODS_VOLUME_SOURCES_H_
