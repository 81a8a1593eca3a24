#include "kubexx/reloader/reconciler.h"

#include <algorithm>
#include <chrono>

#include "kubexx/logging/log.h"
#include "kubexx/reloader/job_keeper.h"
#include "kubexx/reloader/planner.h"

namespace kubexx::reloader {
namespace {

using apimachinery::Reason;

// Bounds what a flood of bad annotations can occupy; after that some are logged again.
constexpr std::size_t kMaxReported = 1000;

// Between two looks at a Job that is being deleted, or made anew by another worker.
constexpr base::Duration kRecoverInterval = std::chrono::seconds(2);

void LogReloads(const WorkloadId& id, const std::vector<Change>& changes, const char* what) {
  for (const Change& change : changes) {
    for (const SourceId& source : change.causes) {
      logging::Info(what, {{"source", source.key.name},
                           {"type", NamesOf(source.type).upper},
                           {"namespace", source.key.namespace_},
                           {"workload", id.key.name},
                           {"kind", KindName(id.kind)},
                           {"container", change.container},
                           {"variable", change.variable}});
    }
  }
}

}  // namespace

double Reconciler::SecondsSince(base::TimePoint begin) const {
  return std::chrono::duration<double>(parts_.clock.Now() - begin).count();
}

Reconciler::Answer Reconciler::Reconcile(const WorkloadId& id, const std::stop_token& stop,
                                         std::uint64_t tenure) {
  const base::TimePoint begin = parts_.clock.Now();
  const Answer answer = Plan(id, begin, stop, tenure);
  const ReconcileResult result = answer.outcome == Outcome::kNothing   ? ReconcileResult::kSkipped
                                 : answer.outcome == Outcome::kWritten ? ReconcileResult::kSuccess
                                                                       : ReconcileResult::kError;
  parts_.metrics.Reconciled(result, SecondsSince(begin));
  return answer;
}

Reconciler::Answer Reconciler::Plan(const WorkloadId& id, base::TimePoint begin,
                                    const std::stop_token& stop, std::uint64_t tenure) {
  auto workload = parts_.caches.GetWorkload(id);
  if (!workload) {
    return Finish(id, stop);
  }
  if (IsKeeper(*workload)) {
    return Recover(id, stop);
  }
  parts_.metrics.WorkloadScanned(id.kind);
  auto planned = PlanForCertain(workload, stop, tenure);
  if (!workload) {
    return {};  // its event is on the way
  }
  if (!planned) {
    logging::Warning("What a rollout needs to know cannot be read; it is tried again",
                     {{"workload", id.key.name},
                      {"kind", KindName(id.kind)},
                      {"namespace", id.key.namespace_},
                      {"error", planned.status()}});
    return {Outcome::kRetry};
  }
  reloader::Plan& plan = *planned;
  ReportBadItems(id, plan);
  parts_.memory.Apply(id, plan);
  if (plan.not_updated > 0) {
    parts_.metrics.Skipped(SkipReason::kStrategyNotUpdated, plan.not_updated);
  }
  AnnotationEdits annotations;
  if (parts_.gate != nullptr && plan.changes.empty()) {
    parts_.gate->OnNothing(id);
  } else if (parts_.gate != nullptr && !parts_.gate->Admit(*workload, plan.changes, annotations)) {
    return Record(*workload, plan, stop);  // the gate has it looked at again
  }
  return plan.changes.empty() ? Record(*workload, plan, stop)
                              : Write(*workload, plan, annotations, begin, stop);
}

apimachinery::Result<reloader::Plan> Reconciler::PlanFor(const Workload& workload,
                                                         const std::stop_token& stop) const {
  KeyedSources sources(parts_.caches, parts_.gate, parts_.value_digests, stop);
  const auto get = [&](const SourceId& source) { return sources.Get(source); };
  const auto names = [&](SourceType type) {
    return parts_.caches.SourceNames(type, workload.id.key.namespace_);
  };
  reloader::Plan plan = MakePlan(workload, SourceLookup{get, names, &sources},
                                 parts_.memory.Get(workload.id), parts_.rules, parts_.patterns);
  if (sources.failure()) {
    return apimachinery::Fail(*sources.failure());
  }
  return plan;
}

apimachinery::Result<reloader::Plan> Reconciler::PlanForCertain(std::optional<Workload>& workload,
                                                                const std::stop_token& stop,
                                                                std::uint64_t tenure) const {
  auto plan = PlanFor(*workload, stop);
  if (!plan || plan->changes.empty() || parts_.fresh_reads == nullptr ||
      !parts_.fresh_reads->AreWanted(*workload, parts_.strategy, tenure)) {
    return plan;
  }
  KX_ASSIGN_OR_RETURN(auto fresh, parts_.fresh_reads->Read(workload->id, tenure, stop));
  if (!fresh || fresh->uid != workload->uid) {
    workload.reset();
    return plan;
  }
  workload = std::move(fresh);
  return PlanFor(*workload, stop);
}

bool Reconciler::NeedsRollout(const Workload& workload, const SourceId& source) const {
  const auto plan = PlanFor(workload, {});
  return plan && std::ranges::any_of(plan->changes, [&](const Change& change) {
           return std::ranges::find(change.causes, source) != change.causes.end();
         });
}

Reconciler::Answer Reconciler::Finish(const WorkloadId& id, const std::stop_token& stop) {
  Forget(id);
  if (const auto finished = parts_.writer.Finish(id, stop); !finished) {
    logging::Error("Workload could not be created again; it is tried again",
                   {{"workload", id.key.name},
                    {"kind", KindName(id.kind)},
                    {"namespace", id.key.namespace_},
                    {"error", finished.status()}});
    return {Outcome::kRetry};
  }
  return {};
}

Reconciler::Answer Reconciler::Recover(const WorkloadId& keeper, const std::stop_token& stop) {
  const auto recovered = parts_.writer.Recover(keeper, stop);
  if (recovered) {
    return *recovered ? Answer{} : Answer{.again = kRecoverInterval};
  }
  logging::Error("A Job that was being made anew when its process ended is not there yet",
                 {{"keeper", keeper.key.ToString()}, {"error", recovered.status()}});
  return {Outcome::kRetry};
}

Reconciler::Answer Reconciler::Write(const Workload& workload, const reloader::Plan& plan,
                                     const AnnotationEdits& annotations, base::TimePoint begin,
                                     const std::stop_token& stop) {
  const WorkloadId& id = workload.id;
  parts_.memory.BeginWrite(id, plan.changes);
  const auto written = Send(workload, plan, annotations, stop);
  if (parts_.gate != nullptr) {
    parts_.gate->OnWritten(id, written && written->rolled);
  }
  if (written && !written->made) {  // a dry run: said once for each change
    parts_.memory.Confirm(id, plan.changes);
    LogReloads(id, plan.changes, "Changes detected, workload would be rolled");
    return {};
  }
  if (written) {
    parts_.memory.Confirm(id, plan.changes);
    parts_.metrics.Wrote(id, true, SecondsSince(begin));
    LogReloads(id, plan.changes, "Changes detected, workload updated");
    Notify(workload, plan, {});
    if (parts_.recording != nullptr && written->recorded) {
      parts_.recording->Written(id);
    }
    return {Outcome::kWritten};
  }
  switch (written.status().reason) {
    case Reason::kNotFound:  // deleted meanwhile; its event is on the way
      Forget(id);
      return {};
    case Reason::kCancelled:
      return {Outcome::kRetry};
    default:
      break;
  }
  parts_.metrics.Wrote(id, false, SecondsSince(begin));
  ReportFailure(id, plan, written.status());
  Notify(workload, plan, apimachinery::Fail(written.status()));
  if (written.status().reason == Reason::kInvalidConfig) {
    return {};  // a bad annotation stays bad until it is changed, which is an event
  }
  return {Outcome::kRetry};
}

apimachinery::Result<WriteOutcome> Reconciler::Send(const Workload& workload,
                                                    const reloader::Plan& plan,
                                                    const AnnotationEdits& annotations,
                                                    const std::stop_token& stop) {
  WorkloadWrite write = MakeWrite(workload, plan.changes, parts_.strategy, parts_.clock.Wall());
  write.annotations.insert(annotations.begin(), annotations.end());
  const std::string baseline = BaselineAfter(plan, plan.changes);
  if (!baseline.empty()) {
    write.annotations[std::string(kBaselineAnnotation)] = baseline;
  }
  if (parts_.pauses != nullptr) {
    KX_RETURN_IF_ERROR(parts_.pauses->AddTo(workload, write, stop));
  }
  auto written = parts_.writer.Write(workload.id, write, stop);
  if (!written && written.status().reason == Reason::kInvalid && !baseline.empty()) {
    // Others have filled the room for annotations, perhaps. The rollout matters more.
    write.annotations.erase(std::string(kBaselineAnnotation));
    written = parts_.writer.Write(workload.id, write, stop);
  }
  return written;
}

Reconciler::Answer Reconciler::Record(const Workload& workload, const reloader::Plan& plan,
                                      const std::stop_token& stop) {
  const WorkloadId& id = workload.id;
  if (parts_.recording == nullptr) {
    return {};
  }
  if (!plan.record) {
    parts_.recording->Forget(id);
    return {};
  }
  if (const base::Duration wait = parts_.recording->Ask(id); wait > base::Duration(0)) {
    return {.again = wait};
  }
  const WorkloadWrite write{
      .uid = workload.uid,
      .annotations = {{std::string(kBaselineAnnotation), BaselineAfter(plan, {})}}};
  const auto written = parts_.writer.Write(id, write, stop);
  if (written && written->recorded) {
    parts_.metrics.Recorded(id, true);
    return {};
  }
  if (written) {
    return CannotRecord(id, apimachinery::Status(Reason::kForbidden, "not permitted", 403));
  }
  return CannotRecord(id, written.status());
}

Reconciler::Answer Reconciler::CannotRecord(const WorkloadId& id,
                                            const apimachinery::Status& status) {
  if (status.reason == Reason::kNotFound || status.reason == Reason::kCancelled) {
    return {};
  }
  parts_.metrics.Recorded(id, false);
  if (status.reason != Reason::kForbidden) {
    logging::Warning("Baseline of a workload not recorded; another attempt follows",
                     {{"workload", id.key.name},
                      {"kind", KindName(id.kind)},
                      {"namespace", id.key.namespace_},
                      {"error", status}});
  } else if (parts_.recording->Forbidden(id)) {
    logging::Warning(
        "Baselines of a kind of workload cannot be recorded: grant the verb patch. Changes made "
        "while nothing watches are missed for those that were never rolled",
        {{"kind", KindName(id.kind)}, {"namespace", id.key.namespace_}, {"error", status}});
  }
  return {.again = parts_.recording->Ask(id)};
}

void Reconciler::Forget(const WorkloadId& id) {
  parts_.memory.Forget(id);
  if (parts_.fresh_reads != nullptr) {
    parts_.fresh_reads->Forget(id);
  }
  if (parts_.recording != nullptr) {
    parts_.recording->Forget(id);
  }
}

void Reconciler::ReportFailure(const WorkloadId& id, const reloader::Plan& plan,
                               const apimachinery::Status& status) const {
  for (const Change& change : plan.changes) {
    for (const SourceId& source : change.causes) {
      logging::Error("Update of workload failed", {{"source", source.key.name},
                                                   {"type", NamesOf(source.type).upper},
                                                   {"namespace", source.key.namespace_},
                                                   {"workload", id.key.name},
                                                   {"kind", KindName(id.kind)},
                                                   {"error", status}});
    }
  }
}

void Reconciler::Notify(const Workload& workload, const reloader::Plan& plan,
                        const apimachinery::Result<void>& outcome) const {
  if (parts_.observers.empty()) {
    return;
  }
  WriteReport report{.workload = workload.id, .uid = workload.uid, .outcome = outcome};
  for (const Change& change : plan.changes) {
    report.causes.insert(report.causes.end(), change.causes.begin(), change.causes.end());
  }
  for (WriteObserver* observer : parts_.observers) {
    observer->OnWrite(report);
  }
}

void Reconciler::ReportBadItems(const WorkloadId& id, const reloader::Plan& plan) {
  for (const BadItem& bad : plan.bad_items) {
    {
      const base::MutexLock lock(mu_);
      if (reported_.size() >= kMaxReported) {
        reported_.clear();
      }
      if (!reported_.emplace(id, bad.item).second) {
        continue;
      }
    }
    logging::Error("Item of a reload annotation is not a regular expression; it is skipped",
                   {{"item", bad.item},
                    {"error", bad.error},
                    {"workload", id.key.name},
                    {"kind", KindName(id.kind)},
                    {"namespace", id.key.namespace_}});
  }
}

}  // namespace kubexx::reloader
