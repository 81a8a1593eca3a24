/// @file
/// Tries a write again when somebody else was faster.
#ifndef KUBEXX_CONTROLLER_RETRY_H_
#define KUBEXX_CONTROLLER_RETRY_H_

#include <cstdint>
#include <stop_token>

#include "kubexx/apimachinery/status.h"
#include "kubexx/base/clock.h"

namespace kubexx::controller {

/// When RetryOnConflict tries again. The defaults are client-go's DefaultRetry.
struct RetryOptions {
  /// Attempts in all.
  int attempts = 5;
  /// Before the second attempt...
  base::Duration delay = std::chrono::milliseconds(10);
  /// ...times this before each further one...
  double factor = 1.0;
  /// ...plus up to this share of it, by chance.
  double jitter = 0.1;
  base::Clock& clock = base::Clock::Real();
  /// Ends the waits; the last conflict is then returned.
  std::stop_token stop{};
  /// Of the jitter; 0 takes one from the system.
  std::uint64_t seed = 0;
};

namespace internal {

/// Waits between attempts.
class RetryDelays {
 public:
  explicit RetryDelays(const RetryOptions& options);
  /// False when there are no more attempts, or the stop was requested.
  bool WaitForNext();

 private:
  const RetryOptions& options_;
  int left_;
  double delay_;
  std::uint64_t seed_;
};

}  // namespace internal

/// Calls `attempt`, which reads the object anew, changes it and writes it, until it does not fail
/// with kConflict, and returns its last result, a Result<...>. As client-go's
/// retry.RetryOnConflict.
template <class F>
auto RetryOnConflict(F&& attempt, const RetryOptions& options = {}) -> decltype(attempt()) {
  internal::RetryDelays delays(options);
  while (true) {
    auto result = attempt();
    if (result || result.error().reason != apimachinery::Reason::kConflict ||
        !delays.WaitForNext()) {
      return result;
    }
  }
}

}  // namespace kubexx::controller

#endif  // KUBEXX_CONTROLLER_RETRY_H_
