/// @file
/// The operator's metrics.
#ifndef KUBEXX_RELOADER_OBSERVE_RELOADER_METRICS_H_
#define KUBEXX_RELOADER_OBSERVE_RELOADER_METRICS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string_view>
#include <utility>

#include "kubexx/base/subscription.h"
#include "kubexx/metrics/registry.h"
#include "kubexx/reloader/model/source.h"
#include "kubexx/reloader/model/workload.h"

namespace kubexx::reloader {

enum class EventType : std::uint8_t { kAdd, kUpdate, kDelete };
enum class SkipReason : std::uint8_t { kNoDataChange, kIgnoredOrNotSelected, kStrategyNotUpdated };
enum class ReconcileResult : std::uint8_t { kSuccess, kError, kSkipped };

/// Series with stakater/Reloader's names and labels, and our own beside them. All of them exist
/// from the start. Handles of a registry that must outlive this; without one nothing is recorded.
/// Thread-safe.
class ReloaderMetrics {
 public:
  explicit ReloaderMetrics(metrics::Registry* registry, bool count_by_namespace = false);

  void EventReceived(EventType event, SourceType source) const;
  /// `dropped`: it could not be read, or the process ended before it was its turn.
  void EventProcessed(EventType event, SourceType source, bool dropped = false) const;
  void Skipped(SkipReason reason, std::size_t times = 1) const;
  /// `depth` is asked how many keys wait whenever somebody looks, until the subscription ends.
  base::Subscription ShowDepth(std::function<std::size_t()> depth) const;
  void Queued() const;
  /// A worker has taken a key that waited for `waited` seconds.
  void Dequeued(double waited) const;
  void Retried() const;
  void WorkloadScanned(WorkloadKind kind) const;
  void Reconciled(ReconcileResult result, double seconds) const;
  /// One write of a workload, `seconds` after its reconcile began.
  void Wrote(const WorkloadId& workload, bool success, double seconds) const;
  /// One write that records a workload's baseline and nothing else.
  void Recorded(const WorkloadId& workload, bool success) const;
  /// How many workloads have a baseline without room for all their sources.
  void FullBaselines(std::size_t workloads) const;
  /// From the last change of a source that a rollout answers to the answer to its write.
  void Reacted(double seconds) const;
  /// The same from the end of the settle window.
  void ReactedAfterSettling(double seconds) const;

 private:
  metrics::Registry* registry_;
  metrics::Registry* by_namespace_;  ///< null when namespaces are not counted apart
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
