/// @file
/// Prepares and checks an object before it is written.
#ifndef KUBEXX_APISERVER_ENDPOINTS_PREPARATION_PREPARE_H_
#define KUBEXX_APISERVER_ENDPOINTS_PREPARATION_PREPARE_H_

#include <stop_token>
#include <string>
#include <string_view>

#include "kubexx/apimachinery/object_key.h"
#include "kubexx/apimachinery/status.h"
#include "kubexx/apiserver/object/resource_type.h"
#include "kubexx/apiserver/object/write_part.h"
#include "kubexx/base/clock.h"
#include "kubexx/codec/json_tree.h"

namespace kubexx::apiserver {

/// Returns kBadRequest when `object` has another name or namespace than the URL of its request.
apimachinery::Result<void> CheckUrl(const codec::JsonTree& object,
                                    const apimachinery::ObjectKey& of_url);

/// Returns kInvalid for a patch that changes kind or apiVersion. Otherwise the server would ignore
/// that change.
apimachinery::Result<void> CheckPatchedKind(const ResourceType& type,
                                            const codec::JsonTree& patched);

/// Prepares a new object: fills in the fields that the server decides (a name from generateName,
/// uid, creationTimestamp, generation, an empty status) and validates it. `namespace_` is that of
/// the request. Returns kCancelled when `stop` is requested, as the checks may take seconds.
apimachinery::Result<void> PrepareCreate(const ResourceType& type, std::string_view namespace_,
                                         base::Clock& clock, codec::JsonTree& object,
                                         const std::stop_token& stop);

/// Prepares a change from `current`, which has its defaults, to `object`: restores the fields that
/// the client may not change, increments the generation and validates the object. Returns kConflict
/// when `object` has another resourceVersion, and kCancelled as PrepareCreate.
apimachinery::Result<void> PrepareUpdate(const ResourceType& type, WritePart part,
                                         const codec::JsonTree& current, codec::JsonTree& object,
                                         const std::stop_token& stop);

/// Makes a name from metadata.generateName: `prefix` and five random letters and digits, at most 63
/// bytes.
std::string GeneratedName(std::string_view prefix);

/// Sets the defaults that TypeBehavior has for the type: of those types for which controllers and
/// kubectl rely on them, such as workloads, pods, Services and namespaces.
void SetDefaults(const ResourceType& type, codec::JsonTree& object);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_PREPARATION_PREPARE_H_
