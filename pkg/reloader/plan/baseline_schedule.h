/// @file
/// When baselines may be recorded.
#ifndef KUBEXX_RELOADER_PLAN_BASELINE_SCHEDULE_H_
#define KUBEXX_RELOADER_PLAN_BASELINE_SCHEDULE_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "kubexx/base/clock.h"
#include "kubexx/base/mutex.h"
#include "kubexx/reloader/model/workload.h"

namespace kubexx::reloader {

/// Whether workloads are written what data they run with; see Baseline.
enum class BaselineRecording : std::uint8_t {
  kNever,         ///< and one that is there is taken away by the next rollout
  kWithRollouts,  ///< in the same write as a rollout only
  kAlways,        ///< and by a write of its own where it is missing
};

/// Spreads the writes that only record a baseline: a first start with thousands of workloads must
/// not storm the API server, and somebody who keeps taking the annotation away must not be fought:
/// each time that a baseline which was written is missing again, the pause before it is put back
/// doubles. Remembers a workload for an hour after its last write, and longer while its pause is.
/// Thread-safe; never blocks.
class BaselineSchedule {
 public:
  struct Options {
    /// Writes a second, and how many may go at once.
    double rate = 20;
    int burst = 20;
    /// Between two of them to one workload, and after a rollout of it: the least, and the most when
    /// attempts fail and when somebody takes the annotation away.
    base::Duration workload_interval = std::chrono::minutes(1);
    base::Duration failed_interval = std::chrono::hours(1);
    base::Duration lost_interval = std::chrono::hours(24);
    /// How long a kind is left alone in a namespace where the right to patch it is missing.
    base::Duration forbidden_interval = std::chrono::minutes(10);
  };
  /// What to do about a baseline that is not recorded.
  struct Turn {
    /// Zero: write it; the slot is used up. Otherwise the time after which to ask again.
    base::Duration wait{0};
    /// Somebody keeps taking it away. Once, when that is certain.
    bool is_fought = false;
  };

  BaselineSchedule(Options options, base::Clock& clock) : options_(options), clock_(clock) {}

  /// Asks to write `baseline`, which is not on the workload, now. `is_news`: what is there is out
  /// of date, so that it need not wait for the least interval, unless writes fail or are undone, or
  /// the last one said the same: somebody has taken it away since. The rate is for all alike.
  Turn Ask(const WorkloadId& workload, std::string_view baseline, bool is_news = false);
  /// `baseline` has been written to the workload, alone or along with a rollout.
  void Written(const WorkloadId& workload, std::string_view baseline);
  /// It could not be written. True for the first of failures in a row.
  bool Failed(const WorkloadId& workload);
  /// It was not written, because the workload is not what it was when that was asked for: it may be
  /// asked for again at once.
  void Overtaken(const WorkloadId& workload);
  /// The right to write to this workload's kind is missing in its namespace.
  void Forbidden(const WorkloadId& workload);
  /// There is nothing to record at present.
  void NothingToDo(const WorkloadId& workload);
  /// The workload is gone.
  void Forget(const WorkloadId& workload);
  /// Workloads it holds something of.
  std::size_t size() const;

 private:
  /// Of the last write, or attempt, of one workload.
  struct Write {
    base::TimePoint at{};
    std::size_t baseline = 0;  ///< hash of its text
    bool is_there = false;     ///< it succeeded, and has not been found missing
    std::uint16_t lost = 0;    ///< how often one that had succeeded was missing again
    std::uint16_t failures = 0;
  };

  base::Duration IntervalOf(const Write& write) const;
  void ExpireLocked(base::TimePoint now) KX_REQUIRES(mu_);
  base::TimePoint EarliestLocked(const WorkloadId& workload, base::TimePoint now,
                                 bool is_news) const KX_REQUIRES(mu_);
  base::Duration SlotLocked(const WorkloadId& workload, base::TimePoint now, bool is_news)
      KX_REQUIRES(mu_);

  const Options options_;
  base::Clock& clock_;
  mutable base::Mutex mu_;
  base::TimePoint next_free_ KX_GUARDED_BY(mu_){};
  /// The turns, by the rate, of those that wait for theirs.
  std::map<WorkloadId, base::TimePoint> slots_ KX_GUARDED_BY(mu_);
  /// By the hash of the workload, since there may be many after a start: two that share one wait
  /// for each other, which does no harm.
  std::unordered_map<std::size_t, Write> writes_ KX_GUARDED_BY(mu_);
  base::TimePoint next_sweep_ KX_GUARDED_BY(mu_){};
  std::map<std::pair<WorkloadKind, std::string>, base::TimePoint> forbidden_until_
      KX_GUARDED_BY(mu_);
};

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_PLAN_BASELINE_SCHEDULE_H_
