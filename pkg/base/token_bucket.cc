#include "kubexx/base/token_bucket.h"

#include <algorithm>
#include <chrono>

namespace kubexx::base {
namespace {

using Seconds = std::chrono::duration<double>;

}  // namespace

TokenBucket::TokenBucket(double per_second, int burst, Clock& clock, Duration longest_wait)
    : per_second_(per_second),
      burst_(std::max(burst, 1)),
      longest_wait_(std::min(longest_wait, kLongestWait)),
      clock_(clock),
      tokens_(burst_),
      last_(clock.Now()) {}

Duration TokenBucket::Reserve() {
  if (per_second_ <= 0) {
    return Duration::zero();
  }
  MutexLock lock(mu_);
  RefillLocked();
  tokens_ -= 1;
  if (tokens_ >= 0) {
    return Duration::zero();
  }
  const Seconds longest = longest_wait_;
  tokens_ = std::max(tokens_, -(longest.count() * per_second_));
  const Seconds wait = std::min(Seconds(-tokens_ / per_second_), longest);
  // Rounded up: waking a nanosecond early would let one call through before its token is there.
  return std::chrono::ceil<Duration>(wait);
}

void TokenBucket::Cancel() {
  if (per_second_ <= 0) {
    return;
  }
  MutexLock lock(mu_);
  RefillLocked();
  tokens_ = std::min(tokens_ + 1, burst_);
}

void TokenBucket::RefillLocked() {
  const TimePoint now = clock_.Now();
  if (now > last_) {
    tokens_ = std::min(burst_, tokens_ + Seconds(now - last_).count() * per_second_);
    last_ = now;
  }
}

}  // namespace kubexx::base
