/// @file
/// When workloads that could not be written are tried again.
#ifndef KUBEXX_RELOADER_OPERATOR_RETRIES_H_
#define KUBEXX_RELOADER_OPERATOR_RETRIES_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_map>

#include "kubexx/base/clock.h"
#include "kubexx/base/mutex.h"
#include "kubexx/base/token_bucket.h"
#include "kubexx/workqueue/key.h"
#include "kubexx/workqueue/rate_limiter.h"

namespace kubexx::reloader {

/// The pauses of failed workloads, each by its own failures: 5 ms doubling up to a minute; from a
/// second when the server has refused it, since that does not pass by itself. Those that keep
/// failing are together tried 10 times a second at most (after a burst of 100), however many there
/// are. One that has begun to fail is not among them, so that it waits for none of them. Remembers
/// each workload until Forget. Thread-safe.
class Retries {
 public:
  enum class Failure : std::uint8_t {
    kPasses,  ///< or may, as far as is known: a conflict, a server that does not answer
    kDenied,  ///< see IsDenied
  };

  /// `clock` must outlive this.
  explicit Retries(base::Clock& clock);

  /// The pause after this failure of `key`, counting it. `unanswered`: when the change was made
  /// that it could not answer, if there was one.
  base::Duration After(const workqueue::Key& key, Failure failure,
                       std::optional<base::TimePoint> unanswered = std::nullopt);
  /// As given to After last, since Forget.
  std::optional<base::TimePoint> Unanswered(const workqueue::Key& key) const;
  /// It has not failed.
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
