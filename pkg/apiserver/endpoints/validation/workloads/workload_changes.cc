#include "kubexx/apiserver/endpoints/validation/workloads/workload_changes.h"

#include <algorithm>
#include <cstddef>
#include <span>
#include <string_view>

#include "kubexx/apiserver/endpoints/checks/restore.h"
#include "kubexx/apiserver/endpoints/checks/same_value.h"
#include "kubexx/apiserver/endpoints/checks/value_checks.h"

namespace kubexx::apiserver {
namespace {

using codec::JsonTree;

/// Returns `object` with the former values at the paths that an update may change.
JsonTree WithFormer(JsonTree object, const JsonTree& current,
                    std::span<const std::string_view> paths) {
  for (const std::string_view path : paths) {
    Restore(object, current, path);
  }
  return object;
}

/// Whether a Job is suspended and has no pods, because it has not begun or its pods are gone.
bool WaitsWithoutPods(const JsonTree& job, const JsonTree& spec) {
  const JsonTree* const suspend = spec.Find("suspend");
  const JsonTree* const active = job.At({"status", "active"});
  if (suspend == nullptr || !suspend->AsBool().value_or(false) ||
      (active != nullptr && active->AsInt().value_or(0) != 0)) {
    return false;
  }
  const JsonTree* const conditions = job.At({"status", "conditions"});
  return job.At({"status", "startTime"}) == nullptr ||
         (conditions != nullptr &&
          std::ranges::any_of(conditions->elements(), [](const JsonTree& one) {
            return one.TextAt("type") == "Suspended" && one.TextAt("status") == "True";
          }));
}

/// Whether two pod specs differ only in the scheduling and in the resources of the containers.
bool IsSameButForScheduling(const JsonTree& before, const JsonTree& after) {
  constexpr std::string_view kScheduling[] = {"affinity.nodeAffinity", "nodeSelector",
                                              "tolerations", "schedulingGates"};
  JsonTree now = WithFormer(after, before, kScheduling);
  for (const char* const list : {"containers", "initContainers"}) {
    const JsonTree* const former = before.Find(list);
    JsonTree* const containers = now.Find(list);
    if (former == nullptr || containers == nullptr ||
        former->elements().size() != containers->elements().size()) {
      continue;
    }
    for (std::size_t i = 0; i < former->elements().size(); ++i) {
      const JsonTree& of_before = former->elements()[i];
      if (JsonTree& container = containers->elements()[i];
          container.TextAt("name") == of_before.TextAt("name")) {
        Restore(container, of_before, "resources");
      }
    }
  }
  return SameValue(now, before);
}

}  // namespace

void CheckStatefulSetChange(const JsonTree& before, const JsonTree& after, FieldCauses& causes) {
  constexpr std::string_view kMayChange[] = {"replicas",
                                             "ordinals",
                                             "template",
                                             "updateStrategy",
                                             "minReadySeconds",
                                             "revisionHistoryLimit",
                                             "persistentVolumeClaimRetentionPolicy"};
  if (!SameValue(WithFormer(after, before, kMayChange), before)) {
    causes.Forbidden(
        "spec",
        "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', "
        "'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and "
        "'minReadySeconds' are forbidden");
  }
}

void CheckJobChange(const JsonTree& current, const JsonTree& object, FieldCauses& causes) {
  const JsonTree& before = PartAt(current, "spec");
  const JsonTree& after = PartAt(object, "spec");
  const JsonTree* const completions = after.Find("completions");
  // The completions of an indexed Job may change together with its parallelism.
  const bool elastic = before.TextAt("completionMode") == "Indexed" && completions != nullptr &&
                       SameMember(completions, after.Find("parallelism"));
  if (!elastic && !SameMember(before.Find("completions"), completions)) {
    causes.Invalid("spec.completions", JsonOrNull(completions), "field is immutable");
  }
  if (WaitsWithoutPods(current, before)) {
    // Annotations and labels of the pods do not count.
    const JsonTree* const now = after.At({"template", "spec"});
    const JsonTree* const former = before.At({"template", "spec"});
    if (!SameMember(former, now) &&
        (former == nullptr || now == nullptr || !IsSameButForScheduling(*former, *now))) {
      causes.Invalid("spec.template.spec", JsonOrNull(now), "field is immutable");
    }
  } else if (!SameMember(before.Find("template"), after.Find("template"))) {
    causes.Invalid("spec.template", JsonOrNull(after.Find("template")), "field is immutable");
  }
}

}  // namespace kubexx::apiserver
