#include "kubexx/apiserver/endpoints/validation/objects/validation.h"

#include <algorithm>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>

#include "kubexx/apimachinery/labels.h"
#include "kubexx/apimachinery/names.h"
#include "kubexx/apiserver/endpoints/checks/counts.h"
#include "kubexx/apiserver/endpoints/checks/field_causes.h"
#include "kubexx/apiserver/endpoints/checks/field_path.h"
#include "kubexx/apiserver/endpoints/checks/label_problems.h"
#include "kubexx/apiserver/endpoints/checks/selector_validation.h"
#include "kubexx/apiserver/endpoints/checks/value_checks.h"
#include "kubexx/apiserver/endpoints/validation/cluster/certificate_requests.h"
#include "kubexx/apiserver/endpoints/validation/cluster/class_validation.h"
#include "kubexx/apiserver/endpoints/validation/cluster/config_validation.h"
#include "kubexx/apiserver/endpoints/validation/cluster/quota_validation.h"
#include "kubexx/apiserver/endpoints/validation/network/endpoint_validation.h"
#include "kubexx/apiserver/endpoints/validation/network/ingress_validation.h"
#include "kubexx/apiserver/endpoints/validation/network/network_policy_validation.h"
#include "kubexx/apiserver/endpoints/validation/network/service_validation.h"
#include "kubexx/apiserver/endpoints/validation/pods/claim_validation.h"
#include "kubexx/apiserver/endpoints/validation/pods/pod_update.h"
#include "kubexx/apiserver/endpoints/validation/pods/pod_validation.h"
#include "kubexx/apiserver/endpoints/validation/workloads/autoscaler_validation.h"
#include "kubexx/apiserver/endpoints/validation/workloads/job_validation.h"
#include "kubexx/apiserver/endpoints/validation/workloads/workload_validation.h"
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

void CheckPod(const JsonTree* old, const JsonTree& spec, FieldCauses& causes) {
  if (const JsonTree* const before = old == nullptr ? nullptr : old->Find("spec")) {
    CheckPodUpdate(*before, spec, causes);
  }
  CheckPodSpec(spec, PodKind::kPod, "spec", {}, causes);
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
  CheckChoice(spec, "unhealthyPodEvictionPolicy", "AlwaysAllow|IfHealthyBudget", FieldPath("spec"),
              causes);
}

