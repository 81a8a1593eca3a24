/// @file
/// What kube-apiserver refuses of built-in objects, as far as this server checks it.
#ifndef KUBEXX_APISERVER_ENDPOINTS_VALIDATION_OBJECTS_VALIDATION_H_
#define KUBEXX_APISERVER_ENDPOINTS_VALIDATION_OBJECTS_VALIDATION_H_

#include <string>
#include <string_view>

#include "kubexx/apiserver/endpoints/checks/field_causes.h"
#include "kubexx/apiserver/object/resource_type.h"
#include "kubexx/codec/json_tree.h"

namespace kubexx::apiserver {

/// Whether a finalizer is one of Kubernetes' own or says whose it is: "example.com/name". Others
/// are refused where kube-apiserver's core validation does, and warned of in custom resources.
bool IsDomainQualified(std::string_view finalizer);

/// Adds what is wrong with annotations, owners and finalizers, of any type. `old` is null for a
/// create; an object that is being deleted gets no new finalizers.
void CheckMetadata(const ResourceType& type, const codec::JsonTree* old,
                   const codec::JsonTree& object, FieldCauses& causes);

/// Adds what is wrong with pods, workloads, Services, Secrets, ConfigMaps and schedules; nothing of
/// other types. With `old`, only what an update may not change either; call it when the object
/// differs from that by more than its metadata and status.
void CheckSpec(const ResourceType& type, const codec::JsonTree* old, const codec::JsonTree& object,
               FieldCauses& causes);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_VALIDATION_OBJECTS_VALIDATION_H_
