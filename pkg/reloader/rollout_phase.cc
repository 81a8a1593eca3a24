#include "kubexx/reloader/rollout_phase.h"

#include <algorithm>
#include <cstdint>

namespace kubexx::reloader {
namespace {

namespace apps = api::apps::v1;
using reloadpolicy::Phase;

}  // namespace

Phase PhaseOf(const apps::Deployment& deployment) {
  const apps::DeploymentStatus& status = deployment.status;
  if (deployment.spec.paused) {
    return Phase::kComplete;
  }
  if (status.observed_generation < deployment.metadata.generation) {
    return Phase::kUpdating;
  }
  if (std::ranges::any_of(status.conditions, [](const apps::DeploymentCondition& condition) {
        return condition.type == "Progressing" && condition.reason == "ProgressDeadlineExceeded";
      })) {
    return Phase::kFailed;
  }
  const std::int32_t wanted = deployment.spec.replicas.value_or(1);
  if (status.updated_replicas < wanted || status.replicas > status.updated_replicas) {
    return Phase::kUpdating;
  }
  return status.available_replicas < wanted ? Phase::kUnavailable : Phase::kComplete;
}

Phase PhaseOf(const apps::StatefulSet& set) {
  const apps::StatefulSetStatus& status = set.status;
  if (status.observed_generation < set.metadata.generation) {
    return Phase::kUpdating;
  }
  if (set.spec.update_strategy.type == "OnDelete") {
    return Phase::kComplete;
  }
  const std::int32_t wanted = set.spec.replicas.value_or(1);
  const auto& rolling = set.spec.update_strategy.rolling_update;
  const std::int32_t kept = rolling ? rolling->partition.value_or(0) : 0;
  // The count of updated pods is kept only while a rollout goes on.
  if (status.update_revision != status.current_revision &&
      status.updated_replicas < std::max(wanted - kept, 0)) {
    return Phase::kUpdating;
  }
  return status.available_replicas < wanted ? Phase::kUnavailable : Phase::kComplete;
}

Phase PhaseOf(const apps::DaemonSet& set) {
  const apps::DaemonSetStatus& status = set.status;
  if (status.observed_generation < set.metadata.generation) {
    return Phase::kUpdating;
  }
  if (set.spec.update_strategy.type == "OnDelete") {
    return Phase::kComplete;
  }
  if (status.updated_number_scheduled < status.desired_number_scheduled) {
    return Phase::kUpdating;
  }
  return status.number_available < status.desired_number_scheduled ? Phase::kUnavailable
                                                                   : Phase::kComplete;
}

}  // namespace kubexx::reloader
