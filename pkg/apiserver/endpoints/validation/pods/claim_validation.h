/// @file
/// Checks of PersistentVolumes and PersistentVolumeClaims.
#ifndef KUBEXX_APISERVER_ENDPOINTS_VALIDATION_PODS_CLAIM_VALIDATION_H_
#define KUBEXX_APISERVER_ENDPOINTS_VALIDATION_PODS_CLAIM_VALIDATION_H_

#include "kubexx/apiserver/endpoints/checks/field_causes.h"
#include "kubexx/apiserver/endpoints/checks/field_path.h"
#include "kubexx/codec/json_tree.h"

namespace kubexx::apiserver {

/// Adds what is wrong with a PersistentVolumeClaim's spec, whose path is `path`. As core
/// validation's ValidatePersistentVolumeClaimSpec.
void CheckClaimAt(const codec::JsonTree& spec, const FieldPath& path, FieldCauses& causes);

/// Adds what is wrong with a PersistentVolume's spec. As core validation's
/// ValidatePersistentVolumeSpec.
void CheckPersistentVolume(const codec::JsonTree& spec, FieldCauses& causes);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_VALIDATION_PODS_CLAIM_VALIDATION_H_
