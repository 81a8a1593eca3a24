/// @file
/// A Clock whose time moves only when a test says so.
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

/// Starts at an arbitrary fixed time. Thread-safe. Waits return when notified, stopped, or when
/// Advance passes their deadline. Must outlive every waiter.
class FakeClock final : public Clock {
 public:
  TimePoint Now() const override;
  WallTime Wall() const override;
  Wake WaitUntil(Mutex& mu, CondVar& cv, const std::stop_token& stop, TimePoint deadline) override
      KX_REQUIRES(mu);

  /// Moves both clocks forward by `d` and wakes the waits whose deadline has come. Does not wait
  /// for them to run. Like the other calls that wait it fails the program when its time is over
  /// (see Patience): with a wait whose deadline has come, and which does not return.
  void Advance(Duration d, const Where& where = Where::current());

  /// Blocks until at least `n` threads are in a wait with a deadline. Waits without one do not
  /// count, nor do those whose stop has been requested: they are about to return.
  void AwaitSleepers(std::size_t n, const Where& where = Where::current());

  /// How many threads are in a wait with a deadline now.
  std::size_t Sleepers() const;

  /// Blocks until some thread waits for exactly `d` from now or longer than `d`, then advances by
  /// `d`.
  void AdvanceToSleeper(Duration d, const Where& where = Where::current());

 private:
  struct Waiter {
    Mutex* mu;
    CondVar* cv;
    TimePoint deadline;
    std::stop_token stop;

    /// Whether only time or a notification ends this wait, and time may.
    bool IsAsleep() const { return deadline != TimePoint::max() && !stop.stop_requested(); }
  };

  std::size_t SleepersLocked() const KX_REQUIRES(mu_);
  /// The waits, as a failure shows them.
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
