/// @file
/// Logs the errors of an informer's lists and watches.
#ifndef KUBEXX_RELOADER_WATCH_WATCH_ERRORS_H_
#define KUBEXX_RELOADER_WATCH_WATCH_ERRORS_H_

#include <string>
#include <utility>

#include "kubexx/apimachinery/status.h"
#include "kubexx/base/clock.h"
#include "kubexx/base/mutex.h"

namespace kubexx::reloader {

/// Logs as cache::LogWatchError does, and one more line for all watches of an informer that expire
/// within a minute: an API server that was started again no longer has the versions from before,
/// and says so to the watch of each namespace. Thread-safe.
class WatchErrors {
 public:
  /// `resource`: what the informer watches. `clock` must outlive this object.
  explicit WatchErrors(std::string resource, base::Clock& clock = base::Clock::Real())
      : resource_(std::move(resource)), clock_(clock) {}

  void Log(const apimachinery::Status& status);

 private:
  bool IsFirstOfMinute();

  const std::string resource_;
  base::Clock& clock_;
  base::Mutex mu_;
  base::TimePoint quiet_until_ KX_GUARDED_BY(mu_) = base::TimePoint::min();
};

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_WATCH_WATCH_ERRORS_H_
