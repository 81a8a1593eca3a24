/// @file
/// The data that the pods of a workload began with.
#ifndef KUBEXX_RELOADER_PLAN_BEGUN_PODS_H_
#define KUBEXX_RELOADER_PLAN_BEGUN_PODS_H_

#include <cstdint>

#include "kubexx/reloader/plan/planner.h"

namespace kubexx::reloader {

/// The state of a source with whose data of this digest the pods have certainly begun. Pure.
PairState BeganWith(const Digest& digest);

/// Whether what is known of the source is known over some keys. It is not replaced by a change that
/// may be of other keys only: what is known and the present data are compared over these keys.
/// Pure.
bool IsOverKeys(const PairStates& pairs, const SourceId& source);

/// Whether the source changed once since the last plan, as far as is known, and to these data. Then
/// a rollout that was made for them is later than the change, and there were no other data in
/// between that pods of it may have begun with. `digest`: of all its data. Pure.
bool HasMovedOnlyTo(const Knowledge& known, const SourceId& source, const Digest& digest);

/// Stores that pods began at version `since`: of what changed before that they have the latest.
void BeginPods(Knowledge& known, std::uint64_t since);

/// Stores that all pods begin anew with the present data: what passed for what the earlier ones ran
/// with holds for the new ones, whatever is told of it later.
void BeginAllAnew(Knowledge& known);

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_PLAN_BEGUN_PODS_H_
