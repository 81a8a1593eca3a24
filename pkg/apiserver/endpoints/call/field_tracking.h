/// @file
/// Tracks the managers of fields for writes.
#ifndef KUBEXX_APISERVER_ENDPOINTS_CALL_FIELD_TRACKING_H_
#define KUBEXX_APISERVER_ENDPOINTS_CALL_FIELD_TRACKING_H_

#include <string>

#include "kubexx/apimachinery/status.h"
#include "kubexx/apiserver/endpoints/call/call.h"
#include "kubexx/apiserver/managedfields/type.h"
#include "kubexx/apiserver/object/resource_type.h"
#include "kubexx/codec/json_tree.h"

namespace kubexx::apiserver {

/// The merge type of objects of `type`, which must outlive it.
managedfields::Type MergeTypeOf(const ResourceType& type);

/// The error for an invalid parameter of a write: kInvalid with one cause.
apimachinery::Status BadParameter(const Call& call, const std::string& reason,
                                  const std::string& message, const char* field);

/// Checks the parameters fieldManager, fieldValidation and force, whatever the encoding of the
/// body. Returns kInvalid for invalid ones. `apply` says that the request is an apply patch.
apimachinery::Result<void> CheckManager(const Call& call, bool apply);

/// The blank object that a new object is compared with.
apimachinery::Result<codec::JsonTree> BlankObject(const ResourceType& type);

/// Canonical() for an object that a client has sent, with metadata.managedFields unchanged: an
/// empty list there has a meaning, and TrackWrite parses them anyway.
apimachinery::Result<codec::JsonTree> CanonicalOfSent(const ResourceType& type,
                                                      codec::JsonTree sent);

/// Sets metadata.managedFields of `object`, which a create, update or patch writes instead of
/// `live`. `object` has its defaults; `live` is BlankObject for a create. Removes the field when
/// the server keeps no managers.
void TrackWrite(const Call& call, const codec::JsonTree& live, codec::JsonTree& object);

/// Applies a config to `live`. The result is canonical and has its managers. `config` is as the
/// client has sent it. Returns kConflict, with a cause for each field that another manager has set
/// to another value, and kBadRequest for a config of another type.
apimachinery::Result<codec::JsonTree> ApplyTo(const Call& call, const codec::JsonTree& live,
                                              const codec::JsonTree& config);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_CALL_FIELD_TRACKING_H_
