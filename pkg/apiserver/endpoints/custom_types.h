/// @file
/// Custom resources: what a CustomResourceDefinition makes the server serve.
#ifndef KUBEXX_APISERVER_ENDPOINTS_CUSTOM_TYPES_H_
#define KUBEXX_APISERVER_ENDPOINTS_CUSTOM_TYPES_H_

#include <stop_token>
#include <vector>

#include "kubexx/apimachinery/status.h"
#include "kubexx/apiserver/endpoints/object_store.h"
#include "kubexx/apiserver/endpoints/type_registry.h"
#include "kubexx/apiserver/object/resource_type.h"
#include "kubexx/base/clock.h"
#include "kubexx/codec/json_tree.h"

namespace kubexx::apiserver {

/// Whether objects of the type are CRDs.
bool IsCustomResourceDefinition(const ResourceType& type);

/// The served versions of a definition; none before it is established.
std::vector<ResourceTypeRef> TypesOfDefinition(const codec::JsonTree& definition);

/// Fills in what a definition leaves out: singular name, list kind, conversion.
void SetDefinitionDefaults(codec::JsonTree& definition);

/// Sets the status of a definition at once, where kube-apiserver's controllers take a moment: its
/// names are accepted and it is established unless one of `others`, which may have the definition
/// itself among them, uses one of its names.
void EstablishDefinition(base::Clock& clock, const std::vector<codec::JsonTree>& others,
                         codec::JsonTree& definition);

/// All definitions that are stored.
apimachinery::Result<std::vector<codec::JsonTree>> ReadDefinitions(storage::Storage& storage,
                                                                   const std::stop_token& stop);

/// Serves what the definitions in the storage say, after accepting those whose names have become
/// free.
apimachinery::Result<void> ReloadCustomTypes(TypeRegistry& types, ObjectStore& objects,
                                             const std::stop_token& stop);

/// Deletes all objects of a definition's resource.
apimachinery::Result<void> DeleteCustomObjects(ObjectStore& objects,
                                               const codec::JsonTree& definition,
                                               const std::stop_token& stop);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_CUSTOM_TYPES_H_
