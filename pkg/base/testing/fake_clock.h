/// @file
/// FakeClock: a clock whose time moves only when a test says so.
#ifndef KUBEXX_BASE_TESTING_FAKE_CLOCK_H_
#define KUBEXX_BASE_TESTING_FAKE_CLOCK_H_

#include <cstddef>
#include <map>
#include <stop_token>
#include <string>
#include <vector>

#include "kubexx/base/clock.h"
#include "kubexx/base/testing/await.h"

namespace kubexx::base::testing {

/// Starts at an arbitrary fixed time. A wait returns when it is notified or stopped, or when
/// Advance reaches its deadline. Must outlive every waiter. Thread-safe.
class FakeClock final : public Clock {
 public:
  TimePoint Now() const override;
  WallTime Wall() const override;
  Wake WaitUntil(Mutex& mu, CondVar& cv, const std::stop_token& stop, TimePoint deadline) override
      KX_REQUIRES(mu);

  /// Moves both clocks forward by `d` and wakes the waits whose deadline has come. Does not wait
  /// for their threads to continue. If a wait whose deadline has come does not return, the program
  /// fails after a limit (see Patience), as it does in the other calls that wait.
  void Advance(Duration d, const Where& where = Where::current());

  /// Blocks until at least `n` threads are in a wait with a deadline. Waits whose stop has been
  /// requested do not count, since they are about to return.
  void AwaitSleepers(std::size_t n, const Where& where = Where::current());

  /// Returns how many threads are in a wait with a deadline now.
  std::size_t Sleepers() const;

  /// Blocks until some thread waits for `d` or longer from now, and then advances by `d`.
  void AdvanceToSleeper(Duration d, const Where& where = Where::current());

 private:
  struct Waiter {
    Mutex* mu;
    CondVar* cv;
    TimePoint deadline;
    std::stop_token stop;

    /// Returns whether the wait has a deadline and its stop has not been requested.
    bool IsAsleep() const { return deadline != TimePoint::max() && !stop.stop_requested(); }
  };

  std::size_t SleepersLocked() const KX_REQUIRES(mu_);
  /// Describes the waits for a failure message.
  std::vector<std::string> DescribeLocked() const KX_REQUIRES(mu_);

  mutable Mutex mu_;
  CondVar changed_;
  TimePoint now_ KX_GUARDED_BY(mu_) = TimePoint() + std::chrono::hours(1000);
  WallTime wall_ KX_GUARDED_BY(mu_) = WallTime() + std::chrono::hours(500000);
  std::size_t next_id_ KX_GUARDED_BY(mu_) = 0;
  std::map<std::size_t, Waiter> waiters_ KX_GUARDED_BY(mu_);
};

}  // namespace kubexx::base::testing

#endif  // KUBEXX_BASE_TESTING_FAKE_CLOCK_H_
