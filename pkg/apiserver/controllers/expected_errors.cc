#include "kubexx/apiserver/controllers/expected_errors.h"

#include <utility>

#include "kubexx/apimachinery/status.h"
#include "kubexx/apimachinery/status_causes.h"

namespace kubexx::apiserver::controllers {

using apimachinery::Reason;
using apimachinery::Result;
using controller::Action;

bool IsOfEndingNamespace(const apimachinery::Status& error) {
  return apimachinery::HasStatusCause(error, apimachinery::kNamespaceTerminatingCause);
}

Result<Action> AfterReport(const Result<void>& work, Result<Action> reported) {
  if (work || IsOfEndingNamespace(work.error())) {
    return reported;
  }
  return apimachinery::Fail(work.error());
}

controller::ReconcileFunction WithExpectedErrors(controller::ReconcileFunction reconcile) {
  return [reconcile = std::move(reconcile)](const controller::Request& request,
                                            controller::Context& context) -> Result<Action> {
    auto done = reconcile(request, context);
    if (done) {
      return done;
    }
    if (IsOfEndingNamespace(done.error())) {
      return Action::Done();
    }
    // The rate limiter's delay grows, should the watch never bring what was written.
    return done.error().reason == Reason::kConflict ? Action::RequeueAfter(base::Duration(0))
                                                    : std::move(done);
  };
}

controller::ReconcileFunction WithExpectedErrors(std::shared_ptr<controller::Reconciler> made) {
  return WithExpectedErrors(
      [made = std::move(made)](const controller::Request& request, controller::Context& context) {
        return made->Reconcile(request, context);
      });
}

}  // namespace kubexx::apiserver::controllers
