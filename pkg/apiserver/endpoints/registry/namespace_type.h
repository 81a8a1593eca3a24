/// @file
/// The type of namespaces.
#ifndef KUBEXX_APISERVER_ENDPOINTS_REGISTRY_NAMESPACE_TYPE_H_
#define KUBEXX_APISERVER_ENDPOINTS_REGISTRY_NAMESPACE_TYPE_H_

#include "kubexx/apiserver/object/resource_type.h"

namespace kubexx::apiserver {

/// Whether the type is Namespace, whose objects have finalizers also in their spec.
bool IsNamespace(const ResourceType& type);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_REGISTRY_NAMESPACE_TYPE_H_
