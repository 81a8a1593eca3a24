// How a Reconciler has pods reloaded in place of a rollout. What is under way is on the workload: a
// mark, and a baseline that says of the sources in question that the pods may have anything. So
// whoever comes after this process, with or without reloads in place, finds the change still due.
#include <algorithm>
#include <utility>

#include "kubexx/apimachinery/time.h"
#include "kubexx/logging/log.h"
#include "kubexx/reloader/operator/reconciler.h"
#include "kubexx/reloader/permissions/denial.h"
#include "kubexx/reloader/plan/baseline.h"
#include "kubexx/reloader/plan/planner.h"

namespace kubexx::reloader {
namespace {

using apimachinery::Reason;

const std::string kMarkKey(kReloadingInPlace);

/// The causes of the changes with their present data.
ReloadedData DataOf(const std::vector<Change>& changes) {
  ReloadedData data;
  for (const Change& change : changes) {
    for (const auto& [source, digest] : change.sources) {
      if (std::ranges::find(change.causes, source) != change.causes.end()) {
        data[source] = digest;
      }
    }
  }
  return data;
}

/// The changes as they are recorded while it is not known what the pods have.
std::vector<Change> WithUnknownData(std::vector<Change> changes) {
  for (Change& change : changes) {
    std::erase_if(change.sources, [&](const auto& source) {
      return std::ranges::find(change.causes, source.first) == change.causes.end();
    });
    for (auto& [source, digest] : change.sources) {
      digest = UnknownData();
    }
  }
  return changes;
}

/// Whether the record says of all causes that the pods may have anything.
bool IsBegun(const reloader::Plan& plan, const Change& change) {
  return std::ranges::all_of(change.causes, [&](const SourceId& cause) {
    const auto recorded = plan.baseline.digests.find(cause);
    return recorded != plan.baseline.digests.end() && recorded->second == UnknownData();
  });
}

}  // namespace

bool Reconciler::IsMarked(const Workload& workload) const {
  return Find(workload.annotations, kReloadingInPlace) != nullptr ||
         (parts_.in_place != nullptr &&
          parts_.in_place->Look(workload.id).state != InPlaceReloads::State::kNone);
}

void Reconciler::AddEndOfReload(const Workload& workload, AnnotationEdits& annotations) const {
  if (IsMarked(workload)) {
    annotations[kMarkKey] = std::nullopt;
  }
}

InPlaceVerdict Reconciler::Judge(const Workload& workload, const reloader::Plan& plan) const {
  return parts_.in_place == nullptr || plan.changes.empty()
             ? InPlaceVerdict{}
             : JudgeInPlace(workload, plan.changes, Records(workload));
}

void Reconciler::LogNotInPlace(const WorkloadId& id, const InPlaceVerdict& verdict) {
  if (!verdict.why_not.empty()) {
    logging::Info("A workload cannot be reloaded in place, so it is rolled",
                  {{"workload", id.key.name},
                   {"kind", KindName(id.kind)},
                   {"namespace", id.key.namespace_},
                   {"reason", verdict.why_not}});
  }
}

bool Reconciler::EndReload(const Workload& workload, const reloader::Plan& plan,
                           const std::string& version, const std::stop_token& stop) {
  if (parts_.in_place != nullptr) {
    parts_.in_place->Forget(workload.id);
  }
  if (!plan.changes.empty() || plan.incomplete ||
      Find(workload.annotations, kReloadingInPlace) == nullptr) {
    return true;
  }
  const auto written = parts_.writer.Write(
      workload.id,
      {.uid = workload.uid, .resource_version = version, .annotations = {{kMarkKey, std::nullopt}}},
      stop);
  return written || version.empty() || written.error().reason != Reason::kConflict;
}

void Reconciler::StartReload(const Workload& workload, const ReloadAction& action,
                             const std::vector<Change>& changes) {
  ReloadedData data = DataOf(changes);
  for (const auto& [source, digest] : data) {
    logging::Info("Changes detected, pods are being reloaded in place",
                  {{"source", source.key.name},
                   {"type", NamesOf(source.type).upper},
                   {"namespace", source.key.namespace_},
                   {"workload", workload.id.key.name},
                   {"kind", KindName(workload.id.kind)},
                   {"action", ShownAction(action)}});
  }
  parts_.in_place->Start(
      {.workload = workload.id, .uid = workload.uid, .action = action, .data = std::move(data)});
}

std::optional<Reconciler::Answer> Reconciler::ReloadInPlace(const Workload& workload,
                                                            reloader::Plan& plan,
                                                            const ReloadAction& action,
                                                            const Moment& moment) {
  using State = InPlaceReloads::State;
  std::vector<Change> begun;
  if (IsMarked(workload)) {
    const auto fresh = std::ranges::stable_partition(
        plan.changes, [&](const Change& change) { return IsBegun(plan, change); });
    begun.assign(plan.changes.begin(), fresh.begin());
  }
  if (!begun.empty()) {
    const InPlaceReloads::Report report = parts_.in_place->Look(workload.id);
    const bool is_same = report.data == DataOf(begun) && report.action == action;
    if (is_same && report.state == State::kDone) {
      plan.changes = std::move(begun);
      return RecordReload(workload, plan, report, moment);
    }
    if (is_same && report.state == State::kFailed) {
      plan.changes = std::move(begun);
      return RollAfterReload(workload, plan, report, moment.begin, moment.stop);
    }
    if (!is_same) {
      StartReload(workload, action, begun);  // with the newest data, or after another process
    }
    return Answer{};  // its end has the workload looked at
  }
  AnnotationEdits annotations;
  if (parts_.gate != nullptr && !parts_.gate->Admit(workload, plan.changes, annotations)) {
    return Record(workload, plan, moment.version, moment.stop);  // the gate has it looked at again
  }
  return BeginReload(workload, plan, action, annotations, moment);
}

std::optional<Reconciler::Answer> Reconciler::BeginReload(const Workload& workload,
                                                          const reloader::Plan& plan,
                                                          const ReloadAction& action,
                                                          const AnnotationEdits& annotations,
                                                          const Moment& moment) {
  const WorkloadId& id = workload.id;
  const std::vector<Change> unknown = WithUnknownData(plan.changes);
  const std::string baseline = BaselineAfter(plan, unknown);
  WorkloadWrite write{
      .uid = workload.uid, .resource_version = moment.version, .annotations = annotations};
  write.annotations[std::string(kBaselineAnnotation)] = baseline;
  write.annotations[kMarkKey] =
      workload.uid + " " + apimachinery::Time::From(parts_.clock.Wall()).ToString();
  if (auto history =
          parts_.history == nullptr ? std::nullopt : parts_.history->WithOutcome(workload)) {
    // The mark hides from now on how an earlier rollout has ended.
    write.annotations[std::string(kHistoryAnnotation)] = *std::move(history);
  }
  const std::vector<SourceId> sent = parts_.memory.BeginWrite(id, unknown);
  const auto written = parts_.writer.Write(id, write, moment.stop);
  const bool is_refused = written ? !written->recorded : IsDenied(written.error());
  if (!written && !MayHaveBeenMade(written.error())) {
    parts_.memory.CancelWrite(id, sent);
  }
  if (is_refused) {  // what is under way could not be told to others
    return Write(workload, plan, annotations, moment.begin, moment.stop);
  }
  const bool is_overtaken =
      !written && !moment.version.empty() && written.error().reason == Reason::kConflict;
  if (parts_.gate != nullptr) {
    parts_.gate->OnWritten(id, written                            ? WriteEnd::kRolled
                               : MayHaveBeenMade(written.error()) ? WriteEnd::kUncertain
                               : is_overtaken                     ? WriteEnd::kOvertaken
                                                                  : WriteEnd::kNotRolled);
  }
  if (is_overtaken) {
    return std::nullopt;
  }
  if (!written) {
    return NotWritten(workload, plan, written.error(), moment.begin);
  }
  parts_.memory.Confirm(id, unknown, false);
  parts_.memory.Wrote(id, PairMemory::SeenRecord::OfPlan(plan, baseline, written->version));
  parts_.recording.Written(id, baseline);
  StartReload(workload, action, plan.changes);
  return Answer{};
}

std::optional<Reconciler::Answer> Reconciler::RecordReload(const Workload& workload,
                                                           const reloader::Plan& plan,
                                                           const InPlaceReloads::Report& report,
                                                           const Moment& moment) {
  const WorkloadId& id = workload.id;
  const std::string baseline = BaselineAfter(plan, plan.changes);
  WorkloadWrite write{.uid = workload.uid, .resource_version = moment.version};
  write.annotations[std::string(kBaselineAnnotation)] = baseline;
  write.annotations[kMarkKey] = std::nullopt;
  if (parts_.history != nullptr) {
    write.annotations[std::string(kHistoryAnnotation)] =
        parts_.history->WithReload(workload, plan,
                                   {.at = apimachinery::Time::From(report.started),
                                    .took = report.duration,
                                    .action = report.action.text});
  }
  const std::vector<SourceId> sent = parts_.memory.BeginWrite(id, plan.changes);
  auto written = parts_.writer.Write(id, write, moment.stop);
  if (written && !written->recorded) {  // the right is gone since
    written = apimachinery::Fail(
        written->refusal.value_or(apimachinery::Status(Reason::kForbidden, "it is not recorded")));
  }
  if (!written && !MayHaveBeenMade(written.error())) {
    parts_.memory.CancelWrite(id, sent);
  }
  if (!written && !moment.version.empty() && written.error().reason == Reason::kConflict) {
    return std::nullopt;
  }
  if (!written) {
    return NotWritten(workload, plan, written.error(), moment.begin);  // and recorded later
  }
  parts_.memory.Confirm(id, plan.changes, false);
  parts_.memory.Wrote(id, PairMemory::SeenRecord::OfPlan(plan, baseline, written->version));
  parts_.recording.Written(id, baseline);
  parts_.in_place->Forget(id);
  parts_.metrics.Wrote(id, true, std::chrono::duration<double>(report.duration).count());
  LogReloads(id, plan.changes, "Changes detected, pods have been reloaded in place");
  Notify(workload, plan, {}, {.in_place = ShownAction(report.action)});
  return Answer{Outcome::kWritten};
}

std::optional<Reconciler::Answer> Reconciler::RollAfterReload(const Workload& workload,
                                                              const reloader::Plan& plan,
                                                              const InPlaceReloads::Report& report,
                                                              base::TimePoint begin,
                                                              const std::stop_token& stop) {
  const WorkloadId& id = workload.id;
  // The gate has let this change begin already, and its place is kept by the mark until now.
  auto answer = Write(workload, plan, {}, begin, stop);
  if (!answer || answer->outcome != Outcome::kWritten) {
    return answer;
  }
  parts_.in_place->Forget(id);
  logging::Warning("Cannot reload the pods of a workload in place; the operator rolls it",
                   {{"workload", id.key.name},
                    {"kind", KindName(id.kind)},
                    {"namespace", id.key.namespace_},
                    {"action", ShownAction(report.action)},
                    {"reason", report.why}});
  const WorkloadNotice notice{.workload = id,
                              .uid = workload.uid,
                              .reason = "ReloadInPlaceFailed",
                              .message = "The pods cannot be reloaded in place by " +
                                         ShownAction(report.action) + ": " + report.why +
                                         ". The workload is rolled instead"};
  for (WriteObserver* observer : parts_.observers) {
    observer->OnNotice(notice);
  }
  return answer;
}

}  // namespace kubexx::reloader
