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

/// Returns an element of matchExpressions, or nothing when it is invalid.
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

std::optional<std::vector<LabelRequirement>> RequirementsOf(const JsonTree& selector) {
  std::vector<LabelRequirement> requirements;
  if (const JsonTree* const match = selector.Find("matchLabels")) {
    requirements = LabelSelector::FromMap(LabelMapOf(match)).requirements();
  }
  if (const JsonTree* const expressions = selector.Find("matchExpressions")) {
    for (const JsonTree& expression : expressions->elements()) {
      auto requirement = RequirementOf(expression);
      if (!requirement) {
        return std::nullopt;
      }
      requirements.push_back(*std::move(requirement));
    }
  }
  return requirements;
}

bool MatchesSelector(const JsonTree& selector, const LabelMap& labels) {
  const auto requirements = RequirementsOf(selector);
  return requirements && std::ranges::all_of(*requirements, [&labels](const auto& requirement) {
           return requirement.Matches(labels);
         });
}

bool IsSelector(const JsonTree& selector) {
  const JsonTree* const expressions = selector.Find("matchExpressions");
  return expressions == nullptr ||
         std::ranges::all_of(expressions->elements(), [](const JsonTree& expression) {
           return RequirementOf(expression).has_value();
         });
}

}  // namespace kubexx::apiserver
