/// @file
/// Remembers which workloads wait for the events of their sources.
#ifndef KUBEXX_RELOADER_OPERATOR_HELD_UP_PLANS_H_
#define KUBEXX_RELOADER_OPERATOR_HELD_UP_PLANS_H_

#include <chrono>
#include <map>
#include <string>

#include "kubexx/apimachinery/status.h"
#include "kubexx/base/clock.h"
#include "kubexx/base/function_ref.h"
#include "kubexx/base/mutex.h"
#include "kubexx/reloader/model/workload.h"

namespace kubexx::reloader {

/// Workloads that could not be planned, or not for all of their sources, because the cache of a
/// source is behind the API server. The event of that source is on the way: the workload is planned
/// as a whole then, and rolled once, and keeps its place among those that wait for a rollout. But a
/// watch may lag for minutes, and the other sources of the workload must not wait for that:
/// patience ends after kMost. Remembers a workload until Forget. Thread-safe; never blocks.
class HeldUpPlans {
 public:
  static constexpr base::Duration kMost = std::chrono::seconds(10);

  /// `clock` must outlive this object.
  explicit HeldUpPlans(base::Clock& clock) : clock_(clock) {}

  /// Whether an error of a plan says that the cache of a source is behind the API server.
  static bool AreBehind(const apimachinery::Status& why) {
    return why.reason == apimachinery::Reason::kConflict;
  }

  /// The workload could not be planned completely. Returns whether that is news: false until
  /// Forget when it was said before.
  bool Note(const WorkloadId& workload);
  /// Whether the workload is to wait for the event of a source. True as well for workloads that are
  /// not held up.
  bool IsPatient(const WorkloadId& workload) const;
  /// The workload no longer waits for the event of a source, or does not exist.
  void Forget(const WorkloadId& workload);
  /// The same for all workloads in the namespaces for which `left` returns true: another replica
  /// works on them now.
  void Leave(base::FunctionRef<bool(const std::string& namespace_)> left);

 private:
  base::Clock& clock_;
  mutable base::Mutex mu_;
  /// When the patience ends.
  std::map<WorkloadId, base::TimePoint> until_ KX_GUARDED_BY(mu_);
};

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_OPERATOR_HELD_UP_PLANS_H_
