/// @file
/// EndGuard: sees to it that a manager begins to end, and how long that may take.
#ifndef KUBEXX_CONTROLLER_INTERNAL_END_GUARD_H_
#define KUBEXX_CONTROLLER_INTERNAL_END_GUARD_H_

#include <atomic>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "kubexx/apimachinery/status.h"
#include "kubexx/base/clock.h"
#include "kubexx/base/function_ref.h"
#include "kubexx/base/mutex.h"

namespace kubexx::controller::internal {

/// Makes sure that a manager ends in time, even if one of its parts hangs. Has one thread.
/// Thread-safe.
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
    /// A token of the user's, whose stop is to begin the end. It runs its callbacks one after the
    /// other, the newest first, so a user's callback that hangs would keep older ones from running.
    /// Therefore the guard also looks at the token every half second of real time.
    std::stop_token stop{};
    /// Is called when `stop` was requested; it requests the stop of `ended`. Needed with `stop`.
    std::function<void()> end{};
    /// Returns the names of the parts that still run. It returns soon, even if one of them hangs.
    std::function<std::vector<std::string>()> running{};
    /// Is called once when the grace is over. When it is empty, the process ends then.
    std::function<void(const apimachinery::Status&)> on_stuck{};
  };

  /// The end begins when `ended` is requested. When the manager has not ended after the grace and
  /// kClosing, it counts as stuck, whichever thread hangs. A token runs its callbacks one after the
  /// other, the newest first, so no other code may register a callback that may hang with one of
  /// the two tokens. Throws std::system_error when the system has no thread left.
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
  /// Begins the end, or makes the grace shorter.
  void Begin();
  void Watch(const std::stop_token& over);
  /// Blocks until the end has begun or `stop` was requested. Returns false when the guard is over.
  bool AwaitBegin(const std::stop_token& over);
  /// Blocks until the last step has taken too long. Returns false when the guard is over.
  bool AwaitOverdue(const std::stop_token& over);

  const Options options_;
  base::Mutex mu_;
  base::CondVar changed_;
  bool has_begun_ KX_GUARDED_BY(mu_) = false;
  std::optional<base::TimePoint> deadline_ KX_GUARDED_BY(mu_);
  bool is_final_ KX_GUARDED_BY(mu_) = false;
  std::atomic<bool> told_ = false;
  std::atomic<const char*> at_ = "its start";
  std::stop_callback<std::function<void()>> on_ended_;
  std::stop_callback<std::function<void()>> on_sooner_;
  std::jthread thread_;  // This is the last member, so that it ends first.
};

}  // namespace kubexx::controller::internal

#endif  // KUBEXX_CONTROLLER_INTERNAL_END_GUARD_H_
