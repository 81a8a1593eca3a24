#include "kubexx/cache/internal/reflector/reflector_metrics.h"

#include <charconv>
#include <cstdint>
#include <vector>

namespace kubexx::cache {
namespace {

const std::vector<double>& ListSeconds() {
  static const std::vector<double> buckets{0.005, 0.025, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60};
  return buckets;
}
const std::vector<double>& WatchSeconds() {
  static const std::vector<double> buckets{0.1, 1, 5, 15, 60, 120, 300, 450, 600};
  return buckets;
}
const std::vector<double>& Items() {
  static const std::vector<double> buckets{0, 1, 10, 100, 1000, 10000, 100000};
  return buckets;
}

}  // namespace

ReflectorMetrics::ReflectorMetrics(metrics::Registry* registry, const std::string& name) {
  if (registry == nullptr) {
    return;
  }
  const metrics::Labels labels{{"name", name}};
  lists =
      registry->Counter("reflector_lists_total", "Lists, also those that a watch sends", labels);
  list_seconds =
      registry->Histogram("reflector_list_duration_seconds",
                          "Time until the store has all objects of a list", labels, ListSeconds());
  items_per_list =
      registry->Histogram("reflector_items_per_list", "Objects in a list", labels, Items());
  watches = registry->Counter("reflector_watches_total", "Watch requests", labels);
  short_watches = registry->Counter("reflector_short_watches_total",
                                    "Watches that ended within a second without an event", labels);
  watch_seconds = registry->Histogram("reflector_watch_duration_seconds", "Time a watch lasted",
                                      labels, WatchSeconds());
  items_per_watch =
      registry->Histogram("reflector_items_per_watch", "Events of a watch", labels, Items());
  relists =
      registry->Counter("reflector_relists_total", "Lists after the first complete one", labels);
  resyncs = registry->Counter("reflector_resyncs_total", "Resyncs of the store", labels);
  unreadable = registry->Counter(
      "reflector_unreadable_items_total",
      "Items of lists and events of watches that could not be read and were left out", labels);
  exceptions = registry->Counter("reflector_exceptions_total",
                                 "Exceptions of a source, a store or an error handler, and threads "
                                 "that the system did not have",
                                 labels);
  last_resource_version = registry->Gauge("reflector_last_resource_version",
                                          "Last resourceVersion seen, its last 15 digits", labels);
}

void ReflectorMetrics::SetLastResourceVersion(std::string_view resource_version) const {
  last_resource_version.Set(ResourceVersionForGauge(resource_version));
}

double ResourceVersionForGauge(std::string_view resource_version) {
  constexpr std::size_t kDigits = 15;
  if (resource_version.size() > kDigits) {
    resource_version.remove_prefix(resource_version.size() - kDigits);
  }
  std::uint64_t value = 0;
  const char* end = resource_version.data() + resource_version.size();
  const auto [at, error] = std::from_chars(resource_version.data(), end, value);
  return error == std::errc() && at == end ? static_cast<double>(value) : 0.0;
}

}  // namespace kubexx::cache
