/// @file
/// The types that the server serves because of a CustomResourceDefinition.
#ifndef KUBEXX_APISERVER_ENDPOINTS_REGISTRY_CUSTOM_TYPES_H_
#define KUBEXX_APISERVER_ENDPOINTS_REGISTRY_CUSTOM_TYPES_H_

#include <memory>
#include <stop_token>
#include <string_view>
#include <vector>

#include "kubexx/apimachinery/status.h"
#include "kubexx/apiserver/endpoints/registry/custom_names.h"
#include "kubexx/apiserver/object/resource_type.h"
#include "kubexx/base/clock.h"
#include "kubexx/codec/json_tree.h"

namespace kubexx::apiserver {

/// The prefix of the storage keys of a definition's objects.
std::string CustomPrefixOf(const codec::JsonTree& definition);

/// Whether the objects of a definition would have the same storage keys as those of a built-in
/// type. The server refuses such a definition, and serves nothing for one that exists already.
bool OverlapsBuiltin(const codec::JsonTree& definition);

/// The types of a definition's served versions; none before the definition is established.
/// `converter` may be null.
std::vector<ResourceTypeRef> TypesOfDefinition(const codec::JsonTree& definition,
                                               const std::shared_ptr<schema::Converter>& converter);

/// The type of the definition's first version, even if that is not served. It is enough to find the
/// stored objects. Null for a definition without versions, or for which OverlapsBuiltin is true.
ResourceTypeRef AnyTypeOfDefinition(const codec::JsonTree& definition);

/// Sets missing fields of a definition: the singular name, the list kind, the conversion, and in
/// its status the stored version.
void SetDefinitionDefaults(codec::JsonTree& definition);

/// Sets the status of a definition: its names are accepted and it is established unless another
/// definition has one of its names. kube-apiserver's controllers do that a moment later instead of
/// at once.
void EstablishDefinition(base::Clock& clock, const TakenNames& taken, codec::JsonTree& definition);

/// The finalizer of a definition whose objects have to be deleted first.
inline constexpr std::string_view kCustomResourceCleanup =
    "customresourcecleanup.apiextensions.k8s.io";

/// Marks a definition for deletion: sets deletionTimestamp, the finalizer and a condition. As
/// kube-apiserver's registry.
void BeginTermination(base::Clock& clock, codec::JsonTree& definition);
/// Sets the condition that says that the deletion waits for objects.
void ContinueTermination(base::Clock& clock, codec::JsonTree& definition);
/// Removes the finalizer when all objects are gone.
void EndTermination(base::Clock& clock, codec::JsonTree& definition);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_REGISTRY_CUSTOM_TYPES_H_
