// How a Reconciler plans: by the caches, and by the API server where those do not suffice.
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

}  // namespace

apimachinery::Result<reloader::Plan> Reconciler::PlanFor(
    const Workload& workload, Doubts doubts, const std::stop_token& stop,
    std::set<std::string> untold_variables) const {
  if (HasOwnRecord(workload) && parts_.memory.IsNewRecord(workload.id, SeenOn(workload))) {
    parts_.memory.RecordedByOthers(workload.id);  // of whose rollout no event has told yet
  }
  KeyedSources sources(parts_.caches, parts_.gate, parts_.value_digests, stop, parts_.absences);
  const auto get = [&](const SourceId& source) { return sources.Get(source); };
  const auto names = [&](SourceType type) {
    return parts_.caches.SourceNames(type, workload.id.key.namespace_);
  };
  Knowledge known = parts_.memory.Get(workload.id);
  known.untold_variables = std::move(untold_variables);
  reloader::Plan plan =
      MakePlan(workload, SourceLookup{get, names, &sources}, known, parts_.rules, parts_.patterns);
  if (doubts == Doubts::kSettle) {
    sources.Compare(plan.doubtful, known.record_at != 0 ? known.record_at
                                                        : VersionNumber(workload.resource_version));
  }
  if (sources.failure()) {
    return apimachinery::Fail(*sources.failure());
  }
  std::ranges::move(BadValues(workload, parts_.rules.keys), std::back_inserter(plan.bad_items));
  return plan;
}

apimachinery::Result<reloader::Plan> Reconciler::PlanForCertain(std::optional<Workload>& workload,
                                                                const std::stop_token& stop,
                                                                std::uint64_t tenure) const {
  auto plan = PlanFor(*workload, Doubts::kSettle, stop);
  if (!plan || plan->changes.empty() || parts_.fresh_reads == nullptr ||
      !parts_.fresh_reads->AreWanted(*workload, parts_.strategy, tenure)) {
    return plan;
  }
  auto anew = PlanAnew(workload, stop, tenure);
  // Where it may not be read there is the cache alone.
  return anew || !IsDenied(anew.error()) ? std::move(anew) : std::move(plan);
}

apimachinery::Result<reloader::Plan> Reconciler::PlanAnew(std::optional<Workload>& workload,
                                                          const std::stop_token& stop,
                                                          std::uint64_t tenure) const {
  KX_ASSIGN_OR_RETURN(auto fresh, parts_.fresh_reads->Read(workload->id, tenure, stop));
  if (!fresh || fresh->uid != workload->uid) {
    workload.reset();
    return reloader::Plan{};
  }
  std::set<std::string> untold;
  for (const auto& [variable, value] : VariablesOfOneRollout(*workload, *fresh)) {
    untold.insert(variable);
  }
  workload = std::move(fresh);
  auto plan = PlanFor(*workload, Doubts::kSettle, stop, std::move(untold));
  if (!plan) {
    parts_.fresh_reads->Forget(workload->id);  // the next try is not to go by the cache
  }
  return plan;
}

bool Reconciler::NeedsRollout(const Workload& workload, const SourceId& source) const {
  if (IsKeeper(workload)) {
    return false;
  }
  const auto plan = PlanFor(workload, Doubts::kLeave, {});
  if (!plan) {
    // Who asks is to ask again, where that may help.
    return !IsDenied(plan.error()) && plan.error().reason != apimachinery::Reason::kMalformed;
  }
  return std::ranges::any_of(plan->changes, [&](const Change& change) {
    return std::ranges::find(change.causes, source) != change.causes.end();
  });
}

bool Reconciler::AwaitsTemplate(const Workload& workload, const reloader::Plan& plan) {
  const auto cached = plan.changes.empty() ? std::nullopt : parts_.caches.GetWorkload(workload.id);
  if (cached && AwaitsEvent(*cached)) {
    return true;  // the cache has moved since the key was taken
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
