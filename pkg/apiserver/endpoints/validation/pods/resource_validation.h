/// @file
/// Checks of what pods and their containers ask for.
#ifndef KUBEXX_APISERVER_ENDPOINTS_VALIDATION_PODS_RESOURCE_VALIDATION_H_
#define KUBEXX_APISERVER_ENDPOINTS_VALIDATION_PODS_RESOURCE_VALIDATION_H_

#include <string>
#include <string_view>

#include "kubexx/apimachinery/quantity.h"
#include "kubexx/apiserver/endpoints/checks/field_causes.h"
#include "kubexx/codec/json_tree.h"

namespace kubexx::apiserver {

/// Adds what is wrong with the requests, limits and claims of the containers of a pod's spec, which
/// stands at `path`, and with those of the pod itself: names that are none, amounts that cannot be,
/// requests above limits, containers that do not fit in their pod. As core validation's
/// validateResourceRequirements and validatePodResources.
void CheckPodResources(const codec::JsonTree& pod_spec, const std::string& path,
                       FieldCauses& causes);

/// Whether a name without a domain is one of what a namespace may have a limit for.
bool IsQuotaResource(std::string_view name);

/// Adds what is wrong with a resource of a quota, and with how much there may be of it.
void CheckQuotaResource(std::string_view name, const apimachinery::Quantity& amount,
                        const std::string& field, FieldCauses& causes);

/// Adds what is wrong with the name of a resource of a LimitRange.
void CheckLimitedResource(std::string_view name, bool of_containers, const std::string& field,
                          FieldCauses& causes);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_VALIDATION_PODS_RESOURCE_VALIDATION_H_
