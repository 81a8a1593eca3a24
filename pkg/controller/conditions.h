/// @file
/// The conditions of a status: what is so, since when, and why.
#ifndef KUBEXX_CONTROLLER_CONDITIONS_H_
#define KUBEXX_CONTROLLER_CONDITIONS_H_

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "kubexx/apimachinery/time.h"

namespace kubexx::controller {

/// The condition of that type; null when there is none. For api::meta::v1::Condition and for all
/// structs that have its members type, status and last_transition_time, as those of the built-in
/// kinds and what kubexx-codegen makes of a CustomResourceDefinition. It lives as long as
/// `conditions`.
template <class Condition>
const Condition* FindCondition(const std::vector<Condition>& conditions, std::string_view type) {
  const auto found = std::ranges::find(conditions, type, &Condition::type);
  return found == conditions.end() ? nullptr : &*found;
}

/// The status of the condition of that type; "" when there is none. It lives as long as
/// `conditions`.
template <class Condition>
std::string_view ConditionStatus(const std::vector<Condition>& conditions, std::string_view type) {
  const Condition* const found = FindCondition(conditions, type);
  return found == nullptr ? std::string_view() : std::string_view(found->status);
}

/// Whether the condition of that type is "True".
template <class Condition>
bool IsConditionTrue(const std::vector<Condition>& conditions, std::string_view type) {
  return ConditionStatus(conditions, type) == "True";
}

/// Puts `condition` in place of the one of its type, or behind the others when there is none. Its
/// last_transition_time becomes that of the one it replaces when that has the same status, `now`
/// otherwise. Returns whether anything has changed: a status that says what it said need not be
/// written. As apimachinery's meta.SetStatusCondition.
template <class Condition>
bool SetCondition(std::vector<Condition>& conditions, Condition condition,
                  const apimachinery::Time& now) {
  const auto found = std::ranges::find(conditions, condition.type, &Condition::type);
  if (found == conditions.end()) {
    condition.last_transition_time = now;
    conditions.push_back(std::move(condition));
    return true;
  }
  if (found->status == condition.status) {
    condition.last_transition_time = found->last_transition_time;
  } else {
    condition.last_transition_time = now;
  }
  if (*found == condition) {
    return false;
  }
  *found = std::move(condition);
  return true;
}

/// Takes the condition of that type out. Returns whether it was there.
template <class Condition>
bool RemoveCondition(std::vector<Condition>& conditions, std::string_view type) {
  return std::erase_if(conditions, [type](const Condition& each) { return each.type == type; }) > 0;
}

}  // namespace kubexx::controller

#endif  // KUBEXX_CONTROLLER_CONDITIONS_H_
