#include "kubexx/apiserver/managedfields/merge_rules.h"

#include <algorithm>
#include <tuple>

namespace kubexx::apiserver::managedfields {
namespace {

template <typename Rule>
const Rule* FindRule(std::span<const Rule> rules, std::string_view type, std::string_view field) {
  const auto key = std::tuple(type, field);
  const auto found = std::ranges::lower_bound(
      rules, key, {}, [](const Rule& rule) { return std::tuple(rule.type, rule.field); });
  return found != rules.end() && found->type == type && found->field == field ? &*found : nullptr;
}

}  // namespace

const MergeRule* MergeRuleOf(std::string_view type, std::string_view field) {
  return FindRule(MergeRules(), type, field);
}

const PatchRule* PatchRuleOf(std::string_view type, std::string_view field) {
  return FindRule(PatchRules(), type, field);
}

}  // namespace kubexx::apiserver::managedfields
