#include "kubexx/reloader/watch/watch_errors.h"

#include <chrono>

#include "kubexx/cache/reflector.h"
#include "kubexx/logging/log.h"

namespace kubexx::reloader {

bool WatchErrors::IsFirstOfMinute() {
  const base::TimePoint now = clock_.Now();
  const base::MutexLock lock(mu_);
  if (now < quiet_until_) {
    return false;
  }
  quiet_until_ = now + std::chrono::minutes(1);
  return true;
}

void WatchErrors::Log(const apimachinery::Status& status) {
  cache::LogWatchError(resource_, status);
  if (apimachinery::IsExpired(status) && IsFirstOfMinute()) {
    logging::Info(
        "The API server no longer has the versions from which watches would go on, so the operator "
        "lists anew",
        {{"resource", resource_}, {"error", status}});
  }
}

}  // namespace kubexx::reloader
