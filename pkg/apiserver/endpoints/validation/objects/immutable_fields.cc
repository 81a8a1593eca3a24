#include "kubexx/apiserver/endpoints/validation/objects/immutable_fields.h"

#include <algorithm>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kubexx/apiserver/endpoints/checks/restore.h"
#include "kubexx/apiserver/endpoints/checks/same_value.h"
#include "kubexx/apiserver/endpoints/validation/network/service_validation.h"
#include "kubexx/apiserver/endpoints/validation/pods/volume_changes.h"
#include "kubexx/apiserver/object/metadata.h"

namespace kubexx::apiserver {
namespace {

using codec::JsonTree;

/// A field that stays as it was made.
struct ImmutableField {
  std::string_view resource;  ///< plural and group
  std::string_view field;     ///< with dots
  /// What kube-apiserver calls it, where that is something else.
  std::string_view told = field;
};

constexpr ImmutableField kImmutable[] = {
    {"secrets", "type"},
    {"deployments.apps", "spec.selector"},
    {"replicasets.apps", "spec.selector"},
    {"daemonsets.apps", "spec.selector"},
    {"controllerrevisions.apps", "data"},
    {"jobs.batch", "spec.selector"},
    {"jobs.batch", "spec.completionMode"},
    {"jobs.batch", "spec.podFailurePolicy"},
    {"jobs.batch", "spec.backoffLimitPerIndex"},
    {"jobs.batch", "spec.successPolicy"},
    {"jobs.batch", "spec.managedBy"},
    {"endpointslices.discovery.k8s.io", "addressType"},
    {"ingressclasses.networking.k8s.io", "spec.controller"},
    {"ipaddresses.networking.k8s.io", "spec.parentRef"},
    {"runtimeclasses.node.k8s.io", "handler"},
    {"priorityclasses.scheduling.k8s.io", "preemptionPolicy"},
    {"persistentvolumes", "spec.volumeMode", "volumeMode"},
    {"persistentvolumeclaims", "spec.volumeMode", "volumeMode"},
    {"storageclasses.storage.k8s.io", "provisioner"},
    {"storageclasses.storage.k8s.io", "parameters"},
    {"storageclasses.storage.k8s.io", "reclaimPolicy"},
    {"storageclasses.storage.k8s.io", "volumeBindingMode"},
    {"csidrivers.storage.k8s.io", "spec.attachRequired", "spec.attachedRequired"},
    {"csidrivers.storage.k8s.io", "spec.volumeLifecycleModes"},
    {"csistoragecapacities.storage.k8s.io", "storageClassName"},
    {"csistoragecapacities.storage.k8s.io", "nodeTopology"},
    {"volumeattachments.storage.k8s.io", "spec"},
};

const JsonTree* FieldOf(const JsonTree& object, std::string_view path) {
  const JsonTree* value = &object;
  while (value != nullptr && !path.empty()) {
    const std::size_t dot = std::min(path.find('.'), path.size());
    value = value->Find(path.substr(0, dot));
    path.remove_prefix(std::min(dot + 1, path.size()));
  }
  return value;
}

bool IsSame(const JsonTree* before, const JsonTree* after) {
  const auto none = [](const JsonTree* value) { return value == nullptr || value->IsNull(); };
  return none(before) || none(after) ? none(before) == none(after) : SameValue(*before, *after);
}

std::string TextOf(const JsonTree* value) { return value == nullptr ? "null" : value->ToJson(); }

/// `object` with what `current` has at the paths, which are what an update may change.
JsonTree WithFormer(JsonTree object, const JsonTree& current,
                    std::span<const std::string_view> paths) {
  for (const std::string_view path : paths) {
    Restore(object, current, path);
  }
  return object;
}

const JsonTree& SpecOf(const JsonTree& object) {
  static const JsonTree kEmpty = JsonTree::Object();
  const JsonTree* const spec = object.Find("spec");
  return spec == nullptr ? kEmpty : *spec;
}

void CheckMarked(const JsonTree& current, const JsonTree& object, FieldCauses& causes) {
  const JsonTree* const immutable = current.Find("immutable");
  if (immutable == nullptr || !immutable->AsBool().value_or(false)) {
    return;
  }
  for (const char* const field : {"immutable", "data", "binaryData", "stringData"}) {
    if (!IsSame(current.Find(field), object.Find(field))) {
      causes.Forbidden(field, "field is immutable when `immutable` is set");
    }
  }
}

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

/// Whether a Job is suspended and has no pod: it has not begun, or its pods are gone.
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

/// Whether two specs of pods differ only in where the pods run and in what their containers get.
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

/// How many pods an indexed Job has may change with the number that run at once.
void CheckJobChange(const JsonTree& current, const JsonTree& before, const JsonTree& after,
                    FieldCauses& causes) {
  const JsonTree* const completions = after.Find("completions");
  const bool elastic = before.TextAt("completionMode") == "Indexed" && completions != nullptr &&
                       IsSame(completions, after.Find("parallelism"));
  if (!elastic && !IsSame(before.Find("completions"), completions)) {
    causes.Invalid("spec.completions", TextOf(completions), "field is immutable");
  }
  if (WaitsWithoutPods(current, before)) {
    // What is written at the pods themselves does not count.
    const JsonTree* const now = after.At({"template", "spec"});
    const JsonTree* const former = before.At({"template", "spec"});
    if (!IsSame(former, now) &&
        (former == nullptr || now == nullptr || !IsSameButForScheduling(*former, *now))) {
      causes.Invalid("spec.template.spec", TextOf(now), "field is immutable");
    }
  } else if (!IsSame(before.Find("template"), after.Find("template"))) {
    causes.Invalid("spec.template", TextOf(after.Find("template")), "field is immutable");
  }
}

/// Ranges of addresses stay; one of the other family may be added.
void CheckServiceCidr(const JsonTree& before, const JsonTree& after, FieldCauses& causes) {
  const JsonTree* const former = before.Find("cidrs");
  const JsonTree* const now = after.Find("cidrs");
  const std::size_t count = former == nullptr ? 0 : former->elements().size();
  const std::string text = count == 0 ? std::string() : TextOf(now);
  for (std::size_t i = 0; i < count; ++i) {
    if (now == nullptr || now->elements().size() <= i ||
        now->elements()[i] != former->elements()[i]) {
      causes.Invalid("spec.cidrs[" + std::to_string(i) + "]", text, "field is immutable");
    }
  }
}

/// The order of a quota's scopes, and how often each is named, mean nothing.
void CheckQuota(const JsonTree& before, const JsonTree& after, FieldCauses& causes) {
  const auto scopes = [](const JsonTree& spec) {
    const std::vector<std::string> names = StringsAt(spec, "scopes");
    return std::set<std::string>(names.begin(), names.end());
  };
  if (scopes(before) != scopes(after)) {
    causes.Invalid("spec.scopes", TextOf(after.Find("scopes")), "field is immutable");
  }
}

}  // namespace

void CheckImmutable(const ResourceType& type, const JsonTree& current, const JsonTree& object,
                    FieldCauses& causes) {
  const std::string resource = type.QualifiedPlural();
  for (const ImmutableField& one : kImmutable) {
    if (one.resource != resource) {
      continue;
    }
    const JsonTree* const now = FieldOf(object, one.field);
    if (IsSame(FieldOf(current, one.field), now)) {
      continue;
    }
    causes.Invalid(std::string(one.told), TextOf(now), "field is immutable");
  }
  const JsonTree& before = SpecOf(current);
  const JsonTree& after = SpecOf(object);
  if (resource == "configmaps" || resource == "secrets") {
    CheckMarked(current, object, causes);
  } else if (resource == "statefulsets.apps") {
    CheckStatefulSetChange(before, after, causes);
  } else if (resource == "jobs.batch") {
    CheckJobChange(current, before, after, causes);
  } else if (resource == "services") {
    CheckServiceChange(before, after, causes);
  } else if (resource == "priorityclasses.scheduling.k8s.io") {
    if (!IsSame(current.Find("value"), object.Find("value"))) {
      causes.Forbidden("value", "may not be changed in an update.");
    }
  } else if (resource == "servicecidrs.networking.k8s.io") {
    CheckServiceCidr(before, after, causes);
  } else if (resource == "persistentvolumeclaims") {
    CheckClaimChange(current, object, causes);
  } else if (resource == "persistentvolumes") {
    CheckVolumeChange(current, object, causes);
  } else if (resource == "resourcequotas") {
    CheckQuota(before, after, causes);
  }
}

}  // namespace kubexx::apiserver
