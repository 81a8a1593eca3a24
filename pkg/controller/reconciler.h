/// @file
/// Reconciler: the interface of the user's code in a controller.
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

/// What a reconciler gets in addition to the request. Valid during the call, on its thread.
struct Context {
  /// Reads and writes objects. Its calls fail with kCancelled when the reconcile has to stop.
  Client client;
  /// Requested when the controller stops or the reconcile's time is up. A reconcile that waits for
  /// anything other than `client` must stop then.
  std::stop_token stop{};
  /// When the reconcile's time is up; TimePoint::max() without a limit.
  base::TimePoint deadline = base::TimePoint::max();
  base::Clock& clock;
  /// The controller's name.
  const std::string& controller;
  /// The request's priority; kLowPriority when only a first list or a resync caused it.
  int priority = 0;
  /// How many times in a row this request has failed.
  int failures = 0;
  /// Records Events, which tell the users of an object what the controller does. The Events have
  /// the controller's name unless its options contain another recorder. Without a manager they are
  /// dropped. Never blocks.
  events::Recorder& recorder = events::DiscardingRecorder::Instance();
  /// A logger whose lines have the fields `controller`, `object`, `kind` (if the request has one),
  /// and `reconcile`, a number that is different for each reconcile. A copy may be kept.
  logging::Logger log{};
};

/// Brings the actual state to what the object says. The controller calls it again whenever one of
/// the two may have changed. A reconciler looks at the present state, not at what has happened, and
/// must tolerate calls when nothing has changed. It must be thread-safe: the controller reconciles
/// different requests at the same time, but never the same one. The controller retries an error
/// with backoff; a reconcile can return the error of a call as it is: `return object.error();`. The
/// controller logs and counts an exception, and treats it as an error.
class Reconciler {
 public:
  virtual ~Reconciler() = default;
  virtual apimachinery::Result<Action> Reconcile(const Request& request, Context& context) = 0;
};

/// A Reconciler as a function.
using ReconcileFunction =
    std::function<apimachinery::Result<Action>(const Request& request, Context& context)>;

/// Returns Action::Done() when `status` is kNotFound, because the object is gone, and otherwise the
/// error. Usage in a reconcile: `return IgnoreNotFound(object.error());`.
inline apimachinery::Result<Action> IgnoreNotFound(const apimachinery::Status& status) {
  if (status.reason == apimachinery::Reason::kNotFound) {
    return Action::Done();
  }
  return apimachinery::Fail(status);
}

}  // namespace kubexx::controller

#endif  // KUBEXX_CONTROLLER_RECONCILER_H_
