#include "kubexx/apiserver/endpoints/validation/workloads/disruption_budget.h"

#include <utility>

#include "kubexx/apiserver/endpoints/checks/counts.h"
#include "kubexx/apiserver/endpoints/checks/field_path.h"
#include "kubexx/apiserver/endpoints/checks/selector_validation.h"
#include "kubexx/apiserver/endpoints/checks/value_checks.h"

namespace kubexx::apiserver {

using codec::JsonTree;

void CheckDisruptionBudget(const JsonTree& spec, FieldCauses& causes) {
  const JsonTree* const available = spec.Find("minAvailable");
  const JsonTree* const unavailable = spec.Find("maxUnavailable");
  if (available != nullptr && unavailable != nullptr) {
    causes.Invalid("spec", spec.ToJson(), "minAvailable and maxUnavailable exclude each other");
  }
  for (const auto& [field, value] :
       {std::pair("spec.minAvailable", available), std::pair("spec.maxUnavailable", unavailable)}) {
    CheckCountOrPercent(value, field, causes);
    CheckNotAboveAll(value, field, causes);
  }
  CheckLabelSelector(spec.Find("selector"), "spec.selector", causes);
  CheckChoice(spec, "unhealthyPodEvictionPolicy", "AlwaysAllow|IfHealthyBudget", FieldPath("spec"),
              causes);
}

}  // namespace kubexx::apiserver
