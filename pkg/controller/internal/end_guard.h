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

/// Makes sure that a manager ends when it has to, whatever hangs. Thread-safe.
class EndGuard {
 public:
  /// Settings of an EndGuard.
  struct Options {
    base::Clock& clock = base::Clock::Real();
    /// Returns the grace: how long everything that runs may take to stop from now on. Called when
    /// the end begins.
    std::function<base::Duration()> grace{};
    /// When it is requested, the grace has become shorter, and `grace` is called once more. If the
    /// end has not begun before, it begins now.
    std::stop_token sooner{};
    /// Returns the names of everything that still runs. It returns soon, whatever hangs.
    std::function<std::vector<std::string>()> running{};
    /// Called once when the grace is over. When empty, the process ends then.
    std::function<void(const apimachinery::Status&)> on_stuck{};
  };

  /// The end begins when `ended` is requested. When the manager has not ended after the grace and
  /// kClosing, it is stuck, whichever thread hangs. A token runs its callbacks one after the other,
  /// the newest first. Nobody else may therefore register a callback that may hang with one of the
  /// two tokens.
  EndGuard(const std::stop_token& ended, Options options);
  EndGuard(const EndGuard&) = delete;
  EndGuard& operator=(const EndGuard&) = delete;

  /// When the grace is over.
  base::TimePoint Deadline();
  /// When the time for the last steps is over, see kClosing.
  base::TimePoint ClosingDeadline();
  /// Calls `wait`, which waits for something until a deadline or until a token is requested, and
  /// returns whether it has happened. Calls it once more when the grace has become shorter.
  bool Await(base::FunctionRef<bool(base::TimePoint, const std::stop_token& cut)> wait);
  /// Sets what the manager is doing, for the error when it hangs there: "the caches' handlers".
  void At(const char* what) { at_ = what; }
  const char* at() const { return at_; }
  /// Reports that something has not ended in time. Returns the error if the process continues.
  apimachinery::Result<void> Stuck();

  /// The time for the last Events, servers and caches.
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
  base::Subscription timer_;   // set by on_ended_, which is gone before it
  base::Subscription sooner_;  // by on_sooner_
  std::stop_callback<std::function<void()>> on_ended_;
  std::stop_callback<std::function<void()>> on_sooner_;
};

}  // namespace kubexx::controller::internal

#endif  // KUBEXX_CONTROLLER_INTERNAL_END_GUARD_H_
