/// @file
/// The workloads with which tests of events are run.
#ifndef KUBEXX_RELOADER_TESTING_ROUTER_CASES_H_
#define KUBEXX_RELOADER_TESTING_ROUTER_CASES_H_

#include <string>
#include <vector>

#include "kubexx/reloader/model/workload_kind.h"
#include "kubexx/reloader/plan/strategy.h"

namespace kubexx::reloader {

/// A workload whose rollout is undone, and the way in which it is rolled.
struct RouterCase {
  std::string name{};
  WorkloadKind kind = WorkloadKind::kDeployment;
  bool is_by_ref = false;  ///< a Rollout with the template of a Deployment
  ReloadStrategy strategy = ReloadStrategy::kEnvVars;
  bool has_baseline = true;  ///< false: with --record-baseline=false
};

/// All kinds, ways to roll, and with and without a baseline.
inline std::vector<RouterCase> RouterCases() {
  std::vector<RouterCase> cases;
  for (const auto strategy : {ReloadStrategy::kEnvVars, ReloadStrategy::kAnnotations}) {
    for (const bool has_baseline : {true, false}) {
      const std::string rest =
          std::string(strategy == ReloadStrategy::kEnvVars ? "ByVariables" : "ByAnnotations") +
          (has_baseline ? "" : "WithoutBaseline");
      for (const auto kind : {WorkloadKind::kDeployment, WorkloadKind::kStatefulSet,
                              WorkloadKind::kDaemonSet, WorkloadKind::kRollout}) {
        cases.push_back({std::string(KindName(kind)) + rest, kind, false, strategy, has_baseline});
      }
      cases.push_back(
          {"RolloutWithRef" + rest, WorkloadKind::kRollout, true, strategy, has_baseline});
    }
  }
  return cases;
}

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_TESTING_ROUTER_CASES_H_
