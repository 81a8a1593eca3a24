#include "kubexx/controller/internal/manager_parts.h"

#include <utility>

namespace kubexx::controller::internal {

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
          .tuning = options.cache.tuning};
}

std::shared_ptr<rest::RESTClient> KeepingAlive(std::shared_ptr<metrics::Registry> registry,
                                               std::shared_ptr<rest::RESTClient> client) {
  rest::RESTClient* const raw = client.get();
  using Both = std::pair<std::shared_ptr<metrics::Registry>, std::shared_ptr<rest::RESTClient>>;
  return {std::make_shared<Both>(std::move(registry), std::move(client)), raw};
}

std::string Join(const std::vector<std::string>& names, const char* between) {
  std::string text;
  for (const std::string& name : names) {
    text += (text.empty() ? "" : between) + name;
  }
  return text;
}

}  // namespace kubexx::controller::internal
