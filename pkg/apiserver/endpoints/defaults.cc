// Defaults of the types that kubectl and controllers rely on, as upstream's defaulting has them.
#include <initializer_list>
#include <string_view>
#include <utility>

#include "kubexx/apiserver/endpoints/custom_types.h"
#include "kubexx/apiserver/endpoints/prepare.h"
#include "kubexx/apiserver/object/metadata.h"
#include "kubexx/codec/internal/base64.h"

namespace kubexx::apiserver {
namespace {

using codec::JsonTree;

/// Sets a member that is missing, null or "".
void Default(JsonTree& object, std::string_view member, JsonTree value) {
  JsonTree& slot = object[member];
  if (slot.IsNull() || (slot.AsString() != nullptr && slot.AsString()->empty())) {
    slot = std::move(value);
  }
}

JsonTree Map(std::initializer_list<std::pair<const char*, JsonTree>> members) {
  JsonTree map = JsonTree::Object();
  for (const auto& [key, value] : members) {
    map[key] = value;
  }
  return map;
}

void DefaultContainer(JsonTree& container) {
  Default(container, "terminationMessagePath", "/dev/termination-log");
  Default(container, "terminationMessagePolicy", "File");
  const std::string image = StringAt(container, {"image"});
  const std::size_t colon = image.rfind(':');
  const bool tagged = colon != std::string::npos && image.find('/', colon) == std::string::npos;
  const bool latest = !tagged || image.substr(colon) == ":latest";
  Default(container, "imagePullPolicy",
          latest && image.find('@') == std::string::npos ? "Always" : "IfNotPresent");
  Default(container, "resources", JsonTree::Object());
  if (JsonTree* const ports = container.Find("ports")) {
    for (JsonTree& port : ports->elements()) {
      Default(port, "protocol", "TCP");
    }
  }
}

void DefaultPodSpec(JsonTree& spec) {
  Default(spec, "restartPolicy", "Always");
  Default(spec, "terminationGracePeriodSeconds", 30);
  Default(spec, "dnsPolicy", "ClusterFirst");
  Default(spec, "securityContext", JsonTree::Object());
  Default(spec, "schedulerName", "default-scheduler");
  for (const char* const list : {"initContainers", "containers"}) {
    if (JsonTree* const containers = spec.Find(list)) {
      for (JsonTree& container : containers->elements()) {
        DefaultContainer(container);
      }
    }
  }
  if (JsonTree* const volumes = spec.Find("volumes")) {
    for (JsonTree& volume : volumes->elements()) {
      for (const char* const source : {"configMap", "secret", "projected"}) {
        if (JsonTree* const found = volume.Find(source); found != nullptr && found->IsObject()) {
          Default(*found, "defaultMode", 420);
        }
      }
    }
  }
}

void DefaultTemplate(JsonTree& spec) {
  if (JsonTree* const pod = spec.Find("template"); pod != nullptr && pod->IsObject()) {
    DefaultPodSpec((*pod)["spec"]);
  }
}

void DefaultWorkload(const ResourceType& type, JsonTree& spec) {
  DefaultTemplate(spec);
  const JsonTree quarter = Map({{"maxUnavailable", "25%"}, {"maxSurge", "25%"}});
  if (type.plural != "daemonsets") {
    Default(spec, "replicas", 1);
  }
  if (type.plural == "deployments") {
    JsonTree& strategy = spec["strategy"];
    Default(strategy, "type", "RollingUpdate");
    if (StringAt(strategy, {"type"}) == "RollingUpdate") {
      for (const JsonTree::Member& member : quarter.members()) {
        Default(strategy["rollingUpdate"], member.key, member.value);
      }
    }
    Default(spec, "revisionHistoryLimit", 10);
    Default(spec, "progressDeadlineSeconds", 600);
  } else if (type.plural == "statefulsets") {
    Default(spec, "podManagementPolicy", "OrderedReady");
    Default(spec["updateStrategy"], "type", "RollingUpdate");
    if (StringAt(spec, {"updateStrategy", "type"}) == "RollingUpdate") {
      Default(spec["updateStrategy"]["rollingUpdate"], "partition", 0);
    }
    for (const char* const when : {"whenDeleted", "whenScaled"}) {
      Default(spec["persistentVolumeClaimRetentionPolicy"], when, "Retain");
    }
    Default(spec, "revisionHistoryLimit", 10);
  } else if (type.plural == "daemonsets") {
    Default(spec["updateStrategy"], "type", "RollingUpdate");
    if (StringAt(spec, {"updateStrategy", "type"}) == "RollingUpdate") {
      JsonTree& rolling = spec["updateStrategy"]["rollingUpdate"];
      Default(rolling, "maxUnavailable", 1);
      Default(rolling, "maxSurge", 0);
    }
    Default(spec, "revisionHistoryLimit", 10);
  }
}

/// Nobody gives out addresses: only what the client says of them is completed.
void DefaultServiceAddress(JsonTree& spec) {
  const std::string address = StringAt(spec, {"clusterIP"});
  if (!address.empty()) {
    Default(spec, "clusterIPs", JsonTree::Array({JsonTree(address)}));
  }
  if (address == "None" && spec.At({"selector"}) != nullptr) {
    Default(spec, "ipFamilies", JsonTree::Array({JsonTree("IPv4")}));
    Default(spec, "ipFamilyPolicy", "SingleStack");
  }
}

void DefaultService(JsonTree& spec) {
  DefaultServiceAddress(spec);
  Default(spec, "type", "ClusterIP");
  Default(spec, "sessionAffinity", "None");
  if (StringAt(spec, {"sessionAffinity"}) == "ClientIP") {
    Default(spec["sessionAffinityConfig"]["clientIP"], "timeoutSeconds", 10800);
  } else {
    spec.Erase("sessionAffinityConfig");
  }
  Default(spec, "internalTrafficPolicy", "Cluster");
  if (JsonTree* const ports = spec.Find("ports")) {
    for (JsonTree& port : ports->elements()) {
      Default(port, "protocol", "TCP");
      if (const JsonTree* const target = port.Find("targetPort");
          target != nullptr && *target == 0) {
        port.Erase("targetPort");
      }
      if (const JsonTree* const number = port.Find("port")) {
        Default(port, "targetPort", JsonTree(*number));
      }
    }
  }
}

void DefaultSlicePorts(JsonTree& object) {
  if (JsonTree* const ports = object.Find("ports")) {
    for (JsonTree& port : ports->elements()) {
      Default(port, "name", "");
      Default(port, "protocol", "TCP");
    }
  }
}

void DefaultNamespace(JsonTree& object) {
  object["metadata"]["labels"]["kubernetes.io/metadata.name"] = MetaString(object, "name");
  if (!IsDeleting(object)) {
    JsonTree finalizers = JsonTree::Array();
    finalizers.Append("kubernetes");
    Default(object["spec"], "finalizers", std::move(finalizers));
  }
  Default(object["status"], "phase", "Active");
}

/// A Secret's stringData becomes data; see the API's field of that name.
void DefaultSecret(JsonTree& object) {
  Default(object, "type", "Opaque");
  const JsonTree* const found = object.Find("stringData");
  const JsonTree plain = found == nullptr ? JsonTree() : *found;
  for (const JsonTree::Member& member : plain.members()) {
    if (const std::string* const text = member.value.AsString()) {
      std::string encoded;
      codec::internal::AppendBase64(*text, encoded);
      object["data"][member.key] = std::move(encoded);
    }
  }
  object.Erase("stringData");
}

}  // namespace

void SetDefaults(const ResourceType& type, JsonTree& object) {
  if (IsCustomResourceDefinition(type)) {
    SetDefinitionDefaults(object);
  } else if (type.group == "apps" && type.plural != "controllerrevisions") {
    DefaultWorkload(type, object["spec"]);
  } else if (type.group.empty() && type.plural == "pods") {
    DefaultPodSpec(object["spec"]);
    Default(object["spec"], "enableServiceLinks", true);
    Default(object["status"], "phase", "Pending");
  } else if (type.group.empty() && type.plural == "services") {
    DefaultService(object["spec"]);
    Default(object["status"], "loadBalancer", JsonTree::Object());
  } else if (type.group.empty() && type.plural == "namespaces") {
    DefaultNamespace(object);
  } else if (type.group.empty() && type.plural == "secrets") {
    DefaultSecret(object);
  } else if (type.group.empty() && type.plural == "replicationcontrollers") {
    DefaultTemplate(object["spec"]);
  } else if (type.plural == "endpointslices") {
    DefaultSlicePorts(object);
  } else if (type.group == "batch" && type.plural == "jobs") {
    JsonTree& spec = object["spec"];
    Default(spec, "parallelism", 1);
    Default(spec, "completions", 1);
    Default(spec, "backoffLimit", 6);
    Default(spec, "completionMode", "NonIndexed");
    Default(spec, "suspend", false);
    DefaultTemplate(spec);
  }
}

}  // namespace kubexx::apiserver
