/// @file
/// When baselines may be recorded.
#ifndef KUBEXX_RELOADER_BASELINE_SCHEDULE_H_
#define KUBEXX_RELOADER_BASELINE_SCHEDULE_H_

#include <cstddef>
#include <deque>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "kubexx/base/clock.h"
#include "kubexx/base/mutex.h"
#include "kubexx/reloader/workload.h"

namespace kubexx::reloader {

/// Spreads the writes that only record a baseline: a first start with thousands of workloads must
/// not storm the API server, and somebody who keeps taking the annotation away must not be fought.
/// Thread-safe; never blocks.
class BaselineSchedule {
 public:
  struct Options {
    /// Writes a second, and how many may go at once.
    double rate = 20;
    int burst = 20;
    /// Between two of them to one workload, and after a rollout of it.
    base::Duration workload_interval = std::chrono::minutes(1);
    /// How long a kind is left alone in a namespace where its patch was forbidden.
    base::Duration forbidden_interval = std::chrono::minutes(10);
  };
  BaselineSchedule(Options options, base::Clock& clock) : options_(options), clock_(clock) {}

  /// Asks to write now. Zero: do; the slot is used up. Otherwise the time after which to ask again.
  base::Duration Ask(const WorkloadId& workload);
  /// The workload has been written to: its baseline with it.
  void Written(const WorkloadId& workload);
  /// A write of this workload's kind was refused in its namespace. True for the first of that kind.
  bool Forbidden(const WorkloadId& workload);
  /// There is nothing to record any more.
  void Forget(const WorkloadId& workload);
  /// Workloads it holds something of.
  std::size_t size() const;

 private:
  void WrittenLocked(const WorkloadId& workload, base::TimePoint now) KX_REQUIRES(mu_);
  void ExpireLocked(base::TimePoint now) KX_REQUIRES(mu_);
  base::TimePoint EarliestLocked(const WorkloadId& workload, base::TimePoint now) const
      KX_REQUIRES(mu_);

  const Options options_;
  base::Clock& clock_;
  mutable base::Mutex mu_;
  base::TimePoint next_free_ KX_GUARDED_BY(mu_){};
  std::map<WorkloadId, base::TimePoint> slots_ KX_GUARDED_BY(mu_);
  /// When workloads were last written to, and in order, to drop the old ones.
  std::map<WorkloadId, base::TimePoint> written_ KX_GUARDED_BY(mu_);
  std::deque<std::pair<base::TimePoint, WorkloadId>> by_time_ KX_GUARDED_BY(mu_);
  std::map<std::pair<WorkloadKind, std::string>, base::TimePoint> forbidden_until_
      KX_GUARDED_BY(mu_);
  std::set<WorkloadKind> refused_ KX_GUARDED_BY(mu_);
};

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_BASELINE_SCHEDULE_H_
