/// @file
/// Waits for the event of a pod template that the API server has already.
#ifndef KUBEXX_RELOADER_OPERATOR_AWAITED_TEMPLATES_H_
#define KUBEXX_RELOADER_OPERATOR_AWAITED_TEMPLATES_H_

#include <chrono>
#include <map>
#include <string>

#include "kubexx/base/clock.h"
#include "kubexx/base/function_ref.h"
#include "kubexx/base/mutex.h"
#include "kubexx/reloader/model/workload.h"
#include "kubexx/reloader/plan/planner.h"
#include "kubexx/reloader/plan/workload_write.h"

namespace kubexx::reloader {

/// Puts off rollouts that the next event may show to have been made. If a workload that was read
/// from the API server has all variables of a plan already, or names the same rollout in
/// kLastReloadedFrom, and its pod template is not the one in the cache, then somebody has just
/// written it: another replica that rolled it, whose pods have the data, or a person who undid a
/// rollout, whose pods may not have them. The template alone does not tell which; the event that is
/// on its way does. A workload is put off for kMost in all, also when its plan or the cache changes
/// meanwhile, and not again until kPause has passed. Remembers a workload until Forget.
/// Thread-safe; never blocks.
class AwaitedTemplates {
 public:
  /// An event is awaited for so long; it may never come, because the watch may not be allowed or
  /// its connection may be half-open.
  static constexpr base::Duration kMost = std::chrono::seconds(10);
  static constexpr base::Duration kPause = std::chrono::minutes(1);
  /// The time between two looks.
  static constexpr base::Duration kInterval = std::chrono::milliseconds(50);

  /// `clock` must outlive this object.
  explicit AwaitedTemplates(base::Clock& clock) : clock_(clock) {}

  /// Whether the rollout is to be put off, so that the workload is to be planned again after
  /// kInterval. `workload`: what the plan was made for, from the cache or as it was just read.
  /// `cached`: the workload in the cache, looked up after that. `write`: what would be written.
  bool Await(const Workload& workload, const Workload& cached, const Plan& plan,
             const WorkloadWrite& write);
  /// The workload is not to be rolled, or does not exist.
  void Forget(const WorkloadId& workload);
  /// The same for all workloads in the namespaces for which `left` returns true: another replica
  /// works on them now.
  void Leave(base::FunctionRef<bool(const std::string& namespace_)> left);

 private:
  struct Entry {
    std::string token{};      ///< WorkloadWrite::token of the rollout that is put off
    std::string template_{};  ///< digest of the template in the cache, which the event replaces
    base::TimePoint until{};
  };

  base::Clock& clock_;
  base::Mutex mu_;
  std::map<WorkloadId, Entry> entries_ KX_GUARDED_BY(mu_);
};

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_OPERATOR_AWAITED_TEMPLATES_H_
