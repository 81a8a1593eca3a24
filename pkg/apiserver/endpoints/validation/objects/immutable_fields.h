/// @file
/// What an update may not change in objects of the built-in types.
#ifndef KUBEXX_APISERVER_ENDPOINTS_VALIDATION_OBJECTS_IMMUTABLE_FIELDS_H_
#define KUBEXX_APISERVER_ENDPOINTS_VALIDATION_OBJECTS_IMMUTABLE_FIELDS_H_

#include "kubexx/apiserver/endpoints/checks/field_causes.h"
#include "kubexx/apiserver/object/resource_type.h"
#include "kubexx/codec/json_tree.h"

namespace kubexx::apiserver {

/// Adds what an update from `current` to `object` changes though controllers rely on it: selectors
/// and templates, what volumes and classes are made of, data of what is marked as immutable. As
/// kube-apiserver's Validate...Update functions; of pods see CheckPodUpdate, of bindings CheckRbac.
void CheckImmutable(const ResourceType& type, const codec::JsonTree& current,
                    const codec::JsonTree& object, FieldCauses& causes);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_VALIDATION_OBJECTS_IMMUTABLE_FIELDS_H_
