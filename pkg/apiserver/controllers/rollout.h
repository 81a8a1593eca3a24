/// @file
/// Computes how many pods each ReplicaSet of a Deployment has to have next in a rollout. No I/O.
/// Semantics: the API's DeploymentStrategy, and kube-controller-manager's deployment controller.
#ifndef KUBEXX_APISERVER_CONTROLLERS_ROLLOUT_H_
#define KUBEXX_APISERVER_CONTROLLERS_ROLLOUT_H_

#include <cstdint>
#include <vector>

#include "kubexx/api/apps/v1/types.gen.h"

namespace kubexx::apiserver::controllers {

/// By how much a rolling update may change the number of pods. For a rolling update the two are
/// never both zero.
struct RolloutLimits {
  std::int32_t surge = 0;        ///< how many pods there may be above the wanted number
  std::int32_t unavailable = 0;  ///< how many of the wanted pods may be unavailable
  bool operator==(const RolloutLimits&) const = default;
};

/// Computes the limits from a Deployment's strategy. Percentages are of its replicas, rounded up
/// for maxSurge and down for maxUnavailable; an invalid value counts as 0. Both limits are 0 for
/// the strategy Recreate.
RolloutLimits LimitsOf(const api::apps::v1::Deployment& deployment);

/// Returns `value` if it is a number, or that percentage of `total`. Anything else counts as 0.
std::int32_t Resolve(const apimachinery::IntOrString& value, std::int32_t total, bool round_up);

/// The numbers of a ReplicaSet that a rollout depends on.
struct ReplicaCount {
  std::int32_t replicas = 0;   ///< spec.replicas
  std::int32_t available = 0;  ///< status.availableReplicas
  bool operator==(const ReplicaCount&) const = default;
};

/// The state of a rollout.
struct RolloutState {
  std::int32_t wanted = 0;
  RolloutLimits limits{};
  ReplicaCount current{};           ///< the ReplicaSet of the Deployment's template
  std::vector<ReplicaCount> old{};  ///< the others, oldest first
  bool has_current = true;          ///< the ReplicaSet of the Deployment's template exists
};

/// The numbers of replicas to write to the ReplicaSets' specs.
struct RolloutStep {
  std::int32_t current = 0;
  std::vector<std::int32_t> old{};  ///< in the order of `RolloutState::old`
  bool operator==(const RolloutStep&) const = default;
};

/// Computes the next step of a rolling update. The current ReplicaSet grows as far as the surge
/// allows. The old ones shrink, first by their unavailable pods, then as long as enough available
/// pods remain.
RolloutStep NextRollingStep(const RolloutState& state);

/// Computes the next step when the number of replicas has changed during a rollout or while it is
/// paused: all ReplicaSets that have replicas grow or shrink in proportion, to the nearest whole
/// number; what is left over goes to the largest. When none has any, the current one gets all of
/// them, or the newest of the others while there is no current one. `old_total` is the maximum
/// number of pods before the change.
RolloutStep NextScalingStep(const RolloutState& state, std::int64_t old_total);

}  // namespace kubexx::apiserver::controllers

#endif  // KUBEXX_APISERVER_CONTROLLERS_ROLLOUT_H_
