/// @file
/// The data that the pods of a workload began with.
#ifndef KUBEXX_RELOADER_PLAN_BEGUN_PODS_H_
#define KUBEXX_RELOADER_PLAN_BEGUN_PODS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "kubexx/reloader/plan/planner.h"

namespace kubexx::reloader {

/// The state of a source if it is certain that the pods started with the data of `digest`. Pure.
PairState BeganWith(const Digest& digest);
/// The same for the data of a change.
PairState BeganWith(const Move& move);
/// The state of a source if it is certain that the pods have data of which nothing is known, not
/// even by a baseline, under `keys`: the workload is to be rolled. Pure.
PairState BeganWithUnknown(std::string keys);

/// Whether the known state of the source covers only some keys. What is known of all data by their
/// digest alone, without KeyPrints, does not replace such a state: it may be of other keys. Pure.
bool IsOverKeys(const PairStates& pairs, const SourceId& source);

/// The number of changes of one source between two plans (Knowledge::moves). More of them are a
/// stream of edits, of which only the last ones count.
inline constexpr std::size_t kMaxMoves = 8;

/// Whether the last change of the source since the last plan was to the data of `digest` (which
/// covers all keys), and, as far as is known, it had not had these data before. Then a rollout for
/// these data was made after that change, and its pods cannot have started with other data in
/// between. Pure.
bool HasMovedOnceTo(const Knowledge& known, const SourceId& source, const Digest& digest);

/// Whether the change was one of the data under `keys`; empty: all. True where it is not known.
/// Pure.
bool IsMoveUnder(std::string_view keys, const Move& move);

/// Stores that the pods started at version `since` or later, and at `until` or earlier, so that
/// they have the latest data that was written before that. 0: not known.
void BeginPods(Knowledge& known, std::uint64_t since, std::uint64_t until);

/// Whether the change was made in the time in which the pods began, so that nobody knows which came
/// first. Pure.
bool IsDuringBegin(const Knowledge& known, const Move& move);

/// Whether another replica recorded the last known baseline after pods began at version `since` or
/// later and at `until` or earlier, or a read has shown that baseline which was recorded between
/// the two: it describes pods that are younger than everything that events have told. 0: not known.
/// Pure.
bool IsRecordYounger(const Knowledge& known, std::uint64_t since, std::uint64_t until);

/// Stores that it is not known with which data of the source the pods began, because `move`, which
/// is told of late, was made while they did. Does nothing where nothing is known of the source, its
/// keys have not moved, or the stamps of another replica tell.
void DoubtLateMove(Knowledge& known, const SourceId& source, const Move& move);

/// The state of a source of which it is not known with which data the pods began: the baseline
/// tells or, where there is none, the workload is rolled. Pure.
PairState MayHaveAny(std::string keys);

/// Whether the pods may have begun during writes of the source that this process has not seen one
/// by one. They may have other data then than before and after these writes. Pure.
bool MayHaveBegunUnseen(const Knowledge& known, const SourceId& source);

/// Stores that pods begin beside others, with the data of Knowledge::left_due. Returns whether this
/// is news of any source.
bool MixLeftDue(Knowledge& known);

/// Stores that all pods start anew with the present data. What was assumed about the earlier pods
/// is certain for the new ones, so that a change that is reported later does not correct it any
/// more (see PairState::taken_at).
void BeginAllAnew(Knowledge& known);

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_PLAN_BEGUN_PODS_H_
