#include "kubexx/reloader/write/hand_edits.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <utility>

#include "kubexx/apimachinery/time.h"
#include "kubexx/codec/json_tree.h"
#include "kubexx/reloader/kinds/custom_template.h"
#include "kubexx/reloader/model/annotations.h"
#include "kubexx/reloader/model/source.h"
#include "kubexx/reloader/model/workload_kind.h"
#include "kubexx/reloadpolicy/failed_data.h"
#include "kubexx/reloadpolicy/rolled_data.h"
#include "kubexx/reloadpolicy/rollout_record.h"

namespace kubexx::reloader {
namespace {

using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;
using codec::JsonTree;
using dynamic::Unstructured;

/// The annotation that `kubectl rollout restart` writes.
constexpr std::string_view kRestartedAt = "kubectl.kubernetes.io/restartedAt";
constexpr std::array<std::string_view, 2> kPolicyKinds{"ReloadPolicy", "ClusterReloadPolicy"};

bool IsPolicy(std::string_view kind) {
  return std::ranges::find(kPolicyKinds, kind) != kPolicyKinds.end();
}

/// Returns a patch that changes nothing.
JsonTree PatchOf(const Unstructured& object) {
  JsonTree patch = JsonTree::Object();
  patch["metadata"]["uid"] = object.Uid();
  return patch;
}

HandChange Pause(std::string_view kind, const Unstructured& object) {
  JsonTree patch = PatchOf(object);
  const bool of_policy = IsPolicy(kind);
  const auto annotations = object.Annotations();
  const std::string* value = Find(annotations, kSourcePaused);
  const bool is_paused = of_policy ? object.GetBool({"spec", "paused"}).value_or(false)
                                   : value != nullptr && *value == "true";
  if (is_paused) {
    return {.told = "was paused already"};
  }
  if (of_policy) {
    patch["spec"]["paused"] = true;
  } else {
    patch["metadata"]["annotations"][kSourcePaused] = "true";
  }
  std::string told = "paused; rollouts that become due wait until it is resumed";
  if (!of_policy && value != nullptr && *value == "false") {
    told +=
        ". Its annotation " + std::string(kSourcePaused) +
        ": \"false\" exempted it from the pauses of policies: set that again when you resume it";
  }
  return {patch.ToJson(), std::move(told)};
}

HandChange Resume(std::string_view kind, const Unstructured& object) {
  JsonTree patch = PatchOf(object);
  const bool of_policy = IsPolicy(kind);
  const auto annotations = object.Annotations();
  const std::string* value = Find(annotations, kSourcePaused);
  if (of_policy ? !object.GetBool({"spec", "paused"}).value_or(false)
                : value == nullptr || *value == "false") {
    return {.told = "is not paused by " +
                    (of_policy ? std::string("its spec")
                               : "an annotation of its own; `explain` tells what else holds a "
                                 "workload back")};
  }
  if (of_policy) {
    patch["spec"]["paused"] = nullptr;
  } else {
    patch["metadata"]["annotations"][kSourcePaused] = nullptr;
  }
  return {patch.ToJson(),
          "resumed; what has changed meanwhile is rolled out now, unless something "
          "else holds it back"};
}

/// The data with which the workload has failed in a wave.
std::optional<reloadpolicy::RolledData> FailedDataOf(const Unstructured& object) {
  auto data = reloadpolicy::RolledDataOf(object.Annotations(), object.Uid());
  return data && data->state == reloadpolicy::DataState::kFailed ? std::move(data) : std::nullopt;
}

/// Lets the waves go on for which the workload's failure holds others back. Returns what to tell of
/// that.
std::string Release(const Unstructured& object, JsonTree& patch) {
  auto data = FailedDataOf(object);
  if (!data) {
    return "";
  }
  data->state = reloadpolicy::DataState::kReleased;
  patch["metadata"]["annotations"][reloadpolicy::kRolledDataAnnotation] =
      TextOf(*data, object.Uid());
  return "; later waves for " + reloadpolicy::SourcesOf(data->versions) +
         " are not held back by it any more";
}

Result<void> CheckFailed(std::string_view kind, const Unstructured& object) {
  if (!ParseWorkloadKind(kind) || !reloadpolicy::HasRollouts(kind)) {
    return Fail(Reason::kInvalidConfig, "a " + std::string(kind) + " has no rollouts that fail");
  }
  const auto record = reloadpolicy::RecordOf(object.Annotations(), object.Uid());
  const bool is_under_way = record == reloadpolicy::RolloutState::kStarted ||
                            record == reloadpolicy::RolloutState::kRetried ||
                            record == reloadpolicy::RolloutState::kStartedBroken;
  if (is_under_way && !FailedDataOf(object)) {
    return Fail(Reason::kInvalidConfig,
                reloadpolicy::RolledDataOf(object.Annotations(), object.Uid())
                    ? "its rollout in a wave is on trial: it has neither failed nor become healthy "
                      "yet; wait for either, or write other data"
                    : "its rollout is under way, and has neither failed nor ended yet");
  }
  if (record != reloadpolicy::RolloutState::kFailed && !FailedDataOf(object)) {
    return Fail(Reason::kInvalidConfig,
                "no rollout of it has failed, by its annotation " +
                    std::string(reloadpolicy::kRolloutStateAnnotation) +
                    "; the operator writes that where a policy has it follow rollouts");
  }
  return {};
}

Result<HandChange> Retry(std::string_view kind, const Unstructured& object, base::WallTime now) {
  KX_RETURN_IF_ERROR(CheckFailed(kind, object));
  if (kind == KindName(WorkloadKind::kDeployment) &&
      object.GetBool({"spec", "paused"}).value_or(false)) {
    return Fail(Reason::kInvalidConfig,
                "its rollouts are paused (spec.paused), so no pods would be made anew; resume it "
                "first");
  }
  JsonTree patch = PatchOf(object);
  const std::string time = apimachinery::Time::From(now).ToString();
  if (kind == KindName(WorkloadKind::kRollout)) {
    patch["spec"]["restartAt"] = time;
  } else {
    patch["spec"]["template"]["metadata"]["annotations"][kRestartedAt] = time;
  }
  const std::string released = Release(object, patch);
  HandChange change{.told =
                        "retried: its pods are made anew, with the present data; it counts as "
                        "failed until they are healthy" +
                        released};
  if (const CustomKind* custom = CustomKindOf(*ParseWorkloadKind(kind))) {
    SendTemplateAway(*custom, patch);
    change.wanted = custom->pod_template;
    change.wanted.insert(change.wanted.end(),
                         {"metadata", "annotations", std::string(kRestartedAt)});
  }
  change.patch = patch.ToJson();
  return change;
}

Result<HandChange> Mend(std::string_view kind, const Unstructured& object) {
  KX_RETURN_IF_ERROR(CheckFailed(kind, object));
  JsonTree patch = PatchOf(object);
  patch["metadata"]["annotations"][reloadpolicy::kRolloutStateAnnotation] =
      reloadpolicy::RecordFor(reloadpolicy::RolloutState::kCompleted, object.Uid());
  const std::string released = Release(object, patch);
  return HandChange{patch.ToJson(),
                    "counts as mended; rollouts that its failure has stopped go on" + released};
}

}  // namespace

bool CanBePaused(std::string_view kind) {
  return ParseWorkloadKind(kind) || IsPolicy(kind) ||
         TypeCalled(&SourceTypeNames::kind, kind).has_value();
}

Result<HandChange> HandChangeOf(HandEdit edit, std::string_view kind, const Unstructured& object,
                                base::WallTime now) {
  if ((edit == HandEdit::kPause || edit == HandEdit::kResume) && !CanBePaused(kind)) {
    return Fail(Reason::kInvalidConfig, "a " + std::string(kind) + " cannot be paused");
  }
  switch (edit) {
    case HandEdit::kPause:
      return Pause(kind, object);
    case HandEdit::kResume:
      return Resume(kind, object);
    case HandEdit::kRetry:
      return Retry(kind, object, now);
    case HandEdit::kMended:
      break;
  }
  return Mend(kind, object);
}

}  // namespace kubexx::reloader
