#include "kubexx/apiserver/endpoints/validation/network/cidr_validation.h"

#include <cstddef>
#include <string>

#include "kubexx/apiserver/endpoints/checks/value_checks.h"

namespace kubexx::apiserver {

using codec::JsonTree;

void CheckServiceCidrChange(const JsonTree& before, const JsonTree& after, FieldCauses& causes) {
  const JsonTree* const former = before.Find("cidrs");
  const JsonTree* const now = after.Find("cidrs");
  const std::size_t count = former == nullptr ? 0 : former->elements().size();
  const std::string text = count == 0 ? std::string() : JsonOrNull(now);
  for (std::size_t i = 0; i < count; ++i) {
    if (now == nullptr || now->elements().size() <= i ||
        now->elements()[i] != former->elements()[i]) {
      causes.Invalid("spec.cidrs[" + std::to_string(i) + "]", text, "field is immutable");
    }
  }
}

}  // namespace kubexx::apiserver
