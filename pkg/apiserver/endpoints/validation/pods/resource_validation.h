/// @file
/// Checks of the resources of pods, containers, quotas and LimitRanges.
#ifndef KUBEXX_APISERVER_ENDPOINTS_VALIDATION_PODS_RESOURCE_VALIDATION_H_
#define KUBEXX_APISERVER_ENDPOINTS_VALIDATION_PODS_RESOURCE_VALIDATION_H_

#include <string>
#include <string_view>

#include "kubexx/apimachinery/quantity.h"
#include "kubexx/apiserver/endpoints/checks/field_causes.h"
#include "kubexx/codec/json_tree.h"

namespace kubexx::apiserver {

/// Adds what is wrong with the requests, limits and claims of the containers in a pod's spec, whose
/// path is `path`, and with those of the pod itself: invalid names and amounts, requests above
/// limits, and containers whose sum exceeds the pod's resources. As core validation's
/// validateResourceRequirements and validatePodResources.
void CheckPodResources(const codec::JsonTree& pod_spec, const std::string& path,
                       FieldCauses& causes);

/// Whether a name without a domain is a resource that a ResourceQuota may limit.
bool IsQuotaResource(std::string_view name);

/// Adds what is wrong with the name and the amount of a resource in a ResourceQuota.
void CheckQuotaResource(std::string_view name, const apimachinery::Quantity& amount,
                        const std::string& field, FieldCauses& causes);

/// Adds what is wrong with the name of a resource of a LimitRange.
void CheckLimitedResource(std::string_view name, bool of_containers, const std::string& field,
                          FieldCauses& causes);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_VALIDATION_PODS_RESOURCE_VALIDATION_H_
