/// @file
/// The metrics of one controller.
#ifndef KUBEXX_CONTROLLER_INTERNAL_CONTROLLER_METRICS_H_
#define KUBEXX_CONTROLLER_INTERNAL_CONTROLLER_METRICS_H_

#include <string>

#include "kubexx/metrics/registry.h"

namespace kubexx::controller::internal {

/// Has the names and buckets of controller-runtime's metrics, so that its dashboards work, and one
/// metric of our own. Thread-safe. Without a registry all handles do nothing.
struct ControllerMetrics {
  ControllerMetrics() = default;
  ControllerMetrics(metrics::Registry& registry, const std::string& controller);

  metrics::Counter success{};  ///< to `error`: the results of controller_runtime_reconcile_total
  metrics::Counter requeue{};
  metrics::Counter requeue_after{};
  metrics::Counter error{};
  metrics::Counter errors{};
  metrics::Counter terminal_errors{};
  metrics::Counter panics{};
  metrics::Counter timeouts{};
  metrics::Counter stale_skips{};
  metrics::Histogram time{};
  metrics::Gauge active_workers{};
  metrics::Gauge max_concurrent_reconciles{};
};

/// Counts a worker while it is at work.
class AtWork {
 public:
  explicit AtWork(const metrics::Gauge& workers) : workers_(workers) { workers_.Add(1); }
  ~AtWork() { workers_.Add(-1); }
  AtWork(const AtWork&) = delete;
  AtWork& operator=(const AtWork&) = delete;

 private:
  const metrics::Gauge& workers_;
};

}  // namespace kubexx::controller::internal

#endif  // KUBEXX_CONTROLLER_INTERNAL_CONTROLLER_METRICS_H_
