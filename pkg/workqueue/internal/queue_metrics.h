/// @file
/// The metrics of one work queue.
#ifndef KUBEXX_WORKQUEUE_INTERNAL_QUEUE_METRICS_H_
#define KUBEXX_WORKQUEUE_INTERNAL_QUEUE_METRICS_H_

#include <cstddef>
#include <map>
#include <string>

#include "kubexx/metrics/registry.h"

namespace kubexx::workqueue::internal {

/// Names, help and buckets as client-go registers them, so that its dashboards work. Thread-safe.
/// Without a registry all handles do nothing.
struct QueueMetrics {
  QueueMetrics() = default;
  QueueMetrics(metrics::Registry& registry, const std::string& name);

  bool enabled = false;  ///< whether it is worth reading a clock for them
  metrics::Counter adds{};
  metrics::Counter retries{};
  metrics::Histogram queue_duration{};
  metrics::Histogram work_duration{};
  metrics::Gauge unfinished_work{};
  metrics::Gauge longest_running{};
};

/// workqueue_depth: one series, or one a priority as controller-runtime has it. As priorities are
/// the user's, there are at most kMaxPriorities of them; further ones share a series. Not
/// thread-safe.
class DepthMetric {
 public:
  static constexpr std::size_t kMaxPriorities = 25;

  DepthMetric() = default;
  DepthMetric(metrics::Registry& registry, std::string name, bool by_priority);

  /// A key of this priority waits (+1) or has been taken (-1).
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
  metrics::Gauge gauge_{};  ///< of all, or of the priorities beyond the limit
  std::map<int, metrics::Gauge> by_priority_gauges_{};
};

}  // namespace kubexx::workqueue::internal

#endif  // KUBEXX_WORKQUEUE_INTERNAL_QUEUE_METRICS_H_
