/// @file
/// Checks of fields that an update may not change in objects of the built-in types.
#ifndef KUBEXX_APISERVER_ENDPOINTS_VALIDATION_OBJECTS_IMMUTABLE_FIELDS_H_
#define KUBEXX_APISERVER_ENDPOINTS_VALIDATION_OBJECTS_IMMUTABLE_FIELDS_H_

#include "kubexx/apiserver/endpoints/checks/field_causes.h"
#include "kubexx/apiserver/object/resource_type.h"
#include "kubexx/codec/json_tree.h"

namespace kubexx::apiserver {

/// Adds causes when an update from `current` to `object` changes what TypeBehavior says stays:
/// fields on which controllers rely, such as selectors and templates, the sources of volumes, the
/// parameters of classes, and the data of ConfigMaps and Secrets that are marked as immutable. As
/// kube-apiserver's Validate...Update functions; of pods see CheckPodUpdate, of bindings
/// CheckRoleBinding.
void CheckImmutable(const ResourceType& type, const codec::JsonTree& current,
                    const codec::JsonTree& object, FieldCauses& causes);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_VALIDATION_OBJECTS_IMMUTABLE_FIELDS_H_
