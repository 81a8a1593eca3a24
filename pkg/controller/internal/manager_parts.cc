#include "kubexx/controller/internal/manager_parts.h"

#include <utility>

#include "kubexx/apimachinery/time.h"

namespace kubexx::controller::internal {

using apimachinery::Reason;
using apimachinery::Status;

informers::FactoryOptions CacheOptions(const ManagerOptions& options, metrics::Registry* registry) {
  return {.namespace_ = options.cache.namespace_,
          .clock = options.clock,
          .registry = registry,
          .resync_period = options.cache.resync_period,
          .list_watch = options.cache.list_watch,
          .tweak = options.cache.tweak,
          .transform = options.cache.transform,
          .namespaces = options.cache.namespaces,
          .index_namespaces = options.cache.index_namespaces,
          .tuning = options.cache.tuning,
          .by_type = options.cache.by_type};
}

std::shared_ptr<rest::RESTClient> KeepingAlive(std::shared_ptr<metrics::Registry> registry,
                                               std::shared_ptr<rest::RESTClient> client) {
  rest::RESTClient* const raw = client.get();
  using Both = std::pair<std::shared_ptr<metrics::Registry>, std::shared_ptr<rest::RESTClient>>;
  return {std::make_shared<Both>(std::move(registry), std::move(client)), raw};
}

Status FirstListsMissing(const informers::SharedInformerFactory& caches, const std::string& host,
                         base::Duration timeout) {
  return {Reason::kTimeout, Join(caches.Unsynced(), "; ") +
                                "; the caches did not get their first lists from " + host + " in " +
                                apimachinery::Duration{timeout.count()}.ToString()};
}

Status CachesNotReady(const informers::SharedInformerFactory& caches) {
  const std::string waiting = Join(caches.Unsynced(), "; ");
  return {Reason::kServiceUnavailable, waiting.empty() ? "the manager starts" : waiting};
}

std::string Join(const std::vector<std::string>& names, const char* between) {
  std::string text;
  for (const std::string& name : names) {
    text += (text.empty() ? "" : between) + name;
  }
  return text;
}

}  // namespace kubexx::controller::internal
