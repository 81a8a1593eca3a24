/// @file
/// Scales: how many replicas an object wants and has.
#ifndef KUBEXX_APISERVER_ENDPOINTS_REGISTRY_SCALE_OBJECT_H_
#define KUBEXX_APISERVER_ENDPOINTS_REGISTRY_SCALE_OBJECT_H_

#include <cstdint>

#include "kubexx/apimachinery/status.h"
#include "kubexx/apiserver/object/resource_type.h"
#include "kubexx/codec/json_tree.h"

namespace kubexx::apiserver {

/// The type of Scales, of autoscaling/v1.
const ResourceType& ScaleType();

/// autoscaling/v1 Scale of an object that has spec.replicas, or what its definition names.
codec::JsonTree ScaleOf(const ResourceType& type, const codec::JsonTree& object);

/// How many replicas a Scale wants.
std::int64_t ReplicasOfScale(const codec::JsonTree& scale);

/// Makes `object`, of `type`, want so many replicas. kInvalid where what is to hold the number is
/// no object.
apimachinery::Result<void> SetReplicas(const ResourceType& type, std::int64_t count,
                                       codec::JsonTree& object);

/// kInternalError for a custom object that does not say how many replicas it wants: it has no
/// Scale.
apimachinery::Result<void> CheckReplicas(const ResourceType& type, const codec::JsonTree& object);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_REGISTRY_SCALE_OBJECT_H_
