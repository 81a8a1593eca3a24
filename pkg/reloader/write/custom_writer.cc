#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kubexx/apimachinery/time.h"
#include "kubexx/reloader/kinds/custom_kind.h"
#include "kubexx/reloader/kinds/custom_template.h"
#include "kubexx/reloader/model/managed_fields.h"
#include "kubexx/reloader/model/rollout_phase.h"
#include "kubexx/reloader/model/source.h"
#include "kubexx/reloader/write/kind_writers.h"
#include "kubexx/reloader/write/patch.h"
#include "kubexx/reloader/write/template_edit.h"
#include "kubexx/reloadpolicy/policy.h"
#include "kubexx/rest/rest_client.h"

namespace kubexx::reloader {
namespace {

using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;
using codec::JsonTree;
using dynamic::Unstructured;

constexpr int kMaxTries = 5;

kubernetes::PatchOptions Options() { return {.field_manager = std::string(kFieldManager)}; }

kubernetes::RawPatch Raw(rest::PatchType type, std::string text) {
  return {.type = type, .text = std::move(text)};
}

/// The pod template as it is; empty when there is none.
JsonTree PodTemplateOf(const Unstructured& object, const CustomKind* custom) {
  const FieldPath& path = (custom == nullptr ? CustomKind() : *custom).pod_template;
  const std::vector<std::string_view> steps(path.begin(), path.end());
  const JsonTree* present = object.tree().At(std::span(steps));
  return present == nullptr ? JsonTree::Object() : *present;
}

/// Whether the pod template of `object` has all annotations that the write sets.
bool HasTemplateAnnotations(const WorkloadWrite& write, const Unstructured& object,
                            const CustomKind& kind) {
  JsonTree pods = PodTemplateOf(object, &kind);
  const JsonTree* annotations = pods.At({"metadata", "annotations"});
  return std::ranges::all_of(write.template_annotations, [&](const auto& edit) {
    return !edit.second ||
           (annotations != nullptr && annotations->TextAt(edit.first) == *edit.second);
  });
}

/// Times of restarts have no fractions, so two restarts within one second would be one.
std::string NextSecond(const std::string& text) {
  const auto time = apimachinery::Time::Parse(text);
  return time ? apimachinery::Time{.seconds = time->seconds + 1}.ToString() : text;
}

}  // namespace

Result<JsonTree> MergePatch(const WorkloadWrite& write, const Unstructured& object,
                            const CustomKind* custom) {
  JsonTree patch = PatchWithoutVariables(write);
  if (!write.variables.empty()) {
    JsonTree edited = PodTemplateOf(object, custom);
    KX_RETURN_IF_ERROR(EditTemplate(write, edited));
    patch["metadata"]["resourceVersion"] = object.ResourceVersion();
    patch["spec"]["template"]["spec"]["containers"] = edited["spec"]["containers"];
  }
  if (custom != nullptr) {
    SendTemplateAway(*custom, patch);
  }
  return patch;
}

// A CRD whose schema does not say what is in the template's metadata has the server drop it. Then
// nothing would roll, and the same patch would record that something had.
Result<void> CustomWriter::CheckKept(const WorkloadId& workload, const WorkloadWrite& write,
                                     const JsonTree& patch, const std::stop_token& stop) const {
  kubernetes::PatchOptions options = Options();
  options.dry_run = true;
  KX_ASSIGN_OR_RETURN(
      const Unstructured answer,
      ResourceFor(client_, workload.kind, workload.key.namespace_)
          .Patch(workload.key.name, Raw(rest::PatchType::kMerge, patch.ToJson()), options, stop));
  if (HasTemplateAnnotations(write, answer, *CustomKindOf(workload.kind))) {
    return {};
  }
  return Fail(Reason::kInvalidConfig,
              "the API server drops annotations of the pod template of a " +
                  std::string(KindName(workload.kind)) +
                  ", as the schema in its CRD has none there, so the operator can roll it with "
                  "--reload-strategy=env-vars only");
}

Result<WriteOutcome> CustomWriter::PatchOwn(const WorkloadId& workload, WorkloadWrite write,
                                            const std::stop_token& stop) const {
  const dynamic::DynamicResource objects =
      ResourceFor(client_, workload.kind, workload.key.namespace_);
  for (int tries = 1;; ++tries) {
    Unstructured object;
    if (!write.variables.empty()) {
      KX_ASSIGN_OR_RETURN(object, objects.Get(workload.key.name, {}, stop));
    }
    if (!object.ResourceVersion().empty() && !write.resource_version.empty() &&
        object.ResourceVersion() != write.resource_version) {
      return Fail(Reason::kConflict, "the object has been modified");
    }
    KX_ASSIGN_OR_RETURN(const JsonTree patch,
                        MergePatch(write, object, CustomKindOf(workload.kind)));
    if (const CustomKind* kind = CustomKindOf(workload.kind);
        kind != nullptr && !write.template_annotations.empty()) {
      KX_RETURN_IF_ERROR(CheckKept(workload, write, patch, stop));
    }
    const auto patched = objects.Patch(
        workload.key.name, Raw(rest::PatchType::kMerge, patch.ToJson()), Options(), stop);
    if (patched) {
      WriteOutcome outcome = PatchOutcome(write, patched->Generation());
      outcome.version = VersionNumber(patched->ResourceVersion());
      if (write.restart_at && !outcome.left_alone.empty() && tries == 1) {
        write.restart_at = NextSecond(*write.restart_at);  // it restarts for an earlier change then
        continue;
      }
      return outcome;
    }
    if (patched.error().reason != Reason::kConflict || tries >= kMaxTries ||
        !write.resource_version.empty()) {
      return Fail(patched.error());
    }
  }
}

Result<WriteOutcome> CustomWriter::Write(const WorkloadId& workload, const WorkloadWrite& write,
                                         std::stop_token stop) {
  WriteOutcome outcome{.rolled = write.Rolls()};
  WorkloadWrite own = write;
  bool has_rolled = false;
  if (!write.template_of.empty()) {
    const WorkloadWrite of_template{.resource_version = write.template_resource_version,
                                    .variables = std::move(own.variables),
                                    .template_annotations = std::move(own.template_annotations)};
    own.variables.clear();
    own.template_annotations.clear();
    if (of_template.Rolls()) {
      KX_ASSIGN_OR_RETURN(
          const Unstructured patched,
          ResourceFor(client_, WorkloadKind::kDeployment, workload.key.namespace_)
              .Patch(write.template_of,
                     Raw(rest::PatchType::kStrategicMerge, StrategicMergePatch(of_template)),
                     Options(), stop));
      has_rolled = true;
      outcome.template_version = VersionNumber(patched.ResourceVersion());
      if (own.annotations.contains(std::string(reloadpolicy::kLastRolloutAnnotation))) {
        // Nothing else distinguishes the Rollout's old status from the new one.
        own.annotations[std::string(kTemplateGenerationAnnotation)] =
            std::to_string(patched.Generation());
      }
    }
  }
  if (!own.Rolls() && !own.paused) {
    const auto recorded = RecordAnnotations(
        client_, workload, own.annotations, has_rolled ? std::string() : own.resource_version,
        has_rolled ? Records::kRollout : Records::kBaseline, fallbacks_, std::move(stop), outcome);
    if (!recorded && !has_rolled) {
      return Fail(recorded.error());
    }
    if (!recorded) {  // another attempt would roll again
      outcome.recorded = false;
      outcome.refusal = recorded.error();
    }
    return outcome;
  }
  return PatchOwn(workload, std::move(own), stop);
}

}  // namespace kubexx::reloader
