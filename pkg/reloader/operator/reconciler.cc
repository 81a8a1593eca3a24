#include "kubexx/reloader/operator/reconciler.h"

#include <algorithm>
#include <chrono>
#include <iterator>

#include "kubexx/logging/log.h"
#include "kubexx/reloader/model/stamps.h"
#include "kubexx/reloader/permissions/denial.h"
#include "kubexx/reloader/plan/planner.h"

namespace kubexx::reloader {
namespace {

using apimachinery::Reason;

// Between two looks at a Job that is being deleted, or made anew by another worker.
constexpr base::Duration kRecoverInterval = std::chrono::seconds(2);

Retries::Failure FailureOf(const apimachinery::Status& status) {
  return IsDenied(status) ? Retries::Failure::kDenied : Retries::Failure::kPasses;
}

WriteEnd EndOf(const apimachinery::Result<WriteOutcome>& written) {
  if (!written) {
    return MayHaveBeenMade(written.error())              ? WriteEnd::kUncertain
           : written.error().reason == Reason::kConflict ? WriteEnd::kOvertaken
                                                         : WriteEnd::kNotRolled;
  }
  if (!written->made || !written->rolled) {
    return written->made && written->recorded ? WriteEnd::kKept : WriteEnd::kNotRolled;
  }
  return written->recorded ? WriteEnd::kRolled : WriteEnd::kUnrecorded;
}

void TellNotPlanned(const WorkloadId& id, const apimachinery::Status& why) {
  const bool is_news = why.reason == Reason::kConflict;  // which an event is about to tell as well
  logging::Log(
      is_news ? logging::Level::kInfo : logging::Level::kWarning,
      is_news ? "An object that a rollout depends on has just changed; the rollout is tried again"
              : "An object that a rollout depends on cannot be read; the rollout is tried again",
      {{"workload", id.key.name},
       {"kind", KindName(id.kind)},
       {"namespace", id.key.namespace_},
       {"error", why}});
}

// A workload that has changed since it was read is read again, and the last time it is written
// whatever it is by then: one that never stands still must not wait for ever.
constexpr int kMaxVersions = 4;

// What was told of while a plan was made is in the next.
constexpr base::Duration kAtOnce = std::chrono::milliseconds(1);

PairMemory::SeenRecord SeenOn(const Workload& workload) {
  return PairMemory::SeenRecord::Of(*Find(workload.annotations, kBaselineAnnotation),
                                    VersionNumber(workload.resource_version));
}

// Until what could not be written on a workload is tried again.
constexpr base::Duration kMarkAgain = std::chrono::seconds(30);

}  // namespace

Reconciler::Reconciler(const Parts& parts) : parts_(parts), awaited_(parts.clock) {
  if (parts_.held_shards != nullptr) {
    shards_subscription_ = parts_.held_shards->OnClosed([this](int shard) { Leave(shard); });
  }
}

double Reconciler::SecondsSince(base::TimePoint begin) const {
  return std::chrono::duration<double>(parts_.clock.Now() - begin).count();
}

Reconciler::Answer Reconciler::Reconcile(const WorkloadId& id, const std::stop_token& stop,
                                         std::uint64_t tenure) {
  const base::TimePoint begin = parts_.clock.Now();
  parts_.memory.BeginTenure(id, tenure);
  const Answer answer = Plan(id, begin, stop, tenure);
  const ReconcileResult result = answer.outcome == Outcome::kNothing   ? ReconcileResult::kSkipped
                                 : answer.outcome == Outcome::kWritten ? ReconcileResult::kSuccess
                                                                       : ReconcileResult::kError;
  parts_.metrics.Reconciled(result, SecondsSince(begin));
  return answer;
}

bool Reconciler::AwaitsEvent(const WorkloadId& id) const {
  using Telling = PairMemory::Telling;
  const auto workload = parts_.caches.GetWorkload(id);
  if (!workload || IsOfDeployment(*workload)) {
    return false;
  }
  const Telling telling = parts_.memory.LookFor(id, workload->template_version);
  if (telling == Telling::kLost) {
    logging::Warning(
        "The event for a pod template in the cache did not arrive; the operator plans without it "
        "and may take a rollout that was undone or set back for a new one",
        {{"workload", id.key.name}, {"kind", KindName(id.kind)}, {"namespace", id.key.namespace_}});
  }
  return telling == Telling::kOnTheWay;
}

Reconciler::Answer Reconciler::Plan(const WorkloadId& id, base::TimePoint begin,
                                    const std::stop_token& stop, std::uint64_t tenure) {
  auto workload = parts_.caches.GetWorkload(id);
  if (!workload) {
    KeepNoPlace(id);
    return Finish(id, stop);
  }
  if (IsKeeper(*workload)) {
    KeepNoPlace(id);  // a Job that waits may become one, by anybody's hand
    return Recover(id, stop);
  }
  const bool marked = WriteMarks(*workload, stop);
  Answer answer = PlanAndWrite(std::move(*workload), begin, stop, tenure);
  if (!marked && (answer.outcome == Outcome::kNothing || answer.outcome == Outcome::kRefused)) {
    answer.again =
        answer.again > base::Duration(0) ? std::min(answer.again, kMarkAgain) : kMarkAgain;
  }
  return answer;
}

Reconciler::Answer Reconciler::PlanAndWrite(std::optional<Workload> workload, base::TimePoint begin,
                                            const std::stop_token& stop, std::uint64_t tenure) {
  const WorkloadId id = workload->id;
  parts_.metrics.WorkloadScanned(id.kind);
  auto planned = PlanForCertain(workload, stop, tenure);
  for (int tries = 1;; ++tries) {
    if (!workload) {
      KeepNoPlace(id);
      return {};  // its event is on the way
    }
    if (!planned) {
      KeepNoPlace(id);
      TellNotPlanned(id, planned.error());
      return {.outcome = Outcome::kRetry, .failure = FailureOf(planned.error())};
    }
    if (AwaitsTemplate(*workload, *planned)) {
      KeepNoPlace(id);
      return {.again = AwaitedTemplates::kInterval};
    }
    const bool is_last = tries >= kMaxVersions;
    const bool checks = ChecksVersions();
    // That of a CronJob changes with each of its Jobs, and one Job too many is worse than one late.
    const bool is_blind = is_last && id.kind != WorkloadKind::kCronJob;
    const std::string version = checks && !is_last ? workload->resource_version : std::string();
    if (is_blind || !checks) {
      workload->resource_version.clear();
      workload->template_resource_version.clear();
    }
    if (const auto answer = Act(*workload, *planned, version, begin, stop)) {
      return *answer;
    }
    if (is_last) {
      return {.outcome = Outcome::kRetry, .failure = Retries::Failure::kPasses};
    }
    auto anew = PlanAnew(workload, stop, tenure);
    if (anew || !IsDenied(anew.error())) {
      planned = std::move(anew);
    } else {
      workload->resource_version.clear();  // by what the cache says: there is nothing else
      workload->template_resource_version.clear();
    }
  }
}

bool Reconciler::AwaitsTemplate(const Workload& workload, const reloader::Plan& plan) {
  const auto cached = plan.changes.empty() || !ChecksVersions()
                          ? std::nullopt
                          : parts_.caches.GetWorkload(workload.id);
  if (!cached) {
    awaited_.Forget(workload.id);
    return false;
  }
  return awaited_.Await(workload, *cached, plan,
                        MakeWrite(workload, plan.changes, parts_.strategy, parts_.clock.Wall()));
}

bool Reconciler::ChecksVersions() const {
  return parts_.fresh_reads != nullptr && parts_.fresh_reads->CanRead();
}

std::optional<Reconciler::Answer> Reconciler::Act(const Workload& workload, reloader::Plan& plan,
                                                  const std::string& version, base::TimePoint begin,
                                                  const std::stop_token& stop) {
  const WorkloadId& id = workload.id;
  ReportBadItems(id, plan);
  ReportFullBaseline(workload, plan);
  if (!parts_.memory.Apply(id, plan)) {
    return Answer{.again = kAtOnce};  // neither to be written nor recorded
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
  AnnotationEdits annotations;
  if (plan.changes.empty() && parts_.gate != nullptr) {
    parts_.gate->OnUpToDate(workload);
  } else if (!plan.changes.empty() && parts_.gate != nullptr &&
             !parts_.gate->Admit(workload, plan.changes, annotations)) {
    return Record(workload, plan, version, stop);  // the gate has it looked at again
  }
  return plan.changes.empty() ? Record(workload, plan, version, stop)
                              : Write(workload, plan, annotations, begin, stop);
}

void Reconciler::KeepNoPlace(const WorkloadId& id) {
  if (parts_.gate != nullptr) {
    parts_.gate->OnNothing(id);
  }
}

apimachinery::Result<reloader::Plan> Reconciler::PlanFor(const Workload& workload, Doubts doubts,
                                                         const std::stop_token& stop) const {
  if (HasOwnRecord(workload) && parts_.memory.IsNewRecord(workload.id, SeenOn(workload))) {
    parts_.memory.RecordedByOthers(workload.id);  // of whose rollout no event has told yet
  }
  KeyedSources sources(parts_.caches, parts_.gate, parts_.value_digests, stop, parts_.absences);
  const auto get = [&](const SourceId& source) { return sources.Get(source); };
  const auto names = [&](SourceType type) {
    return parts_.caches.SourceNames(type, workload.id.key.namespace_);
  };
  const Knowledge known = parts_.memory.Get(workload.id);
  reloader::Plan plan =
      MakePlan(workload, SourceLookup{get, names, &sources}, known, parts_.rules, parts_.patterns);
  if (doubts == Doubts::kSettle) {
    sources.Compare(plan.doubtful, known.record_at);
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
  workload = std::move(fresh);
  auto plan = PlanFor(*workload, Doubts::kSettle, stop);
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
    return !IsDenied(plan.error()) && plan.error().reason != Reason::kMalformed;
  }
  return std::ranges::any_of(plan->changes, [&](const Change& change) {
    return std::ranges::find(change.causes, source) != change.causes.end();
  });
}

Reconciler::Answer Reconciler::Finish(const WorkloadId& id, const std::stop_token& stop) {
  Forget(id);
  if (const auto finished = parts_.writer.Finish(id, stop); !finished) {
    logging::Error("Workload could not be created again; the operator tries again",
                   {{"workload", id.key.name},
                    {"kind", KindName(id.kind)},
                    {"namespace", id.key.namespace_},
                    {"error", finished.error()}});
    return {.outcome = Outcome::kRetry, .failure = FailureOf(finished.error())};
  }
  return {};
}

Reconciler::Answer Reconciler::Recover(const WorkloadId& keeper, const std::stop_token& stop) {
  const auto recovered = parts_.writer.Recover(keeper, stop);
  if (recovered) {
    return *recovered ? Answer{} : Answer{.again = kRecoverInterval};
  }
  logging::Error("A Job that an earlier process was recreating has not been created yet",
                 {{"keeper", keeper.key.ToString()}, {"error", recovered.error()}});
  return {.outcome = Outcome::kRetry, .failure = FailureOf(recovered.error())};
}

std::optional<Reconciler::Answer> Reconciler::Write(const Workload& workload,
                                                    const reloader::Plan& plan,
                                                    const AnnotationEdits& annotations,
                                                    base::TimePoint begin,
                                                    const std::stop_token& stop) {
  const WorkloadId& id = workload.id;
  const std::vector<SourceId> begun = parts_.memory.BeginWrite(id, plan.changes);
  std::string baseline = Records(workload) ? BaselineAfter(plan, plan.changes) : std::string();
  const auto written = Send(workload, plan, annotations, baseline, stop);
  if (parts_.gate != nullptr) {
    parts_.gate->OnWritten(id, EndOf(written));
  }
  if (!written && !MayHaveBeenMade(written.error())) {
    parts_.memory.CancelWrite(id, begun);
  }
  if (!workload.resource_version.empty() && !written &&
      written.error().reason == Reason::kConflict) {
    return std::nullopt;
  }
  if (written && !written->left_alone.empty()) {
    parts_.memory.Confirm(id, plan.changes, false);
    logging::Info("Changes detected, workload left alone", {{"workload", id.key.name},
                                                            {"kind", KindName(id.kind)},
                                                            {"namespace", id.key.namespace_},
                                                            {"reason", written->left_alone}});
    if (written->recorded && !baseline.empty()) {
      parts_.recording.Written(id, baseline);
    }
    return Answer{};
  }
  if (written && !written->made) {  // a dry run: said once for each change
    parts_.memory.Confirm(id, plan.changes, false);
    LogReloads(id, plan.changes, "Changes detected, workload would be rolled");
    return Answer{};
  }
  if (written) {
    parts_.memory.Confirm(id, plan.changes, written->rolled);
    parts_.memory.Wrote(id, PairMemory::SeenRecord::Of(written->recorded ? baseline : std::string(),
                                                       written->version));
    parts_.metrics.Wrote(id, true, SecondsSince(begin));
    LogReloads(id, plan.changes, "Changes detected, workload updated");
    Notify(workload, plan, {}, written->job);
    Answer answer{Outcome::kWritten};
    if (written->recorded && !baseline.empty()) {
      parts_.recording.Written(id, baseline);
    } else if (!baseline.empty() && CannotRecord(id, written->refusal)) {
      answer.again = parts_.recording.Ask(id, baseline).wait;  // no event is to come of it
    }
    return answer;
  }
  return NotWritten(workload, plan, written.error(), begin);
}

Reconciler::Answer Reconciler::NotWritten(const Workload& workload, const reloader::Plan& plan,
                                          const apimachinery::Status& status,
                                          base::TimePoint begin) {
  const WorkloadId& id = workload.id;
  if (apimachinery::IsObjectNotFound(status)) {  // deleted meanwhile; its event is on the way
    Forget(id);
    return {};
  }
  if (status.reason == Reason::kCancelled) {
    return {Outcome::kRetry};
  }
  parts_.metrics.Wrote(id, false, SecondsSince(begin));
  ReportFailure(id, plan, status);
  Notify(workload, plan, apimachinery::Fail(status));
  if (status.reason == Reason::kInvalidConfig) {
    return {.outcome = Outcome::kRefused};
  }
  return {.outcome = Outcome::kRetry, .failure = FailureOf(status)};
}

apimachinery::Result<WriteOutcome> Reconciler::Send(const Workload& workload,
                                                    const reloader::Plan& plan,
                                                    const AnnotationEdits& annotations,
                                                    std::string& baseline,
                                                    const std::stop_token& stop) {
  WorkloadWrite write = MakeWrite(workload, plan.changes, parts_.strategy, parts_.clock.Wall());
  write.resource_version = workload.resource_version;
  write.template_resource_version = workload.template_resource_version;
  write.generation = workload.template_version.generation;
  write.annotations.insert(annotations.begin(), annotations.end());
  const bool has_baseline = Find(workload.annotations, kBaselineAnnotation) != nullptr;
  if (!baseline.empty()) {
    write.annotations[std::string(kBaselineAnnotation)] = baseline;
  } else if (has_baseline) {
    write.annotations[std::string(kBaselineAnnotation)] = std::nullopt;  // or it would be believed
  }
  if (parts_.pauses != nullptr) {
    KX_RETURN_IF_ERROR(parts_.pauses->AddTo(workload, write, stop));
  }
  auto written = parts_.writer.Write(workload.id, write, stop);
  if (!written && !baseline.empty() && IsDenied(written.error()) &&
      !IsMissingRight(written.error())) {
    // Others have filled the room for annotations, or a rule is about them, perhaps. The rollout
    // matters more.
    write.annotations.erase(std::string(kBaselineAnnotation));
    if (has_baseline) {
      write.annotations[std::string(kBaselineAnnotation)] = std::nullopt;
    }
    baseline.clear();
    written = parts_.writer.Write(workload.id, write, stop);
  }
  return written;
}

void Reconciler::Forget(const WorkloadId& id) {
  // Of one that is there again its event has told, and otherwise its deletion does.
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
  awaited_.Forget(id);
  bad_items_.Forget(id);
  full_baselines_.Note(id, false,
                       [this](std::size_t count) { parts_.metrics.FullBaselines(count); });
}

}  // namespace kubexx::reloader
