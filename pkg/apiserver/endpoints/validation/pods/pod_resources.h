/// @file
/// The requests and limits of a pod: of all its containers together, and of the pod itself.
#ifndef KUBEXX_APISERVER_ENDPOINTS_VALIDATION_PODS_POD_RESOURCES_H_
#define KUBEXX_APISERVER_ENDPOINTS_VALIDATION_PODS_POD_RESOURCES_H_

#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "kubexx/apimachinery/quantity.h"
#include "kubexx/codec/json_tree.h"

namespace kubexx::apiserver {

/// Quantities by the names of resources.
using ResourceAmounts = std::map<std::string, apimachinery::Quantity, std::less<>>;

/// Reads the quantities of an object such as resources.limits, which may be null.
ResourceAmounts AmountsOf(const codec::JsonTree* list);

/// The maximum that a pod's containers need together of `list`, which is "requests" or "limits":
/// the sum for the containers that run all the time, or, when that is more, the amount of an init
/// container plus what already runs beside it. As component-helpers' AggregateContainerRequests.
ResourceAmounts SumOfContainers(const codec::JsonTree& pod_spec, std::string_view list);

/// Whether the pod itself may request the resource. It may request cpu, memory and huge pages.
bool IsOfPods(std::string_view resource);
/// Whether the resource is huge pages, whose size is in its name.
bool IsHugePages(std::string_view resource);
/// Whether a limit of the resource may be above the request. Not for huge pages, and not for
/// extended resources such as "example.com/gpu".
bool MayBeOvercommitted(std::string_view resource);

/// Rounds the quantities of the member `list` up to thousandths. The member may be missing.
void RoundAmounts(codec::JsonTree& object, std::string_view list);
/// Rounds the quantities of requests and limits up to thousandths.
void RoundResources(codec::JsonTree& resources);

/// Sets the missing requests of a pod that has limits of its own: to those of its containers
/// together, or else to its limits. Sets missing limits of huge pages to those of its containers
/// together. The containers must have their defaults. As core/v1's SetDefaults_Pod.
void DefaultResourcesOfPod(codec::JsonTree& pod_spec);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_VALIDATION_PODS_POD_RESOURCES_H_
