/// @file
/// The type of CustomResourceDefinitions.
#ifndef KUBEXX_APISERVER_ENDPOINTS_REGISTRY_DEFINITION_TYPE_H_
#define KUBEXX_APISERVER_ENDPOINTS_REGISTRY_DEFINITION_TYPE_H_

#include "kubexx/apiserver/object/resource_type.h"

namespace kubexx::apiserver {

/// The built-in type CustomResourceDefinition.
const ResourceTypeRef& DefinitionType();

/// Whether objects of the type are CustomResourceDefinitions.
bool IsCustomResourceDefinition(const ResourceType& type);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_REGISTRY_DEFINITION_TYPE_H_
