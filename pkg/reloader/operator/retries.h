/// @file
/// Decides when the operator tries again to write a workload after a failure.
#ifndef KUBEXX_RELOADER_OPERATOR_RETRIES_H_
#define KUBEXX_RELOADER_OPERATOR_RETRIES_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_map>

#include "kubexx/apimachinery/status.h"
#include "kubexx/base/clock.h"
#include "kubexx/base/mutex.h"
#include "kubexx/base/token_bucket.h"
#include "kubexx/workqueue/key.h"
#include "kubexx/workqueue/rate_limiter.h"

namespace kubexx::reloader {

/// Computes the pause after each failure. A workload's pause depends on its own failures: 5 ms,
/// doubled with each failure up to a minute; it begins at one second if the server denied the
/// write, because that rarely passes quickly. It is at least a second while a cache is behind. All
/// workloads whose writes were denied or keep failing share a limit of 10 attempts per second
/// (after a burst of 100), however many they are. A workload that has just begun to fail for
/// another reason does not wait for them. Remembers each workload until Forget. Thread-safe.
class Retries {
 public:
  enum class Failure : std::uint8_t {
    kPasses,  ///< the failure may pass by itself: a conflict, a server that does not answer
    kDenied,  ///< see IsDenied
    /// A cache is behind the API server: the event that is on its way has the workload looked at.
    kBehind,
  };

  /// The kind of failure that this error of the API server is.
  static Failure FailureOf(const apimachinery::Status& status);

  /// `clock` must outlive this object.
  explicit Retries(base::Clock& clock);

  /// Counts a failure of `key` and returns the pause until the next attempt. `unanswered`: when the
  /// change was made that the failed write was for, if there was one.
  base::Duration After(const workqueue::Key& key, Failure failure,
                       std::optional<base::TimePoint> unanswered = std::nullopt);
  /// The last `unanswered` that was passed to After since the last Forget.
  std::optional<base::TimePoint> Unanswered(const workqueue::Key& key) const;
  /// The workload has not failed this time.
  void Forget(const workqueue::Key& key);

 private:
  const std::shared_ptr<workqueue::RateLimiter> passing_;
  const std::shared_ptr<workqueue::RateLimiter> denied_;
  base::TokenBucket hopeless_;
  mutable base::Mutex mu_;
  std::unordered_map<workqueue::Key, base::TimePoint> unanswered_ KX_GUARDED_BY(mu_);
};

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_OPERATOR_RETRIES_H_
