/// @file
/// The conditions of objects that are JSON trees. There is controller/conditions.h besides, because
/// the server handles objects of types that it knows only from their schema or not at all, and a
/// controller has a struct for its type.
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

/// The same for a PodCondition, which also has a lastProbeTime, that is null. `reason` and
/// `message` are left out when they are empty, and lastTransitionTime is null when `now` is empty.
codec::JsonTree PodConditionTree(std::string_view type, bool holds, std::string_view reason,
                                 std::string_view message, std::string_view now);

/// The first condition of that type in status.conditions; null when there is none. Valid as long as
/// `object`.
const codec::JsonTree* FindCondition(const codec::JsonTree& object, std::string_view type);

/// Whether there is a condition of that type with the status "True".
bool ConditionHolds(const codec::JsonTree& object, std::string_view type);

/// Replaces the condition of the same type in status.conditions of `object`, or appends
/// `condition`. When the replaced condition has the same status, its lastTransitionTime stays.
void SetCondition(codec::JsonTree condition, codec::JsonTree& object);

/// Sets the missing times of all conditions that a client has written in `object`, by the same rule
/// as SetCondition: lastTransitionTime to that of the last condition in `current` with the same
/// type and status, otherwise to `now`, and lastUpdateTime to `now`. For conditions that have a
/// lastUpdateTime, as those of a CertificateSigningRequest. The types need not differ.
void SetConditionTimes(const codec::JsonTree& current, std::string_view now,
                       codec::JsonTree& object);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_OBJECT_CONDITIONS_H_
