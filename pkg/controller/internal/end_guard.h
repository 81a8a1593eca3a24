/// @file
/// EndGuard: enforces the limit on how long a manager may take to end.
#ifndef KUBEXX_CONTROLLER_INTERNAL_END_GUARD_H_
#define KUBEXX_CONTROLLER_INTERNAL_END_GUARD_H_

#include <atomic>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "kubexx/apimachinery/status.h"
#include "kubexx/base/clock.h"
#include "kubexx/base/function_ref.h"
#include "kubexx/base/mutex.h"
#include "kubexx/base/subscription.h"
#include "kubexx/controller/internal/deadlines.h"

namespace kubexx::controller::internal {

/// Makes sure that a manager ends in time, even if one of its parts hangs. Thread-safe.
class EndGuard {
 public:
  /// Settings of an EndGuard.
  struct Options {
    base::Clock& clock = base::Clock::Real();
    /// Returns the grace: the time that all running parts may take to stop from now on. It is
    /// called when the end begins.
    std::function<base::Duration()> grace{};
    /// Is requested when the grace has become shorter. Then `grace` is called once more, and the
    /// end begins if it has not begun before.
    std::stop_token sooner{};
    /// Returns the names of the parts that still run. It returns soon, even if one of them hangs.
    std::function<std::vector<std::string>()> running{};
    /// Is called once when the grace is over. When it is empty, the process ends then.
    std::function<void(const apimachinery::Status&)> on_stuck{};
  };

  /// The end begins when `ended` is requested. When the manager has not ended after the grace and
  /// kClosing, it counts as stuck, whichever thread hangs. A token runs its callbacks one after the
  /// other, the newest first, so no other code may register a callback that may hang with one of
  /// the two tokens.
  EndGuard(const std::stop_token& ended, Options options);
  EndGuard(const EndGuard&) = delete;
  EndGuard& operator=(const EndGuard&) = delete;

  /// The time when the grace is over.
  base::TimePoint Deadline();
  /// The time when the time for the last steps is over; see kClosing.
  base::TimePoint ClosingDeadline();
  /// Calls `wait`, which waits for an event until a deadline or until a token is requested, and
  /// returns whether the event has happened. Await calls it once more when the grace has become
  /// shorter.
  bool Await(base::FunctionRef<bool(base::TimePoint, const std::stop_token& cut)> wait);
  /// Sets the manager's current step, for example "the caches' handlers". The error names it when
  /// the manager hangs in this step.
  void At(const char* what) { at_ = what; }
  const char* at() const { return at_; }
  /// Reports that a step has not ended in time. Returns the error if the process continues.
  apimachinery::Result<void> Stuck();

  /// The time for the last Events, the servers and the caches.
  static constexpr base::Duration kClosing = std::chrono::seconds(7);

 private:
  const Options options_;
  base::Mutex mu_;
  std::optional<base::TimePoint> deadline_ KX_GUARDED_BY(mu_);
  bool is_final_ KX_GUARDED_BY(mu_) = false;
  std::atomic<bool> told_ = false;
  std::atomic<const char*> at_ = "its start";
  Deadlines deadlines_{options_.clock};
  std::stop_source overdue_;
  std::stop_callback<std::function<void()>> on_overdue_;
  base::Subscription timer_;   // set by on_ended_, which is destroyed before it
  base::Subscription sooner_;  // set by on_sooner_, which is destroyed before it
  std::stop_callback<std::function<void()>> on_ended_;
  std::stop_callback<std::function<void()>> on_sooner_;
};

}  // namespace kubexx::controller::internal

#endif  // KUBEXX_CONTROLLER_INTERNAL_END_GUARD_H_
