/// @file
/// Handles rollouts that somebody sets back before they have ended.
#ifndef KUBEXX_RELOADER_PLAN_SET_BACKS_H_
#define KUBEXX_RELOADER_PLAN_SET_BACKS_H_

#include <cstddef>
#include <map>
#include <vector>

#include "kubexx/base/clock.h"
#include "kubexx/base/mutex.h"
#include "kubexx/reloader/model/workload.h"
#include "kubexx/reloader/plan/planner.h"

namespace kubexx::reloader {

/// Prevents an endless fight with a tool that sets a rollout back again and again. The operator
/// makes the rollout again at once the first time, then after one minute, two, four and so on up to
/// a day. Rollouts for other data are made at once. Remembers a workload for an hour after it was
/// last set back, or longer while its pause lasts. Thread-safe; never blocks.
class SetBacks {
 public:
  static constexpr base::Duration kFirst = std::chrono::minutes(1);
  static constexpr base::Duration kMost = std::chrono::hours(24);

  /// The answer to Ask.
  struct Turn {
    base::Duration wait{0};  ///< zero: make the rollout now; otherwise ask again after this time
    /// Somebody keeps setting the rollout back. True once, when that is certain.
    bool is_fought = false;
  };

  explicit SetBacks(base::Clock& clock) : clock_(clock) {}

  /// The last rollout of the workload was set back before it had ended.
  void SetBack(const WorkloadId& workload);
  /// Asks whether these changes may be made now.
  Turn Ask(const WorkloadId& workload, const std::vector<Change>& changes);
  /// The workload was deleted.
  void Forget(const WorkloadId& workload);
  /// The number of workloads that are remembered.
  std::size_t size() const;

 private:
  struct Entry {
    base::TimePoint at{};  ///< when it was last set back
    int times = 0;         ///< how often in a row, with the same data
    std::size_t data = 0;  ///< hash of the data that it was last to be rolled for; 0: not known
    bool is_told = false;  ///< Turn::is_fought has been returned
  };
  static base::Duration IntervalOf(const Entry& entry);

  base::Clock& clock_;
  mutable base::Mutex mu_;
  std::map<WorkloadId, Entry> entries_ KX_GUARDED_BY(mu_);
};

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_PLAN_SET_BACKS_H_
