/// @file
/// The checks of objects that this server shares with kube-apiserver.
#ifndef KUBEXX_APISERVER_ENDPOINTS_VALIDATION_OBJECTS_VALIDATION_H_
#define KUBEXX_APISERVER_ENDPOINTS_VALIDATION_OBJECTS_VALIDATION_H_

#include "kubexx/apiserver/endpoints/checks/field_causes.h"
#include "kubexx/apiserver/object/resource_type.h"
#include "kubexx/codec/json_tree.h"

namespace kubexx::apiserver {

/// Adds what is wrong with the annotations, owner references and finalizers of an object of any
/// type. `old` is null for a create. An object that is being deleted may not get new finalizers.
void CheckMetadata(const ResourceType& type, const codec::JsonTree* old,
                   const codec::JsonTree& object, FieldCauses& causes);

/// Adds what is wrong with an object of those built-in types for which TypeBehavior has a check,
/// such as pods, workloads, Services, Secrets and ConfigMaps. `old` is the object before an update,
/// null for a create; call it for an update only when more than metadata and status differ.
void CheckSpec(const ResourceType& type, const codec::JsonTree* old, const codec::JsonTree& object,
               FieldCauses& causes);

/// Adds what is wrong with an object of those built-in types that are checked with every write,
/// also when nothing but metadata and status differ: configurations of webhooks, Roles and their
/// bindings.
void CheckAlways(const ResourceType& type, const codec::JsonTree* old,
                 const codec::JsonTree& object, FieldCauses& causes);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_VALIDATION_OBJECTS_VALIDATION_H_
