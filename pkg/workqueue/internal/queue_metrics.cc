#include "kubexx/workqueue/internal/queue_metrics.h"

#include <utility>
#include <vector>

namespace kubexx::workqueue::internal {
namespace {

/// The buckets go from 10 ns to 10 s in powers of ten.
std::vector<double> DurationBuckets() {
  std::vector<double> buckets;
  for (double bound = 1e-8; buckets.size() < 10; bound *= 10) {
    buckets.push_back(bound);
  }
  return buckets;
}

}  // namespace

QueueMetrics::QueueMetrics(metrics::Registry& registry, const std::string& name)
    : enabled(true),
      adds(registry.Counter("workqueue_adds_total",
                            "Keys added, without those that waited already.", {{"name", name}})),
      retries(registry.Counter("workqueue_retries_total", "Delayed and rate-limited adds.",
                               {{"name", name}})),
      queue_duration(registry.Histogram("workqueue_queue_duration_seconds",
                                        "How long a key waits before it is worked on.",
                                        {{"name", name}}, DurationBuckets())),
      work_duration(registry.Histogram("workqueue_work_duration_seconds",
                                       "How long the work on a key takes.", {{"name", name}},
                                       DurationBuckets())),
      unfinished_work(registry.Gauge("workqueue_unfinished_work_seconds",
                                     "Time spent so far on the keys being worked on, summed. "
                                     "Steady growth means stuck workers.",
                                     {{"name", name}})),
      longest_running(registry.Gauge("workqueue_longest_running_processor_seconds",
                                     "How long the longest-running worker has been on its key.",
                                     {{"name", name}})) {}

DepthMetric::DepthMetric(metrics::Registry& registry, std::string name, bool by_priority)
    : registry_(&registry), name_(std::move(name)), by_priority_(by_priority) {
  if (by_priority_) {
    OfPriority(0);
  } else {
    gauge_ = NewGauge({});
  }
}

metrics::Gauge& DepthMetric::OfPriority(int priority) {
  const auto found = by_priority_gauges_.find(priority);
  if (found != by_priority_gauges_.end()) {
    return found->second;
  }
  if (by_priority_gauges_.size() < kMaxPriorities) {
    return by_priority_gauges_.emplace(priority, NewGauge({{"priority", std::to_string(priority)}}))
        .first->second;
  }
  if (!has_overflow_) {
    gauge_ = NewGauge({{"priority", "exceeded_cardinality_limit"}});
    has_overflow_ = true;
  }
  return gauge_;
}

metrics::Gauge DepthMetric::NewGauge(metrics::Labels labels) const {
  labels["name"] = name_;
  return registry_->Gauge("workqueue_depth", "Keys that wait to be worked on.", labels);
}

}  // namespace kubexx::workqueue::internal
