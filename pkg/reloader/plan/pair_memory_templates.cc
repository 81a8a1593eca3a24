// What a PairMemory makes of changes of pod templates.
#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "kubexx/reloader/model/annotations.h"
#include "kubexx/reloader/model/env_var.h"
#include "kubexx/reloader/plan/begun_pods.h"
#include "kubexx/reloader/plan/former_templates.h"
#include "kubexx/reloader/plan/pair_memory.h"
#include "kubexx/reloader/plan/strategy.h"

namespace kubexx::reloader {
namespace {

/// Whether a rollout of this process was made whose event is still to come.
bool IsOwnRolloutOnTheWay(const Knowledge& known) {
  return !known.rolled_from.empty() &&
         std::ranges::all_of(known.rolled_from, [&](const auto& from) {
           const auto state = known.pairs.find(from.first);
           return state != known.pairs.end() && state->second.kind == PairState::Kind::kConfirmed;
         });
}

/// Stores that pods began with the data of this digest, where a rollout of another replica that was
/// made for them tells that.
void BeginPodsFor(Knowledge& known, const SourceId& source, const std::optional<Digest>& digest) {
  if (digest && HasMovedOnlyTo(known, source, *digest) && !IsOverKeys(known.pairs, source)) {
    known.pairs[source] = BeganWith(*digest);
  }
}

/// Stores that pods began by a rollout of another replica with what its stamps say. It may not be
/// known whether it was made before or after a change, as when a list tells of it.
void BeginPodsOf(Knowledge& known, const PairMemory::TemplateChange& change) {
  std::map<std::string, std::vector<SourceId>> sources;
  std::set<SourceId> all;
  for (const auto& [source, state] : known.pairs) {
    all.insert(source);
  }
  for (const auto& [source, moves] : known.moves) {
    all.insert(source);
  }
  for (const SourceId& source : all) {
    sources[EnvVarName(source.type, source.key.name)].push_back(source);
  }
  for (const auto& [stamp, value] : change.stamps) {
    if (stamp == kLastReloadedFrom) {
      if (const auto from = ParseReloadedFrom(value)) {
        BeginPodsFor(known, from->source, Digest::Parse(from->hash));
      }
      continue;
    }
    const auto found = sources.find(stamp);
    if (found != sources.end() && found->second.size() == 1) {  // of several: a digest of digests
      BeginPodsFor(known, found->second.front(), Digest::Parse(value));
    }
  }
}

/// Whether another replica recorded the last baseline that is known between the states that this
/// change is the difference of, as a read of the workload has shown before the event came. It tells
/// of pods that are younger than all that is known here.
bool IsOfRecordInBetween(const Knowledge& known, const PairMemory::TemplateChange& change) {
  return change.since != 0 && change.since < change.until && known.record_since == 0 &&
         known.record_at > change.since && known.record_at <= change.until;
}

/// A baseline that was recorded after this change of the template counts more than what the change
/// tells here. Of a Deployment's template and of the record on the Rollout that uses it different
/// watches tell, each as late as it may be.
void HeedLaterRecord(Knowledge& known, const PairMemory::TemplateChange& change) {
  const bool is_later = change.until != 0 && known.record_since > change.until;
  if (!is_later && !IsOfRecordInBetween(known, change)) {
    return;
  }
  for (auto& [source, state] : known.pairs) {
    state.is_ahead_of_record = false;
  }
}

}  // namespace

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
    if (is_of_others) {
      BeginPodsOf(known, change);
      HeedLaterRecord(known, change);
    }
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
  HeedLaterRecord(known, change);
  return leaves_others ? TemplateNews::kUndone : TemplateNews::kNone;
}

void PairMemory::MarkUnfinished(const WorkloadId& workload) {
  const base::MutexLock lock(mu_);
  states_[workload].has_unknown_formers = true;
}

void PairMemory::TemplateRolledOut(const WorkloadId& workload) {
  const base::MutexLock lock(mu_);
  if (const auto found = states_.find(workload); found != states_.end()) {
    found->second.formers.clear();
    found->second.has_unknown_formers = false;
  }
}

}  // namespace kubexx::reloader
