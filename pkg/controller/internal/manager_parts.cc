#include "kubexx/controller/internal/manager_parts.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "kubexx/apimachinery/time.h"

namespace kubexx::controller::internal {

using apimachinery::Reason;
using apimachinery::Status;

apimachinery::Result<ManagerClients> NewClients(rest::Config config, base::Clock& clock,
                                                metrics::Registry& registry) {
  if (config.qps == 0 && config.burst == 0) {
    config.qps = -1;
  }
  const rest::RESTClient::Options options{.clock = clock, .registry = &registry};
  ManagerClients clients;
  if (config.qps >= 0) {  // However many Events there are, no other request waits for them.
    KX_ASSIGN_OR_RETURN(clients.events, rest::RESTClient::New(config, options));
  }
  KX_ASSIGN_OR_RETURN(clients.all, rest::RESTClient::New(std::move(config), options));
  return clients;
}

std::shared_ptr<rest::RESTClient> KeepingAlive(std::shared_ptr<metrics::Registry> registry,
                                               std::shared_ptr<rest::RESTClient> client) {
  rest::RESTClient* const raw = client.get();
  using Both = std::pair<std::shared_ptr<metrics::Registry>, std::shared_ptr<rest::RESTClient>>;
  return {std::make_shared<Both>(std::move(registry), std::move(client)), raw};
}

Status FirstListsMissing(const std::vector<std::shared_ptr<Cluster>>& clusters,
                         base::Duration timeout) {
  std::string text;
  for (const auto& cluster : clusters) {
    const std::vector<std::string> unsynced = cluster->caches()->Unsynced();
    if (!unsynced.empty()) {
      text += (text.empty() ? "" : "; ") + Join(unsynced, "; ") +
              "; the caches did not get their first lists from " + cluster->client()->config().host;
    }
  }
  return {Reason::kTimeout, text + " in " + apimachinery::Duration{timeout.count()}.ToString()};
}

Status CachesNotReady(const std::vector<std::shared_ptr<Cluster>>& clusters) {
  std::vector<std::string> waiting;
  for (const auto& cluster : clusters) {
    std::ranges::move(cluster->caches()->Unsynced(), std::back_inserter(waiting));
  }
  return {Reason::kServiceUnavailable,
          waiting.empty() ? "the manager starts" : Join(waiting, "; ")};
}

std::string Join(const std::vector<std::string>& names, const char* between) {
  std::string text;
  for (const std::string& name : names) {
    text += (text.empty() ? "" : between) + name;
  }
  return text;
}

}  // namespace kubexx::controller::internal
