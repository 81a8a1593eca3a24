/// @file
/// What a reconcile asks for next.
#ifndef KUBEXX_CONTROLLER_ACTION_H_
#define KUBEXX_CONTROLLER_ACTION_H_

#include <algorithm>
#include <optional>
#include <utility>

#include "kubexx/apimachinery/status.h"
#include "kubexx/base/clock.h"

namespace kubexx::controller {

/// The outcome of a reconcile that did not fail. A value type; one of: done, come again after a
/// time, come again with a priority, or given up. As controller-runtime's reconcile.Result and
/// TerminalError, of which no contradictory ones can be made.
class [[nodiscard]] Action {
 public:
  /// Nothing more to do until the next event.
  static Action Done() { return {}; }
  /// Again after `delay`, or earlier when an event comes. Not a failure: the key's backoff ends.
  /// Zero or less, as of a deadline that has passed: after the rate limiter's delay, which grows,
  /// so that a deadline that is never moved is no endless loop.
  static Action RequeueAfter(base::Duration delay) {
    Action action;
    action.delay_ = std::max(delay, base::Duration(0));
    return action;
  }
  /// Again with this priority, after the rate limiter's delay, or after `delay` when it is
  /// positive.
  static Action RequeueWithPriority(int priority, base::Duration delay = base::Duration(0)) {
    Action action;
    action.delay_ = std::max(delay, base::Duration(0));
    action.priority_ = priority;
    return action;
  }
  /// Failed, and trying again would not help until something changes: logged and counted, not
  /// retried.
  static Action GiveUp(apimachinery::Status why) {
    Action action;
    action.given_up_ = std::move(why);
    return action;
  }

  /// Nothing: not again. Zero: after the rate limiter's delay.
  const std::optional<base::Duration>& delay() const { return delay_; }
  /// Nothing: that of the key so far.
  const std::optional<int>& priority() const { return priority_; }
  const std::optional<apimachinery::Status>& given_up() const { return given_up_; }

 private:
  Action() = default;

  std::optional<base::Duration> delay_{};
  std::optional<int> priority_{};
  std::optional<apimachinery::Status> given_up_{};
};

/// `return TerminalError(status);` from a reconcile: Action::GiveUp.
inline Action TerminalError(apimachinery::Status why) { return Action::GiveUp(std::move(why)); }

}  // namespace kubexx::controller

#endif  // KUBEXX_CONTROLLER_ACTION_H_
