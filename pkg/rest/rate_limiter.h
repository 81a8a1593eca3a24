/// @file
/// RateLimiter: limits how often a client sends requests.
#ifndef KUBEXX_REST_RATE_LIMITER_H_
#define KUBEXX_REST_RATE_LIMITER_H_

#include <memory>

#include "kubexx/base/clock.h"

namespace kubexx::rest {

/// Decides when a request may be sent. Implementations are thread-safe and never block. Several
/// clients of one server may share one.
class RateLimiter {
 public:
  virtual ~RateLimiter() = default;
  /// Reserves one request, and returns how long to wait before sending it.
  virtual base::Duration Reserve() = 0;
  /// Returns the reservation of a request that was not sent.
  virtual void Cancel() = 0;
};

/// Makes a limiter over a base::TokenBucket: `qps` requests per second and `burst` at once; qps <=
/// 0 means no limit. `clock` must outlive it.
std::shared_ptr<RateLimiter> NewTokenBucketLimiter(double qps, int burst, base::Clock& clock);

}  // namespace kubexx::rest

#endif  // KUBEXX_REST_RATE_LIMITER_H_
