// Rolls a workload for a Reconciler, and evaluates the answer.
#include <algorithm>
#include <utility>

#include "kubexx/logging/log.h"
#include "kubexx/reloader/operator/reconciler.h"
#include "kubexx/reloader/permissions/denial.h"
#include "kubexx/reloader/plan/planner.h"
#include "kubexx/reloadpolicy/policy.h"
#include "kubexx/reloadpolicy/rolled_data.h"
#include "kubexx/reloadpolicy/rollout_record.h"

namespace kubexx::reloader {
namespace {

using apimachinery::Reason;

/// `is_followed`: the gate's annotations are in what was written.
WriteEnd EndOf(const apimachinery::Result<WriteOutcome>& written, bool is_followed) {
  if (!written) {
    return MayHaveBeenMade(written.error())              ? WriteEnd::kUncertain
           : written.error().reason == Reason::kConflict ? WriteEnd::kOvertaken
                                                         : WriteEnd::kNotRolled;
  }
  if (!written->made || !written->rolled) {
    return written->made && written->recorded && is_followed ? WriteEnd::kKept
                                                             : WriteEnd::kNotRolled;
  }
  return written->recorded && is_followed ? WriteEnd::kRolled : WriteEnd::kUnrecorded;
}

/// Whether the write is refused because the annotations of the object would have more bytes
/// together than the API server allows.
bool HasNoRoom(const apimachinery::Result<WriteOutcome>& written) {
  return !written && IsContentDenied(written.error()) &&
         std::ranges::any_of(
             written.error().details.causes, [](const apimachinery::StatusCause& cause) {
               return cause.reason == "FieldValueTooLong" && cause.field == "metadata.annotations";
             });
}

/// Returns the resource version at which a rollout wrote the pod template, or created the Job of a
/// CronJob; 0: not known.
std::uint64_t VersionOfTemplate(const Workload& workload, const WriteOutcome& written) {
  if (workload.id.kind == WorkloadKind::kJob) {
    return 0;  // it is another object
  }
  return IsOfDeployment(workload) || workload.id.kind == WorkloadKind::kCronJob
             ? written.template_version
             : written.version;
}

}  // namespace

std::optional<Reconciler::Answer> Reconciler::Write(const Workload& workload,
                                                    const reloader::Plan& plan,
                                                    const AnnotationEdits& annotations,
                                                    base::TimePoint begin,
                                                    const std::stop_token& stop) {
  const WorkloadId& id = workload.id;
  WorkloadWrite write = MakeWrite(workload, plan.changes, parts_.strategy, parts_.clock.Wall());
  write.annotations.insert(annotations.begin(), annotations.end());
  AddHistory(workload, plan, write.annotations);
  AddEndOfReload(workload, write.annotations);
  const std::vector<SourceId> begun =
      parts_.memory.BeginWrite(id, plan.changes, AttemptOf(workload, write));
  const PodsAre pods = id.kind == WorkloadKind::kJob ? PodsAre::kOfNextJob : PodsAre::kReplaced;
  std::string baseline =
      Records(workload) ? BaselineAfter(plan, plan.changes, pods) : std::string();
  bool is_followed = true;
  const auto written = Send(workload, std::move(write), baseline, is_followed, stop);
  const WriteEnd end = EndOf(written, is_followed);
  const bool repeats = end == WriteEnd::kOvertaken && !workload.resource_version.empty();
  if (parts_.gate != nullptr) {
    parts_.gate->OnWritten(id, end, written ? written->version : 0);
  }
  if (end == WriteEnd::kOvertaken && !repeats) {
    KeepNoPlace(id);
  }
  if (!written && !MayHaveBeenMade(written.error())) {
    parts_.memory.CancelWrite(id, begun);
  }
  if (repeats) {
    return std::nullopt;
  }
  if (written && !written->left_alone.empty()) {
    parts_.memory.Confirm(id, plan.changes, false);
    if (end == WriteEnd::kNotRolled) {
      NothingFollows(workload);
    }
    logging::Info("Changes detected, workload left alone", {{"workload", id.key.name},
                                                            {"kind", KindName(id.kind)},
                                                            {"namespace", id.key.namespace_},
                                                            {"reason", written->left_alone}});
    if (written->recorded && !baseline.empty()) {
      parts_.recording.Written(id, baseline);
    }
    return Answer{};
  }
  if (written && !written->made) {  // a dry run, which is reported once for each change
    parts_.memory.Confirm(id, plan.changes, false);
    NothingFollows(workload);
    LogReloads(id, plan.changes, "Changes detected, workload would be rolled");
    return Answer{};
  }
  if (written) {
    parts_.memory.Confirm(id, plan.changes, written->rolled, VersionOfTemplate(workload, *written));
    if (parts_.in_place != nullptr) {
      parts_.in_place->ForgetRefused(id);  // all pods begin with what there is
    }
    parts_.memory.Wrote(id, PairMemory::SeenRecord::OfPlan(plan, written->recorded ? baseline : "",
                                                           written->version));
    if (written->recorded && baseline.empty()) {
      parts_.memory.TookAway(id, written->version);  // a baseline of others is removed with it
    }
    parts_.metrics.Wrote(id, true, SecondsSince(begin));
    LogReloads(id, plan.changes, "Changes detected, workload updated");
    Notify(workload, plan, {}, {.job = written->job});
    Answer answer{Outcome::kWritten};
    if (written->recorded && !baseline.empty()) {
      parts_.recording.Written(id, baseline);
    } else if (!baseline.empty() && CannotRecord(id, written->refusal)) {
      answer.again = parts_.recording.Ask(id, baseline).wait;  // there will be no event for it
    }
    return answer;
  }
  return NotWritten(workload, plan, written.error(), begin);
}

void Reconciler::NothingFollows(const Workload& workload) {
  if (parts_.gate != nullptr) {
    parts_.gate->OnUpToDate(workload);
  }
}

Reconciler::Answer Reconciler::NotWritten(const Workload& workload, const reloader::Plan& plan,
                                          const apimachinery::Status& status,
                                          base::TimePoint begin) {
  const WorkloadId& id = workload.id;
  // The workload was deleted meanwhile, and its event is on its way.
  if (apimachinery::IsObjectNotFound(status)) {
    Forget(id);
    return {};
  }
  if (status.reason == Reason::kCancelled) {
    return {Outcome::kRetry};
  }
  if (!MayHaveBeenMade(status) && status.reason != Reason::kConflict) {
    parts_.memory.LeaveDue(id, plan.changes);
    if (parts_.gate != nullptr) {
      parts_.gate->OnRefused(id, status.message);
    }
  }
  parts_.metrics.Wrote(id, false, SecondsSince(begin));
  ReportFailure(id, plan, status);
  Notify(workload, plan, apimachinery::Fail(status), {});
  if (status.reason == Reason::kInvalidConfig) {
    return {.outcome = Outcome::kRefused};
  }
  return {.outcome = Outcome::kRetry, .failure = Retries::FailureOf(status)};
}

apimachinery::Result<WriteOutcome> Reconciler::Send(const Workload& workload, WorkloadWrite write,
                                                    std::string& baseline, bool& is_followed,
                                                    const std::stop_token& stop) {
  write.resource_version = workload.resource_version;
  write.content = workload.content;
  write.template_resource_version = workload.template_resource_version;
  write.generation = workload.template_version.generation;
  const bool has_baseline = Find(workload.annotations, kBaselineAnnotation) != nullptr;
  if (!baseline.empty()) {
    write.annotations[std::string(kBaselineAnnotation)] = baseline;
  } else if (has_baseline) {
    // Otherwise the old baseline would be believed.
    write.annotations[std::string(kBaselineAnnotation)] = std::nullopt;
  }
  if (parts_.pauses != nullptr) {
    if (const auto read = parts_.pauses->AddTo(workload, write, stop); !read) {
      return apimachinery::Fail(BeforeTheWrite(read.error()));
    }
  }
  auto written = parts_.writer.Write(workload.id, write, stop);
  // The annotations of others may have used up the room, or an admission rule may refuse this
  // annotation. The history is the least important, and the rollout the most important.
  if (!written && IsContentDenied(written.error()) &&
      write.annotations.erase(std::string(kHistoryAnnotation)) > 0) {
    written = parts_.writer.Write(workload.id, write, stop);
  }
  if (!written && IsContentDenied(written.error()) && !baseline.empty()) {
    write.annotations.erase(std::string(kBaselineAnnotation));
    if (has_baseline) {
      write.annotations[std::string(kBaselineAnnotation)] = std::nullopt;
    }
    baseline.clear();
    written = parts_.writer.Write(workload.id, write, stop);
  }
  return HasNoRoom(written) ? SendWithoutRecords(workload, std::move(write), is_followed, stop)
                            : std::move(written);
}

apimachinery::Result<WriteOutcome> Reconciler::SendWithoutRecords(const Workload& workload,
                                                                  WorkloadWrite write,
                                                                  bool& is_followed,
                                                                  const std::stop_token& stop) {
  const auto leave_out = [&](std::string_view key) {
    write.annotations.erase(std::string(key));
    if (Find(workload.annotations, key) != nullptr) {
      write.annotations[std::string(key)] = std::nullopt;  // else it would be taken for this one's
    }
  };
  leave_out(kHistoryAnnotation);
  leave_out(reloadpolicy::kRolledDataAnnotation);
  auto written = parts_.writer.Write(workload.id, write, stop);
  std::string left_out(reloadpolicy::kRolledDataAnnotation);
  if (HasNoRoom(written)) {
    leave_out(reloadpolicy::kLastRolloutAnnotation);
    leave_out(reloadpolicy::kRolloutStateAnnotation);
    is_followed = false;
    written = parts_.writer.Write(workload.id, write, stop);
    left_out = std::string(reloadpolicy::kLastRolloutAnnotation) + ", " +
               std::string(reloadpolicy::kRolloutStateAnnotation) + " and " + left_out;
  }
  if (written && written->made && written->rolled) {
    ReportLeftOut(workload, left_out, is_followed);
  }
  return written;
}

void Reconciler::AddHistory(const Workload& workload, const reloader::Plan& plan,
                            AnnotationEdits& annotations) const {
  const std::string key(kHistoryAnnotation);
  if (parts_.history == nullptr) {
    if (Find(workload.annotations, key) != nullptr) {
      annotations[key] = std::nullopt;  // nobody keeps it up to date any more
    }
  } else if (!workload.suspended) {
    annotations[key] =
        parts_.history->WithRollout(workload, plan, apimachinery::Time::From(parts_.clock.Wall()));
  }
}

}  // namespace kubexx::reloader
