#include "kubexx/reloader/plan/pair_memory.h"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "kubexx/reloader/plan/begun_pods.h"

namespace kubexx::reloader {
namespace {

using Kind = PairState::Kind;

/// Whether `state` was taken from the data of this change or of a later one. Pods that were there
/// before the change may not have seen these data.
bool WasTakenFrom(const PairState& state, std::uint64_t change, const Knowledge& known) {
  return change != 0 && change <= state.taken_at && change >= known.template_since;
}

/// Keeps the changes in order, because a change may be told of again (see RecentChanges).
void AddTo(std::vector<Move>& moves, const Move& move) {
  const auto place = std::ranges::lower_bound(moves, move.version, {}, &Move::version);
  if (place != moves.end() && place->version == move.version) {
    return;
  }
  moves.insert(place, move);
  if (moves.size() > kMaxMoves) {
    moves.erase(moves.begin());
  }
}

/// Whether the plan has come to a conclusion about what the pods have of the source.
bool IsLearnt(const Plan& plan, const SourceId& source) {
  return std::ranges::find(plan.learnt, source, &std::pair<SourceId, PairState>::first) !=
         plan.learnt.end();
}

/// Whether a change of the source was told of after the plan had begun.
bool HasUnseenMove(const Knowledge& known, const Plan& plan, const SourceId& source) {
  const auto moves = known.moves.find(source);
  if (moves == known.moves.end()) {
    return false;
  }
  const auto seen = plan.seen.find(source);
  return seen == plan.seen.end() || !std::ranges::all_of(moves->second, [&](const Move& move) {
           return std::ranges::find(seen->second, move) != seen->second.end();
         });
}

}  // namespace

void PairMemory::RecordChange(const WorkloadId& workload, const SourceId& source,
                              const Digest& before, const std::optional<Move>& now) {
  const base::MutexLock lock(mu_);
  Knowledge& known = states_[workload];
  if (now && now->version != 0 && now->version < known.template_since) {
    known.pairs[source] = BeganWith(*now);  // the event of the change took longer
  } else if (workload.kind == WorkloadKind::kCronJob && now && IsDuringBegin(known, *now)) {
    known.pairs[source] = MayHaveAny("");  // likewise, while another replica made a Job
  } else {
    const auto [state, is_new] =
        known.pairs.try_emplace(source, PairState{Kind::kObserved, before});
    if (!is_new && WasTakenFrom(state->second, now ? now->version : 0, known)) {
      state->second = BeganWith(before);
    }
  }
  if (now && now->version != 0) {
    AddTo(known.moves[source], *now);
    if (workload.kind != WorkloadKind::kCronJob) {
      DoubtLateMove(known, source, *now);
    }
  }
}

bool PairMemory::RecordUnseenWrites(const WorkloadId& workload, const SourceId& source,
                                    const UnseenWrites& writes) {
  const base::MutexLock lock(mu_);
  const auto found = states_.find(workload);
  if (found == states_.end() || !found->second.pairs.contains(source)) {
    return false;  // a plan will go by the baseline anyway
  }
  Knowledge& known = found->second;
  if (writes.to < known.template_since) {
    return false;
  }
  const auto [place, is_new] = known.unseen_writes.try_emplace(source, writes);
  if (!is_new) {  // of two gaps, the pods may have begun in either
    place->second = {.from = std::min(place->second.from, writes.from),
                     .to = std::max(place->second.to, writes.to)};
  }
  return MayHaveBegunUnseen(known, source);
}

void PairMemory::RecordEnd(const WorkloadId& workload, const SourceId& source, const Move& last,
                           std::uint64_t version) {
  const base::MutexLock lock(mu_);
  Knowledge& known = states_[workload];
  known.moves.erase(source);  // nothing shows with which data the new object's pods began
  if (version != 0 && version < known.template_since) {
    return;  // the pods never had these data
  }
  const auto [state, is_new] =
      known.pairs.try_emplace(source, PairState{Kind::kObserved, last.digest});
  if (is_new) {
    return;
  }
  // When the time is not known, the pods may have begun before the change, and nothing shows that
  // they did not.
  const bool is_taken_since = version == 0
                                  ? last.version != 0 && last.version < state->second.taken_at
                                  : WasTakenFrom(state->second, version, known);
  if (is_taken_since) {
    state->second = BeganWith(last.digest);
  }
}

void PairMemory::RecordCreation(const WorkloadId& workload, const SourceId& source,
                                const Move& now) {
  const base::MutexLock lock(mu_);
  const auto found = states_.find(workload);
  if (now.version == 0 || found == states_.end() || !found->second.pairs.contains(source)) {
    return;
  }
  Knowledge& known = found->second;
  if (now.version < known.template_since) {
    known.pairs[source] = BeganWith(now);
  }
  AddTo(known.moves[source], now);
}

void PairMemory::ForgetVersions(const WorkloadId& workload) {
  const base::MutexLock lock(mu_);
  if (const auto found = states_.find(workload); found != states_.end()) {
    found->second.template_since = 0;
    found->second.template_until = 0;
    found->second.unseen_writes.clear();
    found->second.told_at = 0;
    found->second.record_at = 0;
    found->second.record_since = 0;
    found->second.moves.clear();
    found->second.left_due.clear();
    BeginAllAnew(found->second);
  }
}

void PairMemory::MarkUnplanned(const WorkloadId& workload) {
  const base::MutexLock lock(mu_);
  states_[workload].is_unplanned = true;
}

void PairMemory::MarkAdded(const WorkloadId& workload, std::uint64_t version) {
  const base::MutexLock lock(mu_);
  BeginPods(states_[workload], version, version);
}

bool PairMemory::IsReleased(const WorkloadId& workload) const {
  const base::MutexLock lock(mu_);
  const auto found = states_.find(workload);
  return found != states_.end() && found->second.is_released;
}

Knowledge PairMemory::Get(const WorkloadId& workload) const {
  const base::MutexLock lock(mu_);
  const auto found = states_.find(workload);
  return found == states_.end() ? Knowledge{} : found->second;
}

bool PairMemory::Apply(const WorkloadId& workload, const Plan& plan) {
  const base::MutexLock lock(mu_);
  const auto found = states_.try_emplace(workload).first;
  Knowledge& known = found->second;
  if (plan.templates != known.templates || plan.records != known.records) {
    return false;  // the record describes the pods of another workload, or is out of date
  }
  known.is_released = plan.is_released;
  bool is_right = true;
  for (const auto& [source, state] : plan.learnt) {
    known.left_due.erase(source);
    known.mixed.erase(source);
    const auto [there, is_new] = known.pairs.try_emplace(source, state);
    if (is_new) {
      continue;
    }
    const std::uint64_t moved_at = there->second.moved_at;
    if (state.taken_at != 0 && there->second.kind == Kind::kObserved) {
      // While the plan was made, a change was told of that took the present data for those of the
      // workload.
      there->second = BeganWith(there->second.digest);
      is_right = false;
    } else if (state.taken_at == 0 && there->second.kind == Kind::kConfirmed &&
               there->second.digest != state.digest && HasUnseenMove(known, plan, source)) {
      is_right = false;  // the plan may have found the data come back, and does not know that
    } else if (state.taken_at == 0 || there->second.taken_at != 0) {
      there->second = state;
    } else {
      is_right = is_right && there->second.digest == state.digest;
    }
    there->second.moved_at = moved_at;
  }
  for (const auto& [source, writes] : plan.judged_writes) {
    if (const auto there = known.unseen_writes.find(source);
        there != known.unseen_writes.end() && there->second == writes) {
      known.unseen_writes.erase(there);
    }
  }
  for (const SourceId& source : plan.dropped) {
    known.unseen_writes.erase(source);
    known.left_due.erase(source);
    known.mixed.erase(source);
    known.pairs.erase(source);
  }
  for (const auto& [source, seen] : plan.seen) {
    // While it waits, or nothing may roll the workload, others may begin pods, which have the data
    // of the change.
    if (IsDue(plan, source) || (known.pairs.contains(source) && !IsLearnt(plan, source))) {
      continue;
    }
    // Other changes may have come in while the plan was made.
    if (const auto moves = known.moves.find(source); moves != known.moves.end()) {
      if (const auto pair = known.pairs.find(source); pair != known.pairs.end()) {
        for (const Move& move : seen) {
          if (IsMoveUnder(pair->second.keys, move)) {
            pair->second.moved_at = std::max(pair->second.moved_at, move.version);
          }
        }
      }
      std::erase_if(moves->second,
                    [&](const Move& move) { return std::ranges::find(seen, move) != seen.end(); });
      if (moves->second.empty()) {
        known.moves.erase(moves);
      }
    }
  }
  // A workload that was not planned before keeps that mark until its write has succeeded.
  known.is_unplanned = known.is_unplanned && !plan.changes.empty();
  if (known == Knowledge{.tenure = known.tenure}) {
    states_.erase(found);
  }
  return is_right;
}

void PairMemory::Forget(const WorkloadId& workload) {
  const base::MutexLock lock(mu_);
  states_.erase(workload);
}

std::size_t PairMemory::size() const {
  const base::MutexLock lock(mu_);
  std::size_t pairs = 0;
  for (const auto& [workload, known] : states_) {
    pairs += known.pairs.size();
  }
  return pairs;
}

}  // namespace kubexx::reloader
