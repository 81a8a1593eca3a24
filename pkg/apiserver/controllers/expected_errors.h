/// @file
/// Errors that controllers meet in normal operation and that need not be reported.
#ifndef KUBEXX_APISERVER_CONTROLLERS_EXPECTED_ERRORS_H_
#define KUBEXX_APISERVER_CONTROLLERS_EXPECTED_ERRORS_H_

#include <memory>

#include "kubexx/apimachinery/status.h"
#include "kubexx/controller/action.h"
#include "kubexx/controller/reconciler.h"

namespace kubexx::apiserver::controllers {

/// Whether the error says that the namespace is being deleted and therefore accepts no new objects.
bool IsOfEndingNamespace(const apimachinery::Status& error);

/// The result of a reconcile that has done `work` and has written the status afterwards with the
/// result `reported`. Returns the error of `work`, unless the namespace is being deleted; otherwise
/// `reported`.
apimachinery::Result<controller::Action> AfterReport(
    const apimachinery::Result<void>& work, apimachinery::Result<controller::Action> reported);

/// Wraps `reconcile` so that two errors are not reported: when the namespace is being deleted, the
/// reconcile counts as done (as in kube-controller-manager); on a conflict, because somebody else
/// has written the object meanwhile, it is repeated.
controller::ReconcileFunction WithExpectedErrors(controller::ReconcileFunction reconcile);
/// The same for a Reconciler object.
controller::ReconcileFunction WithExpectedErrors(std::shared_ptr<controller::Reconciler> made);

}  // namespace kubexx::apiserver::controllers

#endif  // KUBEXX_APISERVER_CONTROLLERS_EXPECTED_ERRORS_H_
