#include "kubexx/reloader/operator/reconciler.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <set>
#include <string>
#include <utility>

#include "kubexx/logging/log.h"
#include "kubexx/reloader/model/stamps.h"
#include "kubexx/reloader/permissions/denial.h"
#include "kubexx/reloader/plan/planner.h"

namespace kubexx::reloader {
namespace {

using apimachinery::Reason;

// The time between two checks of a Job that is being deleted, or that another worker is making
// anew.
constexpr base::Duration kRecoverInterval = std::chrono::seconds(2);

Retries::Failure FailureOfPlan(const apimachinery::Status& why) {
  return HeldUpPlans::AreBehind(why) ? Retries::Failure::kBehind : Retries::FailureOf(why);
}

// A workload that has changed since it was read is read again. At the last attempt it is written
// whatever its version is, so that a workload that changes all the time does not wait for ever.
constexpr int kMaxVersions = 4;

// Changes that came while a plan was made are part of the next plan.
constexpr base::Duration kAtOnce = std::chrono::milliseconds(1);

// The time after which a write or a plan that failed is tried again.
constexpr base::Duration kMarkAgain = std::chrono::seconds(30);

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
  known.untold_stamps_of_others = untold.stamps_of_others;
  known.has_untold_template = untold.has_template;
  known.has_later_deployment = untold.has_later_deployment;
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
    // Nobody would write the baseline anew after a release, or after a Job.
    plan.template_written.reset();
    plan.is_run_by_jobs = false;
  }
  if (doubts == Doubts::kSettle) {
    MarkCompared(plan);
  }
  std::ranges::move(BadValues(workload, parts_.rules), std::back_inserter(plan.bad_items));
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
  // An undo, or two releases, may bring back the template of the cache, with other pods.
  Untold untold{.has_template =
                    cached && (cached->template_version.digest != fresh->template_version.digest ||
                               IsUndo(*cached, *fresh) || MayHaveGoneThereAndBack(*cached, *fresh)),
                .has_later_deployment =
                    cached && IsOfDeployment(*fresh) &&
                    cached->template_resource_version != fresh->template_resource_version};
  for (const auto& [stamp, value] : StampsOfOneRollout(*workload, *fresh)) {
    untold.stamps.insert(stamp);
  }
  if (cached) {
    untold.stamps_of_others = StampsOfRollouts(*cached, *fresh);
  }
  workload = std::move(fresh);
  auto plan = PlanFor(*workload, Doubts::kSettle, stop, untold);
  if (!plan) {
    parts_.fresh_reads->Forget(workload->id);  // the next attempt must not rely on the cache
    return apimachinery::Fail(plan.error());
  }
  if (untold.has_template) {
    plan->record = false;  // its event tells whether its pods began with what is known of others
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

Reconciler::Answer Reconciler::NotPlanned(const WorkloadId& id, const apimachinery::Status& why) {
  ReportNotPlanned(id, why);
  if (!HeldUpPlans::AreBehind(why) || !held_up_.IsPatient(id)) {
    KeepNoPlace(id);
  }
  return {.outcome = Outcome::kRetry, .failure = FailureOfPlan(why)};
}

Reconciler::Answer Reconciler::WithRest(const WorkloadId& id, const reloader::Plan& plan,
                                        Answer answer) {
  if (!plan.incomplete) {
    held_up_.Forget(id);
    return answer;
  }
  ReportNotPlanned(id, *plan.incomplete);
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
      std::optional<Answer> answer = LeaveDue(workload, plan, version, stop);
      if (answer) {
        answer->again =
            answer->again > base::Duration(0) ? std::min(answer->again, turn.wait) : turn.wait;
      }
      return answer;
    }
  }
  std::vector<Change> held;
  const InPlaceVerdict in_place = Judge(workload, plan, held);
  if (in_place.action) {
    return ReloadInPlace(workload, plan, *in_place.action, held,
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
    return LeaveDue(workload, plan, version, stop);  // the gate has the workload looked at again
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
    parts_.in_place->ForgetRefused(id);
  }
  awaited_.Forget(id);
  held_up_.Forget(id);
  bad_items_.Forget(id);
  full_baselines_.Note(id, false,
                       [this](std::size_t count) { parts_.metrics.FullBaselines(count); });
}

}  // namespace kubexx::reloader
