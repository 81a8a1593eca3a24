/// @file
/// Checks of the names of objects.
#ifndef KUBEXX_APISERVER_ENDPOINTS_VALIDATION_OBJECTS_OBJECT_NAMES_H_
#define KUBEXX_APISERVER_ENDPOINTS_VALIDATION_OBJECTS_OBJECT_NAMES_H_

#include <string>
#include <string_view>

#include "kubexx/apiserver/object/resource_type.h"

namespace kubexx::apiserver {

/// What is wrong with the name of an object of `type`, as in kube-apiserver's strategies; "" for a
/// valid name.
std::string NameProblem(const ResourceType& type, std::string_view name);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_VALIDATION_OBJECTS_OBJECT_NAMES_H_
