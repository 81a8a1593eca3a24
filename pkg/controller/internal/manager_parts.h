/// @file
/// Helper functions with which a manager makes its clients.
#ifndef KUBEXX_CONTROLLER_INTERNAL_MANAGER_PARTS_H_
#define KUBEXX_CONTROLLER_INTERNAL_MANAGER_PARTS_H_

#include <memory>
#include <string>
#include <vector>

#include "kubexx/apimachinery/status.h"
#include "kubexx/base/clock.h"
#include "kubexx/metrics/registry.h"
#include "kubexx/rest/config.h"
#include "kubexx/rest/rest_client.h"
#include "kubexx/tracing/tracer.h"

namespace kubexx::controller::internal {

/// The clients of one cluster.
struct ManagerClients {
  std::shared_ptr<rest::RESTClient> all{};
  /// The client that writes Events, so that no other request waits for them. It is null when `all`
  /// has no limit.
  std::shared_ptr<rest::RESTClient> events{};
};

/// Makes the clients as Manager::New documents. `registry` gets their metrics and must outlive
/// them; `tracer`, which may be null, their spans.
apimachinery::Result<ManagerClients> NewClients(rest::Config config, base::Clock& clock,
                                                metrics::Registry& registry,
                                                std::shared_ptr<tracing::Tracer> tracer);

/// Returns a pointer to `client` that also keeps `registry` alive, because clients and caches may
/// outlive the manager that made the registry of their metrics.
std::shared_ptr<rest::RESTClient> KeepingAlive(std::shared_ptr<metrics::Registry> registry,
                                               std::shared_ptr<rest::RESTClient> client);

}  // namespace kubexx::controller::internal

#endif  // KUBEXX_CONTROLLER_INTERNAL_MANAGER_PARTS_H_
