/// @file
/// Checks of a container's environment variables, and of references to fields of the pod in
/// variables and files.
#ifndef KUBEXX_APISERVER_ENDPOINTS_VALIDATION_PODS_ENV_VALIDATION_H_
#define KUBEXX_APISERVER_ENDPOINTS_VALIDATION_PODS_ENV_VALIDATION_H_

#include <string_view>

#include "kubexx/apiserver/endpoints/checks/field_causes.h"
#include "kubexx/apiserver/endpoints/checks/field_path.h"
#include "kubexx/codec/json_tree.h"

namespace kubexx::apiserver {

/// Adds what is wrong with the members env and envFrom of a container: invalid names of variables,
/// values from no source or from several sources, and references without a name. As core
/// validation's ValidateEnv and ValidateEnvFrom.
void CheckVariables(const codec::JsonTree& container, const FieldPath& path, FieldCauses& causes);

/// Adds what is wrong with a fieldRef. `fields` are the fields that it may name, separated by "|".
/// It may also name single labels and annotations.
void CheckFieldReference(const codec::JsonTree& reference, std::string_view fields,
                         const FieldPath& path, FieldCauses& causes);

/// Adds what is wrong with a resourceFieldRef. In a volume it has to name a container.
void CheckResourceReference(const codec::JsonTree& reference, bool of_volume, const FieldPath& path,
                            FieldCauses& causes);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_VALIDATION_PODS_ENV_VALIDATION_H_
