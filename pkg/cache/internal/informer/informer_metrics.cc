#include "kubexx/cache/internal/informer/informer_metrics.h"

#include <vector>

namespace kubexx::cache {
namespace {

const std::vector<double>& LatencySeconds() {
  static const std::vector<double> buckets{1e-5, 1e-4, 1e-3, 0.01, 0.1, 0.5, 1, 5, 10, 60};
  return buckets;
}

}  // namespace

InformerMetrics::InformerMetrics(const InformerOptions& options) {
  metrics::Registry* const registry = options.registry;
  if (registry == nullptr) {
    return;
  }
  const metrics::Labels labels{{"name", options.name},
                               {"group", options.group},
                               {"version", options.version},
                               {"resource", options.resource}};
  queued = registry->Gauge("informer_queued_items", "Changes that wait until the store takes them",
                           labels);
  latency_seconds = registry->Histogram(
      "informer_processing_latency_seconds",
      "Time from a change's arrival until it is in the store and handlers are being told", labels,
      LatencySeconds());
  resource_version = registry->Gauge("informer_store_resource_version",
                                     "The store's resourceVersion, its last 15 digits", labels);
  objects = registry->Gauge("informer_store_objects", "Objects in the store", labels);
  bytes = registry->Gauge("informer_store_bytes", "Bytes that packed objects take", labels);
  dropped = registry->Counter("informer_transform_errors_total",
                              "Objects dropped because the transform refused them", labels);
  undecodable = registry->Counter(
      "informer_undecodable_objects_total",
      "Times that an object of the store, when asked for, did not decode as its type", labels);
}

}  // namespace kubexx::cache
