#include "kubexx/reloader/model/rollout_phase.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "kubexx/reloadpolicy/policy.h"

namespace kubexx::reloader {
namespace {

namespace apps = api::apps::v1;
using reloadpolicy::Phase;

/// Argo's controller writes this annotation when the template of spec.workloadRef has changed.
constexpr std::string_view kArgoGenerationAnnotation = "rollout.argoproj.io/workload-generation";

/// The reason of the condition Progressing when a rollout makes no progress.
constexpr std::string_view kTimedOut = "ProgressDeadlineExceeded";
/// What the API server sets when a Deployment or a Rollout has no progressDeadlineSeconds.
constexpr std::int64_t kDefaultDeadline = 600;

std::int64_t NumberAt(const codec::JsonTree& tree, std::initializer_list<std::string_view> path,
                      std::int64_t otherwise) {
  const codec::JsonTree* value = tree.At(path);
  return value == nullptr ? otherwise : value->AsInt().value_or(otherwise);
}

std::int64_t Generation(const codec::JsonTree& tree) {
  return NumberAt(tree, {"metadata", "generation"}, 0);
}

/// Argo Rollouts writes the number as text, and once wrote a hash. Returns nothing when it is not a
/// number.
std::optional<std::int64_t> NumberIn(const codec::JsonTree* object, std::string_view key) {
  const codec::JsonTree* value = object == nullptr ? nullptr : object->Find(key);
  if (value == nullptr) {
    return std::nullopt;
  }
  if (const auto number = value->AsInt()) {
    return *number;
  }
  const std::string_view text = object->TextAt(key);
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(number)
                                                                  : std::nullopt;
}

std::optional<std::int64_t> Observed(const codec::JsonTree& tree) {
  return NumberIn(tree.Find("status"), "observedGeneration");
}

/// Whether the template of spec.workloadRef is newer than the one that the status describes.
bool IsTemplateUnseen(const codec::JsonTree& tree) {
  const codec::JsonTree* ref = tree.At({"spec", "workloadRef"});
  const auto observed = NumberIn(tree.Find("status"), "workloadObservedGeneration");
  if (ref == nullptr || !ref->IsObject() || !observed) {
    return false;  // or this version of Argo Rollouts does not write the annotation
  }
  const codec::JsonTree* annotations = tree.At({"metadata", "annotations"});
  return *observed < std::max(NumberIn(annotations, kTemplateGenerationAnnotation).value_or(0),
                              NumberIn(annotations, kArgoGenerationAnnotation).value_or(0));
}

/// Returns the phase of a workload whose pods all have the present template.
Phase PhaseOfPods(std::int64_t available, std::int64_t wanted) {
  return wanted == 0          ? Phase::kWithoutPods
         : available < wanted ? Phase::kUnavailable
                              : Phase::kComplete;
}

/// Whether the condition Progressing with this reason shows that the rollout has ended. The second
/// reason is that of a DeploymentConfig.
bool IsEnd(std::string_view reason) {
  return reason == kTimedOut || reason == "NewReplicationControllerAvailable" ||
         reason == "NewReplicaSetAvailable";
}

/// Whether the condition with kTimedOut that was written at `told` was there before the operator's
/// last rollout began. A controller that finds the ReplicaSet of the new template with its pods, as
/// when the template is put back, counts no progress, and leaves the condition as it is in the
/// write that first describes this rollout. `deadline`: spec.progressDeadlineSeconds.
bool IsOfEarlierRollout(const std::map<std::string, std::string>& annotations,
                        const apimachinery::Time& told, std::int64_t deadline) {
  const auto last = reloadpolicy::LastRolloutOf(annotations);
  // It cannot make no progress for so long before that. Half of the time leaves room for a clock
  // that differs from the controller's.
  return last && !told.IsZero() &&
         told.seconds < apimachinery::Time::From(*last).seconds + deadline / 2;
}

/// The same for an Argo Rollout, which is Degraded for other reasons, too.
bool IsDegradedOfEarlierRollout(const codec::JsonTree& tree) {
  const codec::JsonTree* conditions = tree.At({"status", "conditions"});
  const codec::JsonTree* last =
      tree.At({"metadata", "annotations", reloadpolicy::kLastRolloutAnnotation});
  if (conditions == nullptr || last == nullptr) {
    return false;
  }
  const std::map<std::string, std::string> annotations{
      {std::string(reloadpolicy::kLastRolloutAnnotation),
       last->AsString() == nullptr ? "" : *last->AsString()}};
  return std::ranges::any_of(conditions->elements(), [&](const codec::JsonTree& condition) {
    const auto told = apimachinery::Time::Parse(condition.TextAt("lastUpdateTime"));
    return condition.TextAt("type") == "Progressing" && condition.TextAt("reason") == kTimedOut &&
           told &&
           IsOfEarlierRollout(
               annotations, *told,
               NumberAt(tree, {"spec", "progressDeadlineSeconds"}, kDefaultDeadline));
  });
}

bool IsPausedBySpec(const codec::JsonTree& tree) {
  const codec::JsonTree* paused = tree.At({"spec", "paused"});
  return paused != nullptr && paused->AsBool().value_or(false);
}

}  // namespace

Phase PhaseOf(const apps::Deployment& deployment) {
  const apps::DeploymentStatus& status = deployment.status;
  if (deployment.spec.paused) {
    return Phase::kPaused;
  }
  if (status.observed_generation < deployment.metadata.generation) {
    return Phase::kUnseen;
  }
  if (std::ranges::any_of(status.conditions, [&](const apps::DeploymentCondition& condition) {
        return condition.type == "Progressing" && condition.reason == kTimedOut &&
               !IsOfEarlierRollout(
                   deployment.metadata.annotations, condition.last_update_time,
                   deployment.spec.progress_deadline_seconds.value_or(kDefaultDeadline));
      })) {
    return Phase::kFailed;
  }
  if (!AllPodsAreReplaced(deployment)) {
    return Phase::kUpdating;
  }
  return PhaseOfPods(status.available_replicas, deployment.spec.replicas.value_or(1));
}

std::optional<apimachinery::Time> EndOfRollout(const apps::Deployment& deployment) {
  for (const apps::DeploymentCondition& condition : deployment.status.conditions) {
    if (condition.type == "Progressing" && IsEnd(condition.reason)) {
      return condition.last_update_time;
    }
  }
  return std::nullopt;
}

std::optional<apimachinery::Time> EndOfRollout(const codec::JsonTree& tree) {
  const codec::JsonTree* conditions = tree.At({"status", "conditions"});
  if (conditions == nullptr) {
    return std::nullopt;
  }
  for (const codec::JsonTree& condition : conditions->elements()) {
    if (condition.TextAt("type") == "Progressing" && IsEnd(condition.TextAt("reason"))) {
      const auto time = apimachinery::Time::Parse(condition.TextAt("lastUpdateTime"));
      return time ? std::optional(*time) : std::nullopt;
    }
  }
  return std::nullopt;
}

bool HasTimedOut(const apps::Deployment& deployment) {
  return std::ranges::any_of(
      deployment.status.conditions, [](const apps::DeploymentCondition& condition) {
        return condition.type == "Progressing" && condition.reason == kTimedOut;
      });
}

bool HasTimedOut(const codec::JsonTree& tree) {
  const codec::JsonTree* conditions = tree.At({"status", "conditions"});
  return conditions != nullptr &&
         std::ranges::any_of(conditions->elements(), [](const codec::JsonTree& condition) {
           return condition.TextAt("type") == "Progressing" &&
                  condition.TextAt("reason") == kTimedOut;
         });
}

bool AllPodsAreReplaced(const apps::Deployment& deployment) {
  const apps::DeploymentStatus& status = deployment.status;
  return status.observed_generation >= deployment.metadata.generation &&
         status.updated_replicas >= deployment.spec.replicas.value_or(1) &&
         status.replicas <= status.updated_replicas;
}

Phase PhaseOf(const apps::StatefulSet& set) {
  const apps::StatefulSetStatus& status = set.status;
  if (status.observed_generation < set.metadata.generation) {
    return Phase::kUnseen;
  }
  if (set.spec.update_strategy.type == "OnDelete") {
    return Phase::kComplete;
  }
  const std::int32_t wanted = set.spec.replicas.value_or(1);
  const auto& rolling = set.spec.update_strategy.rolling_update;
  const std::int32_t kept = rolling ? rolling->partition.value_or(0) : 0;
  // The controller keeps the count of updated pods only while a rollout is in progress.
  if (status.update_revision != status.current_revision &&
      status.updated_replicas < std::max(wanted - kept, 0)) {
    return Phase::kUpdating;
  }
  return PhaseOfPods(status.available_replicas, wanted);
}

Phase PhaseOf(const apps::DaemonSet& set) {
  const apps::DaemonSetStatus& status = set.status;
  if (status.observed_generation < set.metadata.generation) {
    return Phase::kUnseen;
  }
  if (set.spec.update_strategy.type == "OnDelete") {
    return Phase::kComplete;
  }
  if (status.updated_number_scheduled < status.desired_number_scheduled) {
    return Phase::kUpdating;
  }
  return PhaseOfPods(status.number_available, status.desired_number_scheduled);
}

Phase PhaseOfRollout(const codec::JsonTree& tree) {
  if (IsPausedBySpec(tree)) {
    return Phase::kPaused;
  }
  if (Observed(tree).value_or(Generation(tree)) < Generation(tree) || IsTemplateUnseen(tree)) {
    return Phase::kUnseen;
  }
  const codec::JsonTree* status = tree.Find("status");
  if (status == nullptr || !status->IsObject()) {
    return Phase::kUnseen;
  }
  const std::string_view phase = status->TextAt("phase");  // the phase summarises the status
  return phase == "Progressing" ? Phase::kUpdating
         : phase == "Degraded"
             ? (IsDegradedOfEarlierRollout(tree) ? Phase::kUpdating : Phase::kFailed)
         : phase == "Paused"                            ? Phase::kWaiting
         : NumberAt(tree, {"spec", "replicas"}, 1) == 0 ? Phase::kWithoutPods
                                                        : Phase::kComplete;
}

Phase PhaseOfConfig(const codec::JsonTree& tree) {
  const std::int64_t wanted = NumberAt(tree, {"spec", "replicas"}, 1);
  if (IsPausedBySpec(tree)) {
    return Phase::kPaused;
  }
  if (Observed(tree).value_or(0) < Generation(tree)) {
    return Phase::kUnseen;
  }
  if (NumberAt(tree, {"status", "updatedReplicas"}, 0) < wanted) {
    return Phase::kUpdating;
  }
  return PhaseOfPods(NumberAt(tree, {"status", "availableReplicas"}, 0), wanted);
}

}  // namespace kubexx::reloader
