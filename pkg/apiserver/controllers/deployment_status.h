/// @file
/// What a Deployment's status says.
#ifndef KUBEXX_APISERVER_CONTROLLERS_DEPLOYMENT_STATUS_H_
#define KUBEXX_APISERVER_CONTROLLERS_DEPLOYMENT_STATUS_H_

#include <string>
#include <vector>

#include "kubexx/api/apps/v1/types.gen.h"
#include "kubexx/apimachinery/time.h"

namespace kubexx::apiserver::controllers {

/// The ReplicaSets of a Deployment.
struct ReplicaSets {
  /// That of the Deployment's template; null when there is none yet.
  const api::apps::v1::ReplicaSet* current = nullptr;
  /// The others, oldest first.
  std::vector<const api::apps::v1::ReplicaSet*> old{};
};

/// What a reconcile has come to before it writes the status.
struct RolloutOutcome {
  /// The current ReplicaSet was just created.
  bool made = false;
  /// Not all that was to be written is, so that the spec does not count as observed.
  bool failed = false;
  /// Why the current ReplicaSet could not be created, for people; empty unless that has failed.
  std::string refusal{};
};

/// The status after `deployment.status`, with the conditions Available and Progressing as `kubectl
/// rollout status` and `kubectl wait` read them, and ReplicaFailure of the current ReplicaSet or
/// else of the oldest that has one. Semantics: kube-controller-manager's deployment controller.
api::apps::v1::DeploymentStatus NextStatus(const api::apps::v1::Deployment& deployment,
                                           const ReplicaSets& sets, const RolloutOutcome& outcome,
                                           const apimachinery::Time& now);

/// Whether all pods are there, available and of the Deployment's template.
bool IsComplete(const api::apps::v1::Deployment& deployment,
                const api::apps::v1::DeploymentStatus& status);

}  // namespace kubexx::apiserver::controllers

#endif  // KUBEXX_APISERVER_CONTROLLERS_DEPLOYMENT_STATUS_H_
