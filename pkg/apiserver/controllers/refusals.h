/// @file
/// Events about objects that the server has refused to create or delete.
#ifndef KUBEXX_APISERVER_CONTROLLERS_REFUSALS_H_
#define KUBEXX_APISERVER_CONTROLLERS_REFUSALS_H_

#include <memory>
#include <string>

#include "kubexx/apimachinery/status.h"
#include "kubexx/apiserver/controllers/setup.h"
#include "kubexx/controller/reconciler.h"
#include "kubexx/events/recorder.h"

namespace kubexx::apiserver::controllers {

/// Records Warning Events that tell users why a controller could not create or delete something for
/// their object. A value; thread-safe.
class Refusals {
 public:
  /// The Events have `component` as their source, for example "replicaset-controller". They are
  /// core/v1 Events, as those of kube-controller-manager.
  Refusals(const Setup& setup, const std::string& component);

  /// Records a Warning about `owner` with `reason`; its text is `what` followed by the error's
  /// message. Records nothing when the error is expected: the namespace is being deleted, the
  /// object exists already or has changed meanwhile, or the controller stops.
  template <class Owner>
  void Tell(const controller::Context& context, const Owner& owner, const std::string& reason,
            const std::string& what, const apimachinery::Status& error) const {
    if (IsRefusal(context, error)) {
      recorder_->Event(owner, events::EventType::kWarning, reason, what + error.message);
    }
  }

  /// Records an Event when creating a pod for `owner` has failed. Returns the error of `outcome`.
  template <class Owner, class T>
  apimachinery::Result<void> OfCreate(const controller::Context& context, const Owner& owner,
                                      const apimachinery::Result<T>& outcome) const {
    return Of(context, owner, "FailedCreate", "Error creating: ", outcome);
  }
  /// Records an Event when deleting a pod of `owner` has failed. Returns the error of `outcome`.
  template <class Owner>
  apimachinery::Result<void> OfDelete(const controller::Context& context, const Owner& owner,
                                      const apimachinery::Result<void>& outcome) const {
    return Of(context, owner, "FailedDelete", "Error deleting: ", outcome);
  }
  /// The same with a given reason and text; see Tell.
  template <class Owner, class T>
  apimachinery::Result<void> Of(const controller::Context& context, const Owner& owner,
                                const std::string& reason, const std::string& what,
                                const apimachinery::Result<T>& outcome) const {
    if (outcome) {
      return {};
    }
    Tell(context, owner, reason, what, outcome.error());
    return apimachinery::Fail(outcome.error());
  }

 private:
  static bool IsRefusal(const controller::Context& context, const apimachinery::Status& error);

  std::shared_ptr<events::Recorder> recorder_;
};

}  // namespace kubexx::apiserver::controllers

#endif  // KUBEXX_APISERVER_CONTROLLERS_REFUSALS_H_
