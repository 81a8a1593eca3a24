/// @file
/// The metrics of an event recorder.
#ifndef KUBEXX_EVENTS_EVENTS_METRICS_H_
#define KUBEXX_EVENTS_EVENTS_METRICS_H_

#include <string>

#include "kubexx/metrics/registry.h"

namespace kubexx::events {

/// kubexx_events_total{api,result} counts events by their results. Without a registry the handles
/// do nothing.
struct EventsMetrics {
  EventsMetrics() = default;
  /// `api` is "core" or "events.k8s.io".
  EventsMetrics(metrics::Registry& registry, const std::string& api);

  metrics::Counter written{};   ///< requests that created or patched an event
  metrics::Counter counted{};   ///< counted in memory as part of a series
  metrics::Counter filtered{};  ///< held back as spam
  metrics::Counter dropped{};   ///< the queue was full, or the recorder had stopped
  metrics::Counter refused{};   ///< the server refused it
  metrics::Counter failed{};    ///< it could not be sent
};

}  // namespace kubexx::events

#endif  // KUBEXX_EVENTS_EVENTS_METRICS_H_
