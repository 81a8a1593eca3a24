/// @file
/// Action: what a controller does after a reconcile.
#ifndef KUBEXX_CONTROLLER_ACTION_H_
#define KUBEXX_CONTROLLER_ACTION_H_

#include <algorithm>
#include <optional>
#include <utility>

#include "kubexx/apimachinery/status.h"
#include "kubexx/base/clock.h"

namespace kubexx::controller {

/// The outcome of a reconcile that did not fail. A value of one of four kinds: the work is done;
/// the request comes again after a time; it comes again with another priority; or the reconciler
/// gives up. Replaces controller-runtime's pair of reconcile.Result and TerminalError, whose fields
/// can contradict each other.
class [[nodiscard]] Action {
 public:
  /// The request is not reconciled again before the next event.
  static Action Done() { return {}; }
  /// Reconciles the request again after `delay`, or earlier when an event comes. This is not a
  /// failure, so the request's backoff ends. When `delay` is zero or negative, as for a deadline
  /// that has passed, the rate limiter's growing delay is used instead, so that a reconciler with a
  /// deadline in the past does not run in an endless loop.
  static Action RequeueAfter(base::Duration delay) {
    Action action;
    action.delay_ = std::max(delay, base::Duration(0));
    return action;
  }
  /// Reconciles the request again with this priority, after `delay` when it is positive, and
  /// otherwise after the rate limiter's delay.
  static Action RequeueWithPriority(int priority, base::Duration delay = base::Duration(0)) {
    Action action;
    action.delay_ = std::max(delay, base::Duration(0));
    action.priority_ = priority;
    return action;
  }
  /// The reconcile has failed, and another attempt would not help until something changes. The
  /// controller logs and counts the failure and does not retry.
  static Action GiveUp(apimachinery::Status why) {
    Action action;
    action.given_up_ = std::move(why);
    return action;
  }

  /// When the request is reconciled again: std::nullopt means not at all, zero means after the rate
  /// limiter's delay.
  const std::optional<base::Duration>& delay() const { return delay_; }
  /// The priority of the next attempt; std::nullopt keeps the request's present one.
  const std::optional<int>& priority() const { return priority_; }
  const std::optional<apimachinery::Status>& given_up() const { return given_up_; }

 private:
  Action() = default;

  std::optional<base::Duration> delay_{};
  std::optional<int> priority_{};
  std::optional<apimachinery::Status> given_up_{};
};

/// The same as Action::GiveUp, under controller-runtime's name. Usage in a reconcile: `return
/// TerminalError(status);`.
inline Action TerminalError(apimachinery::Status why) { return Action::GiveUp(std::move(why)); }

}  // namespace kubexx::controller

#endif  // KUBEXX_CONTROLLER_ACTION_H_
