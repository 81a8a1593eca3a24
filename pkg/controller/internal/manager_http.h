/// @file
/// A manager's HTTP servers.
#ifndef KUBEXX_CONTROLLER_INTERNAL_MANAGER_HTTP_H_
#define KUBEXX_CONTROLLER_INTERNAL_MANAGER_HTTP_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "kubexx/apimachinery/status.h"
#include "kubexx/base/clock.h"
#include "kubexx/controller/health.h"
#include "kubexx/metrics/http_server.h"
#include "kubexx/metrics/registry.h"
#include "kubexx/rest/rest_client.h"
#include "kubexx/webhook/server.h"

namespace kubexx::controller::internal {

/// Serves /metrics, /healthz and /readyz on one server, or the last two on a second one, and
/// webhooks on another one. Thread-safe.
class ManagerHttp {
 public:
  /// The parts of ManagerOptions that concern HTTP.
  struct Options {
    std::optional<metrics::HttpServer::Options> all{};
    std::optional<metrics::HttpServer::Options> health_only{};
    std::optional<webhook::Server::Options> webhooks{};
    std::map<std::string, http::Handler> pages{};
    /// A client that asks the API server who may read /metrics. When it is null, everybody may.
    std::shared_ptr<rest::RESTClient> judge{};
    base::Clock& clock = base::Clock::Real();
  };

  ManagerHttp(Options options, metrics::Registry& registry);

  apimachinery::Result<void> Start();
  /// Stops the servers. First the webhooks answer the requests that they have already got, for at
  /// most `left`, because an API server does not repeat its call and rejects its client's request
  /// instead.
  void Stop(base::Duration left);

  HealthChecks& health() { return health_; }
  HealthChecks& ready() { return ready_; }
  webhook::Server* webhooks() { return webhooks_ ? &*webhooks_ : nullptr; }
  std::uint16_t port() const { return all_ ? all_->port() : std::uint16_t{0}; }
  std::uint16_t health_port() const { return health_only_ ? health_only_->port() : port(); }

 private:
  std::string lost_setting_;  ///< one that is set for a server that there is not
  HealthChecks health_;
  HealthChecks ready_;
  std::optional<metrics::HttpServer> all_;  // the two are destroyed before the checks that they run
  std::optional<metrics::HttpServer> health_only_;
  std::optional<webhook::Server> webhooks_;
};

}  // namespace kubexx::controller::internal

#endif  // KUBEXX_CONTROLLER_INTERNAL_MANAGER_HTTP_H_
