/// @file
/// Growing delays between attempts.
#ifndef KUBEXX_CACHE_BACKOFF_H_
#define KUBEXX_CACHE_BACKOFF_H_

#include <chrono>
#include <functional>

#include "kubexx/base/clock.h"

namespace kubexx::cache {

/// Settings of a Backoff. The defaults are client-go's for reflectors: 0.8 s doubling to 30 s, each
/// lengthened by up to its own length again, so that in a long outage one reflector asks every 30
/// to 60 s.
struct BackoffOptions {
  base::Duration initial = std::chrono::milliseconds(800);
  double factor = 2.0;
  base::Duration cap = std::chrono::seconds(30);
  /// A delay d becomes d + random[0, jitter * d).
  double jitter = 1.0;
  /// The delays start again when none was asked for during this time.
  base::Duration reset = std::chrono::minutes(2);

  bool operator==(const BackoffOptions&) const = default;
};

/// Computes the delays; does not wait. Not thread-safe. As apimachinery's wait.Backoff with a
/// reset, which here counts from the end of the last delay, so that it never fires inside a
/// continuing outage. Unlike there, what a delay has led to makes the next one short again once it
/// has worked for as long as that delay took, so attempts stay in proportion to what works.
class Backoff {
 public:
  /// `random` gives values in [0, 1).
  Backoff(BackoffOptions options, base::Clock& clock, std::function<double()> random)
      : options_(options),
        clock_(clock),
        random_(std::move(random)),
        since_it_worked_(options.initial),
        of_all_(options.initial) {}

  /// What the last delay led to has worked for `time`, or for so much longer.
  void Worked(base::Duration time);

  /// The time to wait before the next attempt.
  base::Duration Next() { return Take(&Backoff::since_it_worked_); }
  /// The same, whatever has worked meanwhile: for what costs a server more than that.
  base::Duration NextOfAll() { return Take(&Backoff::of_all_); }

 private:
  base::Duration Take(base::Duration Backoff::* which);
  base::Duration Grown(base::Duration delay) const;

  BackoffOptions options_;
  base::Clock& clock_;
  std::function<double()> random_;
  // What the next delay is, before its jitter.
  base::Duration since_it_worked_;
  base::Duration of_all_;
  base::Duration last_{0};
  base::Duration worked_{0};       ///< since the last delay
  base::TimePoint quiet_until_{};  ///< when the reset is due
};

}  // namespace kubexx::cache

#endif  // KUBEXX_CACHE_BACKOFF_H_
