/// @file
/// What a controller meets in the ordinary course of things and nobody needs to read of.
#ifndef KUBEXX_APISERVER_CONTROLLERS_EXPECTED_ERRORS_H_
#define KUBEXX_APISERVER_CONTROLLERS_EXPECTED_ERRORS_H_

#include <memory>

#include "kubexx/controller/reconciler.h"

namespace kubexx::apiserver::controllers {

/// `reconcile`, which is done when its namespace ends and takes nothing new, as kube-controller-
/// manager's controllers, and which comes again without a word when somebody else has written the
/// object meanwhile.
controller::ReconcileFunction WithExpectedErrors(controller::ReconcileFunction reconcile);
/// The same of an object.
controller::ReconcileFunction WithExpectedErrors(std::shared_ptr<controller::Reconciler> made);

}  // namespace kubexx::apiserver::controllers

#endif  // KUBEXX_APISERVER_CONTROLLERS_EXPECTED_ERRORS_H_
