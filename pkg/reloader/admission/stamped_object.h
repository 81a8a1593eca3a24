/// @file
/// Writes on a workload that is about to be stored what its pods will begin with.
#ifndef KUBEXX_RELOADER_ADMISSION_STAMPED_OBJECT_H_
#define KUBEXX_RELOADER_ADMISSION_STAMPED_OBJECT_H_

#include "kubexx/apimachinery/status.h"
#include "kubexx/base/clock.h"
#include "kubexx/base/function_ref.h"
#include "kubexx/codec/json_tree.h"
#include "kubexx/reloader/model/workload.h"
#include "kubexx/reloader/plan/decision.h"
#include "kubexx/reloader/plan/planner.h"
#include "kubexx/reloader/plan/strategy.h"

namespace kubexx::reloader {

/// The input of StampedObject, which only reads it.
struct StampInput {
  WorkloadKind kind = WorkloadKind::kDeployment;
  /// As the API server is about to store it, with its namespace.
  const codec::JsonTree& object;
  const DecisionRules& rules;
  ReloadStrategy strategy = ReloadStrategy::kEnvVars;
  /// Whether baselines are recorded at all; a workload may still want none.
  bool records = true;
  PatternCache& patterns;
  /// Calls the function with the sources as this workload sees them. Fails when one of them that
  /// was asked for cannot be read.
  base::FunctionRef<apimachinery::Result<void>(const Workload&,
                                               base::FunctionRef<void(const SourceLookup&)>)>
      with_sources;
  base::WallTime now{};
};

/// Returns the object with the variables or the annotation that the operator would write for the
/// present data of all its sources if it rolled the workload for them, and with the baseline that
/// goes with that. Other than a rollout it makes no pods of its own: the object gets new ones
/// anyway. The object is returned as it is when no rule applies to a source that exists. What is
/// right already stays as it is, so that the result of the result is the same. Fails when the
/// object is not a workload of that kind, or as `with_sources` does. Pure.
apimachinery::Result<codec::JsonTree> StampedObject(const StampInput& input);

/// Whether two states of a workload have the same pod template, apart from what rollouts of an
/// operator leave in it.
bool HasSameTemplateOfOthers(const codec::JsonTree& before, const codec::JsonTree& now);

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_ADMISSION_STAMPED_OBJECT_H_
