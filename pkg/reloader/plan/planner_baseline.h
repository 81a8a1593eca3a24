/// @file
/// Which part of a plan's baseline is recorded on the workload, and whether that is a reason to
/// write.
#ifndef KUBEXX_RELOADER_PLAN_PLANNER_BASELINE_H_
#define KUBEXX_RELOADER_PLAN_PLANNER_BASELINE_H_

#include <set>

#include "kubexx/reloader/model/source.h"
#include "kubexx/reloader/model/workload.h"
#include "kubexx/reloader/plan/baseline.h"
#include "kubexx/reloader/plan/decision.h"
#include "kubexx/reloader/plan/planner.h"

namespace kubexx::reloader {

/// What FinishBaseline compares a plan with. Does not own anything.
struct RecordedOn {
  const Workload& workload;
  /// The workload's baseline if it is valid for this object; null otherwise.
  const Baseline* recorded;
  const std::set<SourceId>& referenced;  ///< by the workload
  const std::set<SourceId>& named;       ///< referenced, or a plain name of a reload list
  const DecisionRules& rules;
};

/// Whether the workload's own baseline, `recorded`, was written before somebody else wrote the pod
/// template, or is that of a CronJob's rollout, which is written before anybody can have seen all
/// that its pods began with. Pure.
bool IsRecordOlderThanPods(const Workload& workload, const Baseline& recorded);

/// Decides whether to record `plan.baseline`, which has what the planner knows of all sources:
/// sets Plan::record, is_news, is_released and left_out. Cuts the baseline to size, and adds what
/// others have recorded: an instance with other rules or types may look after the same workload, or
/// have done so and come back. What is recorded of described kinds stays as long as the workload
/// names objects of such kinds.
/// The entries of others alone are no reason to write, because two instances would write in turns
/// then. Pure.
void FinishBaseline(const RecordedOn& on, Plan& plan);

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_PLAN_PLANNER_BASELINE_H_
