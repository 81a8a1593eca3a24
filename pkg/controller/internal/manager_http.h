/// @file
/// A manager's HTTP servers.
#ifndef KUBEXX_CONTROLLER_INTERNAL_MANAGER_HTTP_H_
#define KUBEXX_CONTROLLER_INTERNAL_MANAGER_HTTP_H_

#include <cstdint>
#include <optional>

#include "kubexx/apimachinery/status.h"
#include "kubexx/controller/health.h"
#include "kubexx/metrics/http_server.h"
#include "kubexx/metrics/registry.h"

namespace kubexx::controller::internal {

/// /metrics, /healthz and /readyz on one server, or health on a second one. Thread-safe.
class ManagerHttp {
 public:
  using Options = std::optional<metrics::HttpServer::Options>;

  ManagerHttp(const Options& all, const Options& health_only, const metrics::Registry& registry);

  apimachinery::Result<void> Start();
  void Stop();

  HealthChecks& health() { return health_; }
  HealthChecks& ready() { return ready_; }
  std::uint16_t port() const { return all_ ? all_->port() : std::uint16_t{0}; }
  std::uint16_t health_port() const { return health_only_ ? health_only_->port() : port(); }

 private:
  HealthChecks health_;
  HealthChecks ready_;
  std::optional<metrics::HttpServer> all_;  // These two end before the checks that they run.
  std::optional<metrics::HttpServer> health_only_;
};

}  // namespace kubexx::controller::internal

#endif  // KUBEXX_CONTROLLER_INTERNAL_MANAGER_HTTP_H_
