/// @file
/// The conditions of objects that are JSON trees. For structs see controller/conditions.h.
#ifndef KUBEXX_APISERVER_OBJECT_CONDITIONS_H_
#define KUBEXX_APISERVER_OBJECT_CONDITIONS_H_

#include <string>
#include <string_view>

#include "kubexx/codec/json_tree.h"

namespace kubexx::apiserver {

/// Makes a metav1.Condition whose status is "True" if it `holds`, else "False". `now` is its
/// lastTransitionTime in the API's format.
codec::JsonTree ConditionTree(std::string_view type, bool holds, std::string_view reason,
                              std::string_view message, std::string_view now);

/// The first condition of that type in status.conditions; null when there is none. Valid as long as
/// `object`.
const codec::JsonTree* FindCondition(const codec::JsonTree& object, std::string_view type);

/// Whether there is a condition of that type with the status "True".
bool ConditionHolds(const codec::JsonTree& object, std::string_view type);

/// Replaces the condition of the same type in status.conditions of `object`, or appends
/// `condition`. When the replaced condition has the same status, its lastTransitionTime stays.
void SetCondition(codec::JsonTree condition, codec::JsonTree& object);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_OBJECT_CONDITIONS_H_
