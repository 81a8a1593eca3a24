#include "kubexx/rest/rate_limiter.h"

#include "kubexx/base/token_bucket.h"

namespace kubexx::rest {
namespace {

class BucketLimiter final : public RateLimiter {
 public:
  BucketLimiter(double qps, int burst, base::Clock& clock) : bucket_(qps, burst, clock) {}
  base::Duration Reserve() override { return bucket_.Reserve(); }
  void Cancel() override { bucket_.Cancel(); }

 private:
  base::TokenBucket bucket_;
};

}  // namespace

std::shared_ptr<RateLimiter> NewTokenBucketLimiter(double qps, int burst, base::Clock& clock) {
  return std::make_shared<BucketLimiter>(qps, burst, clock);
}

}  // namespace kubexx::rest
