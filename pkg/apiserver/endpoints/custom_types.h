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

/// The served versions of a definition.
std::vector<ResourceTypeRef> TypesOfDefinition(const codec::JsonTree& definition);

/// Fills in what a definition leaves out (singular name, list kind, conversion) and its status: it
/// is accepted and established at once.
void EstablishDefinition(base::Clock& clock, codec::JsonTree& definition);

/// Serves what the definitions in the storage say.
apimachinery::Result<void> ReloadCustomTypes(TypeRegistry& types, ObjectStore& objects,
                                             const std::stop_token& stop);

/// Deletes all objects of a definition's resource.
apimachinery::Result<void> DeleteCustomObjects(ObjectStore& objects,
                                               const codec::JsonTree& definition,
                                               const std::stop_token& stop);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_CUSTOM_TYPES_H_
