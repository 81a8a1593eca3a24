/// @file
/// The built-in resources that the server serves.
#ifndef KUBEXX_APISERVER_RESOURCES_BUILTIN_TYPES_H_
#define KUBEXX_APISERVER_RESOURCES_BUILTIN_TYPES_H_

#include <vector>

#include "kubexx/apiserver/object/resource_type.h"

namespace kubexx::apiserver {

/// The built-in resources that kube-apiserver 1.36 serves by default, as far as they store objects,
/// and the review types. Without bindings and without alpha and beta versions. Everything that is
/// particular to a type is in its entry of one table.
std::vector<ResourceTypeRef> BuiltinTypes();

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_RESOURCES_BUILTIN_TYPES_H_
