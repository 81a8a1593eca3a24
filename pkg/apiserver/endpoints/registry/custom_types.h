/// @file
/// Custom resources: what a CustomResourceDefinition makes the server serve.
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

/// Where the objects of a definition are in the storage.
std::string CustomPrefixOf(const codec::JsonTree& definition);

/// Whether the objects of a definition would be stored where those of a built-in type are, and so
/// be taken for each other: it is refused. One that is there already serves nothing.
bool OverlapsBuiltin(const codec::JsonTree& definition);

/// The served versions of a definition; none before it is established. `converter` may be null.
std::vector<ResourceTypeRef> TypesOfDefinition(const codec::JsonTree& definition,
                                               const std::shared_ptr<schema::Converter>& converter);

/// The type of its first version, whether that is served or not: what is stored is found by it.
/// Null for a definition without versions, or whose objects would be where those of a built-in type
/// are.
ResourceTypeRef AnyTypeOfDefinition(const codec::JsonTree& definition);

/// Fills in what a definition leaves out: singular name, list kind, conversion, and in its status
/// the version that is stored.
void SetDefinitionDefaults(codec::JsonTree& definition);

/// Sets the status of a definition at once, where kube-apiserver's controllers take a moment: its
/// names are accepted and it is established unless another definition has one of them.
void EstablishDefinition(base::Clock& clock, const TakenNames& taken, codec::JsonTree& definition);

/// The finalizer of a definition whose objects are to go first.
inline constexpr std::string_view kCustomResourceCleanup =
    "customresourcecleanup.apiextensions.k8s.io";

/// Marks a definition for deletion: its time, the finalizer, a condition. As kube-apiserver's
/// registry.
void BeginTermination(base::Clock& clock, codec::JsonTree& definition);
/// Says that objects are waited for.
void ContinueTermination(base::Clock& clock, codec::JsonTree& definition);
/// The objects have gone: without the finalizer.
void EndTermination(base::Clock& clock, codec::JsonTree& definition);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_REGISTRY_CUSTOM_TYPES_H_
