/// @file
/// Warnings about what the server has refused to make or delete.
#ifndef KUBEXX_APISERVER_CONTROLLERS_REFUSALS_H_
#define KUBEXX_APISERVER_CONTROLLERS_REFUSALS_H_

#include <memory>
#include <string>

#include "kubexx/apimachinery/status.h"
#include "kubexx/apiserver/controllers/setup.h"
#include "kubexx/controller/reconciler.h"
#include "kubexx/events/recorder.h"

namespace kubexx::apiserver::controllers {

/// Tells the users of an object, by Events, why nothing comes of it. A value; thread-safe.
class Refusals {
 public:
  /// The Events, of core/v1 as kube-controller-manager's, come from `component`, for example
  /// "replicaset-controller".
  Refusals(const Setup& setup, const std::string& component);

  /// A Warning about `owner`: `reason`, and `what` with the error's message after it. None of what
  /// is no refusal: that the namespace ends, that an object is there already or has changed, that
  /// the controller stops.
  template <class Owner>
  void Tell(const controller::Context& context, const Owner& owner, const std::string& reason,
            const std::string& what, const apimachinery::Status& error) const {
    if (IsRefusal(context, error)) {
      recorder_->Event(owner, events::EventType::kWarning, reason, what + error.message);
    }
  }

  /// The outcome of making a pod for `owner`, once it is told of.
  template <class Owner, class T>
  apimachinery::Result<void> OfCreate(const controller::Context& context, const Owner& owner,
                                      const apimachinery::Result<T>& outcome) const {
    return Of(context, owner, "FailedCreate", "Error creating: ", outcome);
  }
  /// The outcome of deleting a pod of `owner`, once it is told of.
  template <class Owner>
  apimachinery::Result<void> OfDelete(const controller::Context& context, const Owner& owner,
                                      const apimachinery::Result<void>& outcome) const {
    return Of(context, owner, "FailedDelete", "Error deleting: ", outcome);
  }
  /// The same in words of one's own; see Tell.
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
