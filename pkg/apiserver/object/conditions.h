/// @file
/// The conditions of objects that are JSON trees. Of structs: controller/conditions.h.
#ifndef KUBEXX_APISERVER_OBJECT_CONDITIONS_H_
#define KUBEXX_APISERVER_OBJECT_CONDITIONS_H_

#include <string>
#include <string_view>

#include "kubexx/codec/json_tree.h"

namespace kubexx::apiserver {

/// A condition as metav1.Condition has it, which holds or does not since `now`, a time as the API
/// writes it.
codec::JsonTree ConditionTree(std::string_view type, bool holds, std::string_view reason,
                              std::string_view message, std::string_view now);

/// The first of that type in status.conditions; null when there is none. Valid while `object` is.
const codec::JsonTree* FindCondition(const codec::JsonTree& object, std::string_view type);

/// Whether there is such a condition, and it is "True".
bool ConditionHolds(const codec::JsonTree& object, std::string_view type);

/// Puts `condition` in place of the one of its type in status.conditions of `object`, or behind the
/// others. It keeps the lastTransitionTime of the one it replaces when that has the same status.
void SetCondition(codec::JsonTree condition, codec::JsonTree& object);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_OBJECT_CONDITIONS_H_
