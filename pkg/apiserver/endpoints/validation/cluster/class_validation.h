/// @file
/// Checks of StorageClasses, PriorityClasses, RuntimeClasses and CSIDrivers.
#ifndef KUBEXX_APISERVER_ENDPOINTS_VALIDATION_CLUSTER_CLASS_VALIDATION_H_
#define KUBEXX_APISERVER_ENDPOINTS_VALIDATION_CLUSTER_CLASS_VALIDATION_H_

#include "kubexx/apiserver/endpoints/checks/field_causes.h"
#include "kubexx/codec/json_tree.h"

namespace kubexx::apiserver {

/// Adds what is wrong with a StorageClass. As storage validation's ValidateStorageClass.
void CheckStorageClass(const codec::JsonTree& object, FieldCauses& causes);

/// Adds what is wrong with a PriorityClass. As scheduling validation's ValidatePriorityClass.
void CheckPriorityClass(const codec::JsonTree& object, FieldCauses& causes);

/// Adds a cause when an update changes the priority of a PriorityClass.
void CheckPriorityChange(const codec::JsonTree& current, const codec::JsonTree& object,
                         FieldCauses& causes);

/// Adds what is wrong with a RuntimeClass. As node validation's ValidateRuntimeClass.
void CheckRuntimeClass(const codec::JsonTree& object, FieldCauses& causes);

/// Adds what is wrong with the spec of a CSIDriver. As storage validation's ValidateCSIDriver.
void CheckDriver(const codec::JsonTree& spec, FieldCauses& causes);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_VALIDATION_CLUSTER_CLASS_VALIDATION_H_
