/// @file
/// The metrics of one work queue.
#ifndef KUBEXX_WORKQUEUE_INTERNAL_QUEUE_METRICS_H_
#define KUBEXX_WORKQUEUE_INTERNAL_QUEUE_METRICS_H_

#include <cstddef>
#include <map>
#include <string>

#include "kubexx/metrics/registry.h"

namespace kubexx::workqueue::internal {

/// Has the names, help texts and buckets of client-go's metrics, so that its dashboards work.
/// Thread-safe. Without a registry all handles do nothing.
struct QueueMetrics {
  QueueMetrics() = default;
  QueueMetrics(metrics::Registry& registry, const std::string& name);

  bool enabled = false;  ///< whether to read a clock for the metrics
  metrics::Counter adds{};
  metrics::Counter retries{};
  metrics::Histogram queue_duration{};
  metrics::Histogram work_duration{};
  metrics::Gauge unfinished_work{};
  metrics::Gauge longest_running{};
};

/// workqueue_depth: a single series, or one per priority as in controller-runtime. Users choose the
/// priorities, so there are at most kMaxPriorities series; further priorities share one. Not
/// thread-safe.
class DepthMetric {
 public:
  static constexpr std::size_t kMaxPriorities = 25;

  DepthMetric() = default;
  DepthMetric(metrics::Registry& registry, std::string name, bool by_priority);

  /// Counts that a key of this priority has begun to wait (+1) or was taken (-1).
  void Add(int priority, double by) {
    if (registry_ != nullptr) {
      (by_priority_ ? OfPriority(priority) : gauge_).Add(by);
    }
  }

 private:
  metrics::Gauge& OfPriority(int priority);
  metrics::Gauge NewGauge(metrics::Labels labels) const;

  metrics::Registry* registry_ = nullptr;
  std::string name_{};
  bool by_priority_ = false;
  bool has_overflow_ = false;
  metrics::Gauge gauge_{};  ///< all keys, or those with priorities beyond the limit
  std::map<int, metrics::Gauge> by_priority_gauges_{};
};

}  // namespace kubexx::workqueue::internal

#endif  // KUBEXX_WORKQUEUE_INTERNAL_QUEUE_METRICS_H_
