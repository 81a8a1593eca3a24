// Evaluates changes of pod templates for a PairMemory.
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

/// Whether this process has made a rollout whose event has not come yet.
bool IsOwnRolloutOnTheWay(const Knowledge& known) {
  return !known.rolled_from.empty() &&
         std::ranges::all_of(known.rolled_from, [&](const auto& from) {
           const auto state = known.pairs.find(from.first);
           return state != known.pairs.end() && state->second.kind == PairState::Kind::kConfirmed;
         });
}

/// Stores that pods began with the data of this digest, if another replica's rollout for these data
/// shows that.
void BeginPodsFor(Knowledge& known, const SourceId& source, const std::optional<Digest>& digest) {
  if (digest && HasMovedOnceTo(known, source, *digest) && !IsOverKeys(known.pairs, source)) {
    known.pairs[source] = BeganWith(*digest);
  }
}

/// Stores that another replica's rollout began pods with the data of its stamps. It may not be
/// known whether the rollout was made before or after a change, for example when a list tells of
/// it.
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
    // The digest of several sources is a digest of digests.
    if (found != sources.end() && found->second.size() == 1) {
      BeginPodsFor(known, found->second.front(), Digest::Parse(value));
    }
  }
}

/// A time at which somebody may have begun pods: at one of these versions.
struct BeginOfPods {
  std::uint64_t since;
  std::uint64_t until;
  /// Rollouts of the operator began some. Their stamps tell a plan whether these were for the
  /// present data, unless the source had these data before.
  bool is_own;
};

/// The version at which the pods began that this change of the template tells of, or an earlier
/// one. A list may tell of it only together with later writes, of which this process knows one.
std::uint64_t BegunSince(const Knowledge& known, const PairMemory::TemplateChange& change) {
  const bool is_told_with_later = change.since != 0 && change.since < known.template_since &&
                                  known.template_since <= change.until;
  return is_told_with_later ? known.template_since : change.since;
}

/// Whether the pods may have begun with other data than `state` says. The watch of the workload is
/// behind those of its sources, so that a plan has seen a change already that was made after that;
/// or a list tells of the workload, and nobody knows which came first.
bool MayHaveOthers(const Knowledge& known, const SourceId& source, const PairState& state,
                   const BeginOfPods& begin) {
  if (state.moved_at > begin.since) {
    return true;
  }
  const auto found = known.moves.find(source);
  if (found == known.moves.end()) {
    return false;
  }
  const std::vector<Move>& moves = found->second;
  const bool has_moved = std::ranges::any_of(moves, [&](const Move& move) {
    return move.version > begin.since && move.version < begin.until &&
           IsMoveUnder(state.keys, move);
  });
  return has_moved && !(begin.is_own && HasMovedOnceTo(known, source, moves.back().digest));
}

/// Stores that it is not known any more with which data pods began then. What is known of older
/// pods does not hold for these.
void DoubtData(Knowledge& known, const BeginOfPods& begin) {
  for (auto& [source, state] : known.pairs) {
    // Of a class every pod tells for itself.
    if (state.kind == PairState::Kind::kConfirmed &&
        source.type != SourceType::kSecretProviderClass &&
        MayHaveOthers(known, source, state, begin)) {
      state = BeganWithUnknown(std::move(state.keys));
    }
  }
}

