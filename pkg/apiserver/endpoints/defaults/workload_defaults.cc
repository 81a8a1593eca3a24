#include "kubexx/apiserver/endpoints/defaults/workload_defaults.h"

#include <cstdint>
#include <limits>

#include "kubexx/apiserver/endpoints/defaults/pod_defaults.h"
#include "kubexx/apiserver/endpoints/defaults/set_default.h"
#include "kubexx/apiserver/object/metadata.h"

namespace kubexx::apiserver {
namespace {

using codec::JsonTree;

constexpr int kKeptRevisions = 10;

/// `holder` is the object that has the template.
void DefaultTemplate(JsonTree& holder) {
  if (JsonTree* const pod = holder.Find("template"); pod != nullptr && pod->IsObject()) {
    SetPodSpecDefaults((*pod)["spec"]);
  }
}

/// Sets the defaults of a strategy. When only its type was given, it gets no partition.
void DefaultStatefulUpdate(JsonTree& strategy) {
  const bool says_nothing = StringAt(strategy, {"type"}).empty();
  SetDefault(strategy, "type", "RollingUpdate");
  if (StringAt(strategy, {"type"}) == "RollingUpdate" &&
      (says_nothing || strategy.Find("rollingUpdate") != nullptr)) {
    SetDefault(strategy["rollingUpdate"], "partition", 0);
  }
  if (JsonTree* const rolling = strategy.Find("rollingUpdate")) {
    // kube-apiserver has this field only behind a feature gate that is off.
    rolling->Erase("maxUnavailable");
  }
}

void DefaultClaimTemplates(JsonTree& spec) {
  JsonTree* const claims = spec.Find("volumeClaimTemplates");
  if (claims == nullptr) {
    return;
  }
  for (JsonTree& claim : claims->elements()) {
    claim["apiVersion"] = "v1";
    claim["kind"] = "PersistentVolumeClaim";
    SetDefault(claim["spec"], "volumeMode", "Filesystem");
    SetDefault(claim["status"], "phase", "Pending");
  }
}

}  // namespace

void SetDeploymentDefaults(JsonTree& object) {
  JsonTree& spec = object["spec"];
  DefaultTemplate(spec);
  SetDefault(spec, "replicas", 1);
  JsonTree& strategy = spec["strategy"];
  SetDefault(strategy, "type", "RollingUpdate");
  if (StringAt(strategy, {"type"}) == "RollingUpdate") {
    SetDefault(strategy["rollingUpdate"], "maxUnavailable", "25%");
    SetDefault(strategy["rollingUpdate"], "maxSurge", "25%");
  }
  SetDefault(spec, "revisionHistoryLimit", kKeptRevisions);
  SetDefault(spec, "progressDeadlineSeconds", 600);
}

void SetReplicaSetDefaults(JsonTree& object) {
  JsonTree& spec = object["spec"];
  DefaultTemplate(spec);
  SetDefault(spec, "replicas", 1);
}

void SetStatefulSetDefaults(JsonTree& object) {
  JsonTree& spec = object["spec"];
  DefaultTemplate(spec);
  SetDefault(spec, "replicas", 1);
  SetDefault(spec, "podManagementPolicy", "OrderedReady");
  DefaultStatefulUpdate(spec["updateStrategy"]);
  for (const char* const when : {"whenDeleted", "whenScaled"}) {
    SetDefault(spec["persistentVolumeClaimRetentionPolicy"], when, "Retain");
  }
  SetDefault(spec, "revisionHistoryLimit", kKeptRevisions);
  DefaultClaimTemplates(spec);
}

void SetDaemonSetDefaults(JsonTree& object) {
  JsonTree& spec = object["spec"];
  DefaultTemplate(spec);
  SetDefault(spec["updateStrategy"], "type", "RollingUpdate");
  if (StringAt(spec, {"updateStrategy", "type"}) == "RollingUpdate") {
    JsonTree& rolling = spec["updateStrategy"]["rollingUpdate"];
    SetDefault(rolling, "maxUnavailable", 1);
    SetDefault(rolling, "maxSurge", 0);
  }
  SetDefault(spec, "revisionHistoryLimit", kKeptRevisions);
}

void SetReplicationControllerDefaults(JsonTree& object) {
  JsonTree& spec = object["spec"];
  SetMissing(spec, "replicas", "1");
  const JsonTree* const labels = spec.At({"template", "metadata", "labels"});
  if (labels != nullptr && labels->size() > 0) {
    const JsonTree copy = *labels;
    if (JsonTree& selector = spec["selector"]; selector.size() == 0) {
      selector = copy;
    }
    if (JsonTree& own = object["metadata"]["labels"]; own.size() == 0) {
      own = copy;
    }
  }
  DefaultTemplate(object["spec"]);
}

void SetPodTemplateDefaults(JsonTree& object) { DefaultTemplate(object); }

void SetJobDefaults(JsonTree& object) {
  JsonTree& spec = object["spec"];
  if (spec.Find("parallelism") == nullptr) {
    // A Job that only specifies its parallelism is a queue that ends by itself.
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

void SetCronJobDefaults(JsonTree& object) {
  DefaultTemplate(object["spec"]["jobTemplate"]["spec"]);
}

}  // namespace kubexx::apiserver
