/// @file
/// Which version of a group clients shall prefer.
#ifndef KUBEXX_APISERVER_OBJECT_VERSION_PRIORITY_H_
#define KUBEXX_APISERVER_OBJECT_VERSION_PRIORITY_H_

#include <string_view>

namespace kubexx::apiserver {

/// Whether version `a` stands before `b` in discovery: v10, v2, v1, then v2beta1, v1beta2, then
/// alphas, then whatever is no version of Kubernetes' form, by its letters. A strict order;
/// apimachinery's CompareKubeAwareVersionStrings.
bool IsPreferredVersion(std::string_view a, std::string_view b);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_OBJECT_VERSION_PRIORITY_H_