/// A baseline that was recorded after this change of the template counts more than the change
/// itself. The template of a Deployment and the record on the Rollout that uses it come from
/// different watches, each of which may be late.
void HeedLaterRecord(Knowledge& known, const PairMemory::TemplateChange& change) {
  if (!IsRecordYounger(known, change.since, change.until)) {
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
  // Pods that others have begun before those that this process knows of are gone.
  const BeginOfPods begin{.since = std::max(change.since, known.template_since),
                          .until = change.until,
                          .is_own = change.is_own};
  ++known.templates;
  // Of a template that it goes back to, pods may live on.
  known.begins_on_resume =
      change.is_paused && !known.has_unknown_formers &&
      std::ranges::find(known.formers, change.now, &Knowledge::Former::template_digest) ==
          known.formers.end();
  known.stamps_of_others.clear();
  if (change.was_rolled_out) {
    known.formers.clear();
    known.has_unknown_formers = false;
  }
  if (change.is_own) {
    PairStates from = std::exchange(known.rolled_from, {});
    const bool is_of_others = from.empty();  // this process wrote nothing
    AddFormer(known, {.template_digest = change.before,
                      .pairs = is_of_others ? known.pairs : std::move(from),
                      .is_own = true});
    BeginAllAnew(known);
    // Confirm tells for which sources this process rolls. The sources of other processes may not be
    // written anywhere.
    if (is_of_others) {
      BeginPods(known, BegunSince(known, change), change.until);
      BeginPodsOf(known, change);
      known.stamps_of_others = change.all_stamps;
    } else if (change.stamps.empty() && known.template_since != 0) {
      // A list tells of this process's rollout, and of other writes, which may have been later.
      known.template_until = std::max(known.template_until, change.until);
    }
    if (change.since < change.until && change.stamps.empty()) {
      DoubtData(known, begin);  // somebody else may have begun pods as well
    }
    if (is_of_others) {
      HeedLaterRecord(known, change);
    }
    return TemplateNews::kNone;
  }
  if (change.until != 0 && change.until < known.told_at && IsOwnRolloutOnTheWay(known)) {
    // The watch lags behind: the rollout has made all pods anew since then.
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
    MixPods(known, goes_back ? &*found : nullptr, {.since = change.since, .until = change.until});
    // All pods are made anew for this, but only once, and not after each release while one pod
    // cannot be replaced.
    known.has_unknown_formers = goes_back && known.has_unknown_formers;
    AddFormer(known, std::move(present));
    return undoes_own ? TemplateNews::kSetBack : TemplateNews::kNone;
  }
  const bool leaves_others =
      goes_back && HasOtherData(known, *found, {.since = change.since, .until = change.until});
  AddFormer(known, std::move(present));
  // A baseline that came back with the template describes pods that are gone.
  for (auto& [source, state] : known.pairs) {
    state.is_ahead_of_record = true;
  }
  BeginPods(known, BegunSince(known, change), change.until);
  if (change.since != 0) {
    DoubtData(known, begin);
  }
  HeedLaterRecord(known, change);
  return leaves_others ? TemplateNews::kUndone : TemplateNews::kNone;
}

void PairMemory::Resumed(const WorkloadId& workload, std::uint64_t version) {
  const base::MutexLock lock(mu_);
  const auto found = states_.find(workload);
  if (found == states_.end() || !std::exchange(found->second.begins_on_resume, false) ||
      version < found->second.template_since || version == 0) {
    return;  // or it is known already of pods that have begun since
  }
  Knowledge& known = found->second;
  ++known.templates;  // what a plan has concluded meanwhile was true of the pods before
  BeginAllAnew(known);
  BeginPods(known, version, version);
  DoubtData(known, {.since = version, .until = version, .is_own = false});
}

bool PairMemory::LeaveDue(const WorkloadId& workload, const std::vector<Change>& changes) {
  const base::MutexLock lock(mu_);
  Knowledge& known = states_[workload];
  for (const Change& change : changes) {
    for (const auto& [source, digest] : change.sources) {
      if (std::ranges::find(change.causes, source) != change.causes.end()) {
        known.left_due[source] = digest;
      }
    }
  }
  return known.pods_begin && MixLeftDue(known);
}

void PairMemory::NotePods(const WorkloadId& workload, PodsBegin begin) {
  const base::MutexLock lock(mu_);
  const bool is_news = begin == PodsBegin::kYes || begin == PodsBegin::kAdded;
  const auto found = is_news ? states_.try_emplace(workload).first : states_.find(workload);
  if (found == states_.end()) {
    return;
  }
  Knowledge& known = found->second;
  known.pods_added = begin == PodsBegin::kAdded || (begin != PodsBegin::kNo && known.pods_added);
  known.pods_begin = is_news || (begin == PodsBegin::kOnlyAdded && known.pods_added) ||
                     (begin == PodsBegin::kOnResume &&
                      (known.pods_added || known.has_unknown_formers || !known.formers.empty()));
  if (known.pods_begin && MixLeftDue(known)) {
    ++known.templates;  // what a plan has concluded meanwhile was true of the pods before
  }
  if (known == Knowledge{.tenure = known.tenure}) {
    states_.erase(found);
  }
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
