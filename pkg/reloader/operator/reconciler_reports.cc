// Reports what a Reconciler does, in the log, metrics, Events and alerts.
#include "kubexx/logging/log.h"
#include "kubexx/reloader/operator/reconciler.h"
#include "kubexx/reloader/plan/baseline.h"
#include "kubexx/reloadpolicy/policy.h"

namespace kubexx::reloader {

void Reconciler::LogReloads(const WorkloadId& id, const std::vector<Change>& changes,
                            const char* what) {
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

void Reconciler::ReportLostBaseline(const Workload& workload) const {
  const WorkloadId& id = workload.id;
  const WorkloadNotice notice{
      .workload = id,
      .uid = workload.uid,
      .reason = "BaselineRemoved",
      .message = "The annotation " + std::string(kBaselineAnnotation) +
                 " is removed or set back again and again, perhaps by a controller or a GitOps "
                 "tool. The operator writes it again ever more rarely; a change that is made while "
                 "the operator is down may be missed, or may cause two rollouts. Let the tool "
                 "ignore the annotation, or set " +
                 std::string(kRecordBaseline) + ": \"false\" on the workload"};
  logging::Warning(
      "The baseline of a workload is removed again and again",
      {{"workload", id.key.name}, {"kind", KindName(id.kind)}, {"namespace", id.key.namespace_}});
  for (WriteObserver* observer : parts_.observers) {
    observer->OnNotice(notice);
  }
}

void Reconciler::ReportLeftOut(const Workload& workload, const std::string& annotations,
                               bool is_followed) const {
  const WorkloadId& id = workload.id;
  logging::Warning("A workload is rolled without a record of it, as its annotations have no room",
                   {{"workload", id.key.name},
                    {"kind", KindName(id.kind)},
                    {"namespace", id.key.namespace_},
                    {"left_out", annotations}});
  Notice(workload, "RolloutNotRecorded",
         "All annotations of an object may have 256 KiB together, and those of others leave no "
         "room for " +
             annotations + ". The rollout was made without " +
             (is_followed ? "it: an operator that begins later does not know for which data it was"
                          : "them: it is not followed, so no policy counts it, and it cannot fail. "
                            "Other workloads go on when all pods are available") +
             ". Let whoever writes so much into the annotations write less");
}

void Reconciler::ReportSetBack(const Workload& workload) const {
  const WorkloadId& id = workload.id;
  const WorkloadNotice notice{
      .workload = id,
      .uid = workload.uid,
      .reason = "RolloutSetBack",
      .message =
          "Rollouts for changed data are set back again and again before they have ended, "
          "perhaps by a controller or a GitOps tool, so that pods run with the earlier data. "
          "The operator makes these rollouts again ever more rarely. Let the tool ignore what "
          "the operator writes in the pod template"};
  logging::Warning(
      "Rollouts of a workload are set back again and again before they have ended",
      {{"workload", id.key.name}, {"kind", KindName(id.kind)}, {"namespace", id.key.namespace_}});
  for (WriteObserver* observer : parts_.observers) {
    observer->OnNotice(notice);
  }
}

void Reconciler::ReportFullBaseline(const Workload& workload, const reloader::Plan& plan) {
  const WorkloadId& id = workload.id;
  const std::size_t left_out = Records(workload) ? plan.left_out.size() : 0;
  const bool is_news = full_baselines_.Note(
      id, left_out > 0, [this](std::size_t count) { parts_.metrics.FullBaselines(count); });
  if (!is_news) {
    return;
  }
  const WorkloadNotice notice{
      .workload = id,
      .uid = workload.uid,
      .reason = "BaselineFull",
      .message = "The annotation " + std::string(kBaselineAnnotation) + " has room for " +
                 std::to_string(plan.baseline.digests.size()) + " of the sources that roll this " +
                 "workload and none for " + std::to_string(left_out) + " more, such as " +
                 std::string(NamesOf(plan.left_out.front().type).kind) + "/" +
                 plan.left_out.front().key.name +
                 ". Changes of these that are made while no operator runs may be missed. Let fewer "
                 "sources roll it: name them, or make the pattern narrower"};
  logging::Warning("The baseline of a workload has no room for all its sources",
                   {{"workload", id.key.name},
                    {"kind", KindName(id.kind)},
                    {"namespace", id.key.namespace_},
                    {"recorded", plan.baseline.digests.size()},
                    {"left_out", left_out}});
  for (WriteObserver* observer : parts_.observers) {
    observer->OnNotice(notice);
  }
}

void Reconciler::Leave(int shard) {
  const auto left = [&](const std::string& namespace_) {
    return ShardOf(namespace_, parts_.held_shards->shards()) == shard;
  };
  bad_items_.Leave(left);
  awaited_.Leave(left);
  held_up_.Leave(left);
  if (parts_.in_place != nullptr) {
    parts_.in_place->Leave(left);
  }
  full_baselines_.Leave(left, [this](std::size_t count) { parts_.metrics.FullBaselines(count); });
}

void Reconciler::ReportFailure(const WorkloadId& id, const reloader::Plan& plan,
                               const apimachinery::Status& status) const {
  for (const Change& change : plan.changes) {
    for (const SourceId& source : change.causes) {
      logging::Error("Cannot update a workload", {{"source", source.key.name},
                                                  {"type", NamesOf(source.type).upper},
                                                  {"namespace", source.key.namespace_},
                                                  {"workload", id.key.name},
                                                  {"kind", KindName(id.kind)},
                                                  {"error", status}});
    }
  }
}

void Reconciler::Notify(const Workload& workload, const reloader::Plan& plan,
                        const apimachinery::Result<void>& outcome, const OtherWay& way) const {
  if (parts_.observers.empty()) {
    return;
  }
  WriteReport report{.workload = workload.id,
                     .uid = workload.uid,
                     .paused = workload.paused,
                     .outcome = outcome,
                     .job = way.job,
                     .in_place = way.in_place};
  for (const Change& change : plan.changes) {
    report.causes.insert(report.causes.end(), change.causes.begin(), change.causes.end());
  }
  for (WriteObserver* observer : parts_.observers) {
    observer->OnWrite(report);
  }
}

void Reconciler::ReportBadItems(const Workload& workload, const reloader::Plan& plan) {
  const WorkloadId& id = workload.id;
  for (const BadItem& bad : bad_items_.News(id, plan.bad_items)) {
    const bool is_unseen = bad.what == BadItem::What::kSource;
    logging::Log(is_unseen ? logging::Level::kWarning : logging::Level::kError,
                 bad.what == BadItem::What::kName
                     ? "The operator does not know an annotation, which is probably mistyped"
                 : bad.what == BadItem::What::kValue ? "An annotation has an invalid value"
                 : is_unseen ? "A source of another namespace does not roll a workload"
                             : "An item of a reload annotation is skipped, as it is not a "
                               "regular expression within the limits",
                 {{"item", bad.item},
                  {"error", bad.error},
                  {"workload", id.key.name},
                  {"kind", KindName(id.kind)},
                  {"namespace", id.key.namespace_}});
    if (bad.what != BadItem::What::kName &&
        !bad.item.starts_with(reloadpolicy::kAnnotationPrefix)) {
      continue;  // of an annotation of stakater/Reloader, which only logs
    }
    const WorkloadNotice notice{.workload = id,
                                .uid = workload.uid,
                                .reason = is_unseen ? "SourceNotSeen" : "InvalidAnnotation",
                                .message = bad.item + ": " + bad.error};
    for (WriteObserver* observer : parts_.observers) {
      observer->OnNotice(notice);
    }
  }
}

// A cache may be behind for minutes and for many workloads, so this is logged once for each.
void Reconciler::ReportNotPlanned(const WorkloadId& id, const apimachinery::Status& why) {
  const bool is_behind = HeldUpPlans::AreBehind(why);
  const bool is_news = is_behind && held_up_.Note(id);
  if (!is_behind) {
    held_up_.Forget(id);  // it is not a late watch that has kept it waiting
  }
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

}  // namespace kubexx::reloader
