#include "kubexx/events/events_metrics.h"

namespace kubexx::events {

EventsMetrics::EventsMetrics(metrics::Registry& registry, const std::string& api) {
  const auto counter = [&registry, &api](const char* result) {
    return registry.Counter("kubexx_events_total",
                            "Events by the API they are written to and what became of them.",
                            {{"api", api}, {"result", result}});
  };
  written = counter("written");
  counted = counter("counted");
  filtered = counter("filtered");
  dropped = counter("dropped");
  refused = counter("refused");
  failed = counter("failed");
}

}  // namespace kubexx::events
