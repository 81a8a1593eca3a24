/// @file
/// Protects the metadata that only the server may change, when clients write objects.
#ifndef KUBEXX_APISERVER_ENDPOINTS_PREPARATION_SERVER_METADATA_H_
#define KUBEXX_APISERVER_ENDPOINTS_PREPARATION_SERVER_METADATA_H_

#include "kubexx/apimachinery/status.h"
#include "kubexx/apiserver/endpoints/checks/field_causes.h"
#include "kubexx/apiserver/object/resource_type.h"
#include "kubexx/apiserver/object/write_part.h"
#include "kubexx/codec/json_tree.h"

namespace kubexx::apiserver {

/// Returns kConflict when `object`, which is to replace `current`, has another uid. In a
/// replacement (PUT) the uid is a precondition; in a patch it would be a change, see
/// CheckServerMetadata.
apimachinery::Result<void> CheckUid(const ResourceType& type, const codec::JsonTree& current,
                                    const codec::JsonTree& object);

/// Returns kConflict when `object` has another resourceVersion than `current`.
apimachinery::Result<void> CheckVersion(const ResourceType& type, const codec::JsonTree& current,
                                        const codec::JsonTree& object);

/// Adds causes when `object` changes the uid or the fields about its deletion. A missing field
/// counts as unchanged, and so does another deletionTimestamp when the deletion has begun. As
/// kube-apiserver's rest.BeforeUpdate and ValidateObjectMetaUpdate.
void CheckServerMetadata(const ResourceType& type, WritePart part, const codec::JsonTree& current,
                         const codec::JsonTree& object, FieldCauses& causes);

/// Copies the metadata that clients do not write from `current` to `object`.
void KeepServerMetadata(const codec::JsonTree& current, codec::JsonTree& object);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_PREPARATION_SERVER_METADATA_H_
