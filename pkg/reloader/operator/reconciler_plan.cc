// Makes a Reconciler's plans from the caches, and from the API server when the caches do not
// suffice.
#include <algorithm>
#include <iterator>
#include <set>
#include <string>
#include <utility>

#include "kubexx/reloader/model/stamps.h"
#include "kubexx/reloader/operator/reconciler.h"
#include "kubexx/reloader/permissions/denial.h"
#include "kubexx/reloader/plan/planner.h"

namespace kubexx::reloader {
namespace {

PairMemory::SeenRecord SeenOn(const Workload& workload) {
  return PairMemory::SeenRecord::Of(*Find(workload.annotations, kBaselineAnnotation),
                                    VersionNumber(workload.resource_version));
}

/// Returns the version that the API server's answer about a doubtful source must at least have:
/// everything that the plan knows from the workload, or has known from it, must be in that answer.
std::uint64_t DoubtfulSince(const Workload& workload, const Knowledge& known) {
  return std::max({known.record_at, VersionNumber(workload.resource_version),
                   VersionNumber(workload.template_resource_version)});
}

/// Marks the compared sources as certain until somebody else records something, so that the next
/// plans do not ask again.
void MarkCompared(reloader::Plan& plan) {
  for (auto& [source, state] : plan.learnt) {
    state.is_ahead_of_record = state.is_ahead_of_record || plan.doubtful.contains(source);
  }
}

}  // namespace

apimachinery::Result<reloader::Plan> Reconciler::PlanFor(const Workload& workload, Doubts doubts,
                                                         const std::stop_token& stop,
                                                         const Untold& untold) const {
  if (HasOwnRecord(workload) && parts_.memory.IsNewRecord(workload.id, SeenOn(workload))) {
    parts_.memory.RecordedByOthers(workload.id);  // no event has told of that rollout yet
  }
  const auto behind = held_up_.IsPatient(workload.id) ? KeyedSources::Behind::kAwait
                                                      : KeyedSources::Behind::kLeaveOut;
  KeyedSources sources(parts_.caches, parts_.gate, parts_.value_digests, stop, parts_.absences,
                       behind);
  sources.LookFor(workload);
  const auto get = [&](const SourceId& source) { return sources.Get(source); };
  const auto names = [&](SourceType type) {
    return parts_.caches.SourceNames(type, workload.id.key.namespace_);
  };
  Knowledge known = parts_.memory.Get(workload.id);
  known.untold_stamps = untold.stamps;
  known.has_untold_template = untold.has_template;
  reloader::Plan plan;
  do {
    plan = MakePlan(workload, SourceLookup{get, names, &sources}, known, parts_.rules,
                    parts_.patterns);
    if (doubts == Doubts::kSettle) {
      sources.Compare(plan.doubtful, DoubtfulSince(workload, known));
    }
    if (sources.failure()) {
      return apimachinery::Fail(*sources.failure());
    }
  } while (sources.TakeNews());
  if (sources.left_out() && known.is_unplanned && parts_.rules.sync_after_restart) {
    // Only a first plan rolls for everything that is new.
    return apimachinery::Fail(*sources.left_out());
  }
  plan.incomplete = sources.left_out();
  if (parts_.record_baselines != BaselineRecording::kAlways) {
    plan.template_written.reset();  // nobody would write the baseline anew after a release
  }
  if (doubts == Doubts::kSettle) {
    MarkCompared(plan);
  }
  std::ranges::move(BadValues(workload, parts_.rules.keys), std::back_inserter(plan.bad_items));
  if (auto bad = parts_.in_place == nullptr ? std::nullopt : BadActionOf(workload)) {
    plan.bad_items.push_back(*std::move(bad));
  }
  return plan;
}

apimachinery::Result<reloader::Plan> Reconciler::PlanForCertain(std::optional<Workload>& workload,
                                                                const std::stop_token& stop,
                                                                std::uint64_t tenure) const {
  auto plan = PlanFor(*workload, Doubts::kSettle, stop, {});
  if (!plan || plan->changes.empty() || parts_.fresh_reads == nullptr ||
      !parts_.fresh_reads->AreWanted(*workload, parts_.strategy, tenure)) {
    return plan;
  }
  KX_ASSIGN_OR_RETURN(auto anew, PlanAnew(workload, stop, tenure));
  // When the sources may not be read from the API server, there is only the cache.
  return anew ? *std::move(anew) : std::move(plan);
}

apimachinery::Result<std::optional<reloader::Plan>> Reconciler::PlanAnew(
    std::optional<Workload>& workload, const std::stop_token& stop, std::uint64_t tenure) const {
  auto read = parts_.fresh_reads->Read(workload->id, tenure, stop);
  if (!read && IsDenied(read.error())) {
    return std::nullopt;
  }
  KX_ASSIGN_OR_RETURN(auto fresh, std::move(read));
  if (!fresh || fresh->uid != workload->uid) {
    workload.reset();
    return reloader::Plan{};
  }
  const auto cached = parts_.caches.GetWorkload(workload->id);
  Untold untold{.has_template =
                    cached && cached->template_version.digest != fresh->template_version.digest};
  for (const auto& [stamp, value] : StampsOfOneRollout(*workload, *fresh)) {
    untold.stamps.insert(stamp);
  }
  workload = std::move(fresh);
  auto plan = PlanFor(*workload, Doubts::kSettle, stop, untold);
  if (!plan) {
    parts_.fresh_reads->Forget(workload->id);  // the next attempt must not rely on the cache
    return apimachinery::Fail(plan.error());
  }
  return *std::move(plan);
}

bool Reconciler::NeedsRollout(const Workload& workload, const SourceId& source) const {
  if (IsKeeper(workload)) {
    return false;
  }
  const auto plan = PlanFor(workload, Doubts::kLeave, {}, {});
  const auto why = plan ? plan->incomplete : std::optional(plan.error());
  if (why && !IsDenied(*why) && why->reason != apimachinery::Reason::kMalformed) {
    return true;  // the caller has to ask again when that may help
  }
  return plan && std::ranges::any_of(plan->changes, [&](const Change& change) {
           return std::ranges::find(change.causes, source) != change.causes.end();
         });
}

bool Reconciler::Concerns(const Workload& workload, const SourceId& source) const {
  if (IsKeeper(workload)) {
    return false;
  }
  const Source present = parts_.caches.GetSource(source).value_or(Source{.id = source});
  const Verdict verdict = Decide(present, workload, parts_.rules, parts_.patterns);
  return Reloads(verdict) &&
         ChooseContainer(workload, source.type, source.key.name, verdict == Verdict::kExplicit);
}

bool Reconciler::AwaitsTemplate(const Workload& workload, const reloader::Plan& plan) {
  const auto cached = plan.changes.empty() ? std::nullopt : parts_.caches.GetWorkload(workload.id);
  if (cached && AwaitsEvent(*cached)) {
    return true;  // the cache has changed since the key was taken
  }
  if (!cached || !ChecksVersions()) {
    awaited_.Forget(workload.id);
    return false;
  }
  return awaited_.Await(workload, *cached, plan,
                        MakeWrite(workload, plan.changes, parts_.strategy, parts_.clock.Wall()));
}

bool Reconciler::ChecksVersions() const {
  return parts_.fresh_reads != nullptr && parts_.fresh_reads->CanRead();
}

}  // namespace kubexx::reloader
