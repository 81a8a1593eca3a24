/// @file
/// What a pod asks for and may have: of its containers together, and of the pod itself.
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

/// Those of an object such as resources.limits, which may be null.
ResourceAmounts AmountsOf(const codec::JsonTree* list);

/// What a pod's containers have in `list`, "requests" or "limits", together at the most: those of
/// containers that run all the time, or those of a container that runs before them with what
/// already runs then, where that is more. As component-helpers' AggregateContainerRequests.
ResourceAmounts SumOfContainers(const codec::JsonTree& pod_spec, std::string_view list);

/// Whether the pod itself may have the resource: cpu, memory and huge pages.
bool IsOfPods(std::string_view resource);
/// Whether that is a number of huge pages, of a size that is in its name.
bool IsHugePages(std::string_view resource);
/// Whether a limit may be above the request, so that more is promised than there is: not so of huge
/// pages, nor of resources of others such as "example.com/gpu".
bool MayBeOvercommitted(std::string_view resource);

/// Rounds the quantities of the member `list`, which may be missing, up to thousandths.
void RoundAmounts(codec::JsonTree& object, std::string_view list);
/// Rounds the quantities of requests and limits up to thousandths.
void RoundResources(codec::JsonTree& resources);

/// Gives a pod that says what it may have what it asks for: as much as its containers, or else all
/// of that. Its limits of huge pages are those of its containers. Call it when the containers have
/// their defaults. As core/v1's SetDefaults_Pod.
void DefaultResourcesOfPod(codec::JsonTree& pod_spec);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_VALIDATION_PODS_POD_RESOURCES_H_
