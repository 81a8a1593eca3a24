#include "kubexx/controller/internal/controller_metrics.h"

#include <vector>

namespace kubexx::controller::internal {
namespace {

const std::vector<double>& TimeBuckets() {
  static const std::vector<double> buckets{
      0.005, 0.01, 0.025, 0.05, 0.1,  0.15, 0.2,  0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6,
      0.7,   0.8,  0.9,   1.0,  1.25, 1.5,  1.75, 2.0,  2.5, 3.0,  3.5, 4.0,  4.5, 5,
      6,     7,    8,     9,    10,   15,   20,   25,   30,  40,   50,  60};
  return buckets;
}

}  // namespace

ControllerMetrics::ControllerMetrics(metrics::Registry& registry, const std::string& controller) {
  const metrics::Labels labels{{"controller", controller}};
  const auto total = [&](const char* result) {
    return registry.Counter("controller_runtime_reconcile_total", "Reconciles by result.",
                            {{"controller", controller}, {"result", result}});
  };
  success = total("success");
  requeue = total("requeue");
  requeue_after = total("requeue_after");
  error = total("error");
  errors = registry.Counter("controller_runtime_reconcile_errors_total", "Reconciles that failed.",
                            labels);
  terminal_errors = registry.Counter("controller_runtime_terminal_reconcile_errors_total",
                                     "Reconciles that failed and are not tried again.", labels);
  panics = registry.Counter("controller_runtime_reconcile_panics_total",
                            "Reconciles that threw an exception.", labels);
  timeouts = registry.Counter("controller_runtime_reconcile_timeouts_total",
                              "Reconciles that exceeded their time limit.", labels);
  stale_skips = registry.Counter(
      "kubexx_controller_stale_skips_total",
      "Reconciles postponed until the cache contains the controller's own writes.", labels);
  time = registry.Histogram("controller_runtime_reconcile_time_seconds",
                            "How long a reconcile takes.", labels, TimeBuckets());
  active_workers = registry.Gauge("controller_runtime_active_workers",
                                  "Workers that are reconciling now.", labels);
  max_concurrent_reconciles =
      registry.Gauge("controller_runtime_max_concurrent_reconciles",
                     "How many reconciles may run at the same time.", labels);
}

}  // namespace kubexx::controller::internal
