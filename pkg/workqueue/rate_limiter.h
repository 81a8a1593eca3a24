/// @file
/// RateLimiter: decides how long a failed key waits before the next attempt.
#ifndef KUBEXX_WORKQUEUE_RATE_LIMITER_H_
#define KUBEXX_WORKQUEUE_RATE_LIMITER_H_

#include <memory>

#include "kubexx/base/clock.h"
#include "kubexx/base/token_bucket.h"

namespace kubexx::workqueue {

struct Key;

/// As client-go's TypedRateLimiter. Implementations are thread-safe. The queue passes an exception
/// of its rate limiter on to its caller; a controller logs and counts the exception, and tries the
/// key again later.
class RateLimiter {
 public:
  virtual ~RateLimiter() = default;
  /// Counts a failure of `key` and returns the delay after it.
  virtual base::Duration When(const Key& key) = 0;
  virtual void Forget(const Key& key) = 0;
  virtual int NumRequeues(const Key& key) const = 0;
};

/// Makes a limiter with the delay base_delay × 2^failures per key, at most `max_delay`. It
/// remembers each failed key until Forget.
std::shared_ptr<RateLimiter> NewExponentialFailureRateLimiter(base::Duration base_delay,
                                                              base::Duration max_delay);
/// Makes a limiter with one token bucket for all keys; NumRequeues is always 0. `clock` must
/// outlive it. It gives no delay above `max_delay`, see base::TokenBucket.
std::shared_ptr<RateLimiter> NewBucketRateLimiter(
    double per_second, int burst, base::Clock& clock,
    base::Duration max_delay = base::TokenBucket::kLongestWait);
/// Makes a limiter with the larger delay of two limiters, which both count each failure; neither
/// may be null.
std::shared_ptr<RateLimiter> NewMaxOfRateLimiter(std::shared_ptr<RateLimiter> a,
                                                 std::shared_ptr<RateLimiter> b);
/// Makes client-go's default: the larger delay of an exponential backoff of 5 ms to 1000 s and a
/// bucket of 10/s with burst 100.
std::shared_ptr<RateLimiter> NewDefaultRateLimiter(base::Clock& clock);

}  // namespace kubexx::workqueue

#endif  // KUBEXX_WORKQUEUE_RATE_LIMITER_H_
