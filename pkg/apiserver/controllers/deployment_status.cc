#include "kubexx/apiserver/controllers/deployment_status.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
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
// Reasons of the condition Progressing.
constexpr const char* kRolledOut = "NewReplicaSetAvailable";
constexpr const char* kTimedOut = "ProgressDeadlineExceeded";

/// Replaces the condition of the same type by `condition`. The times stay when nothing else
/// changes; `touch` renews the time of the update nevertheless.
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

/// Returns all ReplicaSets, the current one first.
std::vector<const ReplicaSet*> AllSets(const ReplicaSets& sets) {
  std::vector<const ReplicaSet*> all = sets.old;
  if (sets.current != nullptr) {
    all.insert(all.begin(), sets.current);
  }
  return all;
}

const ReplicaSetCondition* FailureOf(const ReplicaSets& sets) {
  for (const ReplicaSet* const set : AllSets(sets)) {
    const auto* const found = controller::FindCondition(set->status.conditions, kReplicaFailure);
    if (found != nullptr) {
      return found;
    }
  }
  return nullptr;
}

/// Returns the number of pods that the ReplicaSets have to have.
std::int64_t WantedOf(const ReplicaSets& sets) {
  std::int64_t wanted = 0;
  for (const ReplicaSet* const set : AllSets(sets)) {
    wanted += set->spec.replicas.value_or(1);
  }
  return wanted;
}

/// Returns nothing while a ReplicaSet that has been looked at does not report it.
std::optional<std::int32_t> TerminatingOf(const ReplicaSets& sets) {
  std::int32_t sum = 0;
  for (const ReplicaSet* const set : AllSets(sets)) {
    if (!set->status.terminating_replicas && set->status.observed_generation > 0) {
      return {};
    }
    sum += set->status.terminating_replicas.value_or(0);
  }
  return sum;
}

/// Sets the failures that the ReplicaSets report, until none of them reports one any more.
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
  const auto was = [before](std::string_view reason) {
    return before != nullptr && before->reason == reason;
  };
  const std::string name = sets.current == nullptr ? "" : sets.current->metadata.name;
  const auto deadline = ProgressDeadlineOf(deployment);
  if (!deadline) {
    controller::RemoveCondition(status.conditions, "Progressing");
    return;
  }
  if (deployment.spec.paused) {
    if (!was(kTimedOut)) {
      Set(status, Condition("Progressing", "Unknown", "DeploymentPaused", "Deployment is paused"),
          now, false);
    }
    return;
  }
  // A rollout that has ended stays so while its pods come and go, for example when it is scaled.
  if (!made && was(kRolledOut) && status.replicas == status.updated_replicas) {
    return;
  }
  if (IsComplete(deployment, status)) {
    Set(status,
        Condition("Progressing", "True", kRolledOut,
                  "ReplicaSet \"" + name + "\" has successfully progressed."),
        now, made);
    return;
  }
  const bool moved = HasMoved(deployment.status, status);
  const bool new_rollout =
      was(kRolledOut) && deployment.status.observed_generation < deployment.metadata.generation;
  if (made || moved || new_rollout || before == nullptr) {
    Set(status,
        Condition("Progressing", "True", made ? "NewReplicaSetCreated" : "ReplicaSetUpdated",
                  made ? "Created new replica set \"" + name + "\""
                       : "ReplicaSet \"" + name + "\" is progressing."),
        now, true);
    return;
  }
  if (was("DeploymentPaused")) {  // The deadline counts from now on.
    Set(status, Condition("Progressing", "Unknown", "DeploymentResumed", "Deployment is resumed"),
        now, true);
    return;
  }
  if (!was(kRolledOut) && before->last_update_time.seconds + *deadline <= now.seconds) {
    Set(status,
        Condition("Progressing", "False", kTimedOut,
                  "ReplicaSet \"" + name + "\" has timed out progressing."),
        now, false);
  }
}

}  // namespace

std::optional<std::int32_t> ProgressDeadlineOf(const Deployment& deployment) {
  const auto& deadline = deployment.spec.progress_deadline_seconds;
  return deadline == std::numeric_limits<std::int32_t>::max() ? std::nullopt : deadline;
}

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
  status.observed_generation =
      outcome.failed ? deployment.status.observed_generation : deployment.metadata.generation;
  if (sets.current != nullptr) {
    Count(*sets.current, status);
    status.updated_replicas = sets.current->status.replicas;
  }
  for (const ReplicaSet* const set : sets.old) {
    Count(*set, status);
  }
  status.terminating_replicas = TerminatingOf(sets);
  status.unavailable_replicas = static_cast<std::int32_t>(std::clamp<std::int64_t>(
      WantedOf(sets) - status.available_replicas, 0, std::numeric_limits<std::int32_t>::max()));
  const std::int32_t wanted = deployment.spec.replicas.value_or(1);
  const bool enough = status.available_replicas >= wanted - LimitsOf(deployment).unavailable;
  Set(status,
      enough ? Condition("Available", "True", "MinimumReplicasAvailable",
                         "Deployment has minimum availability.")
             : Condition("Available", "False", "MinimumReplicasUnavailable",
                         "Deployment does not have minimum availability."),
      now, false);
  if (!outcome.failed) {
    SetProgress(deployment, sets, outcome.made, status, now);
  } else if (!outcome.refusal.empty() && ProgressDeadlineOf(deployment)) {
    Set(status, Condition("Progressing", "False", "ReplicaSetCreateError", outcome.refusal), now,
        false);
  }
  SetFailures(sets, status);
  return status;
}

}  // namespace kubexx::apiserver::controllers
