/// @file
/// What a controller meets in the ordinary course of things and nobody needs to read of.
#ifndef KUBEXX_APISERVER_CONTROLLERS_EXPECTED_ERRORS_H_
#define KUBEXX_APISERVER_CONTROLLERS_EXPECTED_ERRORS_H_

#include <memory>

#include "kubexx/apimachinery/status.h"
#include "kubexx/controller/action.h"
#include "kubexx/controller/reconciler.h"

namespace kubexx::apiserver::controllers {

/// Whether the namespace ends, and takes nothing new therefore.
bool IsOfEndingNamespace(const apimachinery::Status& error);

/// What a reconcile has come to that did `work` and `reported` the status afterwards, which is
/// right whatever became of the work: the error of the work, unless the namespace ends, or that of
/// the report.
apimachinery::Result<controller::Action> AfterReport(
    const apimachinery::Result<void>& work, apimachinery::Result<controller::Action> reported);

/// `reconcile`, which is done when its namespace ends and takes nothing new, as kube-controller-
/// manager's controllers, and which comes again without a word when somebody else has written the
/// object meanwhile.
controller::ReconcileFunction WithExpectedErrors(controller::ReconcileFunction reconcile);
/// The same of an object.
controller::ReconcileFunction WithExpectedErrors(std::shared_ptr<controller::Reconciler> made);

}  // namespace kubexx::apiserver::controllers

#endif  // KUBEXX_APISERVER_CONTROLLERS_EXPECTED_ERRORS_H_
