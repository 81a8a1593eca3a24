#include "kubexx/reloader/plan/pair_memory.h"

#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

#include "kubexx/reloader/plan/former_templates.h"

namespace kubexx::reloader {
namespace {

using Kind = PairState::Kind;

// Of one source between two plans: more than that are a stream of edits, of which the last ones
// count.
constexpr std::size_t kMaxMoves = 8;

/// What is known over some keys is not replaced by a change that may be of others only: what is
/// known and the present data are compared over them.
bool IsOverKeys(const PairStates& pairs, const SourceId& source) {
  const auto state = pairs.find(source);
  return state != pairs.end() && state->second.kind == Kind::kConfirmed &&
         !state->second.keys.empty();
}

PairState BeganWith(const Digest& digest) {
  return {.kind = Kind::kConfirmed, .digest = digest, .is_ahead_of_record = true};
}

/// Whether `state` was taken from the data of this change, or of a later one, which pods may not
/// have seen that were there before the change.
bool WasTakenFrom(const PairState& state, std::uint64_t change, const Knowledge& known) {
  return change != 0 && change <= state.taken_at && change >= known.template_since;
}

/// Keeps them in order: a change may be told of anew (see RecentChanges).
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

/// Pods began at `since`: of what changed before they have the latest.
void BeginPods(Knowledge& known, std::uint64_t since) {
  known.template_since = since;
  for (const auto& [source, moves] : known.moves) {
    const auto earlier = std::ranges::find_if(
        moves.rbegin(), moves.rend(), [&](const Move& move) { return move.version < since; });
    if (earlier != moves.rend() && !IsOverKeys(known.pairs, source)) {
      known.pairs[source] = BeganWith(earlier->digest);
    }
  }
}

void BelieveRecord(Knowledge& known) {
  ++known.records;
  for (auto& [source, state] : known.pairs) {
    state.is_ahead_of_record = false;
  }
}

std::size_t HashOf(const TemplateVersion& version) {
  return version.digest.empty()
             ? 0
             : std::hash<std::string>()(version.digest + std::to_string(version.generation));
}

/// Whether a rollout of this process was made whose event is still to come.
bool IsOwnRolloutOnTheWay(const Knowledge& known) {
  return !known.rolled_from.empty() &&
         std::ranges::all_of(known.rolled_from, [&](const auto& from) {
           const auto state = known.pairs.find(from.first);
           return state != known.pairs.end() && state->second.kind == Kind::kConfirmed;
         });
}

/// New pods have what passed for what the old ones ran with, whatever is told of it later.
void BeginAllAnew(Knowledge& known) {
  for (auto& [source, state] : known.pairs) {
    state.taken_at = 0;
  }
}

}  // namespace

void PairMemory::RecordChange(const WorkloadId& workload, const SourceId& source,
                              const Digest& before, const std::optional<Move>& now) {
  const base::MutexLock lock(mu_);
  Knowledge& known = states_[workload];
  if (now && now->version != 0 && now->version < known.template_since &&
      !IsOverKeys(known.pairs, source)) {
    known.pairs[source] = BeganWith(now->digest);  // the change was on the way for longer
  } else {
    const auto [state, is_new] =
        known.pairs.try_emplace(source, PairState{Kind::kObserved, before});
    if (!is_new && WasTakenFrom(state->second, now ? now->version : 0, known)) {
      state->second = BeganWith(before);
    }
  }
  if (now && now->version != 0) {
    AddTo(known.moves[source], *now);
  }
}

void PairMemory::RecordEnd(const WorkloadId& workload, const SourceId& source, const Move& last,
                           std::uint64_t version) {
  const base::MutexLock lock(mu_);
  Knowledge& known = states_[workload];
  known.moves.erase(source);  // of what is made anew nothing tells what it began with
  if (version != 0 && version < known.template_since) {
    return;  // the pods never had these data
  }
  const auto [state, is_new] =
      known.pairs.try_emplace(source, PairState{Kind::kObserved, last.digest});
  if (is_new) {
    return;
  }
  // Where it is not known when, the pods may have begun before: then nothing says that they did
  // not.
  const bool is_taken_since = version == 0
                                  ? last.version != 0 && last.version < state->second.taken_at
                                  : WasTakenFrom(state->second, version, known);
  if (is_taken_since) {
    state->second = BeganWith(last.digest);
  }
}

void PairMemory::ForgetVersions(const WorkloadId& workload) {
  const base::MutexLock lock(mu_);
  if (const auto found = states_.find(workload); found != states_.end()) {
    found->second.template_since = 0;
    found->second.told_at = 0;
    found->second.record_at = 0;
    found->second.moves.clear();
    BeginAllAnew(found->second);
  }
}

PairMemory::TemplateNews PairMemory::TemplateChanged(const WorkloadId& workload,
                                                     const TemplateChange& change) {
  const base::MutexLock lock(mu_);
  Knowledge& known = states_[workload];
  ++known.templates;
  if (change.was_rolled_out) {
    known.formers.clear();
    known.has_unknown_formers = false;
  }
  if (change.is_own) {
    PairStates from = std::exchange(known.rolled_from, {});
    const bool is_of_others = from.empty();  // nothing was written here
    AddFormer(known, {.template_digest = change.before,
                      .pairs = is_of_others ? known.pairs : std::move(from),
                      .is_own = true});
    BeginAllAnew(known);
    // What this process rolls for it knows by Confirm; of others it may be written nowhere.
    BeginPods(known, is_of_others ? change.since : 0);
    return TemplateNews::kNone;
  }
  if (change.until != 0 && change.until < known.told_at && IsOwnRolloutOnTheWay(known)) {
    // News of a watch that lags behind: the rollout has made all pods anew since then.
    PairStates had = known.rolled_from;
    had.insert(known.pairs.begin(), known.pairs.end());
    AddFormer(known, {.template_digest = change.before, .pairs = std::move(had)});
    return TemplateNews::kNone;
  }
  const auto found =
      std::ranges::find(known.formers, change.now, &Knowledge::Former::template_digest);
  const bool goes_back = found != known.formers.end();
  const bool undoes_own = goes_back && known.formers.back().is_own;
  Knowledge::Former present{.template_digest = change.before, .pairs = known.pairs};
  if (!change.is_undo && (goes_back || known.has_unknown_formers)) {
    MixPods(known, goes_back ? &*found : nullptr, change.since);
    // All pods are made anew for that: not after each release while one pod cannot be replaced.
    known.has_unknown_formers = goes_back && known.has_unknown_formers;
    AddFormer(known, std::move(present));
    return undoes_own ? TemplateNews::kSetBack : TemplateNews::kNone;
  }
  const bool leaves_others = goes_back && HasOtherData(known, *found, change.since);
  AddFormer(known, std::move(present));
  // A baseline that came back with the template tells of pods that are gone.
  for (auto& [source, state] : known.pairs) {
    state.is_ahead_of_record = true;
  }
  BeginPods(known, change.since);
  return leaves_others ? TemplateNews::kUndone : TemplateNews::kNone;
}

void PairMemory::Told(const WorkloadId& workload, const TemplateVersion& version, bool concerns) {
  const std::size_t hash = HashOf(version);
  const base::MutexLock lock(mu_);
  const auto found =
      concerns && hash != 0 ? states_.try_emplace(workload).first : states_.find(workload);
  if (found != states_.end()) {
    found->second.told_template = hash;
    found->second.looks = 0;
  }
}

PairMemory::Telling PairMemory::LookFor(const WorkloadId& workload,
                                        const TemplateVersion& version) {
  const std::size_t hash = HashOf(version);
  const base::MutexLock lock(mu_);
  const auto found = states_.find(workload);
  if (hash == 0 || found == states_.end() || found->second.told_template == 0 ||
      found->second.told_template == hash) {
    return Telling::kTold;
  }
  if (++found->second.looks <= kMostLooks) {
    return Telling::kOnTheWay;
  }
  found->second.told_template = hash;
  found->second.looks = 0;
  return Telling::kLost;
}

void PairMemory::MarkUnfinished(const WorkloadId& workload) {
  const base::MutexLock lock(mu_);
  states_[workload].has_unknown_formers = true;
}

void PairMemory::RecordedByOthers(const WorkloadId& workload) {
  const base::MutexLock lock(mu_);
  if (const auto found = states_.find(workload); found != states_.end()) {
    BelieveRecord(found->second);
  }
}

bool PairMemory::IsNewRecord(const WorkloadId& workload, const SeenRecord& record) {
  const base::MutexLock lock(mu_);
  Knowledge& known = states_[workload];
  if (record.hash == known.record || (record.version != 0 && record.version <= known.told_at)) {
    return false;
  }
  known.told_at = std::max(known.told_at, record.version);
  known.record_at = record.version;
  const bool replaces_another = std::exchange(known.record, record.hash) != 0;
  if (replaces_another) {
    BelieveRecord(known);
  }
  return replaces_another;
}

void PairMemory::Wrote(const WorkloadId& workload, const SeenRecord& record) {
  const base::MutexLock lock(mu_);
  Knowledge& known = states_[workload];
  if (record.version != 0 && record.version < known.told_at) {
    // The event of somebody else's later write was faster than the answer to this one.
    if (record.hash != known.record) {
      BelieveRecord(known);
    }
    return;
  }
  known.told_at = std::max(known.told_at, record.version);
  if (record.hash != 0) {
    known.record = record.hash;
    known.record_at = 0;
  }
}

PairMemory::SeenRecord PairMemory::SeenRecord::Of(std::string_view text, std::uint64_t version) {
  const std::uint64_t hash = text.empty() ? 0 : std::hash<std::string_view>()(text);
  return {.hash = !text.empty() && hash == 0 ? 1 : hash, .version = version};
}

void PairMemory::RolledByOthers(const WorkloadId& workload) {
  const base::MutexLock lock(mu_);
  if (const auto found = states_.find(workload); found != states_.end()) {
    found->second.pairs.clear();
    found->second.moves.clear();
    found->second.rolled_from.clear();
  }
}

void PairMemory::TemplateRolledOut(const WorkloadId& workload) {
  const base::MutexLock lock(mu_);
  if (const auto found = states_.find(workload); found != states_.end()) {
    found->second.formers.clear();
    found->second.has_unknown_formers = false;
  }
}

void PairMemory::BeginTenure(const WorkloadId& workload, std::uint64_t tenure) {
  const base::MutexLock lock(mu_);
  const auto found = states_.find(workload);
  if (found == states_.end() || found->second.tenure == tenure) {
    return;
  }
  const bool is_first = std::exchange(found->second.tenure, tenure) == 0;
  for (auto& [source, state] : found->second.pairs) {
    state.is_ahead_of_record = state.is_ahead_of_record && is_first;
  }
}

void PairMemory::MarkUnplanned(const WorkloadId& workload) {
  const base::MutexLock lock(mu_);
  states_[workload].is_unplanned = true;
}

void PairMemory::MarkAdded(const WorkloadId& workload, std::uint64_t version) {
  const base::MutexLock lock(mu_);
  BeginPods(states_[workload], version);
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
    return false;  // what it says of the pods is of others, or is out of date
  }
  bool is_right = true;
  for (const auto& [source, state] : plan.learnt) {
    const auto [there, is_new] = known.pairs.try_emplace(source, state);
    if (is_new) {
      continue;
    }
    if (state.taken_at != 0 && there->second.kind == Kind::kObserved) {
      // A change was told of while the plan was made that took the present data for the workload's.
      there->second = BeganWith(there->second.digest);
      is_right = false;
    } else if (state.taken_at == 0 || there->second.taken_at != 0) {
      there->second = state;
    } else {
      is_right = is_right && there->second.digest == state.digest;
    }
  }
  for (const SourceId& source : plan.dropped) {
    known.pairs.erase(source);
  }
  for (const auto& [source, seen] : plan.seen) {
    if (IsDue(plan, source)) {
      continue;  // while that waits, somebody else may begin pods, which have what it changed to
    }
    // Others may have come in while it was made.
    if (const auto moves = known.moves.find(source); moves != known.moves.end()) {
      std::erase_if(moves->second,
                    [&](const Move& move) { return std::ranges::find(seen, move) != seen.end(); });
      if (moves->second.empty()) {
        known.moves.erase(moves);
      }
    }
  }
  // What is to be written because the workload was not planned before stays so until that has
  // succeeded.
  known.is_unplanned = known.is_unplanned && !plan.changes.empty();
  if (known == Knowledge{.told_template = known.told_template, .looks = known.looks}) {
    states_.erase(found);
  }
  return is_right;
}

