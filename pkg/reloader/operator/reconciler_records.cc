// Writes what a reconciler records on workloads that it does not roll: ends of rollouts, and
// baselines.
#include <chrono>
#include <string>
#include <utility>

#include "kubexx/logging/log.h"
#include "kubexx/reloader/operator/reconciler.h"
#include "kubexx/reloader/permissions/denial.h"
#include "kubexx/reloader/plan/planner.h"
#include "kubexx/reloadpolicy/rolled_data.h"

namespace kubexx::reloader {

using apimachinery::Reason;

namespace {

/// After this time a plan is made that records what the last one has only noted.
constexpr base::Duration kToRecordAnew = std::chrono::milliseconds(1);

bool IsOvertaken(const apimachinery::Result<WriteOutcome>& written) {
  return !written && written.error().reason == Reason::kConflict;
}

}  // namespace

apimachinery::Result<WriteOutcome> Reconciler::WriteRecord(const WorkloadId& id,
                                                           WorkloadWrite& write,
                                                           const std::stop_token& stop) {
  auto written = parts_.writer.Write(id, write, stop);
  // There may be no room for it, and the history is the least important.
  if (!written && IsContentDenied(written.error()) &&
      write.annotations.erase(std::string(kHistoryAnnotation)) > 0) {
    written = parts_.writer.Write(id, write, stop);
  }
  return written;
}

bool Reconciler::WriteMarks(const Workload& workload, const std::stop_token& stop) {
  AnnotationEdits marks = parts_.gate == nullptr ? AnnotationEdits() : parts_.gate->Marks(workload);
  if (marks.empty()) {
    return true;
  }
  if (auto history =
          parts_.history == nullptr ? std::nullopt : parts_.history->WithOutcome(workload)) {
    marks[std::string(kHistoryAnnotation)] = *std::move(history);
  }
  WorkloadWrite write{.uid = workload.uid, .annotations = std::move(marks)};
  auto written = WriteRecord(workload.id, write, stop);
  // Where the object has no room for the data, they were left out when it was rolled, too: without
  // them the record of the end is still one.
  const std::string data(reloadpolicy::kRolledDataAnnotation);
  if (!written && IsContentDenied(written.error()) && !workload.annotations.contains(data) &&
      write.annotations.erase(data) > 0) {
    if (write.annotations.empty()) {
      return true;  // this process knows the data, and so does the status of the wave's policy
    }
    written = parts_.writer.Write(workload.id, write, stop);
  }
  if (written || apimachinery::IsObjectNotFound(written.error()) ||
      written.error().reason == Reason::kCancelled) {
    return !written || written->recorded;
  }
  logging::Warning("Cannot record the end of a rollout on its workload; the operator tries again",
                   {{"workload", workload.id.key.name},
                    {"kind", KindName(workload.id.kind)},
                    {"namespace", workload.id.key.namespace_},
                    {"error", written.error()}});
  return false;
}

std::optional<Reconciler::Answer> Reconciler::LeaveDue(const Workload& workload,
                                                       const reloader::Plan& plan,
                                                       const std::string& version,
                                                       const std::stop_token& stop) {
  if (parts_.memory.LeaveDue(workload.id, plan.changes)) {
    return Answer{.again = kToRecordAnew};  // that the pods have various data
  }
  return Record(workload, plan, version, stop);
}

std::optional<Reconciler::Answer> Reconciler::Record(const Workload& workload,
                                                     const reloader::Plan& plan,
                                                     const std::string& version,
                                                     const std::stop_token& stop) {
  const WorkloadId& id = workload.id;
  if (!Records(workload)) {
    parts_.recording.HasSeen(id);
    return TakeAway(workload, plan, version, stop);
  }
  if (parts_.record_baselines != BaselineRecording::kAlways) {
    parts_.recording.NothingToDo(id);
    return Answer{};
  }
  const std::string baseline = plan.record ? BaselineAfter(plan, {}) : std::string();
  const std::string* const present = Find(workload.annotations, kBaselineAnnotation);
  if (!plan.record || (present != nullptr && *present == baseline)) {
    parts_.recording.NothingToDo(id);
    return Answer{.again = NextLook(id, plan)};
  }
  const BaselineSchedule::Turn turn = parts_.recording.Ask(id, baseline, plan.is_news);
  if (turn.is_fought) {
    ReportLostBaseline(workload);
  }
  if (turn.wait > base::Duration(0)) {
    return Answer{.again = turn.wait};
  }
  const WorkloadWrite write{.uid = workload.uid,
                            .resource_version = version,
                            .annotations = {{std::string(kBaselineAnnotation), baseline}}};
  const auto written = parts_.writer.Write(id, write, stop);
  if (!version.empty() && IsOvertaken(written)) {
    parts_.recording.Overtaken(id);
    return std::nullopt;
  }
  if (written && written->recorded) {
    parts_.metrics.Recorded(id, true);
    parts_.recording.Written(id, baseline);
    parts_.memory.Wrote(id, PairMemory::SeenRecord::OfPlan(plan, baseline, written->version));
    parts_.recording.HasSeen(id);  // what it waits for now is something else
    return Answer{.again = NextLook(id, plan)};
  }
  const bool again = CannotRecord(id, written ? written->refusal : std::optional(written.error()));
  return again ? Answer{.again = parts_.recording.Ask(id, baseline).wait} : Answer{};
}

base::Duration Reconciler::NextLook(const WorkloadId& id, const reloader::Plan& plan) {
  if (plan.awaits_watches) {
    return parts_.recording.LookAgain(id);
  }
  parts_.recording.HasSeen(id);
  return base::Duration(0);
}

std::optional<Reconciler::Answer> Reconciler::TakeAway(const Workload& workload,
                                                       const reloader::Plan& plan,
                                                       const std::string& version,
                                                       const std::stop_token& stop) {
  const WorkloadId& id = workload.id;
  // A source that could not be read may have changed since the baseline.
  if (!plan.changes.empty() || plan.incomplete ||
      Find(workload.annotations, kBaselineAnnotation) == nullptr) {
    parts_.recording.NothingToDo(id);
    return Answer{};
  }
  const BaselineSchedule::Turn turn = parts_.recording.Ask(id, {});
  if (turn.wait > base::Duration(0)) {
    return Answer{.again = turn.wait};
  }
  const WorkloadWrite write{.uid = workload.uid,
                            .resource_version = version,
                            .annotations = {{std::string(kBaselineAnnotation), std::nullopt}}};
  const auto written = parts_.writer.Write(id, write, stop);
  if (!version.empty() && IsOvertaken(written)) {
    parts_.recording.Overtaken(id);
    return std::nullopt;
  }
  if (written && written->recorded) {
    parts_.recording.Written(id, {});
    parts_.memory.TookAway(id, written->version);
    return Answer{};
  }
  const bool again = CannotRecord(id, written ? written->refusal : std::optional(written.error()));
  return again ? Answer{.again = parts_.recording.Ask(id, {}).wait} : Answer{};
}

bool Reconciler::CannotRecord(const WorkloadId& id,
                              const std::optional<apimachinery::Status>& status) {
  if (status && (apimachinery::IsObjectNotFound(*status) || status->reason == Reason::kCancelled)) {
    return false;
  }
  parts_.metrics.Recorded(id, false);
  if (!status || IsMissingRight(*status)) {  // Fallbacks reports a missing right
    parts_.recording.Forbidden(id);
  } else if (parts_.recording.Failed(id)) {
    logging::Warning(
        "Cannot record the baseline of a workload; the operator tries again, ever more rarely",
        {{"workload", id.key.name},
         {"kind", KindName(id.kind)},
         {"namespace", id.key.namespace_},
         {"error", *status}});
  }
  return true;
}

bool Reconciler::Records(const Workload& workload) const {
  if (parts_.record_baselines == BaselineRecording::kNever) {
    return false;
  }
  const std::string* wanted = Find(workload.annotations, kRecordBaseline);
  return wanted == nullptr || *wanted != "false";
}

}  // namespace kubexx::reloader
