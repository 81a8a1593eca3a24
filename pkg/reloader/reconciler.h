/// @file
/// Brings one workload up to date with its sources.
#ifndef KUBEXX_RELOADER_RECONCILER_H_
#define KUBEXX_RELOADER_RECONCILER_H_

#include <cstdint>
#include <set>
#include <stop_token>
#include <string>
#include <utility>

#include "kubexx/base/clock.h"
#include "kubexx/base/mutex.h"
#include "kubexx/reloader/caches.h"
#include "kubexx/reloader/decision.h"
#include "kubexx/reloader/notifier.h"
#include "kubexx/reloader/pair_memory.h"
#include "kubexx/reloader/reloader_metrics.h"
#include "kubexx/reloader/rollout_gate.h"
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
  };
  enum class Outcome : std::uint8_t {
    kNothing,  ///< nothing to write
    kWritten,  ///< rolled
    kRetry,    ///< the write failed; try again later
  };

  explicit Reconciler(const Parts& parts) : parts_(parts) {}

  Outcome Reconcile(const WorkloadId& id, const std::stop_token& stop);
  /// Whether the workload is to be rolled for the source and has not been. Changes nothing.
  bool NeedsRollout(const Workload& workload, const SourceId& source) const;

 private:
  Outcome Plan(const WorkloadId& id, base::TimePoint begin, const std::stop_token& stop);
  reloader::Plan PlanFor(const Workload& workload) const;
  Outcome Write(const Workload& workload, const reloader::Plan& plan,
                const AnnotationEdits& annotations, base::TimePoint begin,
                const std::stop_token& stop);
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
