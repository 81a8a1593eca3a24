/// @file
/// Checks of CustomResourceDefinitions that are written.
#ifndef KUBEXX_APISERVER_ENDPOINTS_VALIDATION_CLUSTER_DEFINITION_VALIDATION_H_
#define KUBEXX_APISERVER_ENDPOINTS_VALIDATION_CLUSTER_DEFINITION_VALIDATION_H_

#include "kubexx/apiserver/endpoints/checks/field_causes.h"
#include "kubexx/apiserver/schema/budget.h"
#include "kubexx/codec/json_tree.h"

namespace kubexx::apiserver {

/// Adds what is wrong with a definition, with a change from `old`, which is null for a new one, and
/// with the address of its conversion webhook. It stops when `budget` does. The definition itself
/// is checked by schema::CheckDefinition.
void CheckWrittenDefinition(const codec::JsonTree* old, const codec::JsonTree& object,
                            schema::Budget& budget, FieldCauses& causes);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_VALIDATION_CLUSTER_DEFINITION_VALIDATION_H_
