/// @file
/// AutoClock: a Clock for tests that never sleeps. A wait until some time sets the clock to that
/// time.
#ifndef KUBEXX_CACHE_TESTING_AUTO_CLOCK_H_
#define KUBEXX_CACHE_TESTING_AUTO_CLOCK_H_

#include <algorithm>
#include <chrono>

#include "kubexx/base/clock.h"

namespace kubexx::cache::testing {

/// Every wait with a deadline ends at once and moves the time to the deadline; a wait without a
/// deadline really waits. For tests in which one thread sleeps (backoff), so that they run as fast
/// as possible. Thread-safe.
class AutoClock final : public base::Clock {
 public:
  base::TimePoint Now() const override {
    base::MutexLock lock(mu_);
    return now_;
  }
  base::WallTime Wall() const override {
    return base::WallTime(
        std::chrono::duration_cast<base::WallTime::duration>(Now().time_since_epoch()));
  }
  base::Wake WaitUntil(base::Mutex& mu, base::CondVar& cv, const std::stop_token& stop,
                       base::TimePoint deadline) override KX_REQUIRES(mu) {
    if (deadline == base::TimePoint::max()) {
      return base::Clock::Real().WaitUntil(mu, cv, stop, deadline);
    }
    base::MutexLock lock(mu_);
    slept_ += std::max(deadline, now_) - now_;
    now_ = std::max(deadline, now_);
    return stop.stop_requested() ? base::Wake::kStopped : base::Wake::kTimeout;
  }
  void Advance(base::Duration d) {
    base::MutexLock lock(mu_);
    now_ += d;
  }
  /// The sum of all waits so far.
  base::Duration slept() const {
    base::MutexLock lock(mu_);
    return slept_;
  }

 private:
  mutable base::Mutex mu_;
  base::TimePoint now_ KX_GUARDED_BY(mu_) = base::TimePoint() + std::chrono::hours(1000);
  base::Duration slept_ KX_GUARDED_BY(mu_){0};
};

}  // namespace kubexx::cache::testing

#endif  // KUBEXX_CACHE_TESTING_AUTO_CLOCK_H_
