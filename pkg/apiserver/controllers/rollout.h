/// @file
/// How many pods each ReplicaSet of a Deployment shall have next: the arithmetic of a rollout,
/// without any I/O. Semantics: the API's DeploymentStrategy, and kube-controller-manager's
/// deployment controller.
#ifndef KUBEXX_APISERVER_CONTROLLERS_ROLLOUT_H_
#define KUBEXX_APISERVER_CONTROLLERS_ROLLOUT_H_

#include <cstdint>
#include <vector>

#include "kubexx/api/apps/v1/types.gen.h"

namespace kubexx::apiserver::controllers {

/// What a rolling update may do to the number of pods. Then never are both zero.
struct RolloutLimits {
  std::int32_t surge = 0;        ///< pods above the wanted number
  std::int32_t unavailable = 0;  ///< pods below it that serve
  bool operator==(const RolloutLimits&) const = default;
};

/// Of a Deployment's strategy: a percentage of its replicas, rounded up for the surge and down for
/// what may be unavailable; what is no number counts as 0. Nothing of both for Recreate.
RolloutLimits LimitsOf(const api::apps::v1::Deployment& deployment);

/// `value`, or that percentage of `total`. What is neither counts as 0.
std::int32_t Resolve(const apimachinery::IntOrString& value, std::int32_t total, bool round_up);

/// A ReplicaSet as a rollout sees it.
struct ReplicaCount {
  std::int32_t replicas = 0;   ///< its spec's
  std::int32_t available = 0;  ///< its status's
  bool operator==(const ReplicaCount&) const = default;
};

/// Where a rollout stands.
struct RolloutState {
  std::int32_t wanted = 0;
  RolloutLimits limits{};
  ReplicaCount current{};           ///< the ReplicaSet of the Deployment's template
  std::vector<ReplicaCount> old{};  ///< the others, oldest first
};

/// What the ReplicaSets' specs shall say.
struct RolloutStep {
  std::int32_t current = 0;
  std::vector<std::int32_t> old{};  ///< as in the state
  bool operator==(const RolloutStep&) const = default;
};

/// The next step of a rolling update: the current one grows as far as the surge lets it; the old
/// ones shrink, first by what is not available, then as long as enough pods are left.
RolloutStep NextRollingStep(const RolloutState& state);

/// After a change of the number of replicas in the middle of a rollout, or while it is paused: all
/// sets grow or shrink in proportion. `old_total` is how many pods there could be before.
RolloutStep NextScalingStep(const RolloutState& state, std::int32_t old_total);

}  // namespace kubexx::apiserver::controllers

#endif  // KUBEXX_APISERVER_CONTROLLERS_ROLLOUT_H_
