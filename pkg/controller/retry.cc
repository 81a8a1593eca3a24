#include "kubexx/controller/retry.h"

#include <random>

namespace kubexx::controller::internal {

RetryDelays::RetryDelays(const RetryOptions& options)
    : options_(options),
      left_(options.attempts - 1),
      delay_(static_cast<double>(options.delay.count())),
      seed_(options.seed) {}

bool RetryDelays::WaitForNext() {
  if (left_ <= 0) {
    return false;
  }
  --left_;
  if (seed_ == 0) {
    seed_ = std::random_device()();
  }
  std::mt19937_64 random(seed_);
  seed_ = random();
  const double extra = std::uniform_real_distribution<double>(0, 1)(random) * options_.jitter;
  const base::Duration delay(static_cast<base::Duration::rep>(delay_ * (1 + extra)));
  delay_ *= options_.factor;
  return options_.clock.SleepFor(delay, options_.stop);
}

}  // namespace kubexx::controller::internal
