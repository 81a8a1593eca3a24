/// @file
/// Checks of ConfigMaps and Secrets.
#ifndef KUBEXX_APISERVER_ENDPOINTS_VALIDATION_CLUSTER_CONFIG_VALIDATION_H_
#define KUBEXX_APISERVER_ENDPOINTS_VALIDATION_CLUSTER_CONFIG_VALIDATION_H_

#include "kubexx/apiserver/endpoints/checks/field_causes.h"
#include "kubexx/codec/json_tree.h"

namespace kubexx::apiserver {

/// Adds what is wrong with a ConfigMap's data: keys that are not valid file names, keys that are
/// both in data and in binaryData, and more than 1 MiB of values.
void CheckConfigMap(const codec::JsonTree& object, FieldCauses& causes);

/// Adds what is wrong with a Secret's data, which is in base64: keys that are not valid file names,
/// more than 1 MiB of values, and violations of what its type demands. No error contains a value.
void CheckSecret(const codec::JsonTree& object, FieldCauses& causes);

/// Adds causes when an update changes the data of a ConfigMap or Secret that is marked as
/// immutable.
void CheckMarkedData(const codec::JsonTree& current, const codec::JsonTree& object,
                     FieldCauses& causes);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_VALIDATION_CLUSTER_CONFIG_VALIDATION_H_