void CheckLease(const JsonTree& spec, FieldCauses& causes) {
  const FieldPath at("spec");
  if (const auto seconds = IntAt(spec, "leaseDurationSeconds"); seconds && *seconds <= 0) {
    causes.Invalid(at.Of("leaseDurationSeconds"), std::to_string(*seconds),
                   "must be greater than 0");
  }
  CheckLeast(spec, "leaseTransitions", 0, at, causes);
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

/// What is written, and what it was; `old` is null for a new object.
struct CheckedWrite {
  const ResourceType& type;
  const JsonTree* old;
  const JsonTree& object;
  const JsonTree& spec;

  const JsonTree* old_spec() const { return old == nullptr ? nullptr : old->Find("spec"); }
};

/// What checks the objects of a type.
struct Check {
  std::string_view group;
  std::string_view plural;
  void (*of)(const CheckedWrite& written, FieldCauses& causes);
};

void OfWorkload(const CheckedWrite& written, FieldCauses& causes) {
  CheckWorkload(written.type, written.old == nullptr, written.spec, causes);
}

constexpr Check kChecks[] = {
    {"", "pods",
     [](const CheckedWrite& w, FieldCauses& causes) { CheckPod(w.old, w.spec, causes); }},
    {"apps", "deployments", OfWorkload},
    {"apps", "replicasets", OfWorkload},
    {"apps", "daemonsets", OfWorkload},
    {"apps", "statefulsets", OfWorkload},
    {"", "replicationcontrollers",
     [](const CheckedWrite& w, FieldCauses& causes) {
       CheckReplicationController(w.spec, causes);
     }},
    {"", "podtemplates",
     [](const CheckedWrite& w, FieldCauses& causes) {
       CheckPodTemplate(w.object.Find("template"), "template", {}, causes);
     }},
    {"batch", "jobs",
     [](const CheckedWrite& w, FieldCauses& causes) { CheckJob(w.object, causes); }},
    {"batch", "cronjobs",
     [](const CheckedWrite& w, FieldCauses& causes) { CheckCronJob(w.old, w.object, causes); }},
    {"", "services",
     [](const CheckedWrite& w, FieldCauses& causes) { CheckService(w.old, w.object, causes); }},
    {"", "persistentvolumeclaims",
     [](const CheckedWrite& w, FieldCauses& causes) {
       CheckClaimAt(w.spec, FieldPath("spec"), causes);
     }},
    {"", "persistentvolumes",
     [](const CheckedWrite& w, FieldCauses& causes) { CheckPersistentVolume(w.spec, causes); }},
    {"policy", "poddisruptionbudgets",
     [](const CheckedWrite& w, FieldCauses& causes) { CheckBudget(w.spec, causes); }},
    {"networking.k8s.io", "networkpolicies",
     [](const CheckedWrite& w, FieldCauses& causes) { CheckNetworkPolicy(w.spec, causes); }},
    {"networking.k8s.io", "ingresses",
     [](const CheckedWrite& w, FieldCauses& causes) { CheckIngress(w.old, w.object, causes); }},
    {"networking.k8s.io", "ingressclasses",
     [](const CheckedWrite& w, FieldCauses& causes) { CheckIngressClass(w.spec, causes); }},
    {"autoscaling", "horizontalpodautoscalers",
     [](const CheckedWrite& w, FieldCauses& causes) {
       CheckAutoscaler(w.old_spec(), w.spec, causes);
     }},
    {"certificates.k8s.io", "certificatesigningrequests",
     [](const CheckedWrite& w, FieldCauses& causes) { CheckCertificateRequest(w.object, causes); }},
    {"", "namespaces",
     [](const CheckedWrite& w, FieldCauses& causes) { CheckNamespaceSpec(w.old, w.spec, causes); }},
    {"", "configmaps",
     [](const CheckedWrite& w, FieldCauses& causes) { CheckConfigMap(w.object, causes); }},
    {"", "secrets",
     [](const CheckedWrite& w, FieldCauses& causes) { CheckSecret(w.object, causes); }},
    {"storage.k8s.io", "storageclasses",
     [](const CheckedWrite& w, FieldCauses& causes) { CheckStorageClass(w.object, causes); }},
    {"storage.k8s.io", "csidrivers",
     [](const CheckedWrite& w, FieldCauses& causes) { CheckDriver(w.spec, causes); }},
    {"scheduling.k8s.io", "priorityclasses",
     [](const CheckedWrite& w, FieldCauses& causes) { CheckPriorityClass(w.object, causes); }},
    {"node.k8s.io", "runtimeclasses",
     [](const CheckedWrite& w, FieldCauses& causes) { CheckRuntimeClass(w.object, causes); }},
    {"coordination.k8s.io", "leases",
     [](const CheckedWrite& w, FieldCauses& causes) { CheckLease(w.spec, causes); }},
    {"discovery.k8s.io", "endpointslices",
     [](const CheckedWrite& w, FieldCauses& causes) { CheckEndpointSlice(w.object, causes); }},
    {"", "endpoints",
     [](const CheckedWrite& w, FieldCauses& causes) { CheckEndpoints(w.object, causes); }},
    {"", "resourcequotas",
     [](const CheckedWrite& w, FieldCauses& causes) { CheckQuotaSpec(w.spec, causes); }},
    {"", "limitranges",
     [](const CheckedWrite& w, FieldCauses& causes) { CheckLimitRange(w.spec, causes); }},
};

/// Null for types of which nothing is checked here.
const Check* CheckOf(const ResourceType& type) {
  const auto* const found = std::ranges::find_if(kChecks, [&type](const Check& one) {
    return one.plural == type.plural && one.group == type.group;
  });
  return found == std::end(kChecks) ? nullptr : found;
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
  if (type.custom) {
    return;
  }
  const JsonTree& spec = PartAt(object, "spec");
  if (const Check* const check = CheckOf(type)) {
    check->of({.type = type, .old = old, .object = object, .spec = spec}, causes);
  }
}

}  // namespace kubexx::apiserver
