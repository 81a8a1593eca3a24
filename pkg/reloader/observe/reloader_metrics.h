/// @file
/// The operator's metrics.
#ifndef KUBEXX_RELOADER_OBSERVE_RELOADER_METRICS_H_
#define KUBEXX_RELOADER_OBSERVE_RELOADER_METRICS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string_view>
#include <utility>

#include "kubexx/metrics/registry.h"
#include "kubexx/reloader/model/source.h"
#include "kubexx/reloader/model/workload.h"

namespace kubexx::reloader {

enum class EventType : std::uint8_t { kAdd, kUpdate, kDelete };
enum class SkipReason : std::uint8_t { kNoDataChange, kIgnoredOrNotSelected, kStrategyNotUpdated };
enum class ReconcileResult : std::uint8_t { kSuccess, kError, kSkipped };

/// Metrics with stakater/Reloader's names and labels, and this operator's own. All series exist
/// from the start. `registry` must outlive this object; if it is null, nothing is recorded.
/// Thread-safe.
class ReloaderMetrics {
 public:
  explicit ReloaderMetrics(metrics::Registry* registry, bool count_by_namespace = false);

  void EventReceived(EventType event, SourceType source) const;
  /// `dropped`: the event could not be read, or the process ended before it was handled.
  void EventProcessed(EventType event, SourceType source, bool dropped = false) const;
  void Skipped(SkipReason reason, std::size_t times = 1) const;
  /// `depth` keys wait for a worker.
  void Waiting(std::size_t depth) const;
  /// A worker has taken a key that waited for `waited` seconds. `settled`: the key came after its
  /// settle window; false: it is a repeated look.
  void Dequeued(bool settled, double waited) const;
  void Retried() const;
  void WorkloadScanned(WorkloadKind kind) const;
  void Reconciled(ReconcileResult result, double seconds) const;
  /// A write to a workload has ended, `seconds` after its reconcile began.
  void Wrote(const WorkloadId& workload, bool success, double seconds) const;
  /// A write that only records a workload's baseline has ended.
  void Recorded(const WorkloadId& workload, bool success) const;
  /// The number of workloads whose baseline has no room for all their sources.
  void FullBaselines(std::size_t workloads) const;
  /// The time from the last source change that caused a rollout to the answer to its write.
  void Reacted(double seconds) const;
  /// The time from the end of the settle window to the answer to the write.
  void ReactedAfterSettling(double seconds) const;

 private:
  metrics::Registry* by_namespace_;  ///< null when the metrics are not split by namespace
  std::map<std::pair<EventType, SourceType>, metrics::Counter> received_;
  std::map<std::pair<EventType, SourceType>, metrics::Counter> processed_;
  std::map<std::pair<EventType, SourceType>, metrics::Counter> dropped_;
  std::map<SkipReason, metrics::Counter> skipped_;
  metrics::Gauge depth_;
  metrics::Counter adds_;
  metrics::Histogram queue_latency_;
  metrics::Counter retries_;
  metrics::Counter errors_;
  std::map<WorkloadKind, metrics::Counter> scanned_;
  std::map<WorkloadKind, metrics::Counter> matched_;
  std::map<ReconcileResult, metrics::Counter> reconciled_;
  std::map<ReconcileResult, metrics::Histogram> reconcile_duration_;
  std::map<bool, metrics::Counter> executed_;
  std::map<std::pair<WorkloadKind, bool>, metrics::Counter> actions_;
  std::map<WorkloadKind, metrics::Histogram> action_latency_;
  std::map<std::pair<WorkloadKind, bool>, metrics::Counter> recorded_;
  metrics::Gauge full_baselines_;
  metrics::Histogram reaction_;
  metrics::Histogram reaction_after_settling_;
};

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_OBSERVE_RELOADER_METRICS_H_
