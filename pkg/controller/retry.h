/// @file
/// RetryOnConflict: tries a write again when another client has changed the object in between.
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
  /// How long to wait before the second attempt.
  base::Duration delay = std::chrono::milliseconds(10);
  /// The delay is multiplied by this before each further attempt.
  double factor = 1.0;
  /// A random part of up to this share is added to each delay.
  double jitter = 0.1;
  base::Clock& clock = base::Clock::Real();
  /// Ends the waits when requested; RetryOnConflict then returns the last conflict.
  std::stop_token stop{};
  /// The seed of the jitter; 0 takes one from the system.
  std::uint64_t seed = 0;
};

namespace internal {

/// Waits between the attempts.
class RetryDelays {
 public:
  explicit RetryDelays(const RetryOptions& options);
  /// Waits for the next attempt. False when there are no more attempts, or the stop was requested.
  bool WaitForNext();

 private:
  const RetryOptions& options_;
  int left_;
  double delay_;
  std::uint64_t seed_;
};

}  // namespace internal

/// Calls `attempt`, which reads the object again, changes it and writes it, until it returns
/// anything but kConflict or the attempts are used up. Returns the last Result of `attempt`. Like
/// client-go's retry.RetryOnConflict.
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
