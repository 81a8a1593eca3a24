#include "kubexx/apiserver/object/label_match.h"

#include <string>
#include <string_view>

#include "kubexx/apiserver/object/metadata.h"

namespace kubexx::apiserver {

using apimachinery::LabelMap;
using apimachinery::LabelSelector;
using codec::JsonTree;

namespace {

/// One of matchExpressions in the syntax of selectors.
std::string ExpressionText(const JsonTree& expression) {
  const std::string key(expression.TextAt("key"));
  const std::string_view op = expression.TextAt("operator");
  if (op == "Exists") {
    return key;
  }
  if (op == "DoesNotExist") {
    return "!" + key;
  }
  std::string values;
  if (const JsonTree* const list = expression.Find("values")) {
    for (const JsonTree& value : list->elements()) {
      values +=
          (values.empty() ? "" : ",") + (value.AsString() == nullptr ? "" : *value.AsString());
    }
  }
  return key + (op == "NotIn" ? " notin (" : " in (") + values + ")";
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
      const auto parsed = LabelSelector::Parse(ExpressionText(expression));
      if (!parsed || !parsed->Matches(labels)) {
        return false;
      }
    }
  }
  return true;
}

}  // namespace kubexx::apiserver
