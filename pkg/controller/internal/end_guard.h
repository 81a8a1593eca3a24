/// @file
/// The end of a manager's grace.
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

/// Sees to it that a manager that is to end does so, whatever hangs. Thread-safe.
class EndGuard {
 public:
  /// Settings of an EndGuard.
  struct Options {
    base::Clock& clock = base::Clock::Real();
    /// How long what runs has from now on; asked when the end begins.
    std::function<base::Duration()> grace{};
    /// Requested when the grace has become shorter: it is asked once more. The end begins then at
    /// the latest.
    std::stop_token sooner{};
    /// Names of what still runs. Returns soon, whatever hangs.
    std::function<std::vector<std::string>()> running{};
    /// Called, once, when the grace is over. Empty: ends the process.
    std::function<void(const apimachinery::Status&)> on_stuck{};
  };

  /// The end begins when `ended` is requested. What takes longer than the grace and kClosing is
  /// taken for stuck, whatever thread it hangs on. The callbacks of a token run the newest first
  /// and one after the other, so both tokens are nobody's who may register one that hangs.
  EndGuard(const std::stop_token& ended, Options options);
  EndGuard(const EndGuard&) = delete;
  EndGuard& operator=(const EndGuard&) = delete;

  /// When the grace is over.
  base::TimePoint Deadline();
  /// The same of what comes after it, see kClosing.
  base::TimePoint ClosingDeadline();
  /// Calls `wait`, which waits for something until a deadline or until a token is requested and
  /// says whether it has come; once more when the grace has become shorter.
  bool Await(base::FunctionRef<bool(base::TimePoint, const std::stop_token& cut)> wait);
  /// What the manager is at, for when it hangs there: "the caches' handlers".
  void At(const char* what) { at_ = what; }
  const char* at() const { return at_; }
  /// Something has not ended in time: says so, and returns the error where the process goes on.
  apimachinery::Result<void> Stuck();

  /// For the last Events, servers and caches.
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
