/// @file
/// Checks of what pods and their containers ask for.
#ifndef KUBEXX_APISERVER_ENDPOINTS_RESOURCE_VALIDATION_H_
#define KUBEXX_APISERVER_ENDPOINTS_RESOURCE_VALIDATION_H_

#include <string>

#include "kubexx/apiserver/endpoints/field_causes.h"
#include "kubexx/codec/json_tree.h"

namespace kubexx::apiserver {

/// Adds what is wrong with the requests, limits and claims of the containers of a pod's spec, which
/// stands at `path`, and with those of the pod itself: names that are none, amounts that cannot be,
/// requests above limits, containers that do not fit in their pod. As core validation's
/// validateResourceRequirements and validatePodResources.
void CheckPodResources(const codec::JsonTree& pod_spec, const std::string& path,
                       FieldCauses& causes);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_RESOURCE_VALIDATION_H_
