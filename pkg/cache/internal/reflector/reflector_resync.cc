// Runs the resyncs of a reflector.
#include "kubexx/cache/internal/reflector/reflector_metrics.h"
#include "kubexx/cache/reflector.h"
#include "kubexx/logging/log.h"

namespace kubexx::cache {

void Reflector::ResyncLoop(const std::stop_token& stop) {
  while (options_.clock.SleepFor(options_.resync_period, stop)) {
    ResyncOnce(stop);
  }
}

void Reflector::ResyncOnce(const std::stop_token& stop) {
  const apimachinery::Result<void> result = Guard([this]() -> apimachinery::Result<void> {
    if (options_.should_resync && !options_.should_resync()) {
      return {};
    }
    metrics_->resyncs.Increment();
    const base::MutexLock lock(store_mu_);
    return store_.Resync();
  });
  if (!result && !stop.stop_requested()) {
    logging::Warning("A resync failed", {{"reflector", name_}, {"error", result.error()}});
  }
}

}  // namespace kubexx::cache
