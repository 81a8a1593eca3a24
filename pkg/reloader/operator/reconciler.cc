#include "kubexx/reloader/operator/reconciler.h"

#include <algorithm>
#include <chrono>

#include "kubexx/logging/log.h"
#include "kubexx/reloader/permissions/denial.h"
#include "kubexx/reloader/plan/planner.h"

namespace kubexx::reloader {
namespace {

using apimachinery::Reason;

// The time between two checks of a Job that is being deleted, or that another worker is making
// anew.
constexpr base::Duration kRecoverInterval = std::chrono::seconds(2);

bool IsBehind(const apimachinery::Status& why) { return why.reason == Reason::kConflict; }

/// A cache may be behind for minutes and for many workloads, so this is logged once for each.
void TellNotPlanned(const WorkloadId& id, const apimachinery::Status& why, bool is_news) {
  const bool is_behind = IsBehind(why);
  logging::Log(!is_behind ? logging::Level::kWarning
               : is_news  ? logging::Level::kInfo
                          : logging::Level::kDebug,
               is_behind ? "A source has just changed, and its event has not arrived; the operator "
                           "looks at the workload again once it has"
                         : "Cannot read a source; the operator looks at the workload again later",
               {{"workload", id.key.name},
                {"kind", KindName(id.kind)},
                {"namespace", id.key.namespace_},
                {"error", why}});
}

Retries::Failure FailureOfPlan(const apimachinery::Status& why) {
  return IsBehind(why) ? Retries::Failure::kBehind : Retries::FailureOf(why);
}

// A workload that has changed since it was read is read again. At the last attempt it is written
// whatever its version is, so that a workload that changes all the time does not wait for ever.
constexpr int kMaxVersions = 4;

// Changes that came while a plan was made are part of the next plan.
constexpr base::Duration kAtOnce = std::chrono::milliseconds(1);

// The time after which a write or a plan that failed is tried again.
constexpr base::Duration kMarkAgain = std::chrono::seconds(30);

}  // namespace

Reconciler::Reconciler(const Parts& parts)
    : parts_(parts), awaited_(parts.clock), held_up_(parts.clock) {
  if (parts_.held_shards != nullptr) {
    shards_subscription_ = parts_.held_shards->OnClosed([this](int shard) { Leave(shard); });
  }
}

double Reconciler::SecondsSince(base::TimePoint begin) const {
  return std::chrono::duration<double>(parts_.clock.Now() - begin).count();
}

Reconciler::Answer Reconciler::Reconcile(const WorkloadId& id, const std::stop_token& stop,
                                         const Call& call) {
  const base::TimePoint begin = parts_.clock.Now();
  parts_.memory.BeginTenure(id, call.tenure);
  const Answer answer = Plan(id, begin, stop, call);
  if (answer.outcome == Outcome::kPutOff) {
    return answer;
  }
  const ReconcileResult result = answer.outcome == Outcome::kNothing   ? ReconcileResult::kSkipped
                                 : answer.outcome == Outcome::kWritten ? ReconcileResult::kSuccess
                                                                       : ReconcileResult::kError;
  parts_.metrics.Reconciled(result, SecondsSince(begin));
  return answer;
}

bool Reconciler::AwaitsEvent(const WorkloadId& id) const {
  const auto workload = parts_.caches.GetWorkload(id);
  return workload && AwaitsEvent(*workload);
}

bool Reconciler::AwaitsEvent(const Workload& cached) const {
  using Telling = ToldTemplates::Telling;
  if (IsOfDeployment(cached)) {  // in this case the Deployment's events tell of the template
    const auto deployment = parts_.caches.GetWorkload(
        {WorkloadKind::kDeployment, {cached.id.key.namespace_, cached.template_ref->name}});
    return deployment && AwaitsEvent(*deployment);
  }
  const WorkloadId& id = cached.id;
  const Telling telling = parts_.told.LookFor(id, cached.template_version);
  if (telling == Telling::kLost) {
    logging::Warning(
        "The event for a pod template in the cache did not arrive; without it the operator may "
        "take a rollout that was undone or set back for a new one",
        {{"workload", id.key.name}, {"kind", KindName(id.kind)}, {"namespace", id.key.namespace_}});
  }
  return telling == Telling::kOnTheWay;
}

Reconciler::Answer Reconciler::Plan(const WorkloadId& id, base::TimePoint begin,
                                    const std::stop_token& stop, const Call& call) {
  auto workload = parts_.caches.GetWorkload(id);
  if (!workload) {
    KeepNoPlace(id);
    return Finish(id, stop);
  }
  if (IsKeeper(*workload)) {
    KeepNoPlace(id);  // anybody may make it a Job that waits
    return Recover(id, stop);
  }
  const bool marked = WriteMarks(*workload, stop);
  Answer answer = PlanAndWrite(std::move(*workload), begin, stop, call);
  if (!marked && (answer.outcome == Outcome::kNothing || answer.outcome == Outcome::kRefused)) {
    answer.again =
        answer.again > base::Duration(0) ? std::min(answer.again, kMarkAgain) : kMarkAgain;
  }
  return answer;
}

Reconciler::Answer Reconciler::PlanAndWrite(std::optional<Workload> workload, base::TimePoint begin,
                                            const std::stop_token& stop, const Call& call) {
  const WorkloadId id = workload->id;
  parts_.metrics.WorkloadScanned(id.kind);
  auto planned = PlanForCertain(workload, stop, call.tenure);
  for (int tries = 1;; ++tries) {
    if (!workload) {
      KeepNoPlace(id);
      return {};  // its event is on its way
    }
    if (!planned) {
      return NotPlanned(id, planned.error());
    }
    if (call.may_put_off && AwaitsTemplate(*workload, *planned)) {
      // It keeps its place.
      return {.outcome = Outcome::kPutOff, .again = AwaitedTemplates::kInterval};
    }
    const bool is_last = tries >= kMaxVersions;
    const bool checks = ChecksVersions();
    // The version of a CronJob changes with each of its Jobs, and an additional Job is worse than a
    // late one.
    const bool is_blind = is_last && id.kind != WorkloadKind::kCronJob;
    const std::string version = checks && !is_last ? workload->resource_version : std::string();
    if (is_blind || !checks) {
      workload->resource_version.clear();
      workload->template_resource_version.clear();
    }
    if (const auto answer = Act(*workload, *planned, version, begin, stop)) {
      return WithRest(id, *planned, *answer);
    }
    if (is_last) {
      KeepNoPlace(id);  // it asks again much later
      return {.outcome = Outcome::kRetry, .failure = Retries::Failure::kPasses};
    }
    auto anew = PlanAnew(workload, stop, call.tenure);
    if (!anew) {
      planned = apimachinery::Fail(anew.error());
    } else if (*anew) {
      planned = **std::move(anew);
    } else {
      // The patch uses the cache's version, because there is no other.
      workload->resource_version.clear();
      workload->template_resource_version.clear();
    }
  }
}

Reconciler::Answer Reconciler::NotPlanned(const WorkloadId& id, const apimachinery::Status& why) {
  TellNotPlanned(id, why, IsNews(id, why));
  if (!IsBehind(why) || !held_up_.IsPatient(id)) {
    KeepNoPlace(id);
  }
  return {.outcome = Outcome::kRetry, .failure = FailureOfPlan(why)};
}

bool Reconciler::IsNews(const WorkloadId& id, const apimachinery::Status& why) {
  if (IsBehind(why)) {
    return held_up_.Note(id);
  }
  held_up_.Forget(id);  // it is not a late watch that has kept it waiting
  return true;
}

Reconciler::Answer Reconciler::WithRest(const WorkloadId& id, const reloader::Plan& plan,
                                        Answer answer) {
  if (!plan.incomplete) {
    held_up_.Forget(id);
    return answer;
  }
  TellNotPlanned(id, *plan.incomplete, IsNews(id, *plan.incomplete));
  if (answer.outcome == Outcome::kNothing && answer.again == base::Duration(0)) {
    return {.outcome = Outcome::kRetry, .failure = FailureOfPlan(*plan.incomplete)};
  }
  answer.again = answer.again > base::Duration(0) ? std::min(answer.again, kMarkAgain) : kMarkAgain;
  return answer;
}

std::optional<Reconciler::Answer> Reconciler::Act(const Workload& workload, reloader::Plan& plan,
                                                  const std::string& version, base::TimePoint begin,
                                                  const std::stop_token& stop) {
  const WorkloadId& id = workload.id;
  ReportBadItems(workload, plan);
  ReportFullBaseline(workload, plan);
  if (!parts_.memory.Apply(id, plan)) {
    return Answer{.again = kAtOnce};  // it must be neither written nor recorded
  }
  if (plan.not_updated > 0) {
    parts_.metrics.Skipped(SkipReason::kStrategyNotUpdated, plan.not_updated);
  }
  if (!plan.changes.empty() && parts_.set_backs != nullptr) {
    const SetBacks::Turn turn = parts_.set_backs->Ask(id, plan.changes);
    if (turn.is_fought) {
      ReportSetBack(workload);
    }
    if (turn.wait > base::Duration(0)) {
      KeepNoPlace(id);
      std::optional<Answer> answer = Record(workload, plan, version, stop);
      if (answer) {
        answer->again =
            answer->again > base::Duration(0) ? std::min(answer->again, turn.wait) : turn.wait;
      }
      return answer;
    }
  }
  const InPlaceVerdict in_place = Judge(workload, plan);
  if (in_place.action) {
    return ReloadInPlace(workload, plan, *in_place.action,
                         {.version = version, .begin = begin, .stop = stop});
  }
  if (!EndReload(workload, plan, version, stop)) {
    return std::nullopt;
  }
  AnnotationEdits annotations;
  if (plan.changes.empty() && parts_.gate != nullptr) {
    parts_.gate->OnUpToDate(workload);
  } else if (!plan.changes.empty() && parts_.gate != nullptr &&
             !parts_.gate->Admit(workload, plan.changes, annotations)) {
    return Record(workload, plan, version, stop);  // the gate has the workload looked at again
  }
  if (plan.changes.empty()) {
    return Record(workload, plan, version, stop);
  }
  LogNotInPlace(id, in_place);
  return Write(workload, plan, annotations, begin, stop);
}

void Reconciler::KeepNoPlace(const WorkloadId& id) {
  if (parts_.gate != nullptr) {
    parts_.gate->OnNothing(id);
  }
}

Reconciler::Answer Reconciler::Finish(const WorkloadId& id, const std::stop_token& stop) {
  Forget(id);
  if (const auto finished = parts_.writer.Finish(id, stop); !finished) {
    logging::Error("Cannot recreate a workload; the operator tries again",
                   {{"workload", id.key.name},
                    {"kind", KindName(id.kind)},
                    {"namespace", id.key.namespace_},
                    {"error", finished.error()}});
    return {.outcome = Outcome::kRetry, .failure = Retries::FailureOf(finished.error())};
  }
  return {};
}

Reconciler::Answer Reconciler::Recover(const WorkloadId& keeper, const std::stop_token& stop) {
  const auto recovered = parts_.writer.Recover(keeper, stop);
  if (recovered) {
    return *recovered ? Answer{} : Answer{.again = kRecoverInterval};
  }
  logging::Error(
      "Cannot recreate a Job that an earlier process has deleted in order to recreate it",
      {{"keeper", keeper.key.ToString()}, {"error", recovered.error()}});
  return {.outcome = Outcome::kRetry, .failure = Retries::FailureOf(recovered.error())};
}

void Reconciler::Forget(const WorkloadId& id) {
  // If the workload exists again, an event has told of that. Otherwise its deletion event does.
  if (!parts_.caches.GetWorkload(id)) {
    parts_.memory.Forget(id);
  }
  if (parts_.fresh_reads != nullptr) {
    parts_.fresh_reads->Forget(id);
  }
  if (parts_.set_backs != nullptr) {
    parts_.set_backs->Forget(id);
  }
  parts_.recording.Forget(id);
  if (parts_.in_place != nullptr) {
    parts_.in_place->Forget(id);
  }
  awaited_.Forget(id);
  held_up_.Forget(id);
  bad_items_.Forget(id);
  full_baselines_.Note(id, false,
                       [this](std::size_t count) { parts_.metrics.FullBaselines(count); });
}

}  // namespace kubexx::reloader
