/// @file
/// Brings one workload up to date with its sources.
#ifndef KUBEXX_RELOADER_RECONCILER_H_
#define KUBEXX_RELOADER_RECONCILER_H_

#include <cstdint>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <utility>

#include "kubexx/base/clock.h"
#include "kubexx/base/mutex.h"
#include "kubexx/reloader/baseline_schedule.h"
#include "kubexx/reloader/caches.h"
#include "kubexx/reloader/decision.h"
#include "kubexx/reloader/fresh_reads.h"
#include "kubexx/reloader/notifier.h"
#include "kubexx/reloader/pair_memory.h"
#include "kubexx/reloader/pause.h"
#include "kubexx/reloader/reloader_metrics.h"
#include "kubexx/reloader/rollout_gate.h"
#include "kubexx/reloader/source_keys.h"
#include "kubexx/reloader/strategy.h"
#include "kubexx/reloader/writer.h"

namespace kubexx::reloader {

/// Plans and writes. Level-triggered: what it does depends on the caches and the memory alone, not
/// on the event that called for it. Thread-safe as long as no two threads reconcile the same
/// workload. Refers to everything it is given.
class Reconciler {
 public:
  struct Parts {
    const Caches& caches;
    PairMemory& memory;
    PatternCache& patterns;
    const DecisionRules& rules;
    const ReloaderMetrics& metrics;
    WorkloadWriter& writer;
    ReloadStrategy strategy;
    base::Clock& clock;
    const WriteObservers& observers;
    /// Null: every rollout goes at once.
    RolloutGate* gate = nullptr;
    /// When to record baselines; null: never, except together with a rollout.
    BaselineSchedule* recording = nullptr;
    /// Null: nothing is paused.
    Pauses* pauses = nullptr;
    /// Null: what caches say of workloads is believed.
    FreshReads* fresh_reads = nullptr;
    /// Null: no list of keys counts.
    ValueDigestReader* value_digests = nullptr;
  };
  enum class Outcome : std::uint8_t {
    kNothing,  ///< nothing to write
    kWritten,  ///< rolled
    kRetry,    ///< the write failed; try again later
  };
  struct Answer {
    Outcome outcome = Outcome::kNothing;
    /// With kNothing: look again after this time, unless zero.
    base::Duration again{0};
  };

  explicit Reconciler(const Parts& parts) : parts_(parts) {}

  /// `tenure`: see FreshReads.
  Answer Reconcile(const WorkloadId& id, const std::stop_token& stop, std::uint64_t tenure = 0);
  /// Whether the workload is to be rolled for the source and has not been. Changes nothing.
  bool NeedsRollout(const Workload& workload, const SourceId& source) const;

 private:
  Answer Plan(const WorkloadId& id, base::TimePoint begin, const std::stop_token& stop,
              std::uint64_t tenure);
  /// Plans for the workload as the caches have it and, if that is to be written and has to be known
  /// for certain, as it is; without workload when that is gone.
  apimachinery::Result<reloader::Plan> PlanForCertain(std::optional<Workload>& workload,
                                                      const std::stop_token& stop,
                                                      std::uint64_t tenure) const;
  /// Fails when something had to be read and could not be.
  apimachinery::Result<reloader::Plan> PlanFor(const Workload& workload,
                                               const std::stop_token& stop) const;
  Answer Finish(const WorkloadId& id, const std::stop_token& stop);
  Answer Recover(const WorkloadId& keeper, const std::stop_token& stop);
  Answer Write(const Workload& workload, const reloader::Plan& plan,
               const AnnotationEdits& annotations, base::TimePoint begin,
               const std::stop_token& stop);
  apimachinery::Result<WriteOutcome> Send(const Workload& workload, const reloader::Plan& plan,
                                          const AnnotationEdits& annotations,
                                          const std::stop_token& stop);
  Answer Record(const Workload& workload, const reloader::Plan& plan, const std::stop_token& stop);
  Answer CannotRecord(const WorkloadId& id, const apimachinery::Status& status);
  void Forget(const WorkloadId& id);
  void ReportFailure(const WorkloadId& id, const reloader::Plan& plan,
                     const apimachinery::Status& status) const;
  void Notify(const Workload& workload, const reloader::Plan& plan,
              const apimachinery::Result<void>& outcome) const;
  void ReportBadItems(const WorkloadId& id, const reloader::Plan& plan);
  double SecondsSince(base::TimePoint begin) const;

  const Parts parts_;
  base::Mutex mu_;
  /// Bad items that were logged, so that each is logged once.
  std::set<std::pair<WorkloadId, std::string>> reported_ KX_GUARDED_BY(mu_);
};

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_RECONCILER_H_
