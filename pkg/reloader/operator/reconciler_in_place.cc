// How a Reconciler has pods reloaded in place of a rollout. What is under way is on the workload: a
// mark, and a baseline that says of the sources in question that the pods may have anything. So
// whoever comes after this process, with or without reloads in place, finds the change still due.
#include <algorithm>
#include <chrono>
#include <iterator>
#include <utility>

#include "kubexx/apimachinery/time.h"
#include "kubexx/logging/log.h"
#include "kubexx/reloader/in_place/reloaded_changes.h"
#include "kubexx/reloader/model/annotations.h"
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
/// What waits for a pause of its source is asked for again after this time, since a gate that has
/// let others go does not tell when such a pause ends.
constexpr base::Duration kRestAgain = std::chrono::seconds(30);

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

/// The failure of a write whose annotations may not be written.
apimachinery::Error Unrecorded(const WriteOutcome& written) {
  return apimachinery::Fail(
      written.refusal.value_or(apimachinery::Status(Reason::kForbidden, "it is not recorded")));
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
  if (verdict.action || verdict.why_not.empty()) {
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
  const ReloadedData refused = parts_.in_place->Refused(workload.id);
  const InPlaceReloads::Report report = parts_.in_place->Look(workload.id);
  std::ranges::copy_if(without, std::back_inserter(begun),
                       [&](const Change& change) { return IsUnderWay(plan, report, change); });
  // Another process may have asked for these data, and only that one knows the answer. Its mark
  // need not tell: it goes when newer data are held back, and is for fewer sources where pods have
  // begun since.
  const bool is_untold = report.state == InPlaceReloads::State::kNone && refused.empty();
  const bool is_asked = !begun.empty() && (is_untold || IsForData(DataOf(begun), report, workload));
  // The other half of what was refused may have changed, or the mark may be gone because the gate
  // has held the data back since.
  if (!is_asked && !HasSome(refused, DataOf(without))) {
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
    if (plan.changes.empty() && !plan.incomplete) {
      parts_.in_place->ForgetRefused(workload.id);
    }
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
  // What is not done with the reload that is under way.
  std::vector<Change> rest(plan.changes.begin() + std::ssize(begun), plan.changes.end());
  rest.insert(rest.end(), held.begin(), held.end());
  bool is_kept = false;
  if (!begun.empty() && IsForData(DataOf(begun), report, workload)) {
    const bool is_same = report.action == action && report.state != State::kNone;
    is_kept =
        is_same && report.state == State::kFailed && report.is_refused && action.keeps_refused;
    if (is_same && report.state == State::kDone) {
      plan.changes = std::move(begun);
      auto answer = RecordReload(workload, plan, report, moment);
      return answer && !rest.empty() && answer->outcome == Outcome::kWritten ? WithMore(*answer)
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
      KeepNoPlace(workload.id);  // an attempt at newer data that was overtaken has reserved one
      return LeaveRest(workload, plan, std::move(rest), moment);  // until its end, or newer data
    }
    // The program may take all of it together, and has to be asked for the rest anyway.
  }
  const bool is_of_refused =
      action.keeps_refused && HasSome(parts_.in_place->Refused(workload.id), DataOf(plan.changes));
  AnnotationEdits annotations;
  if (parts_.gate != nullptr &&
      !(begun.empty() ? parts_.gate->Admit(workload, plan.changes, annotations)
                      : parts_.gate->AdmitNewer(workload, plan.changes, annotations))) {
    if (is_kept) {  // nothing goes on, and without its report the program would be asked again
      return LeaveRest(workload, plan, std::move(rest), moment);
    }
    if (!begun.empty()) {
      return LeaveReload(workload, plan, moment);
    }
    plan.changes.insert(plan.changes.end(), held.begin(), held.end());
    return LeaveDue(workload, plan, moment.version, moment.stop);  // the gate asks again
  }
  if (is_kept && HasAll(report.data, DataOf(plan.changes))) {
    // The sources of all else are on hold, and the program has answered to what is left.
    parts_.gate->OnWritten(workload.id, WriteEnd::kNotRolled, 0);
    auto answer = LeaveRest(workload, plan, std::move(rest), moment);
    if (answer) {
      answer->again =
          answer->again > base::Duration(0) ? std::min(answer->again, kRestAgain) : kRestAgain;
    }
    return answer;
  }
  const bool is_news = !held.empty() && parts_.memory.LeaveDue(workload.id, held);
  auto answer = BeginReload(
      workload, plan,
      {.action = action, .annotations = annotations, .held = held, .is_of_refused = is_of_refused},
      moment);
  return answer && is_news ? WithMore(*answer) : answer;
}

std::optional<Reconciler::Answer> Reconciler::LeaveRest(const Workload& workload,
                                                        reloader::Plan& plan,
                                                        std::vector<Change> rest,
                                                        const Moment& moment) {
  if (rest.empty()) {
    return Answer{};
  }
  plan.changes = std::move(rest);
  return LeaveDue(workload, plan, moment.version, moment.stop);
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
                                                          reloader::Plan& plan,
                                                          const Beginning& beginning,
                                                          const Moment& moment) {
  const WorkloadId& id = workload.id;
  const std::vector<Change> unknown = WithUnknownData(plan.changes);
  const std::string baseline = BaselineAfter(plan, unknown, PodsAre::kKept);
  WorkloadWrite write{.uid = workload.uid,
                      .resource_version = moment.version,
                      .annotations = beginning.annotations};
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
  auto written = WriteRecord(id, write, moment.stop);
  const bool is_denied = written ? !written->recorded : IsDenied(written.error());
  if (written && !written->recorded) {
    written = Unrecorded(*written);
  }
  if (is_denied || (!written && !MayHaveBeenMade(written.error()))) {
    parts_.memory.CancelWrite(id, sent);
  }
  if (is_denied) {  // what is under way could not be told to others
    plan.changes.insert(plan.changes.end(), beginning.held.begin(), beginning.held.end());
  }
  if (is_denied && !beginning.is_of_refused) {
    return Write(workload, plan, beginning.annotations, moment.begin, moment.stop);
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
  StartReload(workload, beginning.action, plan.changes);
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
  auto written = WriteRecord(id, write, moment.stop);
  if (written && !written->recorded) {  // the right is gone since
    written = Unrecorded(*written);
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
  parts_.in_place->ForgetRefused(id);  // the program takes all of its files together
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
