/// @file
/// Decides when baselines may be written.
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

/// Whether the operator writes a Baseline on workloads.
enum class BaselineRecording : std::uint8_t {
  kNever,         ///< never; the next rollout removes one that is there
  kWithRollouts,  ///< only in the same write as a rollout
  kAlways,        ///< also by a write of its own when it is missing
};

/// Spreads the writes that only record a baseline, for two reasons. A first start with thousands of
/// workloads must not flood the API server. And the operator must not fight somebody who keeps
/// removing the annotation: each time that a baseline is found missing after it was written, the
/// pause before the next write doubles. Remembers a workload for an hour after its last write, or
/// longer while its pause lasts. Thread-safe; never blocks.
class BaselineSchedule {
 public:
  struct Options {
    /// The number of writes per second, and how many may be made at once.
    double rate = 20;
    int burst = 20;
    /// The shortest pause between two such writes to one workload, and after a rollout of it. It
    /// doubles up to failed_interval when writes fail, and up to lost_interval when somebody
    /// removes the annotation.
    base::Duration workload_interval = std::chrono::minutes(1);
    base::Duration failed_interval = std::chrono::hours(1);
    base::Duration lost_interval = std::chrono::hours(24);
    /// How long no write is attempted for a kind in a namespace after the right to patch that kind
    /// there was found missing.
    base::Duration forbidden_interval = std::chrono::minutes(10);
  };
  /// The answer to Ask.
  struct Turn {
    /// Zero: write the baseline now; this uses up the workload's turn. Otherwise: ask again after
    /// this time.
    base::Duration wait{0};
    /// Somebody keeps removing the baseline. True once, when that is certain.
    bool is_fought = false;
  };

  BaselineSchedule(Options options, base::Clock& clock) : options_(options), clock_(clock) {}

  /// Asks whether `baseline`, which is not on the workload, may be written now. `is_news`: the
  /// baseline on the workload is outdated, so that the new one need not wait for workload_interval.
  /// It has to wait nevertheless when earlier writes failed or were undone, or when the last write
  /// had the same text and somebody has removed it since. The rate applies in every case.
  Turn Ask(const WorkloadId& workload, std::string_view baseline, bool is_news = false);
  /// `baseline` was written to the workload, by itself or together with a rollout.
  void Written(const WorkloadId& workload, std::string_view baseline);
  /// The write failed. Returns true for the first of several failures in a row.
  bool Failed(const WorkloadId& workload);
  /// The write was not made because the workload had changed. The caller may ask again at once.
  void Overtaken(const WorkloadId& workload);
  /// The operator may not write to workloads of this kind in this namespace.
  void Forbidden(const WorkloadId& workload);
  /// The workload needs no baseline at present.
  void NothingToDo(const WorkloadId& workload);
  /// The baseline of the workload waits for what watches tell (Plan::awaits_watches). Returns after
  /// what time another plan is to be made: ten seconds at first, twice as long each time after
  /// that, and ten minutes at most, as there are clusters in which the watches never tell it. API
  /// servers send bookmarks about once a minute.
  base::Duration LookAgain(const WorkloadId& workload);
  /// The baseline of the workload waits for no watch any more.
  void HasSeen(const WorkloadId& workload);
  /// The workload was deleted.
  void Forget(const WorkloadId& workload);
  /// The number of entries that are kept.
  std::size_t size() const;

 private:
  /// The last write, or attempt, for one workload.
  struct Write {
    base::TimePoint at{};
    std::size_t baseline = 0;  ///< hash of its text
    bool is_there = false;     ///< it succeeded, and the baseline has not been found missing since
    std::uint16_t lost = 0;    ///< how often a baseline was missing again after it had been written
    std::uint16_t failures = 0;
  };

  /// When another plan of a workload is due.
  struct Look {
    base::TimePoint at{};
    base::Duration pause{};  ///< from the plan before to that one
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
  /// The times at which waiting workloads may write according to the rate.
  std::map<WorkloadId, base::TimePoint> slots_ KX_GUARDED_BY(mu_);
  /// Keyed by a hash of the workload, since there may be many entries after a start. Two workloads
  /// with the same hash wait for each other, which does no harm.
  std::unordered_map<std::size_t, Write> writes_ KX_GUARDED_BY(mu_);
  std::map<WorkloadId, Look> looks_ KX_GUARDED_BY(mu_);
  base::TimePoint next_sweep_ KX_GUARDED_BY(mu_){};
  std::map<std::pair<WorkloadKind, std::string>, base::TimePoint> forbidden_until_
      KX_GUARDED_BY(mu_);
};

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_PLAN_BASELINE_SCHEDULE_H_