std::vector<SourceId> PairMemory::BeginWrite(const WorkloadId& workload,
                                             const std::vector<Change>& changes) {
  std::vector<SourceId> begun;
  const base::MutexLock lock(mu_);
  Knowledge& known = states_[workload];
  known.rolled_from.clear();
  const bool has_template =
      workload.kind != WorkloadKind::kCronJob && workload.kind != WorkloadKind::kJob;
  for (const Change& change : changes) {
    for (const auto& [source, digest] : change.sources) {
      const auto state = known.pairs.find(source);
      if (has_template) {
        known.rolled_from[source] = state == known.pairs.end() ? PairState{.kind = Kind::kConfirmed,
                                                                           .digest = UnknownData()}
                                                               : state->second;
      }
      if (state != known.pairs.end() && state->second.kind == Kind::kConfirmed) {
        state->second.kind = Kind::kUncertain;
        begun.push_back(source);
      }
    }
  }
  return begun;
}

void PairMemory::CancelWrite(const WorkloadId& workload, const std::vector<SourceId>& begun) {
  const base::MutexLock lock(mu_);
  const auto found = states_.find(workload);
  if (found == states_.end()) {
    return;
  }
  found->second.rolled_from.clear();
  for (const SourceId& source : begun) {
    const auto state = found->second.pairs.find(source);
    if (state != found->second.pairs.end() && state->second.kind == Kind::kUncertain) {
      state->second.kind = Kind::kConfirmed;
    }
  }
}

void PairMemory::Confirm(const WorkloadId& workload, const std::vector<Change>& changes,
                         bool rolled) {
  const base::MutexLock lock(mu_);
  Knowledge& known = states_[workload];
  known.is_unplanned = false;
  if (rolled) {
    BeginAllAnew(known);
  } else {
    known.rolled_from.clear();
  }
  for (const Change& change : changes) {
    for (const auto& [source, digest] : change.sources) {
      if (const auto state = known.pairs.find(source); state != known.pairs.end() &&
                                                       state->second.kind == Kind::kConfirmed &&
                                                       state->second.digest == UnknownData()) {
        continue;  // it was set back before the answer came
      }
      const auto keys = change.keys.find(source);
      known.pairs[source] = {.kind = Kind::kConfirmed,
                             .digest = digest,
                             .keys = keys == change.keys.end() ? std::string() : keys->second,
                             .is_ahead_of_record = true};
    }
  }
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
