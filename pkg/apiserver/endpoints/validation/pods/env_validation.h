/// @file
/// Checks of a container's variables, and of the fields of a pod that these and files can have.
#ifndef KUBEXX_APISERVER_ENDPOINTS_VALIDATION_PODS_ENV_VALIDATION_H_
#define KUBEXX_APISERVER_ENDPOINTS_VALIDATION_PODS_ENV_VALIDATION_H_

#include <string_view>

#include "kubexx/apiserver/endpoints/checks/field_causes.h"
#include "kubexx/apiserver/endpoints/checks/field_path.h"
#include "kubexx/codec/json_tree.h"

namespace kubexx::apiserver {

/// Adds what is wrong with the members env and envFrom of a container: names that no variable can
/// have, values from nothing or from several places, references that name nothing. As core
/// validation's ValidateEnv and ValidateEnvFrom.
void CheckVariables(const codec::JsonTree& container, const FieldPath& path, FieldCauses& causes);

/// Adds what is wrong with a fieldRef. `fields` are those that it may name, with "|" between them;
/// besides there are single labels and annotations.
void CheckFieldReference(const codec::JsonTree& reference, std::string_view fields,
                         const FieldPath& path, FieldCauses& causes);

/// Adds what is wrong with a resourceFieldRef. One in a volume has to name a container.
void CheckResourceReference(const codec::JsonTree& reference, bool of_volume, const FieldPath& path,
                            FieldCauses& causes);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_VALIDATION_PODS_ENV_VALIDATION_H_
