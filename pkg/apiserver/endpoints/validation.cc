#include "kubexx/apiserver/endpoints/validation.h"

#include <algorithm>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>

#include "kubexx/apimachinery/labels.h"
#include "kubexx/apimachinery/names.h"
#include "kubexx/apiserver/endpoints/certificate_requests.h"
#include "kubexx/apiserver/endpoints/config_validation.h"
#include "kubexx/apiserver/endpoints/counts.h"
#include "kubexx/apiserver/endpoints/deletion.h"
#include "kubexx/apiserver/endpoints/field_causes.h"
#include "kubexx/apiserver/endpoints/label_problems.h"
#include "kubexx/apiserver/endpoints/pod_update.h"
#include "kubexx/apiserver/endpoints/resource_validation.h"
#include "kubexx/apiserver/endpoints/selector_validation.h"
#include "kubexx/apiserver/endpoints/service_validation.h"
#include "kubexx/apiserver/endpoints/simple_fields.h"
#include "kubexx/apiserver/endpoints/update_strategies.h"
#include "kubexx/apiserver/endpoints/volume_changes.h"
#include "kubexx/apiserver/object/label_match.h"
#include "kubexx/apiserver/object/metadata.h"

namespace kubexx::apiserver {
namespace {

using codec::JsonTree;

std::string QuotedText(std::string_view text) { return JsonTree(text).ToJson(); }

std::string At(const std::string& path, std::size_t index) {
  return path + "[" + std::to_string(index) + "]";
}

/// In the order in which Go writes the members.
JsonTree Ordered(const JsonTree& owner) {
  JsonTree ordered = JsonTree::Object();
  for (const char* const field :
       {"apiVersion", "kind", "name", "uid", "controller", "blockOwnerDeletion"}) {
    if (const JsonTree* const value = owner.Find(field)) {
      ordered[field] = *value;
    }
  }
  return ordered;
}

void CheckOwners(const JsonTree& object, FieldCauses& causes) {
  const JsonTree* const owners = object.At({"metadata", "ownerReferences"});
  if (owners == nullptr) {
    return;
  }
  const std::string path = "metadata.ownerReferences";
  std::optional<std::string> controller;
  for (const JsonTree& owner : owners->elements()) {
    const std::string_view version = owner.TextAt("apiVersion");
    if (version.empty()) {
      causes.Invalid(path + ".apiVersion", "\"\"", "version must not be empty");
    }
    for (const char* const field : {"kind", "name", "uid"}) {
      if (owner.TextAt(field).empty()) {
        causes.Invalid(path + "." + field, "\"\"", "must not be empty");
      }
    }
    if (version == "v1" && owner.TextAt("kind") == "Event") {
      causes.Invalid(path, Ordered(owner).ToJson(),
                     "/v1, Kind=Event is disallowed from being an owner");
    }
    const JsonTree* const controls = owner.Find("controller");
    if (controls == nullptr || !controls->AsBool().value_or(false)) {
      continue;
    }
    const std::string name =
        std::string(owner.TextAt("kind")) + "/" + std::string(owner.TextAt("name"));
    if (controller && causes.full()) {
      causes.Invalid(path, "", "");  // Counted only: the whole list need not be written once more.
    } else if (controller) {
      causes.Invalid(path, owners->ToJson(),
                     "Only one reference can have Controller set to true. Found \"true\" in "
                     "references for " +
                         *controller + " and " + name);
    } else {
      controller = name;
    }
  }
}

/// Whether finalizers need a domain: the types that kube-apiserver serves by its core validation.
bool NeedsDomains(const ResourceType& type) {
  return !type.custom && type.group != "apiextensions.k8s.io" &&
         type.group != "apiregistration.k8s.io" && type.group != "admissionregistration.k8s.io";
}

void CheckFinalizers(const ResourceType& type, const JsonTree* old, const JsonTree& object,
                     FieldCauses& causes) {
  const std::vector<std::string> names = FinalizersOf(object);
  for (std::size_t i = 0; i < names.size(); ++i) {
    CheckLabelKey(names[i], "metadata.finalizers", causes);
    if (NeedsDomains(type) && !IsDomainQualified(names[i])) {
      causes.Invalid(At("metadata.finalizers", i), QuotedText(names[i]),
                     "name is neither a standard finalizer name nor is it fully qualified");
    }
  }
  const auto has = [&names](const char* name) { return std::ranges::count(names, name) > 0; };
  if (has("orphan") && has("foregroundDeletion")) {
    causes.Invalid("metadata.finalizers", object.At({"metadata", "finalizers"})->ToJson(),
                   "orphan and foregroundDeletion exclude each other");
  }
  if (old == nullptr || !IsDeleting(*old)) {
    return;
  }
  const std::vector<std::string> listed = FinalizersOf(*old);
  const std::set<std::string_view> before(listed.begin(), listed.end());
  std::string added;
  for (const std::string& name : names) {
    if (!before.contains(name)) {
      added += (added.empty() ? "" : ", ") + QuotedText(name);
    }
  }
  if (!added.empty()) {
    causes.Forbidden("metadata.finalizers",
                     "no new finalizers can be added if the object is being deleted, found new "
                     "finalizers []string{" +
                         added + "}");
  }
}

/// Variables have names, and a value or one place that it is from.
void CheckVariables(const JsonTree& container, const std::string& path, FieldCauses& causes) {
  const std::span<const JsonTree> variables = ElementsAt(container, {"env"});
  for (std::size_t i = 0; i < variables.size(); ++i) {
    const std::string here = At(path + ".env", i);
    if (variables[i].TextAt("name").empty()) {
      causes.Required(here + ".name");
    }
    const JsonTree* const from = variables[i].Find("valueFrom");
    if (from == nullptr || from->IsNull()) {
      continue;
    }
    const std::string_view why =
        from->size() == 0 ? "must specify one of: `fieldRef`, `resourceFieldRef`, "
                            "`configMapKeyRef`, `secretKeyRef` or `fileKeyRef`"
        : !variables[i].TextAt("value").empty() ? "may not be specified when `value` is not empty"
        : from->size() > 1 ? "may not have more than one field specified at a time"
                           : "";
    if (!why.empty()) {
      causes.Invalid(here + ".valueFrom", QuotedText(""), why);
    }
  }
}

/// Containers have to be there, with names and images.
void CheckContainers(const JsonTree& spec, const std::string& path, FieldCauses& causes) {
  if (ElementsAt(spec, {"containers"}).empty()) {
    causes.Required(path + ".containers");
  }
  std::set<std::string, std::less<>> names;
  for (const char* const list : {"containers", "initContainers"}) {
    const std::span<const JsonTree> containers = ElementsAt(spec, {list});
    for (std::size_t i = 0; i < containers.size(); ++i) {
      const std::string here = At(path + "." + list, i);
      const std::string name(containers[i].TextAt("name"));
      if (name.empty()) {
        causes.Required(here + ".name");
      } else if (!apimachinery::IsDnsLabel(name)) {
        causes.Invalid(here + ".name", QuotedText(name), "must be a DNS label");
      } else if (!names.insert(name).second) {
        causes.Duplicate(here + ".name", QuotedText(name));
      }
      if (containers[i].TextAt("image").empty()) {
        causes.Required(here + ".image");
      }
      CheckVariables(containers[i], here, causes);
    }
  }
  CheckLabelMap(spec.Find("nodeSelector"), path + ".nodeSelector", causes);
  CheckSimplePodFields(spec, path, causes);
  CheckPodResources(spec, path, causes);
}

void CheckPod(const JsonTree* old, const JsonTree& spec, FieldCauses& causes) {
  if (const JsonTree* const before = old == nullptr ? nullptr : old->Find("spec")) {
    CheckPodUpdate(*before, spec, causes);
  } else {
    CheckContainers(spec, "spec", causes);
  }
}

/// Labels and annotations of pods to come, which stand at `path`.
void CheckTemplateMetadata(const JsonTree* pod, const std::string& path, FieldCauses& causes) {
  if (pod != nullptr) {
    CheckLabelMap(pod->At({"metadata", "labels"}), path + ".labels", causes);
    CheckAnnotationMap(pod->At({"metadata", "annotations"}), path + ".annotations", causes);
  }
}

/// Of a DaemonSet kube-apiserver says less when its selector is none.
void CheckSelector(const ResourceType& type, const JsonTree& spec, FieldCauses& causes) {
  const bool tells_all = type.plural != "daemonsets";
  const JsonTree* const selector = spec.Find("selector");
  const JsonTree* const labels = spec.At({"template", "metadata", "labels"});
  // In its canonical form one that was left out is empty, and an empty one is refused, too.
  const bool given = selector != nullptr && selector->size() > 0;
  if (!given && tells_all) {
    causes.Required("spec.selector");
  }
  FieldCauses problems;
  CheckLabelSelector(selector, "spec.selector", problems);
  if (!problems.empty()) {
    causes.AddAll(std::move(problems).Take());
    if (tells_all) {
      causes.Invalid("spec.selector", selector->ToJson(), "invalid label selector");
    }
  } else if (!given || !MatchesSelector(*selector, LabelMapOf(labels))) {
    causes.Invalid("spec.template.metadata.labels", labels == nullptr ? "null" : labels->ToJson(),
                   "`selector` does not match template `labels`");
  }
}

void CheckReplicas(const JsonTree& spec, FieldCauses& causes) {
  const JsonTree* const replicas = spec.Find("replicas");
  if (const std::int64_t count = replicas == nullptr ? 0 : replicas->AsInt().value_or(0);
      count < 0) {
    causes.Invalid("spec.replicas", std::to_string(count), "must be greater than or equal to 0");
  }
}

/// A template of pods that are to run all the time.
void CheckLastingPods(const JsonTree& spec, FieldCauses& causes) {
  const JsonTree* const pod = spec.At({"template", "spec"});
  CheckTemplateMetadata(spec.Find("template"), "spec.template", causes);
  CheckContainers(pod == nullptr ? JsonTree::Object() : *pod, "spec.template.spec", causes);
  const std::string policy = pod == nullptr ? "" : StringAt(*pod, {"restartPolicy"});
  if (!policy.empty() && policy != "Always") {
    causes.NotSupported("spec.template.spec.restartPolicy", QuotedText(policy), "\"Always\"");
  }
}

void CheckWorkload(const ResourceType& type, const JsonTree& spec, FieldCauses& causes) {
  CheckReplicas(spec, causes);
  CheckUpdateStrategy(type, spec, causes);
  CheckSelector(type, spec, causes);
  CheckLastingPods(spec, causes);
}

/// Its selector is no more than labels.
void CheckReplicationController(const JsonTree& spec, FieldCauses& causes) {
  CheckReplicas(spec, causes);
  const JsonTree* const selector = spec.Find("selector");
  if (selector == nullptr || selector->size() == 0) {
    causes.Required("spec.selector");
  }
  if (spec.Find("template") == nullptr) {
    causes.Required("spec.template");
    return;
  }
  const JsonTree* const labels = spec.At({"template", "metadata", "labels"});
  if (!apimachinery::LabelSelector::FromMap(LabelMapOf(selector)).Matches(LabelMapOf(labels))) {
    causes.Invalid("spec.template.metadata.labels", labels == nullptr ? "null" : labels->ToJson(),
                   "`selector` does not match template `labels`");
  }
  CheckLastingPods(spec, causes);
}

void CheckJob(const JsonTree& spec, const std::string& path, FieldCauses& causes) {
  const JsonTree* const selector = spec.Find("selector");
  const JsonTree* const labels = spec.At({"template", "metadata", "labels"});
  if (selector != nullptr && !MatchesSelector(*selector, LabelMapOf(labels))) {
    causes.Invalid(path + ".template.metadata.labels",
                   labels == nullptr ? "null" : labels->ToJson(),
                   "`selector` does not match template `labels`");
  }
  const JsonTree* const pod = spec.At({"template", "spec"});
  CheckTemplateMetadata(spec.Find("template"), path + ".template", causes);
  CheckContainers(pod == nullptr ? JsonTree::Object() : *pod, path + ".template.spec", causes);
  const std::string policy = pod == nullptr ? "" : StringAt(*pod, {"restartPolicy"});
  if (policy != "Never" && policy != "OnFailure") {
    causes.Required(path + ".template.spec.restartPolicy",
                    "valid values: \"OnFailure\", \"Never\"");
  }
}

void CheckCronJob(const JsonTree& spec, FieldCauses& causes) {
  const std::string schedule = StringAt(spec, {"schedule"});
  if (schedule.empty()) {
    causes.Required("spec.schedule");
  } else if (const std::string problem = ScheduleProblem(schedule); !problem.empty()) {
    causes.Invalid("spec.schedule", QuotedText(schedule), problem);
  }
  const JsonTree* const job = spec.At({"jobTemplate", "spec"});
  CheckJob(job == nullptr ? JsonTree::Object() : *job, "spec.jobTemplate.spec", causes);
}

/// How many pods have to be there, or may be missing, but not both.
void CheckBudget(const JsonTree& spec, FieldCauses& causes) {
  const JsonTree* const available = spec.Find("minAvailable");
  const JsonTree* const unavailable = spec.Find("maxUnavailable");
  if (available != nullptr && unavailable != nullptr) {
    causes.Invalid("spec", spec.ToJson(), "minAvailable and maxUnavailable exclude each other");
  }
  for (const auto& [field, value] :
       {std::pair("spec.minAvailable", available), std::pair("spec.maxUnavailable", unavailable)}) {
    CheckCountOrPercent(value, field, causes);
    CheckNotAboveAll(value, field, causes);
  }
  CheckLabelSelector(spec.Find("selector"), "spec.selector", causes);
}

void CheckAutoscaler(const JsonTree& spec, FieldCauses& causes) {
  const auto count = [&spec](const char* member) {
    const JsonTree* const found = spec.Find(member);
    return found == nullptr ? std::int64_t{0} : found->AsInt().value_or(0);
  };
  const std::int64_t most = count("maxReplicas");
  if (most < 1) {
    causes.Invalid("spec.maxReplicas", std::to_string(most), "must be greater than 0");
  } else if (most < count("minReplicas")) {
    causes.Invalid("spec.maxReplicas", std::to_string(most),
                   "must be greater than or equal to `minReplicas`");
  }
  for (const char* const member : {"kind", "name"}) {
    if (StringAt(spec, {"scaleTargetRef", member}).empty()) {
      causes.Required(std::string("spec.scaleTargetRef.") + member);
    }
  }
}

/// Those of a namespace's spec. `old` is null for a create.
void CheckNamespaceSpec(const JsonTree* old, const JsonTree& spec, FieldCauses& causes) {
  const std::vector<std::string> names = StringsAt(spec, "finalizers");
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::string path = old == nullptr ? "spec.finalizers" : At("spec.finalizers", i);
    CheckLabelKey(names[i], path, causes);
    if (!IsDomainQualified(names[i])) {
      causes.Invalid(path, QuotedText(names[i]),
                     "name is neither a standard finalizer name nor is it fully qualified");
    }
  }
}

}  // namespace

