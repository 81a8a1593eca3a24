/// @file
/// The managers of fields, on the way of a write through the handlers.
#ifndef KUBEXX_APISERVER_ENDPOINTS_CALL_FIELD_TRACKING_H_
#define KUBEXX_APISERVER_ENDPOINTS_CALL_FIELD_TRACKING_H_

#include <string>

#include "kubexx/apimachinery/status.h"
#include "kubexx/apiserver/endpoints/call/call.h"
#include "kubexx/apiserver/managedfields/type.h"
#include "kubexx/apiserver/object/resource_type.h"
#include "kubexx/codec/json_tree.h"

namespace kubexx::apiserver {

/// How objects of the type are merged; `type` must outlive it.
managedfields::Type MergeTypeOf(const ResourceType& type);

/// A bad parameter of a write: kInvalid with one cause.
apimachinery::Status BadParameter(const Call& call, const std::string& reason,
                                  const std::string& message, const char* field);

/// The parameters fieldManager and force; kInvalid for bad ones. `apply`: of an apply patch.
apimachinery::Result<void> CheckManager(const Call& call, bool apply);

/// What an object is compared with that did not exist before.
apimachinery::Result<codec::JsonTree> BlankObject(const ResourceType& type);

/// Canonical(), with the managers as they were sent: that a list is empty counts, and TrackWrite
/// reads them anyway.
apimachinery::Result<codec::JsonTree> CanonicalOfSent(const ResourceType& type,
                                                      codec::JsonTree sent);

/// Writes metadata.managedFields of `object`, with its defaults, that a create, update or patch
/// makes of `live`, BlankObject for a create. When the server keeps none, there are none.
void TrackWrite(const Call& call, const codec::JsonTree& live, codec::JsonTree& object);

/// `live` with a config applied, canonical and with its managers. `config` as the client has sent
/// it. kConflict with a cause for each field that somebody else has set to something else;
/// kBadRequest for a config of another type.
apimachinery::Result<codec::JsonTree> ApplyTo(const Call& call, const codec::JsonTree& live,
                                              const codec::JsonTree& config);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_CALL_FIELD_TRACKING_H_
