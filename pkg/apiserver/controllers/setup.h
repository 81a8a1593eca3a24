/// @file
/// What adds each controller to the manager.
#ifndef KUBEXX_APISERVER_CONTROLLERS_SETUP_H_
#define KUBEXX_APISERVER_CONTROLLERS_SETUP_H_

#include "kubexx/apimachinery/status.h"
#include "kubexx/apiserver/controllers/controllers.h"
#include "kubexx/apiserver/storage/storage.h"
#include "kubexx/controller/manager.h"

namespace kubexx::apiserver::controllers {

/// What a controller is made of. Its parts outlive it.
struct Setup {
  controller::Manager& manager;
  storage::Storage& storage;
  const ControllersOptions& options;
};

/// Each adds the controllers of one name; errors of Manager::Add. This one: what every namespace
/// has.
apimachinery::Result<void> AddNamespaceController(const Setup& setup);
/// Puts tokens into the Secrets that are for them.
apimachinery::Result<void> AddTokenSecretController(const Setup& setup);
/// Deletes what its owners have left, and orphans what they leave behind.
apimachinery::Result<void> AddGarbageCollector(const Setup& setup);
/// Deployments make ReplicaSets.
apimachinery::Result<void> AddDeploymentController(const Setup& setup);
/// ReplicaSets make pods.
apimachinery::Result<void> AddReplicaSetController(const Setup& setup);
/// StatefulSets make pods, one after the other.
apimachinery::Result<void> AddStatefulSetController(const Setup& setup);
/// DaemonSets make a pod on each node.
apimachinery::Result<void> AddDaemonSetController(const Setup& setup);
/// Jobs make pods that end.
apimachinery::Result<void> AddJobController(const Setup& setup);
/// Says how many pods PodDisruptionBudgets let go.
apimachinery::Result<void> AddDisruptionController(const Setup& setup);
/// Pods are scheduled to `kubexx-node`, and run, without a kubelet.
apimachinery::Result<void> AddPodController(const Setup& setup);

}  // namespace kubexx::apiserver::controllers

#endif  // KUBEXX_APISERVER_CONTROLLERS_SETUP_H_
