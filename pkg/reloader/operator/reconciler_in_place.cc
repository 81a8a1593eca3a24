// How a Reconciler has pods reloaded in place of a rollout. What is under way is on the workload: a
// mark, and a baseline that says of the sources in question that the pods may have anything. So
// whoever comes after this process, with or without reloads in place, finds the change still due.
#include <algorithm>
#include <chrono>
#include <iterator>
#include <utility>

#include "kubexx/apimachinery/time.h"
#include "kubexx/logging/log.h"
#include "kubexx/reloader/model/annotations.h"
#include "kubexx/reloader/model/digest.h"
#include "kubexx/reloader/model/source.h"
#include "kubexx/reloader/operator/reconciler.h"
#include "kubexx/reloader/permissions/denial.h"
#include "kubexx/reloader/plan/baseline.h"
#include "kubexx/reloader/plan/planner.h"

namespace kubexx::reloader {
namespace {

using apimachinery::Reason;

const std::string kMarkKey(kReloadingInPlace);
/// The rest of a plan follows the end of a reload.
constexpr base::Duration kRestAtOnce = std::chrono::milliseconds(1);

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

/// What a mark says after the time of the data that the reload is for, so that another process sees
/// whether the sources have newer ones.
std::string MarkOf(const ReloadedData& data) {
  std::string text;
  for (const auto& [source, digest] : data) {
    text += std::string(NamesOf(source.type).kind) + "/" + source.key.name + "=" +
            digest.ToString() + ";";
  }
  return DigestOf(text).ToString();
}

/// Whether the workload's mark says that its pods are being reloaded for these data.
bool IsMarkedFor(const ReloadedData& data, const Workload& workload) {
  const std::string* mark = Find(workload.annotations, kReloadingInPlace);
  return mark != nullptr && IsReloadingInPlace(workload.annotations, workload.uid) &&
         mark->ends_with(" " + MarkOf(data));
}

/// Whether all causes are among those that the reload is for.
bool IsOf(const ReloadedData& data, const Change& change) {
  return std::ranges::all_of(change.causes,
                             [&](const SourceId& cause) { return data.contains(cause); });
}

/// "ConfigMap a and Secret b": the causes of the changes.
std::string ShownCauses(const std::vector<Change>& changes) {
  std::string shown;
  for (const auto& [source, digest] : DataOf(changes)) {
    shown += (shown.empty() ? "" : " and ") + ShownSource(source);
  }
  return shown;
}

void LogFailure(const WorkloadId& id, const InPlaceReloads::Report& report, const char* message) {
  logging::Warning(message, {{"workload", id.key.name},
                             {"kind", KindName(id.kind)},
                             {"namespace", id.key.namespace_},
                             {"action", ShownAction(report.action)},
                             {"reason", report.why}});
}

/// Whether the record says of all causes that the pods may have anything.
bool IsBegun(const reloader::Plan& plan, const Change& change) {
  return std::ranges::all_of(change.causes, [&](const SourceId& cause) {
    const auto recorded = plan.baseline.digests.find(cause);
    return recorded != plan.baseline.digests.end() && recorded->second == UnknownData();
  });
}

/// Whether pods are being, or have been, reloaded for this change, by `report` or else by another
/// process, though maybe with other data.
bool IsUnderWay(const reloader::Plan& plan, const InPlaceReloads::Report& report,
                const Change& change) {
  return IsBegun(plan, change) &&
         (report.state == InPlaceReloads::State::kNone || IsOf(report.data, change));
}

/// Whether that is, or was, for these data.
bool IsForData(const ReloadedData& data, const InPlaceReloads::Report& report,
               const Workload& workload) {
  return report.state == InPlaceReloads::State::kNone ? IsMarkedFor(data, workload)
                                                      : report.data == data;
}

/// Whether all of `data` were among those that the program was asked to take.
bool HasAll(const ReloadedData& asked, const ReloadedData& data) {
  return std::ranges::all_of(data, [&asked](const auto& each) {
    const auto found = asked.find(each.first);
    return found != asked.end() && found->second == each.second;
  });
}

/// An answer after which the workload is looked at for what is left of its plan.
Reconciler::Answer WithMore(Reconciler::Answer answer) {
  if (answer.again == base::Duration(0)) {
    answer.again = kRestAtOnce;
  }
  return answer;
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

InPlaceVerdict Reconciler::Judge(const Workload& workload, reloader::Plan& plan,
                                 std::vector<Change>& held) const {
  if (parts_.in_place == nullptr || plan.changes.empty()) {
    return {};
  }
  InPlaceVerdict verdict = JudgeInPlace(workload, plan.changes, Records(workload));
  if (verdict.action || !IsMarked(workload)) {
    return verdict;
  }
  std::vector<Change> without;
  std::optional<ReloadAction> action;
  for (const Change& change : plan.changes) {
    InPlaceVerdict of_one = JudgeInPlace(workload, std::vector{change}, Records(workload));
    if (of_one.action && of_one.action->keeps_refused) {
      without.push_back(change);
      action = std::move(of_one.action);
    } else {
      held.push_back(change);
    }
  }
  std::vector<Change> begun;
  const InPlaceReloads::Report report = parts_.in_place->Look(workload.id);
  std::ranges::copy_if(without, std::back_inserter(begun),
                       [&](const Change& change) { return IsUnderWay(plan, report, change); });
  if (begun.empty() || !IsForData(DataOf(begun), report, workload)) {
    held.clear();
    return verdict;  // these data are asked for by nobody, so nobody is to refuse them
  }
  plan.changes = std::move(without);
  return {.action = std::move(action)};
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
                                                            const std::vector<Change>& held,
                                                            const Moment& moment) {
  using State = InPlaceReloads::State;
  std::vector<Change> begun;
  const InPlaceReloads::Report report = parts_.in_place->Look(workload.id);
  if (IsMarked(workload)) {
    const auto fresh = std::ranges::stable_partition(
        plan.changes, [&](const Change& change) { return IsUnderWay(plan, report, change); });
    begun.assign(plan.changes.begin(), fresh.begin());
  }
  const bool has_fresh = begun.size() < plan.changes.size();
  if (!begun.empty() && IsForData(DataOf(begun), report, workload)) {
    const bool is_same = report.action == action && report.state != State::kNone;
    const bool is_kept =
        is_same && report.state == State::kFailed && report.is_refused && action.keeps_refused;
    if (is_same && report.state == State::kDone) {
      plan.changes = std::move(begun);
      auto answer = RecordReload(workload, plan, report, moment);
      const bool has_more = has_fresh || !held.empty();
      return answer && has_more && answer->outcome == Outcome::kWritten ? WithMore(*answer)
                                                                        : answer;
    }
    if (is_same && report.state == State::kFailed && !is_kept) {
      plan.changes.insert(plan.changes.end(), held.begin(), held.end());  // new pods have it all
      return RollAfterReload(workload, plan, report, moment);
    }
    if (is_kept) {
      ReportRefused(workload, report, held);
    } else if (!is_same) {
      StartReload(workload, action, begun);  // with another action, or after another process
    }
    if (!is_kept || HasAll(report.data, DataOf(plan.changes))) {
      return Answer{};  // its end has the workload looked at, or else newer data do
    }
    // The program may take all of it together, and has to be asked for the rest anyway.
  }
  AnnotationEdits annotations;
  if (parts_.gate == nullptr) {
    return BeginReload(workload, plan, action, annotations, moment);
  }
  if (begun.empty() ? parts_.gate->Admit(workload, plan.changes, annotations)
                    : parts_.gate->AdmitNewer(workload, plan.changes, annotations)) {
    return BeginReload(workload, plan, action, annotations, moment);
  }
  return begun.empty() ? LeaveDue(workload, plan, moment.version, moment.stop)  // it is asked again
                       : LeaveReload(workload, plan, moment);
}

std::optional<Reconciler::Answer> Reconciler::LeaveReload(const Workload& workload,
                                                          const reloader::Plan& plan,
                                                          const Moment& moment) {
  const WorkloadId& id = workload.id;
  parts_.in_place->Forget(id);
  const auto written = parts_.writer.Write(id,
                                           {.uid = workload.uid,
                                            .resource_version = moment.version,
                                            .annotations = {{kMarkKey, std::nullopt}}},
                                           moment.stop);
  if (!written && !moment.version.empty() && written.error().reason == Reason::kConflict) {
    return std::nullopt;
  }
  if (!written) {
    return NotWritten(workload, plan, written.error(), moment.begin);
  }
  logging::Info(
      "A rollout has to wait, so the pods are not reloaded in place for now",
      {{"workload", id.key.name}, {"kind", KindName(id.kind)}, {"namespace", id.key.namespace_}});
  parts_.gate->OnWritten(id, WriteEnd::kKept, 0);
  return Answer{};  // the gate has it looked at again
}

std::optional<Reconciler::Answer> Reconciler::BeginReload(const Workload& workload,
                                                          const reloader::Plan& plan,
                                                          const ReloadAction& action,
                                                          const AnnotationEdits& annotations,
                                                          const Moment& moment) {
  const WorkloadId& id = workload.id;
  const std::vector<Change> unknown = WithUnknownData(plan.changes);
  const std::string baseline = BaselineAfter(plan, unknown, PodsAre::kKept);
  WorkloadWrite write{
      .uid = workload.uid, .resource_version = moment.version, .annotations = annotations};
  write.annotations[std::string(kBaselineAnnotation)] = baseline;
  write.annotations[kMarkKey] = workload.uid + " " +
                                apimachinery::Time::From(parts_.clock.Wall()).ToString() + " " +
                                MarkOf(DataOf(plan.changes));
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
    parts_.gate->OnWritten(id,
                           written                            ? WriteEnd::kRolled
                           : MayHaveBeenMade(written.error()) ? WriteEnd::kUncertain
                           : is_overtaken                     ? WriteEnd::kOvertaken
                                                              : WriteEnd::kNotRolled,
                           written ? written->version : 0);
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
  const std::string baseline = BaselineAfter(plan, plan.changes, PodsAre::kKept);
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
                                                              reloader::Plan& plan,
                                                              const InPlaceReloads::Report& report,
                                                              const Moment& moment) {
  const WorkloadId& id = workload.id;
  // Its place is kept by the mark until now, but people may have put rollouts on hold since.
  AnnotationEdits annotations;
  if (parts_.gate != nullptr && !parts_.gate->AdmitNewer(workload, plan.changes, annotations)) {
    return LeaveReload(workload, plan, moment);
  }
  auto answer = Write(workload, plan, annotations, moment.begin, moment.stop);
  if (!answer || answer->outcome != Outcome::kWritten) {
    return answer;
  }
  parts_.in_place->Forget(id);
  LogFailure(id, report, "Cannot reload the pods of a workload in place; the operator rolls it");
  Notice(workload, "ReloadInPlaceFailed",
         "The pods cannot be reloaded in place by " + ShownAction(report.action) + ": " +
             report.why + ". The workload is rolled instead");
  return answer;
}

void Reconciler::ReportRefused(const Workload& workload, const InPlaceReloads::Report& report,
                               const std::vector<Change>& held) {
  std::string message = "The program refuses its new data: " + report.why +
                        ". The pods stay as they are until the data change";
  if (!held.empty()) {
    message += ". New data of " + ShownCauses(held) +
               " wait as well: only new pods get them, and these would begin with the data that "
               "are refused";
  }
  if (!parts_.in_place->IsNews(workload.id, message)) {
    return;
  }
  LogFailure(workload.id, report, "A program refuses its new data, so its workload keeps its pods");
  if (!held.empty()) {
    logging::Warning("A rollout waits, since new pods would begin with data that are refused",
                     {{"workload", workload.id.key.name},
                      {"kind", KindName(workload.id.kind)},
                      {"namespace", workload.id.key.namespace_},
                      {"sources", ShownCauses(held)}});
  }
  Notice(workload, "ReloadInPlaceRefused", std::move(message));
}

void Reconciler::Notice(const Workload& workload, std::string reason, std::string message) const {
  const WorkloadNotice notice{.workload = workload.id,
                              .uid = workload.uid,
                              .reason = std::move(reason),
                              .message = std::move(message)};
  for (WriteObserver* observer : parts_.observers) {
    observer->OnNotice(notice);
  }
}

}  // namespace kubexx::reloader
