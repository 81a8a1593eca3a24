/// @file
/// Time as an injected dependency: everything that waits, times out or backs off takes a Clock, so
/// that tests run without sleeping. Real time is Clock::Real(); tests use base::testing::FakeClock.
#ifndef KUBEXX_BASE_CLOCK_H_
#define KUBEXX_BASE_CLOCK_H_

#include <chrono>
#include <stop_token>

#include "kubexx/base/mutex.h"

namespace kubexx::base {

/// A span of time; the clocks count nanoseconds.
using Duration = std::chrono::nanoseconds;
/// Monotonic time.
using TimePoint = std::chrono::steady_clock::time_point;
/// The time of day, which may jump.
using WallTime = std::chrono::system_clock::time_point;

/// Why a wait ended. Wakes may be spurious: test the condition again after each.
enum class Wake { kNotified, kTimeout, kStopped };

/// Source of monotonic and wall time and of timed waits. Thread-safe.
class Clock {
 public:
  virtual ~Clock() = default;

  /// Monotonic time: for intervals, deadlines and backoff.
  virtual TimePoint Now() const = 0;

  /// Wall time: for what is shown or written to the API.
  virtual WallTime Wall() const = 0;

  /// Waits on `cv` with `mu` held until notified, `deadline` has passed or `stop` is requested.
  /// TimePoint::max() waits without a limit. Returns with `mu` held. A timeout does not mean the
  /// condition is false: test it first.
  virtual Wake WaitUntil(Mutex& mu, CondVar& cv, const std::stop_token& stop, TimePoint deadline)
      KX_REQUIRES(mu) = 0;

  /// Sleeps for `d`; returns false at once when `stop` is or becomes requested.
  bool SleepFor(Duration d, const std::stop_token& stop);

  /// The process's real clock.
  static Clock& Real();
};

}  // namespace kubexx::base

#endif  // KUBEXX_BASE_CLOCK_H_
