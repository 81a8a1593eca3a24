/// @file
/// Checks of updates of PersistentVolumes and PersistentVolumeClaims.
#ifndef KUBEXX_APISERVER_ENDPOINTS_VALIDATION_PODS_VOLUME_CHANGES_H_
#define KUBEXX_APISERVER_ENDPOINTS_VALIDATION_PODS_VOLUME_CHANGES_H_

#include "kubexx/apiserver/endpoints/checks/field_causes.h"
#include "kubexx/codec/json_tree.h"

namespace kubexx::apiserver {

/// Adds causes for changes from `current` to `object` that an update may not make in a
/// PersistentVolumeClaim. Before the claim is bound, the update may set a class if there is none,
/// and the volume. After that it may request more storage and change the volumeAttributesClassName.
/// As core validation's ValidatePersistentVolumeClaimUpdate.
void CheckClaimChange(const codec::JsonTree& current, const codec::JsonTree& object,
                      FieldCauses& causes);

/// The same for a PersistentVolume. Its source cannot change, and neither can its node affinity
/// once it is set, except that deprecated node labels may be replaced by their final names. As core
/// validation's ValidatePersistentVolumeUpdate.
void CheckVolumeChange(const codec::JsonTree& current, const codec::JsonTree& object,
                       FieldCauses& causes);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_VALIDATION_PODS_VOLUME_CHANGES_H_
