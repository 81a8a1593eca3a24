/// @file
/// Scale objects, which have the wanted and the actual number of an object's replicas.
#ifndef KUBEXX_APISERVER_ENDPOINTS_REGISTRY_SCALE_OBJECT_H_
#define KUBEXX_APISERVER_ENDPOINTS_REGISTRY_SCALE_OBJECT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "kubexx/apimachinery/status.h"
#include "kubexx/apiserver/object/resource_type.h"
#include "kubexx/codec/json_tree.h"

namespace kubexx::apiserver {

/// The type Scale of autoscaling/v1.
const ResourceType& ScaleType();

/// The autoscaling/v1 Scale of an object that has spec.replicas, or the fields that its
/// CustomResourceDefinition names instead.
codec::JsonTree ScaleOf(const ResourceType& type, const codec::JsonTree& object);

/// The members that lead to the wanted number of replicas in objects of `type`, which have a Scale.
std::vector<std::string> ReplicasPath(const ResourceType& type);

/// The wanted number of replicas of a Scale.
std::int64_t ReplicasOfScale(const codec::JsonTree& scale);

/// Sets the wanted number of replicas of `object`, which is of `type`. Returns kInvalid when a
/// value on the path to that field is not an object.
apimachinery::Result<void> SetReplicas(const ResourceType& type, std::int64_t count,
                                       codec::JsonTree& object);

/// Returns kInternalError for a custom object that does not have the field with the wanted number
/// of replicas, because it has no Scale then.
apimachinery::Result<void> CheckReplicas(const ResourceType& type, const codec::JsonTree& object);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_REGISTRY_SCALE_OBJECT_H_
