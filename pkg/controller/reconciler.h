/// @file
/// The user's part of a controller.
#ifndef KUBEXX_CONTROLLER_RECONCILER_H_
#define KUBEXX_CONTROLLER_RECONCILER_H_

#include <functional>
#include <memory>
#include <stop_token>
#include <string>

#include "kubexx/apimachinery/status.h"
#include "kubexx/base/clock.h"
#include "kubexx/controller/action.h"
#include "kubexx/controller/client.h"
#include "kubexx/events/recorder.h"
#include "kubexx/logging/logger.h"
#include "kubexx/workqueue/key.h"

namespace kubexx::controller {

/// What to reconcile: `object`, and a `kind` of the user's choice, usually empty.
using Request = workqueue::Key;

/// What one call of a reconciler is given beside its request. Valid during the call, on its thread.
struct Context {
  /// Reads and writes; ends its calls when the reconcile is to stop.
  Client client;
  /// Requested when the controller stops or the reconcile's time is up. A reconcile that waits for
  /// anything but `client` must heed it.
  std::stop_token stop{};
  /// When the reconcile's time is up; TimePoint::max() without a limit.
  base::TimePoint deadline = base::TimePoint::max();
  base::Clock& clock;
  /// The controller's name.
  const std::string& controller;
  /// Of the request; kLowPriority when only a first list or a resync brought it.
  int priority = 0;
  /// How many times in a row this request has failed.
  int failures = 0;
  /// Tells the users of an object what is done about it, as the controller's name unless its
  /// options have another recorder; without a manager nothing is recorded. Never blocks.
  events::Recorder& recorder = events::DiscardingRecorder::Instance();
  /// Its lines have `controller`, `object`, the request's `kind` if it has one, and `reconcile`, a
  /// number by which the lines of one reconcile are told from those of others. A copy may be kept.
  logging::Logger log{};
};

/// Makes the world as the object says, and is called again whenever either may have changed. It
/// looks at what is, not at what happened, must bear being called when nothing has changed, and
/// must be thread-safe: different requests come at the same time, the same one never. An error is
/// tried again with backoff, and that of a call is returned as it is: `return object.error();`.
/// What it throws is logged, counted and treated as an error.
class Reconciler {
 public:
  virtual ~Reconciler() = default;
  virtual apimachinery::Result<Action> Reconcile(const Request& request, Context& context) = 0;
};

/// The same as a function.
using ReconcileFunction =
    std::function<apimachinery::Result<Action>(const Request& request, Context& context)>;

/// `return IgnoreNotFound(object.error());` from a reconcile: done when the object is gone,
/// otherwise the error.
inline apimachinery::Result<Action> IgnoreNotFound(const apimachinery::Status& status) {
  if (status.reason == apimachinery::Reason::kNotFound) {
    return Action::Done();
  }
  return apimachinery::Fail(status);
}

}  // namespace kubexx::controller

#endif  // KUBEXX_CONTROLLER_RECONCILER_H_
