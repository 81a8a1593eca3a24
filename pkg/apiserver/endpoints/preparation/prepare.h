/// @file
/// What the server does to an object before it is written, and what it refuses.
#ifndef KUBEXX_APISERVER_ENDPOINTS_PREPARATION_PREPARE_H_
#define KUBEXX_APISERVER_ENDPOINTS_PREPARATION_PREPARE_H_

#include <stop_token>
#include <string>
#include <string_view>

#include "kubexx/apimachinery/object_key.h"
#include "kubexx/apimachinery/status.h"
#include "kubexx/apiserver/endpoints/preparation/write_part.h"
#include "kubexx/apiserver/object/resource_type.h"
#include "kubexx/base/clock.h"
#include "kubexx/codec/json_tree.h"

namespace kubexx::apiserver {

/// kBadRequest when `object` says that it has another name or namespace than the URL of its
/// request.
apimachinery::Result<void> CheckUrl(const codec::JsonTree& object,
                                    const apimachinery::ObjectKey& of_url);

/// kInvalid for a patch that makes the object one of another type: to change that would be to be
/// ignored.
apimachinery::Result<void> CheckPatchedKind(const ResourceType& type,
                                            const codec::JsonTree& patched);

/// A new object: fills in what the server decides (name of a generateName, uid, creationTimestamp,
/// generation, an empty status) and checks names and labels. `namespace_` is the request's.
/// kCancelled when it is stopped: checks may take seconds.
apimachinery::Result<void> PrepareCreate(const ResourceType& type, std::string_view namespace_,
                                         base::Clock& clock, codec::JsonTree& object,
                                         const std::stop_token& stop);

/// A change from `current`, with its defaults, to `object`: restores what the client may not
/// change, counts the generation, checks. kConflict when `object` names another resourceVersion;
/// kCancelled as PrepareCreate.
apimachinery::Result<void> PrepareUpdate(const ResourceType& type, WritePart part,
                                         const codec::JsonTree& current, codec::JsonTree& object,
                                         const std::stop_token& stop);

/// `prefix` and five random letters and digits, at most 63 bytes: as metadata.generateName makes
/// names.
std::string GeneratedName(std::string_view prefix);

/// Fields that are set when a client leaves them out, of the types that controllers and kubectl
/// rely on: workloads, pods, services, namespaces.
void SetDefaults(const ResourceType& type, codec::JsonTree& object);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_PREPARATION_PREPARE_H_
