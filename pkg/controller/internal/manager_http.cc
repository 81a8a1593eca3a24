#include "kubexx/controller/internal/manager_http.h"

#include <algorithm>
#include <utility>

#include "kubexx/authfilter/auth_filter.h"

namespace kubexx::controller::internal {

ManagerHttp::ManagerHttp(Options options, metrics::Registry& registry) {
  if (options.all) {
    http::Handler page = metrics::MetricsHandler(registry);
    if (options.judge) {
      // The filter waits for the API server, which the network's thread must not.
      options.all->handler_threads = std::max<std::size_t>(options.all->handler_threads, 2);
      const authfilter::AuthFilter filter(options.judge, {.clock = options.clock});
      page = http::Filtered(filter.Filter(), std::move(page));
    }
    all_.emplace(*options.all);
    all_->Handle("/metrics", std::move(page));
  }
  if (options.health_only) {
    health_only_.emplace(*options.health_only);
  }
  if (options.webhooks) {
    if (options.webhooks->registry == nullptr) {
      options.webhooks->registry = &registry;
    }
    webhooks_.emplace(*options.webhooks);
  }
  if (auto& server = health_only_ ? health_only_ : all_) {
    // Whoever waits for /metrics, and for an API server that hangs, does not hold up the kubelet.
    server->HandleAtOnce("/healthz", [this](const metrics::HttpRequest& request) {
      return health_.Answer(request);
    });
    server->HandleAtOnce(
        "/readyz", [this](const metrics::HttpRequest& request) { return ready_.Answer(request); });
  }
}

apimachinery::Result<void> ManagerHttp::Start() {
  if (all_) {
    KX_RETURN_IF_ERROR(all_->Start());
  }
  if (health_only_) {
    KX_RETURN_IF_ERROR(health_only_->Start());
  }
  return webhooks_ ? webhooks_->Start() : apimachinery::Result<void>();
}

void ManagerHttp::Stop() {
  for (auto* server : {&all_, &health_only_}) {
    if (*server) {
      (*server)->Stop();
    }
  }
  if (webhooks_) {
    webhooks_->Stop();
  }
}

}  // namespace kubexx::controller::internal
