/// @file
/// Logs the errors of an informer's lists and watches.
#ifndef KUBEXX_RELOADER_WATCH_WATCH_ERRORS_H_
#define KUBEXX_RELOADER_WATCH_WATCH_ERRORS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "kubexx/apimachinery/status.h"
#include "kubexx/base/clock.h"
#include "kubexx/base/mutex.h"

namespace kubexx::reloader {

/// Logs as cache::LogWatchError does, and one more line for all watches of an informer that expire
/// within a minute: an API server that was started again no longer has the versions from before,
/// and says so to the watch of each namespace.
///
/// While an API server cannot be reached, each watch tries again and again. The same error of an
/// informer's watches is then logged at once, after a minute, and at intervals that double up to
/// half an hour, with the number of errors that were left out; another error is logged at once. An
/// error that has not come for three minutes is a new one. Thread-safe.
class WatchErrors {
 public:
  /// How many different errors are remembered; beyond that, some are logged again.
  static constexpr std::size_t kMaxKept = 32;

  /// `resource`: what the informer watches. `clock` must outlive this object.
  explicit WatchErrors(std::string resource, base::Clock& clock = base::Clock::Real())
      : resource_(std::move(resource)), clock_(clock) {}

  void Log(const apimachinery::Status& status);

 private:
  /// An error that comes again and again.
  struct Repeated {
    base::TimePoint last{};
    base::TimePoint next_line{};
    base::Duration interval{};
    std::int64_t left_out = 0;
  };

  bool IsFirstOfMinute();
  void LogUnreachable(const apimachinery::Status& status);

  const std::string resource_;
  base::Clock& clock_;
  base::Mutex mu_;
  std::map<std::string, Repeated> repeated_ KX_GUARDED_BY(mu_);  ///< by the error, at most kMaxKept
  base::TimePoint quiet_until_ KX_GUARDED_BY(mu_) = base::TimePoint::min();
};

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_WATCH_WATCH_ERRORS_H_
