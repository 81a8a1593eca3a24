#include "kubexx/apiserver/endpoints/defaults/autoscaler_defaults.h"

#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "kubexx/apiserver/endpoints/defaults/set_default.h"

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

JsonTree ScalingPolicy(const char* type, int value) {
  return Map({{"type", type}, {"value", value}, {"periodSeconds", 15}});
}

void DefaultScalingRules(JsonTree& rules, std::vector<JsonTree> policies) {
  SetDefault(rules, "selectPolicy", "Max");
  SetDefault(rules, "policies", JsonTree::Array(std::move(policies)));
}

}  // namespace

void SetAutoscalerDefaults(const ResourceType& type, JsonTree& object) {
  if (type.convert == nullptr) {
    return;
  }
  object = type.convert(object, type.ApiVersion());
  JsonTree& spec = object["spec"];
  SetDefault(spec, "minReplicas", 1);
  if (type.stored_as) {
    // The other fields appear only in the version that is stored.
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

}  // namespace kubexx::apiserver
