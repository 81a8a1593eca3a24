/// @file
/// The metrics of a Reflector.
#ifndef KUBEXX_CACHE_INTERNAL_REFLECTOR_REFLECTOR_METRICS_H_
#define KUBEXX_CACHE_INTERNAL_REFLECTOR_REFLECTOR_METRICS_H_

#include <string>
#include <string_view>

#include "kubexx/metrics/registry.h"

namespace kubexx::cache {

/// The reflector_* series with the label `name`. Their names are those that client-go used to have.
/// Without a registry they do nothing.
struct ReflectorMetrics {
  ReflectorMetrics(metrics::Registry* registry, const std::string& name);

  metrics::Counter lists{};           ///< requests for full states, by LIST or WatchList
  metrics::Histogram list_seconds{};  ///< from the first request to the commit
  metrics::Histogram items_per_list{};
  metrics::Counter watches{};        ///< watch requests
  metrics::Counter short_watches{};  ///< ended within a second and without an event
  metrics::Histogram watch_seconds{};
  metrics::Histogram items_per_watch{};
  metrics::Counter relists{};  ///< requests for full states after the first one
  metrics::Counter resyncs{};
  metrics::Counter unreadable{};  ///< items and events that could not be read
  metrics::Counter exceptions{};  ///< see Reflector
  metrics::Gauge last_resource_version{};

  /// Sets last_resource_version to the last 15 digits of `resource_version`, which a double holds
  /// exactly.
  void SetLastResourceVersion(std::string_view resource_version) const;
};

/// The last 15 digits of a resourceVersion; 0 when it is not a number.
double ResourceVersionForGauge(std::string_view resource_version);

}  // namespace kubexx::cache

#endif  // KUBEXX_CACHE_INTERNAL_REFLECTOR_REFLECTOR_METRICS_H_
