/// @file
/// The functions that add each controller to the manager.
#ifndef KUBEXX_APISERVER_CONTROLLERS_SETUP_H_
#define KUBEXX_APISERVER_CONTROLLERS_SETUP_H_

#include "kubexx/apimachinery/status.h"
#include "kubexx/apiserver/controllers/controllers.h"
#include "kubexx/apiserver/storage/storage.h"
#include "kubexx/controller/manager.h"

namespace kubexx::apiserver::controllers {

/// What a controller needs to be made. The referenced objects must outlive it.
struct Setup {
  controller::Manager& manager;
  storage::Storage& storage;
  const ControllersOptions& options;
};

/// Each of these functions adds the controllers of one name and returns errors of Manager::Add.
/// This one adds the controller that makes the objects which every namespace has.
apimachinery::Result<void> AddNamespaceController(const Setup& setup);
/// Adds the controller that puts tokens into Secrets of the type service-account-token.
apimachinery::Result<void> AddTokenSecretController(const Setup& setup);
/// Adds the garbage collector, which deletes objects whose owners are gone, or orphans them when
/// the deletion of the owner asks for that.
apimachinery::Result<void> AddGarbageCollector(const Setup& setup);
/// Adds the controller that makes ReplicaSets for Deployments.
apimachinery::Result<void> AddDeploymentController(const Setup& setup);
/// Adds the controller that makes pods for ReplicaSets.
apimachinery::Result<void> AddReplicaSetController(const Setup& setup);
/// Adds the controller that makes pods for StatefulSets, one after the other.
apimachinery::Result<void> AddStatefulSetController(const Setup& setup);
/// Adds the controller that makes a pod on each node for DaemonSets.
apimachinery::Result<void> AddDaemonSetController(const Setup& setup);
/// Adds the controller that makes pods for Jobs.
apimachinery::Result<void> AddJobController(const Setup& setup);
/// Adds the controller that writes to the status of PodDisruptionBudgets how many pods may be
/// evicted.
apimachinery::Result<void> AddDisruptionController(const Setup& setup);
/// Adds the controller that schedules pods to the simulated node `kubexx-node` and reports them as
/// running, without a kubelet.
apimachinery::Result<void> AddPodController(const Setup& setup);

}  // namespace kubexx::apiserver::controllers

#endif  // KUBEXX_APISERVER_CONTROLLERS_SETUP_H_
