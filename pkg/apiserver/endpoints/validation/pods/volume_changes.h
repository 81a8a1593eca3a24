/// @file
/// What an update may not change in PersistentVolumes and in the claims to them.
#ifndef KUBEXX_APISERVER_ENDPOINTS_VALIDATION_PODS_VOLUME_CHANGES_H_
#define KUBEXX_APISERVER_ENDPOINTS_VALIDATION_PODS_VOLUME_CHANGES_H_

#include "kubexx/apiserver/endpoints/checks/field_causes.h"
#include "kubexx/codec/json_tree.h"

namespace kubexx::apiserver {

/// Adds what an update from `current` to `object` may not change in a PersistentVolumeClaim: before
/// it is bound its class, if it says nothing of one, and its volume may be named; after that it may
/// grow. As core validation's ValidatePersistentVolumeClaimUpdate.
void CheckClaimChange(const codec::JsonTree& current, const codec::JsonTree& object,
                      FieldCauses& causes);

/// The same of a PersistentVolume: what it is made of stays, and where it can be reached, but for
/// labels of nodes that have got their final names. As core validation's
/// ValidatePersistentVolumeUpdate.
void CheckVolumeChange(const codec::JsonTree& current, const codec::JsonTree& object,
                       FieldCauses& causes);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_VALIDATION_PODS_VOLUME_CHANGES_H_
