/// @file
/// Limits how often a client asks.
#ifndef KUBEXX_REST_RATE_LIMITER_H_
#define KUBEXX_REST_RATE_LIMITER_H_

#include <memory>

#include "kubexx/base/clock.h"

namespace kubexx::rest {

/// Decides when a request may be sent. Implementations are thread-safe and never block. One may be
/// shared by the clients of one server.
class RateLimiter {
 public:
  virtual ~RateLimiter() = default;
  /// Takes the right to one request; returns how long to wait before it is sent.
  virtual base::Duration Reserve() = 0;
  /// Gives back the right of a Reserve that was not used.
  virtual void Cancel() = 0;
};

/// A base::TokenBucket: `qps` requests a second and `burst` at once; qps <= 0 means no limit.
/// `clock` must outlive it.
std::shared_ptr<RateLimiter> NewTokenBucketLimiter(double qps, int burst, base::Clock& clock);

}  // namespace kubexx::rest

#endif  // KUBEXX_REST_RATE_LIMITER_H_
