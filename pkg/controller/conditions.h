/// @file
/// Functions that read and change the conditions of an object's status. They work on structs, whose
/// members the compiler checks; the API server has its own in apiserver/object/conditions.h,
/// because it handles objects as JSON trees, also those of types that it has no struct for.
#ifndef KUBEXX_CONTROLLER_CONDITIONS_H_
#define KUBEXX_CONTROLLER_CONDITIONS_H_

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "kubexx/apimachinery/or_empty.h"
#include "kubexx/apimachinery/time.h"

namespace kubexx::controller {

/// The condition of that type; null when there is none. Works with api::meta::v1::Condition and
/// with every struct that has the members type, status and last_transition_time, such as the
/// conditions of the built-in kinds and those that kubexx-codegen generates from a
/// CustomResourceDefinition. The pointer is valid as long as `conditions`.
template <class Condition>
const Condition* FindCondition(const std::vector<Condition>& conditions, std::string_view type) {
  const auto found = std::ranges::find(conditions, type, &Condition::type);
  return found == conditions.end() ? nullptr : &*found;
}

/// The status of the condition of that type; "" when there is none. The view is valid as long as
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

/// Replaces the condition of the same type with `condition`, or appends it when there is none.
/// Keeps the replaced condition's last_transition_time when the status is the same, and otherwise
/// sets it to `now`. Returns whether anything changed; when not, the caller need not write the
/// status. Like apimachinery's meta.SetStatusCondition.
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

/// Removes the condition of that type. Returns whether there was one.
template <class Condition>
bool RemoveCondition(std::vector<Condition>& conditions, std::string_view type) {
  return std::erase_if(conditions, [type](const Condition& each) { return each.type == type; }) > 0;
}

/// The same functions for a list that may be absent, as it is in a custom resource where the
/// definition does not require it. SetCondition makes the list; RemoveCondition leaves an empty one
/// when it takes the last condition away.
template <class Condition>
const Condition* FindCondition(const std::optional<std::vector<Condition>>& conditions,
                               std::string_view type) {
  return FindCondition(apimachinery::OrEmpty(conditions), type);
}
/// As above, for a list that may be absent.
template <class Condition>
std::string_view ConditionStatus(const std::optional<std::vector<Condition>>& conditions,
                                 std::string_view type) {
  return ConditionStatus(apimachinery::OrEmpty(conditions), type);
}
/// As above, for a list that may be absent.
template <class Condition>
bool IsConditionTrue(const std::optional<std::vector<Condition>>& conditions,
                     std::string_view type) {
  return IsConditionTrue(apimachinery::OrEmpty(conditions), type);
}
/// As above, for a list that may be absent: then it makes the list.
template <class Condition>
bool SetCondition(std::optional<std::vector<Condition>>& conditions, Condition condition,
                  const apimachinery::Time& now) {
  return SetCondition(conditions ? *conditions : conditions.emplace(), std::move(condition), now);
}
/// As above, for a list that may be absent.
template <class Condition>
bool RemoveCondition(std::optional<std::vector<Condition>>& conditions, std::string_view type) {
  return conditions && RemoveCondition(*conditions, type);
}

/// The same functions for a list that may be absent or null, as it is in a custom resource whose
/// definition says `nullable`. A list that is null is one without conditions.
template <class Condition>
const Condition* FindCondition(
    const std::optional<std::optional<std::vector<Condition>>>& conditions, std::string_view type) {
  return FindCondition(apimachinery::OrEmpty(conditions), type);
}
/// As above, for a list that may be absent or null.
template <class Condition>
std::string_view ConditionStatus(
    const std::optional<std::optional<std::vector<Condition>>>& conditions, std::string_view type) {
  return ConditionStatus(apimachinery::OrEmpty(conditions), type);
}
/// As above, for a list that may be absent or null.
template <class Condition>
bool IsConditionTrue(const std::optional<std::optional<std::vector<Condition>>>& conditions,
                     std::string_view type) {
  return IsConditionTrue(apimachinery::OrEmpty(conditions), type);
}
/// As above, for a list that may be absent or null: then it makes the list.
template <class Condition>
bool SetCondition(std::optional<std::optional<std::vector<Condition>>>& conditions,
                  Condition condition, const apimachinery::Time& now) {
  return SetCondition(conditions ? *conditions : conditions.emplace(), std::move(condition), now);
}
/// As above, for a list that may be absent or null.
template <class Condition>
bool RemoveCondition(std::optional<std::optional<std::vector<Condition>>>& conditions,
                     std::string_view type) {
  return conditions && RemoveCondition(*conditions, type);
}

}  // namespace kubexx::controller

#endif  // KUBEXX_CONTROLLER_CONDITIONS_H_
