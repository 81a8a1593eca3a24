#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kubexx/apimachinery/time.h"
#include "kubexx/reloader/kinds/custom_kind.h"
#include "kubexx/reloader/kinds/custom_phase.h"
#include "kubexx/reloader/kinds/custom_template.h"
#include "kubexx/reloader/model/managed_fields.h"
#include "kubexx/reloader/model/rollout_phase.h"
#include "kubexx/reloader/model/source.h"
#include "kubexx/reloader/permissions/denial.h"
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

/// Whether a policy follows the rollout that the write begins, and the kind's rules tell of its
/// end.
bool MarksStatus(const CustomKind& kind, const WorkloadWrite& write) {
  return write.Rolls() && (!kind.done.empty() || !kind.failed.empty()) &&
         write.annotations.contains(std::string(reloadpolicy::kLastRolloutAnnotation));
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

Result<Unstructured> CustomWriter::PatchOnce(const WorkloadId& workload, WorkloadWrite write,
                                             const std::stop_token& stop) const {
  const dynamic::DynamicResource objects =
      ResourceFor(client_, workload.kind, workload.key.namespace_);
  const CustomKind* kind = CustomKindOf(workload.kind);
  const bool marks = kind != nullptr && MarksStatus(*kind, write);
  Unstructured object;
  if (!write.variables.empty() || marks) {
    auto read = objects.Get(workload.key.name, {}, stop);
    if (!read) {
      return Fail(BeforeTheWrite(read.error()));
    }
    object = *std::move(read);
  }
  if (!object.ResourceVersion().empty() && !write.resource_version.empty() &&
      object.ResourceVersion() != write.resource_version) {
    return Fail(Reason::kConflict, "the object has been modified");
  }
  if (marks) {
    auto mark = StatusMark(*kind, object.tree());
    if (mark) {
      write.resource_version = object.ResourceVersion();  // it is of this status, and of no later
    }
    write.annotations[std::string(kStatusBeforeAnnotation)] = std::move(mark);
  }
  KX_ASSIGN_OR_RETURN(const JsonTree patch, MergePatch(write, object, kind));
  if (kind != nullptr && !write.template_annotations.empty()) {
    if (const auto kept = CheckKept(workload, write, patch, stop); !kept) {
      return Fail(BeforeTheWrite(kept.error()));
    }
  }
  return objects.Patch(workload.key.name, Raw(rest::PatchType::kMerge, patch.ToJson()), Options(),
                       stop);
}

Result<WriteOutcome> CustomWriter::PatchOwn(const WorkloadId& workload, WorkloadWrite write,
                                            const std::stop_token& stop) const {
  for (int tries = 1;; ++tries) {
    const auto patched = PatchOnce(workload, write, stop);
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
