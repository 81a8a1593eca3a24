/// @file
/// What of an object's metadata is the server's, when clients write it.
#ifndef KUBEXX_APISERVER_ENDPOINTS_PREPARATION_SERVER_METADATA_H_
#define KUBEXX_APISERVER_ENDPOINTS_PREPARATION_SERVER_METADATA_H_

#include "kubexx/apimachinery/status.h"
#include "kubexx/apiserver/endpoints/checks/field_causes.h"
#include "kubexx/apiserver/endpoints/preparation/write_part.h"
#include "kubexx/apiserver/object/resource_type.h"
#include "kubexx/codec/json_tree.h"

namespace kubexx::apiserver {

/// kConflict when `object`, which is sent instead of `current`, says that it is another one: a uid
/// of a replacement is a condition, that of a patch is a change; see CheckServerMetadata.
apimachinery::Result<void> CheckUid(const ResourceType& type, const codec::JsonTree& current,
                                    const codec::JsonTree& object);

/// kConflict when `object` is made from another version than `current`.
apimachinery::Result<void> CheckVersion(const ResourceType& type, const codec::JsonTree& current,
                                        const codec::JsonTree& object);

/// Adds what `object` changes of the uid and of what says that it is being deleted. To leave these
/// out is no change, and so is another time of a deletion that has begun. As kube-apiserver's
/// rest.BeforeUpdate and ValidateObjectMetaUpdate.
void CheckServerMetadata(const ResourceType& type, WritePart part, const codec::JsonTree& current,
                         const codec::JsonTree& object, FieldCauses& causes);

/// Gives `object` what `current` has of the metadata that clients do not write.
void KeepServerMetadata(const codec::JsonTree& current, codec::JsonTree& object);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_PREPARATION_SERVER_METADATA_H_
