/// @file
/// ThrottleLog: chooses the log level for requests that wait for the client-side rate limit.
#ifndef KUBEXX_REST_INTERNAL_REPORT_THROTTLE_LOG_H_
#define KUBEXX_REST_INTERNAL_REPORT_THROTTLE_LOG_H_

#include <chrono>
#include <optional>

#include "kubexx/base/clock.h"
#include "kubexx/base/mutex.h"
#include "kubexx/logging/log.h"

namespace kubexx::rest::internal {

/// Lets waits that a user notices appear in the log, but does not let a client that is always
/// throttled fill it. Semantics: client-go rest tryThrottle. Thread-safe.
class ThrottleLog {
 public:
  /// Returns the level for a wait: std::nullopt up to 50 ms, and kTrace up to 1 s. For a longer
  /// wait it returns kInfo at most once in 10 s, otherwise kDebug at most once in 1 s, and
  /// otherwise kTrace.
  std::optional<logging::Level> LevelOf(base::Duration wait, base::TimePoint now) {
    if (wait <= std::chrono::milliseconds(50)) {
      return std::nullopt;
    }
    if (wait <= std::chrono::seconds(1)) {
      return logging::Level::kTrace;
    }
    base::MutexLock lock(mu_);
    if (!info_.has_value() || now - *info_ >= std::chrono::seconds(10)) {
      info_ = now;
      debug_ = now;
      return logging::Level::kInfo;
    }
    if (now - *debug_ >= std::chrono::seconds(1)) {
      debug_ = now;
      return logging::Level::kDebug;
    }
    return logging::Level::kTrace;
  }

 private:
  base::Mutex mu_;
  std::optional<base::TimePoint> info_ KX_GUARDED_BY(mu_);
  std::optional<base::TimePoint> debug_ KX_GUARDED_BY(mu_);
};

}  // namespace kubexx::rest::internal

#endif  // KUBEXX_REST_INTERNAL_REPORT_THROTTLE_LOG_H_
