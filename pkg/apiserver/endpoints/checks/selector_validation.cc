#include "kubexx/apiserver/endpoints/checks/selector_validation.h"

#include <cstddef>
#include <string_view>
#include <vector>

#include "kubexx/apiserver/endpoints/checks/label_problems.h"
#include "kubexx/apiserver/object/metadata.h"

namespace kubexx::apiserver {
namespace {

using codec::JsonTree;

std::string JsonText(std::string_view text) { return JsonTree(text).ToJson(); }

void CheckExpression(const JsonTree& expression, const std::string& field, FieldCauses& causes) {
  const std::string_view op = expression.TextAt("operator");
  const std::vector<std::string> values = StringsAt(expression, "values");
  if (op == "In" || op == "NotIn") {
    if (values.empty()) {
      causes.Required(field + ".values", "must be specified when `operator` is 'In' or 'NotIn'");
    }
  } else if (op == "Exists" || op == "DoesNotExist") {
    if (!values.empty()) {
      causes.Forbidden(field + ".values",
                       "may not be specified when `operator` is 'Exists' or 'DoesNotExist'");
    }
  } else {
    causes.Invalid(field + ".operator", JsonText(op), "not a valid selector operator");
  }
  CheckLabelKey(expression.TextAt("key"), field + ".key", causes);
  for (std::size_t i = 0; i < values.size(); ++i) {
    CheckLabelValue(values[i], field + ".values[" + std::to_string(i) + "]", causes);
  }
}

}  // namespace

void CheckLabelSelector(const JsonTree* selector, const std::string& field, FieldCauses& causes) {
  if (selector == nullptr) {
    return;
  }
  CheckLabelMap(selector->Find("matchLabels"), field + ".matchLabels", causes);
  if (const JsonTree* const expressions = selector->Find("matchExpressions")) {
    for (std::size_t i = 0; i < expressions->elements().size(); ++i) {
      CheckExpression(expressions->elements()[i],
                      field + ".matchExpressions[" + std::to_string(i) + "]", causes);
    }
  }
}

}  // namespace kubexx::apiserver
