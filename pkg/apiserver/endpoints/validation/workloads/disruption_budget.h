/// @file
/// Checks of PodDisruptionBudgets.
#ifndef KUBEXX_APISERVER_ENDPOINTS_VALIDATION_WORKLOADS_DISRUPTION_BUDGET_H_
#define KUBEXX_APISERVER_ENDPOINTS_VALIDATION_WORKLOADS_DISRUPTION_BUDGET_H_

#include "kubexx/apiserver/endpoints/checks/field_causes.h"
#include "kubexx/codec/json_tree.h"

namespace kubexx::apiserver {

/// Adds what is wrong with the spec of a PodDisruptionBudget: it says how many pods have to be
/// there or how many may be missing, but not both. As policy validation's
/// ValidatePodDisruptionBudgetSpec.
void CheckDisruptionBudget(const codec::JsonTree& spec, FieldCauses& causes);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_VALIDATION_WORKLOADS_DISRUPTION_BUDGET_H_
