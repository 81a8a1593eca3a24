/// @file
/// How loudly to say that a request waits for the client-side rate limit.
#ifndef KUBEXX_REST_INTERNAL_REPORT_THROTTLE_LOG_H_
#define KUBEXX_REST_INTERNAL_REPORT_THROTTLE_LOG_H_

#include <chrono>
#include <optional>

#include "kubexx/base/clock.h"
#include "kubexx/base/mutex.h"
#include "kubexx/logging/log.h"

namespace kubexx::rest::internal {

/// A wait that a user notices is explained, but a client that is always throttled does not fill the
/// log. Semantics: client-go rest tryThrottle. Thread-safe.
class ThrottleLog {
 public:
  /// Nothing up to 50 ms; above that kTrace; above 1 s kInfo once in 10 s, else kDebug once in 1 s,
  /// else kTrace.
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
