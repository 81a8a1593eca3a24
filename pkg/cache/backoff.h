/// @file
/// Backoff: computes growing delays between attempts.
#ifndef KUBEXX_CACHE_BACKOFF_H_
#define KUBEXX_CACHE_BACKOFF_H_

#include <chrono>
#include <functional>

#include "kubexx/base/clock.h"

namespace kubexx::cache {

/// Settings of a Backoff. The defaults are client-go's for reflectors: delays of 0.8 s that double
/// up to 30 s, each lengthened by a random part of up to its own length. In a long outage a
/// reflector therefore sends a request every 30 to 60 s.
struct BackoffOptions {
  base::Duration initial = std::chrono::milliseconds(800);
  double factor = 2.0;
  base::Duration cap = std::chrono::seconds(30);
  /// A delay d becomes d + random[0, jitter * d).
  double jitter = 1.0;
  /// The delays start at `initial` again when no delay was asked for in this time.
  base::Duration reset = std::chrono::minutes(2);

  bool operator==(const BackoffOptions&) const = default;
};

/// Computes the delays; does not wait. Not thread-safe. Behaves like apimachinery's wait.Backoff
/// with a reset, with two differences. The time until the reset counts from the end of the last
/// delay, so that a reset never happens during a continuing outage. And the next delay is short
/// again when the attempt that followed the last delay has worked for at least as long as that
/// delay took.
class Backoff {
 public:
  /// `random` gives values in [0, 1).
  Backoff(BackoffOptions options, base::Clock& clock, std::function<double()> random)
      : options_(options),
        clock_(clock),
        random_(std::move(random)),
        since_it_worked_(options.initial),
        of_all_(options.initial) {}

  /// Reports that the attempt after the last delay has worked for `time`. Several reports add up.
  void Worked(base::Duration time);

  /// The time to wait before the next attempt.
  base::Duration Next() { return Take(&Backoff::since_it_worked_); }
  /// Like Next, but ignores what Worked reported. For attempts that cost the server more than those
  /// that worked.
  base::Duration NextOfAll() { return Take(&Backoff::of_all_); }

 private:
  base::Duration Take(base::Duration Backoff::* which);
  base::Duration Grown(base::Duration delay) const;

  BackoffOptions options_;
  base::Clock& clock_;
  std::function<double()> random_;
  // The next delay without jitter, with and without regard to Worked.
  base::Duration since_it_worked_;
  base::Duration of_all_;
  base::Duration last_{0};
  base::Duration worked_{0};       ///< since the last delay
  base::TimePoint quiet_until_{};  ///< when the reset is due
};

}  // namespace kubexx::cache

#endif  // KUBEXX_CACHE_BACKOFF_H_
