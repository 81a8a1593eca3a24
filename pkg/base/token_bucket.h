/// @file
/// TokenBucket: limits a rate, but allows short bursts.
#ifndef KUBEXX_BASE_TOKEN_BUCKET_H_
#define KUBEXX_BASE_TOKEN_BUCKET_H_

#include <chrono>

#include "kubexx/base/clock.h"
#include "kubexx/base/mutex.h"

namespace kubexx::base {

/// Starts full with `burst` tokens and gains `per_second` tokens a second, up to `burst`. Each
/// Reserve takes one token. If there is none, it borrows the next one and returns how long to wait
/// for it, so that callers are served in the order of their calls. Semantics: Go's x/time/rate
/// Limiter.Reserve. Thread-safe, never blocks.
class TokenBucket {
 public:
  /// No Reserve returns more than this, and no more tokens are borrowed than come in it.
  static constexpr Duration kLongestWait = std::chrono::hours(24 * 365);

  /// `per_second` <= 0 means no limit; a `burst` below 1 counts as 1. `clock` must outlive the
  /// bucket. With a shorter `longest_wait`, callers that are more than the rate allows come sooner
  /// than it says, and do not make later ones wait for theirs.
  TokenBucket(double per_second, int burst, Clock& clock, Duration longest_wait = kLongestWait);

  /// Takes one token. Returns how long the caller must wait before it acts; zero means that it may
  /// act now. A caller that gives up while it waits calls Cancel.
  Duration Reserve();

  /// Gives back the token of a Reserve if it was not used.
  void Cancel();

 private:
  void RefillLocked() KX_REQUIRES(mu_);

  const double per_second_;
  const double burst_;
  const Duration longest_wait_;
  Clock& clock_;
  Mutex mu_;
  double tokens_ KX_GUARDED_BY(mu_);
  TimePoint last_ KX_GUARDED_BY(mu_);
};

}  // namespace kubexx::base

#endif  // KUBEXX_BASE_TOKEN_BUCKET_H_
