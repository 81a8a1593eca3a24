/// @file
/// Checks of volumes whose files have data of the API server: Secrets, ConfigMaps and fields of the
/// pod.
#ifndef KUBEXX_APISERVER_ENDPOINTS_VALIDATION_PODS_FILE_SOURCES_H_
#define KUBEXX_APISERVER_ENDPOINTS_VALIDATION_PODS_FILE_SOURCES_H_

#include "kubexx/apiserver/endpoints/checks/field_causes.h"
#include "kubexx/apiserver/endpoints/checks/field_path.h"
#include "kubexx/codec/json_tree.h"

namespace kubexx::apiserver {

/// Adds what is wrong with such a volume source. The last step of `path` says which one it is:
/// "secret", "configMap", "downwardAPI" or "projected".
void CheckFileSource(const codec::JsonTree& source, const FieldPath& path, FieldCauses& causes);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_VALIDATION_PODS_FILE_SOURCES_H_
