#include "kubexx/reloader/operator/retries.h"

#include <algorithm>
#include <chrono>

#include "kubexx/reloader/permissions/denial.h"
#include "kubexx/reloader/watch/source_keys.h"

namespace kubexx::reloader {
namespace {

constexpr base::Duration kFirstPause = std::chrono::milliseconds(5);
constexpr base::Duration kFirstPauseOfDenied = std::chrono::seconds(1);
// The answer stays the same for this time; see ValueDigestReader.
constexpr base::Duration kLeastPauseBehind = ValueDigestReader::kRefuses;
constexpr base::Duration kLongestPause = std::chrono::minutes(1);

// Longer pauses are for workloads that fail repeatedly. Until then a workload makes 11 attempts in
// 10 s. The limit of requests to the API server applies when many workloads fail at once.
constexpr base::Duration kBeginnersPause = std::chrono::seconds(6);

constexpr double kHopelessPerSecond = 10;
constexpr int kHopelessBurst = 100;

}  // namespace

Retries::Failure Retries::FailureOf(const apimachinery::Status& status) {
  return IsDenied(status) ? Failure::kDenied : Failure::kPasses;
}

Retries::Retries(base::Clock& clock)
    : passing_(workqueue::NewExponentialFailureRateLimiter(kFirstPause, kLongestPause)),
      denied_(workqueue::NewExponentialFailureRateLimiter(kFirstPauseOfDenied, kLongestPause)),
      hopeless_(kHopelessPerSecond, kHopelessBurst, clock) {}

base::Duration Retries::After(const workqueue::Key& key, Failure failure,
                              std::optional<base::TimePoint> unanswered) {
  if (unanswered) {
    const base::MutexLock lock(mu_);
    unanswered_.insert_or_assign(key, *unanswered);
  }
  const bool denied = failure == Failure::kDenied;
  const base::Duration doubled = (denied ? denied_ : passing_)->When(key);
  const base::Duration pause =
      failure == Failure::kBehind ? std::max(doubled, kLeastPauseBehind) : doubled;
  return denied || pause > kBeginnersPause ? std::max(pause, hopeless_.Reserve()) : pause;
}

std::optional<base::TimePoint> Retries::Unanswered(const workqueue::Key& key) const {
  const base::MutexLock lock(mu_);
  const auto found = unanswered_.find(key);
  return found == unanswered_.end() ? std::nullopt : std::optional(found->second);
}

void Retries::Forget(const workqueue::Key& key) {
  {
    const base::MutexLock lock(mu_);
    unanswered_.erase(key);
  }
  passing_->Forget(key);
  denied_->Forget(key);
}

}  // namespace kubexx::reloader
