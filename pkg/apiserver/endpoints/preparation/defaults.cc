// Defaults of the types that kubectl and controllers rely on, as upstream's defaulting has them.
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kubexx/apiserver/endpoints/patch/patch.h"
#include "kubexx/apiserver/endpoints/preparation/plain_defaults.h"
#include "kubexx/apiserver/endpoints/preparation/pod_defaults.h"
#include "kubexx/apiserver/endpoints/preparation/prepare.h"
#include "kubexx/apiserver/endpoints/preparation/set_default.h"
#include "kubexx/apiserver/endpoints/registry/custom_types.h"
#include "kubexx/apiserver/endpoints/registry/definition_type.h"
#include "kubexx/apiserver/endpoints/services/service_addresses.h"
#include "kubexx/apiserver/endpoints/validation/cluster/rbac_validation.h"
#include "kubexx/apiserver/endpoints/validation/cluster/webhook_configuration.h"
#include "kubexx/apiserver/object/metadata.h"
#include "kubexx/codec/base64.h"

namespace kubexx::apiserver {
namespace {

using codec::JsonTree;

JsonTree Map(std::initializer_list<std::pair<const char*, JsonTree>> members) {
  JsonTree map = JsonTree::Object();
  for (const auto& [key, value] : members) {
    map[key] = value;
  }
  return map;
}

void DefaultTemplate(JsonTree& spec) {
  if (JsonTree* const pod = spec.Find("template"); pod != nullptr && pod->IsObject()) {
    SetPodSpecDefaults((*pod)["spec"]);
  }
}

/// Who says how pods are replaced, and no more, need not say from which pod on.
void DefaultStatefulUpdate(JsonTree& strategy) {
  const bool says_nothing = StringAt(strategy, {"type"}).empty();
  SetDefault(strategy, "type", "RollingUpdate");
  if (StringAt(strategy, {"type"}) == "RollingUpdate" &&
      (says_nothing || strategy.Find("rollingUpdate") != nullptr)) {
    SetDefault(strategy["rollingUpdate"], "partition", 0);
  }
  if (JsonTree* const rolling = strategy.Find("rollingUpdate")) {
    rolling->Erase("maxUnavailable");  // kube-apiserver takes it with a gate only that is shut.
  }
}

void DefaultWorkload(const ResourceType& type, JsonTree& spec) {
  DefaultTemplate(spec);
  const JsonTree quarter = Map({{"maxUnavailable", "25%"}, {"maxSurge", "25%"}});
  if (type.plural != "daemonsets") {
    SetDefault(spec, "replicas", 1);
  }
  if (type.plural == "deployments") {
    JsonTree& strategy = spec["strategy"];
    SetDefault(strategy, "type", "RollingUpdate");
    if (StringAt(strategy, {"type"}) == "RollingUpdate") {
      for (const JsonTree::Member& member : quarter.members()) {
        SetDefault(strategy["rollingUpdate"], member.key, member.value);
      }
    }
    SetDefault(spec, "revisionHistoryLimit", 10);
    SetDefault(spec, "progressDeadlineSeconds", 600);
  } else if (type.plural == "statefulsets") {
    SetDefault(spec, "podManagementPolicy", "OrderedReady");
    DefaultStatefulUpdate(spec["updateStrategy"]);
    for (const char* const when : {"whenDeleted", "whenScaled"}) {
      SetDefault(spec["persistentVolumeClaimRetentionPolicy"], when, "Retain");
    }
    SetDefault(spec, "revisionHistoryLimit", 10);
    if (JsonTree* const claims = spec.Find("volumeClaimTemplates")) {
      for (JsonTree& claim : claims->elements()) {
        claim["apiVersion"] = "v1";
        claim["kind"] = "PersistentVolumeClaim";
        SetDefault(claim["spec"], "volumeMode", "Filesystem");
        SetDefault(claim["status"], "phase", "Pending");
      }
    }
  } else if (type.plural == "daemonsets") {
    SetDefault(spec["updateStrategy"], "type", "RollingUpdate");
    if (StringAt(spec, {"updateStrategy", "type"}) == "RollingUpdate") {
      JsonTree& rolling = spec["updateStrategy"]["rollingUpdate"];
      SetDefault(rolling, "maxUnavailable", 1);
      SetDefault(rolling, "maxSurge", 0);
    }
    SetDefault(spec, "revisionHistoryLimit", 10);
  }
}

/// Where traffic goes is a matter of those that take some from where it is about.
void DefaultTraffic(JsonTree& spec) {
  const std::string type(spec.TextAt("type"));  // Copies: members that are added move the others.
  const std::string internal(spec.TextAt("internalTrafficPolicy"));
  if (type != "ExternalName") {
    SetDefault(spec, "internalTrafficPolicy", "Cluster");
  } else if (internal == "Cluster" || internal == "Local") {
    spec.Erase("internalTrafficPolicy");
  }
  if (IsExternallyAccessible(spec)) {
    SetDefault(spec, "externalTrafficPolicy", "Cluster");
  }
  if (type == "LoadBalancer") {
    SetDefault(spec, "allocateLoadBalancerNodePorts", true);
  }
}

void DefaultService(JsonTree& spec) {
  SetDefault(spec, "type", "ClusterIP");
  SetDefault(spec, "sessionAffinity", "None");
  if (StringAt(spec, {"sessionAffinity"}) == "ClientIP") {
    SetDefault(spec["sessionAffinityConfig"]["clientIP"], "timeoutSeconds", 10800);
  } else {
    spec.Erase("sessionAffinityConfig");
  }
  DefaultTraffic(spec);
  if (JsonTree* const ports = spec.Find("ports")) {
    for (JsonTree& port : ports->elements()) {
      SetDefault(port, "protocol", "TCP");
      if (const JsonTree* const target = port.Find("targetPort");
          target != nullptr && *target == 0) {
        port.Erase("targetPort");
      }
      if (const JsonTree* const number = port.Find("port")) {
        SetDefault(port, "targetPort", JsonTree(*number));
      }
    }
  }
}

void DefaultSlicePorts(JsonTree& object) {
  if (JsonTree* const ports = object.Find("ports")) {
    for (JsonTree& port : ports->elements()) {
      SetDefault(port, "name", "");
      SetDefault(port, "protocol", "TCP");
    }
  }
}

void DefaultNamespace(JsonTree& object) {
  object["metadata"]["labels"]["kubernetes.io/metadata.name"] = MetaString(object, "name");
  SetDefault(object["status"], "phase", "Active");
}

/// A Secret's stringData becomes data; see the API's field of that name.
void DefaultSecret(JsonTree& object) {
  SetDefault(object, "type", "Opaque");
  if (const JsonTree* const plain = object.Find("stringData");
      plain != nullptr && plain->size() > 0) {
    std::vector<JsonTree::Member> encoded;
    for (const JsonTree::Member& member : plain->members()) {
      if (const std::string* const text = member.value.AsString()) {
        std::string bytes;
        codec::AppendBase64(*text, bytes);
        encoded.push_back({.key = member.key, .value = std::move(bytes)});
      }
    }
    JsonTree& data = object["data"];
    data = ApplyMergePatch(std::move(data), JsonTree::Object(std::move(encoded)));
  }
  object.Erase("stringData");
}

void DefaultJob(JsonTree& object) {
  JsonTree& spec = object["spec"];
  if (spec.Find("parallelism") == nullptr) {
    // Whoever says how many pods run at a time, and no more, has a queue that ends by itself.
    SetDefault(spec, "completions", 1);
  }
  SetDefault(spec, "parallelism", 1);
  const bool by_index = spec.Find("backoffLimitPerIndex") != nullptr;
  SetDefault(spec, "backoffLimit", by_index ? std::numeric_limits<std::int32_t>::max() : 6);
  SetDefault(spec, "completionMode", "NonIndexed");
  SetDefault(spec, "suspend", false);
  SetDefault(spec, "manualSelector", false);
  SetDefault(spec, "podReplacementPolicy",
             spec.Find("podFailurePolicy") == nullptr ? "TerminatingOrFailed" : "Failed");
  DefaultTemplate(spec);
  const JsonTree* const labels = spec.At({"template", "metadata", "labels"});
  if (labels != nullptr && labels->size() > 0) {
    const JsonTree copy = *labels;
    if (JsonTree& own = object["metadata"]["labels"]; own.size() == 0) {
      own = copy;
    }
  }
}

JsonTree ScalingPolicy(const char* type, int value) {
  return Map({{"type", type}, {"value", value}, {"periodSeconds", 15}});
}

void DefaultScalingRules(JsonTree& rules, std::vector<JsonTree> policies) {
  SetDefault(rules, "selectPolicy", "Max");
  SetDefault(rules, "policies", JsonTree::Array(std::move(policies)));
}

void DefaultAutoscaler(const ResourceType& type, JsonTree& object) {
  object = type.convert(object, type.ApiVersion());
  JsonTree& spec = object["spec"];
  SetDefault(spec, "minReplicas", 1);
  if (type.stored_as) {
    // What else there is shows only in the version that is stored.
    const std::string version = type.ApiVersion();
    object = type.convert(type.convert(object, type.stored_as->ApiVersion()), version);
    return;
  }
  if (const JsonTree* const metrics = spec.Find("metrics");
      metrics == nullptr || metrics->size() == 0) {
    JsonTree target = Map({{"type", "Utilization"}, {"averageUtilization", 80}});
    JsonTree resource = Map({{"name", "cpu"}, {"target", std::move(target)}});
    spec["metrics"] = JsonTree::Array();
    spec["metrics"].Append(Map({{"type", "Resource"}, {"resource", std::move(resource)}}));
  }
  if (JsonTree* const behavior = spec.Find("behavior");
      behavior != nullptr && behavior->IsObject()) {
    JsonTree& up = (*behavior)["scaleUp"];
    SetDefault(up, "stabilizationWindowSeconds", 0);
    DefaultScalingRules(up, {ScalingPolicy("Pods", 4), ScalingPolicy("Percent", 100)});
    DefaultScalingRules((*behavior)["scaleDown"], {ScalingPolicy("Percent", 100)});
  }
}

}  // namespace

void SetDefaults(const ResourceType& type, JsonTree& object) {
  SetRbacDefaults(type, object);
  SetPlainDefaults(type, object);
  if (IsCustomResourceDefinition(type)) {
    SetDefinitionDefaults(object);
  } else if (IsWebhookConfiguration(type)) {
    SetWebhookDefaults(type, object);
  } else if (type.group == "apps" && type.plural != "controllerrevisions") {
    DefaultWorkload(type, object["spec"]);
  } else if (type.Is("", "pods")) {
    SetPodDefaults(object);
  } else if (type.Is("", "services")) {
    DefaultService(object["spec"]);
    SetDefault(object["status"], "loadBalancer", JsonTree::Object());
  } else if (type.Is("", "namespaces")) {
    DefaultNamespace(object);
  } else if (type.Is("", "secrets")) {
    DefaultSecret(object);
  } else if (type.Is("", "replicationcontrollers")) {
    DefaultTemplate(object["spec"]);
  } else if (type.Is("", "podtemplates")) {
    DefaultTemplate(object);
  } else if (type.Is("discovery.k8s.io", "endpointslices")) {
    DefaultSlicePorts(object);
  } else if (type.convert != nullptr) {
    DefaultAutoscaler(type, object);
  } else if (type.Is("batch", "jobs")) {
    DefaultJob(object);
  } else if (type.Is("batch", "cronjobs")) {
    DefaultTemplate(object["spec"]["jobTemplate"]["spec"]);
  }
}

}  // namespace kubexx::apiserver
