/// @file
/// Helper functions with which a manager makes its clients and caches.
#ifndef KUBEXX_CONTROLLER_INTERNAL_MANAGER_PARTS_H_
#define KUBEXX_CONTROLLER_INTERNAL_MANAGER_PARTS_H_

#include <memory>
#include <string>
#include <vector>

#include "kubexx/controller/manager.h"
#include "kubexx/informers/shared_informer_factory.h"
#include "kubexx/metrics/registry.h"
#include "kubexx/rest/rest_client.h"

namespace kubexx::controller::internal {

/// Returns ManagerOptions::cache with the manager's clock and `registry`.
informers::FactoryOptions CacheOptions(const ManagerOptions& options, metrics::Registry* registry);

/// Returns a pointer to `client` that also keeps `registry` alive, because clients and caches may
/// outlive the manager that made the registry of their metrics.
std::shared_ptr<rest::RESTClient> KeepingAlive(std::shared_ptr<metrics::Registry> registry,
                                               std::shared_ptr<rest::RESTClient> client);

/// Joins the names, with `between` between them.
std::string Join(const std::vector<std::string>& names, const char* between);

}  // namespace kubexx::controller::internal

#endif  // KUBEXX_CONTROLLER_INTERNAL_MANAGER_PARTS_H_
