/// @file
/// How long a key waits before it is tried again.
#ifndef KUBEXX_WORKQUEUE_RATE_LIMITER_H_
#define KUBEXX_WORKQUEUE_RATE_LIMITER_H_

#include <memory>

#include "kubexx/base/clock.h"

namespace kubexx::workqueue {

struct Key;

/// As client-go's TypedRateLimiter. Implementations are thread-safe.
class RateLimiter {
 public:
  virtual ~RateLimiter() = default;
  /// The delay for this failure of `key`, counting it.
  virtual base::Duration When(const Key& key) = 0;
  virtual void Forget(const Key& key) = 0;
  virtual int NumRequeues(const Key& key) const = 0;
};

/// base_delay × 2^failures per key, at most `max_delay`. Remembers each key that failed until it is
/// forgotten.
std::shared_ptr<RateLimiter> NewExponentialFailureRateLimiter(base::Duration base_delay,
                                                              base::Duration max_delay);
/// One token bucket for all keys; NumRequeues is always 0. `clock` must outlive it.
std::shared_ptr<RateLimiter> NewBucketRateLimiter(double per_second, int burst, base::Clock& clock);
/// The larger delay of two limiters, which both count each failure; neither may be null.
std::shared_ptr<RateLimiter> NewMaxOfRateLimiter(std::shared_ptr<RateLimiter> a,
                                                 std::shared_ptr<RateLimiter> b);
/// The larger of exponential 5 ms to 1000 s and a bucket of 10/s with burst 100, client-go's
/// default.
std::shared_ptr<RateLimiter> NewDefaultRateLimiter(base::Clock& clock);

}  // namespace kubexx::workqueue

#endif  // KUBEXX_WORKQUEUE_RATE_LIMITER_H_
