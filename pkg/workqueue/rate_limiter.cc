#include "kubexx/workqueue/rate_limiter.h"

#include <algorithm>
#include <limits>
#include <unordered_map>
#include <utility>

#include "kubexx/base/mutex.h"
#include "kubexx/base/token_bucket.h"
#include "kubexx/workqueue/queue.h"

namespace kubexx::workqueue {
namespace {

class ExponentialFailureRateLimiter final : public RateLimiter {
 public:
  ExponentialFailureRateLimiter(base::Duration base_delay, base::Duration max_delay)
      : base_(std::max(base_delay, base::Duration::zero())),
        max_(std::max(max_delay, base::Duration::zero())) {}

  base::Duration When(const Key& key) override {
    base::MutexLock lock(mu_);
    int& failures = failures_[key];
    const base::Duration delay = DelayAfter(failures);
    if (failures < std::numeric_limits<int>::max()) {
      ++failures;
    }
    return delay;
  }

  void Forget(const Key& key) override {
    base::MutexLock lock(mu_);
    failures_.erase(key);
  }

  int NumRequeues(const Key& key) const override {
    base::MutexLock lock(mu_);
    const auto found = failures_.find(key);
    return found == failures_.end() ? 0 : found->second;
  }

 private:
  base::Duration DelayAfter(int failures) const {
    // Compares by shifting the limit down, because shifting the delay up may overflow.
    if (base_ == base::Duration::zero()) {
      return base_;
    }
    if (failures >= std::numeric_limits<base::Duration::rep>::digits ||
        base_.count() > (max_.count() >> failures)) {
      return max_;
    }
    return base::Duration(base_.count() << failures);
  }

  const base::Duration base_;
  const base::Duration max_;
  mutable base::Mutex mu_;
  std::unordered_map<Key, int> failures_ KX_GUARDED_BY(mu_);
};

class BucketRateLimiter final : public RateLimiter {
 public:
  BucketRateLimiter(double per_second, int burst, base::Clock& clock, base::Duration max_delay)
      : bucket_(per_second, burst, clock, max_delay) {}

  base::Duration When(const Key&) override { return bucket_.Reserve(); }
  void Forget(const Key&) override {}
  int NumRequeues(const Key&) const override { return 0; }

 private:
  base::TokenBucket bucket_;
};

class MaxOfRateLimiter final : public RateLimiter {
 public:
  MaxOfRateLimiter(std::shared_ptr<RateLimiter> a, std::shared_ptr<RateLimiter> b)
      : a_(std::move(a)), b_(std::move(b)) {}

  base::Duration When(const Key& key) override {
    const base::Duration a = a_->When(key);
    const base::Duration b = b_->When(key);
    return std::max(a, b);
  }
  void Forget(const Key& key) override {
    a_->Forget(key);
    b_->Forget(key);
  }
  int NumRequeues(const Key& key) const override {
    return std::max(a_->NumRequeues(key), b_->NumRequeues(key));
  }

 private:
  const std::shared_ptr<RateLimiter> a_;
  const std::shared_ptr<RateLimiter> b_;
};

}  // namespace

std::shared_ptr<RateLimiter> NewExponentialFailureRateLimiter(base::Duration base_delay,
                                                              base::Duration max_delay) {
  return std::make_shared<ExponentialFailureRateLimiter>(base_delay, max_delay);
}

std::shared_ptr<RateLimiter> NewBucketRateLimiter(double per_second, int burst, base::Clock& clock,
                                                  base::Duration max_delay) {
  return std::make_shared<BucketRateLimiter>(per_second, burst, clock, max_delay);
}

std::shared_ptr<RateLimiter> NewMaxOfRateLimiter(std::shared_ptr<RateLimiter> a,
                                                 std::shared_ptr<RateLimiter> b) {
  return std::make_shared<MaxOfRateLimiter>(std::move(a), std::move(b));
}

std::shared_ptr<RateLimiter> NewDefaultRateLimiter(base::Clock& clock) {
  // One key is retried after 5 ms, 10 ms, ... 1000 s. All keys together are retried 10 times a
  // second, after the first 100 retries.
  return NewMaxOfRateLimiter(
      NewExponentialFailureRateLimiter(std::chrono::milliseconds(5), std::chrono::seconds(1000)),
      NewBucketRateLimiter(10, 100, clock));
}

}  // namespace kubexx::workqueue
