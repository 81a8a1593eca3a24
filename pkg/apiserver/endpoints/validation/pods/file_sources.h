/// @file
/// Checks of volumes that are files with what the API server knows.
#ifndef KUBEXX_APISERVER_ENDPOINTS_VALIDATION_PODS_FILE_SOURCES_H_
#define KUBEXX_APISERVER_ENDPOINTS_VALIDATION_PODS_FILE_SOURCES_H_

#include "kubexx/apiserver/endpoints/checks/field_causes.h"
#include "kubexx/apiserver/endpoints/checks/field_path.h"
#include "kubexx/codec/json_tree.h"

namespace kubexx::apiserver {

/// Adds what is wrong with a volume of a Secret, a ConfigMap or fields of the pod, or one of
/// several of these. `path` ends with which of them it is: "secret", "configMap", "downwardAPI",
/// "projected".
void CheckFileSource(const codec::JsonTree& source, const FieldPath& path, FieldCauses& causes);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_VALIDATION_PODS_FILE_SOURCES_H_
