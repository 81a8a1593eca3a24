/// @file
/// The metrics of an informer.
#ifndef KUBEXX_CACHE_INTERNAL_INFORMER_INFORMER_METRICS_H_
#define KUBEXX_CACHE_INTERNAL_INFORMER_INFORMER_METRICS_H_

#include "kubexx/cache/informer_options.h"
#include "kubexx/metrics/registry.h"

namespace kubexx::cache {

/// The informer_* series with the labels name, group, version and resource. The first three have
/// client-go's names. Without a registry they do nothing.
struct InformerMetrics {
  explicit InformerMetrics(const InformerOptions& options);

  metrics::Gauge queued{};  ///< changes between the reflector and the store
  /// The time from a change's arrival in the queue until it is in the store and in the handlers'
  /// queues. For a batch of changes, the time of the first one.
  metrics::Histogram latency_seconds{};
  metrics::Gauge resource_version{};  ///< last 15 digits
  metrics::Gauge objects{};
  metrics::Gauge bytes{};
  metrics::Counter dropped{};
  metrics::Counter undecodable{};
};

}  // namespace kubexx::cache

#endif  // KUBEXX_CACHE_INTERNAL_INFORMER_INFORMER_METRICS_H_
