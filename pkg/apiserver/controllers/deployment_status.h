/// @file
/// Computes the status of a Deployment.
#ifndef KUBEXX_APISERVER_CONTROLLERS_DEPLOYMENT_STATUS_H_
#define KUBEXX_APISERVER_CONTROLLERS_DEPLOYMENT_STATUS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kubexx/api/apps/v1/types.gen.h"
#include "kubexx/apimachinery/time.h"

namespace kubexx::apiserver::controllers {

/// The ReplicaSets of a Deployment.
struct ReplicaSets {
  /// The ReplicaSet of the Deployment's template; null when it does not exist yet.
  const api::apps::v1::ReplicaSet* current = nullptr;
  /// The others, oldest first.
  std::vector<const api::apps::v1::ReplicaSet*> old{};
};

/// What a reconcile has done before it writes the status.
struct RolloutOutcome {
  /// The current ReplicaSet was just created.
  bool made = false;
  /// Some writes have failed, so that the spec does not count as observed.
  bool failed = false;
  /// A text for people that says why the current ReplicaSet could not be created. Empty unless that
  /// has failed.
  std::string refusal{};
};

/// The new status that follows `deployment.status`, with the conditions Available and Progressing
/// as `kubectl rollout status` and `kubectl wait` read them, and the condition ReplicaFailure of
/// the current ReplicaSet, or else of the oldest ReplicaSet that has it. Semantics:
/// kube-controller-manager's deployment controller.
api::apps::v1::DeploymentStatus NextStatus(const api::apps::v1::Deployment& deployment,
                                           const ReplicaSets& sets, const RolloutOutcome& outcome,
                                           const apimachinery::Time& now);

/// In how many seconds the Deployment has to make progress. None for the largest number that the
/// field can hold, which stands for no deadline in Kubernetes; there is no condition Progressing
/// then.
std::optional<std::int32_t> ProgressDeadlineOf(const api::apps::v1::Deployment& deployment);

/// Whether all pods exist, are available and were made from the Deployment's current template.
bool IsComplete(const api::apps::v1::Deployment& deployment,
                const api::apps::v1::DeploymentStatus& status);

}  // namespace kubexx::apiserver::controllers

#endif  // KUBEXX_APISERVER_CONTROLLERS_DEPLOYMENT_STATUS_H_
