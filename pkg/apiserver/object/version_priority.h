/// @file
/// The order in which clients should prefer the versions of a group.
#ifndef KUBEXX_APISERVER_OBJECT_VERSION_PRIORITY_H_
#define KUBEXX_APISERVER_OBJECT_VERSION_PRIORITY_H_

#include <string_view>

namespace kubexx::apiserver {

/// Whether version `a` comes before `b` in discovery: v10, v2, v1, then v2beta1, v1beta2, then
/// alpha versions, then names that are not Kubernetes versions, alphabetically. A strict order.
/// Semantics: apimachinery's CompareKubeAwareVersionStrings.
bool IsPreferredVersion(std::string_view a, std::string_view b);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_OBJECT_VERSION_PRIORITY_H_
