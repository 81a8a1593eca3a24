#include "kubexx/controller/internal/manager_http.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "kubexx/authfilter/auth_filter.h"

namespace kubexx::controller::internal {
namespace {

// No API server waits longer for a webhook, unless its configuration says so.
constexpr base::Duration kMaxDrain = std::chrono::seconds(10);
// This much of the remaining time is left for the steps that follow.
constexpr base::Duration kRest = std::chrono::seconds(1);

}  // namespace

ManagerHttp::ManagerHttp(Options options, metrics::Registry& registry)
    : lost_setting_(!options.pages.empty() ? "pages"
                    : options.judge        ? "protect_metrics"
                                           : "") {
  if (options.all) {
    http::Handler page = metrics::MetricsHandler(registry);
    if (options.judge) {
      // The filter waits for the API server, so it must not run on the network's thread.
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
    // A request for /metrics that waits for an API server that hangs must not hold up the kubelet's
    // probes.
    server->HandleAtOnce("/healthz", [this](const metrics::HttpRequest& request) {
      return health_.Answer(request);
    });
    server->HandleAtOnce(
        "/readyz", [this](const metrics::HttpRequest& request) { return ready_.Answer(request); });
  }
  for (auto& [path, page] : options.pages) {
    if (!all_) {
      continue;
    }
    if (path == "/healthz" || path == "/readyz") {
      all_->HandleAtOnce(path, std::move(page));  // replaces the handler above, for the same reason
    } else {
      all_->Handle(path, std::move(page));
    }
  }
}

apimachinery::Result<void> ManagerHttp::Start() {
  if (!all_ && !lost_setting_.empty()) {
    return apimachinery::Fail(
        apimachinery::Reason::kInvalidConfig,
        "ManagerOptions::" + lost_setting_ + " is set, but not `http`, the server that it is for");
  }
  if (all_) {
    KX_RETURN_IF_ERROR(all_->Start());
  }
  if (health_only_) {
    KX_RETURN_IF_ERROR(health_only_->Start());
  }
  return webhooks_ ? webhooks_->Start() : apimachinery::Result<void>();
}

void ManagerHttp::Stop(base::Duration left) {
  if (webhooks_) {
    webhooks_->Drain(
        std::chrono::duration_cast<std::chrono::milliseconds>(std::min(left - kRest, kMaxDrain)));
    webhooks_->Stop();
  }
  for (auto* server : {&all_, &health_only_}) {
    if (*server) {
      (*server)->Stop();
    }
  }
}

}  // namespace kubexx::controller::internal
