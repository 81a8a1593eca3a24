#include "kubexx/controller/internal/manager_http.h"

namespace kubexx::controller::internal {

ManagerHttp::ManagerHttp(const Options& all, const Options& health_only,
                         const metrics::Registry& registry) {
  if (all) {
    all_.emplace(*all);
    all_->Handle("/metrics", metrics::MetricsHandler(registry));
  }
  if (health_only) {
    health_only_.emplace(*health_only);
  }
  if (auto& server = health_only_ ? health_only_ : all_) {
    server->Handle("/healthz",
                   [this](const metrics::HttpRequest& request) { return health_.Answer(request); });
    server->Handle("/readyz",
                   [this](const metrics::HttpRequest& request) { return ready_.Answer(request); });
  }
}

apimachinery::Result<void> ManagerHttp::Start() {
  if (all_) {
    KX_RETURN_IF_ERROR(all_->Start());
  }
  if (health_only_) {
    KX_RETURN_IF_ERROR(health_only_->Start());
  }
  return {};
}

void ManagerHttp::Stop() {
  for (auto* server : {&all_, &health_only_}) {
    if (*server) {
      (*server)->Stop();
    }
  }
}

}  // namespace kubexx::controller::internal
