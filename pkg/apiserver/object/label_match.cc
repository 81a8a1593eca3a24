#include "kubexx/apiserver/object/label_match.h"

#include <algorithm>
#include <optional>
#include <span>
#include <string_view>

#include "kubexx/apiserver/object/metadata.h"

namespace kubexx::apiserver {

using apimachinery::LabelMap;
using apimachinery::LabelRequirement;
using apimachinery::LabelSelector;
using apimachinery::SelectorOperator;
using codec::JsonTree;

namespace {

/// One of matchExpressions; nothing when it is none.
std::optional<LabelRequirement> RequirementOf(const JsonTree& expression) {
  LabelRequirement requirement;
  requirement.key = expression.TextAt("key");
  const std::string_view op = expression.TextAt("operator");
  const JsonTree* const list = expression.Find("values");
  for (const JsonTree& value : list == nullptr ? std::span<const JsonTree>() : list->elements()) {
    if (value.AsString() == nullptr || !apimachinery::IsValidLabelValue(*value.AsString())) {
      return std::nullopt;
    }
    requirement.values.push_back(*value.AsString());
  }
  std::ranges::sort(requirement.values);
  const auto same = std::ranges::unique(requirement.values);
  requirement.values.erase(same.begin(), same.end());
  const bool of_values = op == "In" || op == "NotIn";
  if (!apimachinery::IsValidLabelKey(requirement.key) || of_values == requirement.values.empty() ||
      (!of_values && op != "Exists" && op != "DoesNotExist")) {
    return std::nullopt;
  }
  requirement.op = op == "In"       ? SelectorOperator::kIn
                   : op == "NotIn"  ? SelectorOperator::kNotIn
                   : op == "Exists" ? SelectorOperator::kExists
                                    : SelectorOperator::kDoesNotExist;
  return requirement;
}

}  // namespace

bool MatchesSelector(const JsonTree& selector, const LabelMap& labels) {
  if (const JsonTree* const match = selector.Find("matchLabels")) {
    if (!LabelSelector::FromMap(LabelMapOf(match)).Matches(labels)) {
      return false;
    }
  }
  if (const JsonTree* const expressions = selector.Find("matchExpressions")) {
    for (const JsonTree& expression : expressions->elements()) {
      const auto requirement = RequirementOf(expression);
      if (!requirement || !requirement->Matches(labels)) {
        return false;
      }
    }
  }
  return true;
}

bool IsSelector(const JsonTree& selector) {
  const JsonTree* const expressions = selector.Find("matchExpressions");
  return expressions == nullptr ||
         std::ranges::all_of(expressions->elements(), [](const JsonTree& expression) {
           return RequirementOf(expression).has_value();
         });
}

}  // namespace kubexx::apiserver
