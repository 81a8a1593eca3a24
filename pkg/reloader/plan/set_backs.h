/// @file
/// Rollouts that somebody sets back before they are through.
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

/// Keeps a rollout that a tool sets back again and again from being made again and again: at once
/// the first time, then after a minute, two, four and so on up to a day. Other data are rolled for
/// at once. Remembers a workload for an hour after it was last set back, and longer while it waits.
/// Thread-safe; never blocks.
class SetBacks {
 public:
  static constexpr base::Duration kFirst = std::chrono::minutes(1);
  static constexpr base::Duration kMost = std::chrono::hours(24);

  /// What to do about a rollout that is due.
  struct Turn {
    base::Duration wait{0};  ///< zero: make it; otherwise ask again after this time
    /// Somebody keeps setting it back. Once, when that is certain.
    bool is_fought = false;
  };

  explicit SetBacks(base::Clock& clock) : clock_(clock) {}

  /// The last rollout of the workload was set back before it was through.
  void SetBack(const WorkloadId& workload);
  /// Asks to make these changes now.
  Turn Ask(const WorkloadId& workload, const std::vector<Change>& changes);
  /// The workload is gone.
  void Forget(const WorkloadId& workload);
  /// Workloads it remembers.
  std::size_t size() const;

 private:
  struct Entry {
    base::TimePoint at{};  ///< when it was set back last
    int times = 0;         ///< in a row, with the same data
    std::size_t data = 0;  ///< hash of what was last rolled for; 0: not known
    bool is_told = false;  ///< that it is fought
  };
  static base::Duration IntervalOf(const Entry& entry);

  base::Clock& clock_;
  mutable base::Mutex mu_;
  std::map<WorkloadId, Entry> entries_ KX_GUARDED_BY(mu_);
};

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_PLAN_SET_BACKS_H_
