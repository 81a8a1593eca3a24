#include "kubexx/controller/internal/manager_parts.h"

#include <utility>

namespace kubexx::controller::internal {

apimachinery::Result<ManagerClients> NewClients(rest::Config config, base::Clock& clock,
                                                metrics::Registry& registry,
                                                std::shared_ptr<tracing::Tracer> tracer) {
  if (config.qps == 0 && config.burst == 0) {
    config.qps = -1;
  }
  const rest::RESTClient::Options options{
      .clock = clock, .registry = &registry, .tracer = std::move(tracer)};
  ManagerClients clients;
  if (config.qps >= 0) {  // no other request waits for Events, however many there are
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

}  // namespace kubexx::controller::internal
