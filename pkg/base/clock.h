/// @file
/// Clock: time as an injected dependency. Everything that waits, times out or backs off takes a
/// Clock, so that tests run without sleeping. Programs use Clock::Real(), and tests
/// base::testing::FakeClock.
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

/// Why a wait ended. A wait may also end without a reason, so the condition has to be tested again
/// after each.
enum class Wake { kNotified, kTimeout, kStopped };

/// The source of monotonic time, wall time and timed waits. Thread-safe.
class Clock {
 public:
  virtual ~Clock() = default;

  /// Returns the monotonic time, which is for intervals, deadlines and backoff.
  virtual TimePoint Now() const = 0;

  /// Returns the wall time, which is for times that are shown or written to the API.
  virtual WallTime Wall() const = 0;

  /// Waits on `cv` until it is notified, `deadline` has passed or `stop` is requested;
  /// TimePoint::max() means no deadline. `mu` is held before and after. The condition may be true
  /// even after a timeout, so test it first.
  virtual Wake WaitUntil(Mutex& mu, CondVar& cv, const std::stop_token& stop, TimePoint deadline)
      KX_REQUIRES(mu) = 0;

  /// Sleeps for `d`. Returns false, without sleeping any longer, if `stop` is or becomes requested.
  bool SleepFor(Duration d, const std::stop_token& stop);

  /// Returns the process's real clock.
  static Clock& Real();
};

}  // namespace kubexx::base

#endif  // KUBEXX_BASE_CLOCK_H_
