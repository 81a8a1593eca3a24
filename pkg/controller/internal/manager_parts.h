/// @file
/// Helper functions with which a manager makes its clients and caches.
#ifndef KUBEXX_CONTROLLER_INTERNAL_MANAGER_PARTS_H_
#define KUBEXX_CONTROLLER_INTERNAL_MANAGER_PARTS_H_

#include <memory>
#include <string>
#include <vector>

#include "kubexx/apimachinery/status.h"
#include "kubexx/base/clock.h"
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

/// The error of a manager whose caches get no first lists within `timeout`: first which of them,
/// and why as far as that is known, and then from which server.
apimachinery::Status FirstListsMissing(const informers::SharedInformerFactory& caches,
                                       const std::string& host, base::Duration timeout);

/// Why the caches are not ready, for /readyz.
apimachinery::Status CachesNotReady(const informers::SharedInformerFactory& caches);

/// Joins the names, with `between` between them.
std::string Join(const std::vector<std::string>& names, const char* between);

}  // namespace kubexx::controller::internal

#endif  // KUBEXX_CONTROLLER_INTERNAL_MANAGER_PARTS_H_
