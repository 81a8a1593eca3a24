// Reports the errors of a reflector.
#include "kubexx/cache/internal/reflector/reflector_metrics.h"
#include "kubexx/cache/internal/reflector/thrown.h"
#include "kubexx/cache/reflector.h"
#include "kubexx/logging/log.h"

namespace kubexx::cache {

void LogWatchError(std::string_view reflector, const apimachinery::Status& status) {
  if (apimachinery::IsExpired(status)) {  // the reflector lists, and all is well
    logging::Debug("A watch has expired, so the reflector lists again",
                   {{"reflector", reflector}, {"error", status}});
    return;
  }
  logging::Warning("Cannot list and watch", {{"reflector", reflector}, {"error", status}});
}

apimachinery::Status Reflector::Thrown() const {
  metrics_->exceptions.Increment();
  return internal::ThrownError();
}

void Reflector::Report(const apimachinery::Status& failed) const {
  if (!options_.on_error) {
    LogWatchError(name_, failed);
    return;
  }
  try {
    options_.on_error(failed);
  } catch (...) {
    LogWatchError(name_, failed);
    logging::Error("The function on_error threw", {{"reflector", name_}, {"error", Thrown()}});
  }
}

}  // namespace kubexx::cache
