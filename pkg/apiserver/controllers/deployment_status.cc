#include "kubexx/apiserver/controllers/deployment_status.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kubexx/apiserver/controllers/rollout.h"
#include "kubexx/controller/conditions.h"

namespace kubexx::apiserver::controllers {
namespace {

using api::apps::v1::Deployment;
using api::apps::v1::DeploymentCondition;
using api::apps::v1::DeploymentStatus;
using api::apps::v1::ReplicaSet;
using api::apps::v1::ReplicaSetCondition;
using apimachinery::Time;

constexpr const char* kReplicaFailure = "ReplicaFailure";

/// Puts `condition` in place of the one of its type. The times stay when nothing else changes;
/// `touch` renews the time of the update all the same.
void Set(DeploymentStatus& status, DeploymentCondition condition, const Time& now, bool touch) {
  const DeploymentCondition* const before =
      controller::FindCondition(status.conditions, condition.type);
  const bool same = before != nullptr && before->status == condition.status &&
                    before->reason == condition.reason && !touch;
  condition.last_update_time = same ? before->last_update_time : now;
  if (same) {
    condition.message = before->message;
  }
  controller::SetCondition(status.conditions, std::move(condition), now);
}

DeploymentCondition Condition(const char* type, const char* value, const char* reason,
                              std::string message) {
  DeploymentCondition condition;
  condition.type = type;
  condition.status = value;
  condition.reason = reason;
  condition.message = std::move(message);
  return condition;
}

void Count(const ReplicaSet& set, DeploymentStatus& status) {
  status.replicas += set.status.replicas;
  status.ready_replicas += set.status.ready_replicas;
  status.available_replicas += set.status.available_replicas;
}

/// Whether pods came, went or became available since `before`.
bool HasMoved(const DeploymentStatus& before, const DeploymentStatus& after) {
  return after.updated_replicas > before.updated_replicas ||
         after.replicas - after.updated_replicas < before.replicas - before.updated_replicas ||
         after.ready_replicas > before.ready_replicas ||
         after.available_replicas > before.available_replicas;
}

const ReplicaSetCondition* FailureOf(const ReplicaSets& sets) {
  std::vector<const ReplicaSet*> order = {sets.current};
  order.insert(order.end(), sets.old.begin(), sets.old.end());
  for (const ReplicaSet* const set : order) {
    if (set != nullptr) {
      const auto* const found = controller::FindCondition(set->status.conditions, kReplicaFailure);
      if (found != nullptr) {
        return found;
      }
    }
  }
  return nullptr;
}

/// What the ReplicaSets say, until none of them says so any more.
void SetFailures(const ReplicaSets& sets, DeploymentStatus& status) {
  const ReplicaSetCondition* const failure = FailureOf(sets);
  if (failure == nullptr) {
    controller::RemoveCondition(status.conditions, kReplicaFailure);
    return;
  }
  DeploymentCondition condition;
  condition.type = failure->type;
  condition.status = failure->status;
  condition.reason = failure->reason;
  condition.message = failure->message;
  Set(status, std::move(condition), failure->last_transition_time, false);
}

void SetProgress(const Deployment& deployment, const ReplicaSets& sets, bool made,
                 DeploymentStatus& status, const Time& now) {
  const DeploymentCondition* const before =
      controller::FindCondition(deployment.status.conditions, "Progressing");
  const std::string name = sets.current == nullptr ? "" : sets.current->metadata.name;
  if (deployment.spec.paused) {
    Set(status, Condition("Progressing", "Unknown", "DeploymentPaused", "Deployment is paused"),
        now, false);
    return;
  }
  if (IsComplete(deployment, status)) {
    Set(status,
        Condition("Progressing", "True", "NewReplicaSetAvailable",
                  "ReplicaSet \"" + name + "\" has successfully progressed."),
        now, false);
    return;
  }
  const bool moved = HasMoved(deployment.status, status);
  const bool resumed = before != nullptr && before->reason == "DeploymentPaused";
  const bool new_rollout = before != nullptr && before->reason == "NewReplicaSetAvailable" &&
                           deployment.status.observed_generation < deployment.metadata.generation;
  if (made || moved || resumed || new_rollout || before == nullptr) {
    const char* const reason = made      ? "NewReplicaSetCreated"
                               : resumed ? "DeploymentResumed"
                                         : "ReplicaSetUpdated";
    Set(status,
        Condition("Progressing", "True", reason,
                  made ? "Created new replica set \"" + name + "\""
                       : "ReplicaSet \"" + name + "\" is progressing."),
        now, true);
    return;
  }
  const auto deadline = deployment.spec.progress_deadline_seconds;
  if (deadline && before->reason != "NewReplicaSetAvailable" &&
      before->last_update_time.seconds + *deadline <= now.seconds) {
    Set(status,
        Condition("Progressing", "False", "ProgressDeadlineExceeded",
                  "ReplicaSet \"" + name + "\" has timed out progressing."),
        now, false);
  }
}

}  // namespace

bool IsComplete(const Deployment& deployment, const DeploymentStatus& status) {
  const std::int32_t wanted = deployment.spec.replicas.value_or(1);
  return status.updated_replicas == wanted && status.replicas == wanted &&
         status.available_replicas == wanted &&
         status.observed_generation >= deployment.metadata.generation;
}

DeploymentStatus NextStatus(const Deployment& deployment, const ReplicaSets& sets,
                            const RolloutOutcome& outcome, const Time& now) {
  DeploymentStatus status;
  status.conditions = deployment.status.conditions;
  status.collision_count = deployment.status.collision_count;
  status.terminating_replicas = deployment.status.terminating_replicas;
  status.observed_generation =
      outcome.failed ? deployment.status.observed_generation : deployment.metadata.generation;
  if (sets.current != nullptr) {
    Count(*sets.current, status);
    status.updated_replicas = sets.current->status.replicas;
  }
  for (const ReplicaSet* const set : sets.old) {
    Count(*set, status);
  }
  const std::int32_t wanted = deployment.spec.replicas.value_or(1);
  status.unavailable_replicas = std::max(
      {0, wanted - status.available_replicas, status.replicas - status.available_replicas});
  const bool enough = status.available_replicas >= wanted - LimitsOf(deployment).unavailable;
  Set(status,
      enough ? Condition("Available", "True", "MinimumReplicasAvailable",
                         "Deployment has minimum availability.")
             : Condition("Available", "False", "MinimumReplicasUnavailable",
                         "Deployment does not have minimum availability."),
      now, false);
  if (!outcome.failed) {
    SetProgress(deployment, sets, outcome.made, status, now);
  } else if (!outcome.refusal.empty() && deployment.spec.progress_deadline_seconds) {
    Set(status, Condition("Progressing", "False", "ReplicaSetCreateError", outcome.refusal), now,
        false);
  }
  SetFailures(sets, status);
  return status;
}

}  // namespace kubexx::apiserver::controllers
