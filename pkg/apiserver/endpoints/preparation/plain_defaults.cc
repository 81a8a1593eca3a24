#include "kubexx/apiserver/endpoints/preparation/plain_defaults.h"

#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kubexx/apiserver/endpoints/preparation/pod_defaults.h"
#include "kubexx/apiserver/endpoints/validation/pods/pod_resources.h"
#include "kubexx/codec/member_index.h"

namespace kubexx::apiserver {
namespace {

using codec::JsonTree;

/// One value.
struct PlainDefault {
  std::string_view type;    ///< "csidrivers.storage.k8s.io"
  std::string_view parent;  ///< "" for the object itself
  std::string_view member;
  std::string_view json;
};

constexpr PlainDefault kPlainDefaults[] = {
    {"persistentvolumes", "spec", "persistentVolumeReclaimPolicy", R"("Retain")"},
    {"persistentvolumes", "spec", "volumeMode", R"("Filesystem")"},
    {"persistentvolumes", "status", "phase", R"("Pending")"},
    {"persistentvolumeclaims", "spec", "volumeMode", R"("Filesystem")"},
    {"persistentvolumeclaims", "status", "phase", R"("Pending")"},
    {"cronjobs.batch", "spec", "concurrencyPolicy", R"("Allow")"},
    {"cronjobs.batch", "spec", "suspend", "false"},
    {"cronjobs.batch", "spec", "successfulJobsHistoryLimit", "3"},
    {"cronjobs.batch", "spec", "failedJobsHistoryLimit", "1"},
    {"priorityclasses.scheduling.k8s.io", "", "preemptionPolicy", R"("PreemptLowerPriority")"},
    {"storageclasses.storage.k8s.io", "", "reclaimPolicy", R"("Delete")"},
    {"storageclasses.storage.k8s.io", "", "volumeBindingMode", R"("Immediate")"},
    {"csidrivers.storage.k8s.io", "spec", "attachRequired", "true"},
    {"csidrivers.storage.k8s.io", "spec", "podInfoOnMount", "false"},
    {"csidrivers.storage.k8s.io", "spec", "storageCapacity", "false"},
    {"csidrivers.storage.k8s.io", "spec", "fsGroupPolicy", R"("ReadWriteOnceWithFSType")"},
    {"csidrivers.storage.k8s.io", "spec", "volumeLifecycleModes", R"(["Persistent"])"},
    {"csidrivers.storage.k8s.io", "spec", "requiresRepublish", "false"},
    {"csidrivers.storage.k8s.io", "spec", "seLinuxMount", "false"},
    {"validatingadmissionpolicies.admissionregistration.k8s.io", "spec", "failurePolicy",
     R"("Fail")"},
    {"mutatingadmissionpolicies.admissionregistration.k8s.io", "spec", "failurePolicy",
     R"("Fail")"}};

bool IsMissing(const JsonTree& value) {
  return value.IsNull() || (value.AsString() != nullptr && value.AsString()->empty()) ||
         (value.IsArray() && value.size() == 0);
}

void SetMissing(JsonTree& object, std::string_view member, std::string_view json) {
  JsonTree& slot = object[member];
  if (IsMissing(slot)) {
    slot = JsonTree::Parse(json).value_or(JsonTree());
  }
}

void DefaultProtocols(JsonTree& object) {
  if (JsonTree* const ports = object.Find("ports")) {
    for (JsonTree& port : ports->elements()) {
      SetMissing(port, "protocol", R"("TCP")");
    }
  }
}

/// Both directions, where the policy says something of what goes out.
void DefaultPolicyTypes(JsonTree& spec) {
  const JsonTree* const out = spec.Find("egress");
  SetMissing(spec, "policyTypes",
             out != nullptr && out->size() > 0 ? R"(["Ingress","Egress"])" : R"(["Ingress"])");
  for (const char* const direction : {"ingress", "egress"}) {
    if (JsonTree* const rules = spec.Find(direction)) {
      for (JsonTree& rule : rules->elements()) {
        DefaultProtocols(rule);
      }
    }
  }
}

/// Gives `to` what it lacks of `from`.
void Complete(const JsonTree* from, JsonTree& to) {
  if (from == nullptr) {
    return;
  }
  std::vector<JsonTree::Member> members(to.members().begin(), to.members().end());
  const codec::MemberIndex own(&to);
  for (const JsonTree::Member& member : from->members()) {
    if (own.Find(member.key) == nullptr) {
      members.push_back(member);
    }
  }
  to = JsonTree::Object(std::move(members));
}

/// What a container may have at most is what it gets, and what it gets is what it asks for.
void DefaultLimits(JsonTree& spec) {
  JsonTree* const limits = spec.Find("limits");
  if (limits == nullptr) {
    return;
  }
  for (JsonTree& limit : limits->elements()) {
    if (limit.TextAt("type") != "Container") {
      continue;
    }
    for (const auto& [to, from] :
         {std::pair("default", "max"), std::pair("defaultRequest", "default"),
          std::pair("defaultRequest", "min")}) {
      JsonTree completed = limit.Find(to) == nullptr ? JsonTree::Object() : *limit.Find(to);
      Complete(limit.Find(from), completed);
      if (completed.size() > 0) {
        limit[to] = std::move(completed);
      }
    }
  }
}

void DefaultConstraints(JsonTree& spec) {
  JsonTree* const constraints = spec.Find("matchConstraints");
  if (constraints == nullptr || !constraints->IsObject()) {
    return;
  }
  SetMissing(*constraints, "matchPolicy", R"("Equivalent")");
  SetMissing(*constraints, "namespaceSelector", "{}");
  SetMissing(*constraints, "objectSelector", "{}");
  for (const char* const list : {"resourceRules", "excludeResourceRules"}) {
    if (JsonTree* const rules = constraints->Find(list)) {
      for (JsonTree& rule : rules->elements()) {
        SetMissing(rule, "scope", R"("*")");
      }
    }
  }
}

/// The object at the path below, if there is one, gets a value that it lacks.
void SetMissingBelow(JsonTree& object, std::initializer_list<std::string_view> path,
                     std::string_view member, std::string_view json) {
  if (JsonTree* const found = object.At(std::span(path.begin(), path.size()));
      found != nullptr && found->IsObject()) {
    SetMissing(*found, member, json);
  }
}

void DefaultReplication(JsonTree& object) {
  JsonTree& spec = object["spec"];
  SetMissing(spec, "replicas", "1");
  const JsonTree* const labels = spec.At({"template", "metadata", "labels"});
  if (labels == nullptr || labels->size() == 0) {
    return;
  }
  const JsonTree copy = *labels;
  if (JsonTree& selector = spec["selector"]; selector.size() == 0) {
    selector = copy;
  }
  if (JsonTree& own = object["metadata"]["labels"]; own.size() == 0) {
    own = copy;
  }
}

}  // namespace

void SetPlainDefaults(const ResourceType& type, JsonTree& object) {
  if (type.custom) {
    return;
  }
  const std::string name = type.QualifiedPlural();
  for (const PlainDefault& one : kPlainDefaults) {
    if (one.type == name) {
      SetMissing(one.parent.empty() ? object : object[one.parent], one.member, one.json);
    }
  }
  if (name == "networkpolicies.networking.k8s.io") {
    DefaultPolicyTypes(object["spec"]);
  } else if (name == "replicationcontrollers") {
    DefaultReplication(object);
  } else if (name == "limitranges") {
    DefaultLimits(object["spec"]);
  } else if (name.ends_with("policies.admissionregistration.k8s.io")) {
    DefaultConstraints(object["spec"]);
  } else if (name == "persistentvolumes") {
    SetVolumeSourceDefaults(object["spec"]);
    RoundAmounts(object["spec"], "capacity");
  } else if (name == "persistentvolumeclaims") {
    if (JsonTree* const resources = object["spec"].Find("resources")) {
      RoundResources(*resources);
    }
  } else if (name == "ingressclasses.networking.k8s.io") {
    SetMissingBelow(object, {"spec", "parameters"}, "scope", R"("Cluster")");
  } else if (name == "prioritylevelconfigurations.flowcontrol.apiserver.k8s.io") {
    SetMissingBelow(object, {"spec", "limited"}, "lendablePercent", "0");
  } else if (JsonTree* const subsets = object.Find("subsets");
             name == "endpoints" && subsets != nullptr) {
    for (JsonTree& subset : subsets->elements()) {
      DefaultProtocols(subset);
    }
  }
}

}  // namespace kubexx::apiserver
