#include "kubexx/apiserver/endpoints/validation/cluster/lease_validation.h"

#include <string>

#include "kubexx/apiserver/endpoints/checks/field_path.h"
#include "kubexx/apiserver/endpoints/checks/value_checks.h"

namespace kubexx::apiserver {

using codec::JsonTree;

void CheckLease(const JsonTree& spec, FieldCauses& causes) {
  const FieldPath at("spec");
  if (const auto seconds = IntAt(spec, "leaseDurationSeconds"); seconds && *seconds <= 0) {
    causes.Invalid(at.Of("leaseDurationSeconds"), std::to_string(*seconds),
                   "must be greater than 0");
  }
  CheckLeast(spec, "leaseTransitions", 0, at, causes);
}

}  // namespace kubexx::apiserver