bool IsDomainQualified(std::string_view finalizer) {
  constexpr std::string_view kStandard[] = {"orphan", "foregroundDeletion", "kubernetes"};
  return finalizer.find('/') != std::string_view::npos ||
         std::ranges::find(kStandard, finalizer) != std::end(kStandard);
}

void CheckMetadata(const ResourceType& type, const JsonTree* old, const JsonTree& object,
                   FieldCauses& causes) {
  CheckAnnotationMap(object.At({"metadata", "annotations"}), "metadata.annotations", causes);
  CheckOwners(object, causes);
  CheckFinalizers(type, old, object, causes);
}

void CheckSpec(const ResourceType& type, const JsonTree* old, const JsonTree& object,
               FieldCauses& causes) {
  const JsonTree* const found = object.Find("spec");
  const JsonTree spec = found == nullptr ? JsonTree::Object() : *found;
  if (!type.custom) {
    CheckSimpleFields(type.QualifiedPlural(), object, causes);
  }
  if (type.group.empty() && type.plural == "pods") {
    CheckPod(old, spec, causes);
  } else if (type.group == "apps" && type.plural != "controllerrevisions") {
    CheckWorkload(type, spec, causes);
  } else if (type.group.empty() && type.plural == "replicationcontrollers") {
    CheckReplicationController(spec, causes);
  } else if (type.group.empty() && type.plural == "podtemplates") {
    const JsonTree* const pod = object.At({"template", "spec"});
    CheckTemplateMetadata(object.Find("template"), "template", causes);
    CheckContainers(pod == nullptr ? JsonTree::Object() : *pod, "template.spec", causes);
  } else if (type.group == "batch") {
    type.plural == "jobs" ? CheckJob(spec, "spec", causes) : CheckCronJob(spec, causes);
  } else if (type.group.empty() && type.plural == "services") {
    CheckService(old, object, causes);
  } else if (type.group.empty() && type.plural == "persistentvolumeclaims") {
    CheckClaim(spec, causes);
  } else if (type.group == "policy" && type.plural == "poddisruptionbudgets") {
    CheckBudget(spec, causes);
  } else if (type.group == "networking.k8s.io" && type.plural == "networkpolicies") {
    CheckLabelSelector(spec.Find("podSelector"), "spec.podSelector", causes);
  } else if (type.group == "autoscaling") {
    CheckAutoscaler(spec, causes);
  } else if (IsCertificateRequest(type)) {
    CheckCertificateRequest(object, causes);
  } else if (IsNamespace(type)) {
    CheckNamespaceSpec(old, spec, causes);
  } else if (type.group.empty() && (type.plural == "configmaps" || type.plural == "secrets")) {
    type.plural == "secrets" ? CheckSecret(object, causes) : CheckConfigMap(object, causes);
  }
}

}  // namespace kubexx::apiserver
