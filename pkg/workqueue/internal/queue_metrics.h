/// @file
/// The metrics of one work queue.
#ifndef KUBEXX_WORKQUEUE_INTERNAL_QUEUE_METRICS_H_
#define KUBEXX_WORKQUEUE_INTERNAL_QUEUE_METRICS_H_

#include <string>

#include "kubexx/metrics/registry.h"

namespace kubexx::workqueue::internal {

/// Names, help and buckets as client-go registers them, so that its dashboards work. Thread-safe.
/// Without a registry all handles do nothing.
struct QueueMetrics {
  QueueMetrics() = default;
  QueueMetrics(metrics::Registry& registry, const std::string& name);

  bool enabled = false;  ///< whether it is worth reading a clock for them
  metrics::Gauge depth{};
  metrics::Counter adds{};
  metrics::Counter retries{};
  metrics::Histogram queue_duration{};
  metrics::Histogram work_duration{};
  metrics::Gauge unfinished_work{};
  metrics::Gauge longest_running{};
};

}  // namespace kubexx::workqueue::internal

#endif  // KUBEXX_WORKQUEUE_INTERNAL_QUEUE_METRICS_H_
