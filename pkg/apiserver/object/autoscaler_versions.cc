#include "kubexx/apiserver/object/autoscaler_versions.h"

#include <initializer_list>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "kubexx/apimachinery/quantity.h"
#include "kubexx/base/ascii.h"

namespace kubexx::apiserver {
namespace {

using codec::JsonTree;

constexpr std::string_view kMetrics = "autoscaling.alpha.kubernetes.io/metrics";
constexpr std::string_view kCurrentMetrics = "autoscaling.alpha.kubernetes.io/current-metrics";
constexpr std::string_view kConditions = "autoscaling.alpha.kubernetes.io/conditions";
constexpr std::string_view kBehavior = "autoscaling.alpha.kubernetes.io/behavior";
constexpr std::string_view kOfVersions[] = {kMetrics,
                                            kCurrentMetrics,
                                            kConditions,
                                            kBehavior,
                                            "autoscaling.alpha.kubernetes.io/scale-down-tolerance",
                                            "autoscaling.alpha.kubernetes.io/scale-up-tolerance"};

/// The target of an autoscaler without metrics.
constexpr int kDefaultUtilization = 80;

/// A field of a metric in v1, with its place in v2.
struct MetricField {
  std::string_view v1;
  std::string_view outer;  ///< in v2: the object around it; "" for none
  std::string_view inner;
  bool always = false;  ///< v1 writes a quantity of 0 when there is none
};

struct MetricKind {
  std::string_view name;  ///< of the member that has its fields
  std::span<const MetricField> fields;
};

constexpr MetricField kObjectSpec[] = {{"target", "", "describedObject"},
                                       {"metricName", "metric", "name"},
                                       {"targetValue", "target", "value", true},
                                       {"selector", "metric", "selector"},
                                       {"averageValue", "target", "averageValue"}};
constexpr MetricField kPodsSpec[] = {{"metricName", "metric", "name"},
                                     {"targetAverageValue", "target", "averageValue", true},
                                     {"selector", "metric", "selector"}};
constexpr MetricField kResourceSpec[] = {
    {"name", "", "name"},
    {"targetAverageUtilization", "target", "averageUtilization"},
    {"targetAverageValue", "target", "averageValue"}};
constexpr MetricField kContainerResourceSpec[] = {
    {"name", "", "name"},
    {"targetAverageUtilization", "target", "averageUtilization"},
    {"targetAverageValue", "target", "averageValue"},
    {"container", "", "container"}};
constexpr MetricField kExternalSpec[] = {{"metricName", "metric", "name"},
                                         {"metricSelector", "metric", "selector"},
                                         {"targetValue", "target", "value"},
                                         {"targetAverageValue", "target", "averageValue"}};
constexpr MetricKind kSpecs[] = {{"object", kObjectSpec},
                                 {"pods", kPodsSpec},
                                 {"resource", kResourceSpec},
                                 {"containerResource", kContainerResourceSpec},
                                 {"external", kExternalSpec}};

constexpr MetricField kObjectStatus[] = {{"target", "", "describedObject"},
                                         {"metricName", "metric", "name"},
                                         {"currentValue", "current", "value", true},
                                         {"selector", "metric", "selector"},
                                         {"averageValue", "current", "averageValue"}};
constexpr MetricField kPodsStatus[] = {{"metricName", "metric", "name"},
                                       {"currentAverageValue", "current", "averageValue", true},
                                       {"selector", "metric", "selector"}};
constexpr MetricField kResourceStatus[] = {
    {"name", "", "name"},
    {"currentAverageUtilization", "current", "averageUtilization"},
    {"currentAverageValue", "current", "averageValue", true}};
constexpr MetricField kContainerResourceStatus[] = {
    {"name", "", "name"},
    {"currentAverageUtilization", "current", "averageUtilization"},
    {"currentAverageValue", "current", "averageValue", true},
    {"container", "", "container"}};
constexpr MetricField kExternalStatus[] = {{"metricName", "metric", "name"},
                                           {"metricSelector", "metric", "selector"},
                                           {"currentValue", "current", "value", true},
                                           {"currentAverageValue", "current", "averageValue"}};
constexpr MetricKind kStatuses[] = {{"object", kObjectStatus},
                                    {"pods", kPodsStatus},
                                    {"resource", kResourceStatus},
                                    {"containerResource", kContainerResourceStatus},
                                    {"external", kExternalStatus}};

bool IsSet(const JsonTree* value) { return value != nullptr && !value->IsNull(); }

void TakeIfSet(const JsonTree& from, std::string_view member, JsonTree& to) {
  if (const JsonTree* const value = from.Find(member); IsSet(value)) {
    to[member] = *value;
  }
}

JsonTree FieldsInV1(std::span<const MetricField> fields, const JsonTree& v2) {
  JsonTree v1 = JsonTree::Object();
  for (const MetricField& field : fields) {
    const JsonTree* value =
        field.outer.empty() ? v2.Find(field.inner) : v2.At({field.outer, field.inner});
    if (IsSet(value)) {
      v1[field.v1] = *value;
    } else if (field.always) {
      v1[field.v1] = "0";
    }
  }
  return v1;
}

JsonTree MetricsInV1(std::span<const MetricKind> metrics, const std::vector<JsonTree>& v2) {
  JsonTree all = JsonTree::Array();
  for (const JsonTree& one : v2) {
    JsonTree v1 = JsonTree::Object();
    v1["type"] = one.TextAt("type");
    for (const MetricKind& metric : metrics) {
      if (const JsonTree* const fields = one.Find(metric.name); IsSet(fields)) {
        v1[metric.name] = FieldsInV1(metric.fields, *fields);
      }
    }
    all.Append(std::move(v1));
  }
  return all;
}

bool IsZero(const JsonTree* quantity) {
  if (!IsSet(quantity) || quantity->AsString() == nullptr) {
    return !IsSet(quantity) || quantity->AsDouble() == 0;
  }
  const auto parsed = apimachinery::Quantity::Parse(*quantity->AsString());
  return parsed && parsed->Value() == 0;
}

/// Sets the type of the target, which v2 requires and v1 does not have.
void SetTargetType(std::string_view metric, JsonTree& fields) {
  JsonTree& target = fields["target"];
  if (!target.IsObject()) {
    target = JsonTree::Object();
  }
  const bool average = IsSet(target.Find("averageValue"));
  if (metric == "object") {
    if (average && IsZero(target.Find("value"))) {
      target.Erase("value");
    }
    target["type"] = average ? "AverageValue" : "Value";
  } else if (metric == "external") {
    target["type"] = IsSet(target.Find("value")) ? "Value" : "AverageValue";
  } else {
    target["type"] = IsSet(target.Find("averageUtilization")) ? "Utilization" : "AverageValue";
  }
}

JsonTree FieldsInV2(std::span<const MetricField> fields, const JsonTree& v1) {
  JsonTree v2 = JsonTree::Object();
  for (const MetricField& field : fields) {
    const JsonTree* const value = v1.Find(field.v1);
    if (!IsSet(value) && !field.always) {
      continue;
    }
    JsonTree& slot = field.outer.empty() ? v2 : v2[field.outer];
    slot[field.inner] = IsSet(value) ? *value : JsonTree("0");
  }
  return v2;
}

JsonTree MetricsInV2(std::span<const MetricKind> metrics, const JsonTree& v1) {
  JsonTree all = JsonTree::Array();
  for (const JsonTree& one : v1.elements()) {
    JsonTree v2 = JsonTree::Object();
    v2["type"] = one.TextAt("type");
    for (const MetricKind& metric : metrics) {
      if (const JsonTree* const fields = one.Find(metric.name); IsSet(fields)) {
        v2[metric.name] = FieldsInV2(metric.fields, *fields);
        if (metrics.data() == kSpecs) {
          SetTargetType(metric.name, v2[metric.name]);
        }
      }
    }
    all.Append(std::move(v2));
  }
  return all;
}

bool IsCpu(const JsonTree& metric) {
  const JsonTree* const resource = metric.Find("resource");
  return metric.TextAt("type") == "Resource" && resource != nullptr &&
         resource->TextAt("name") == "cpu";
}

JsonTree CpuMetric(const JsonTree& utilization) {
  JsonTree metric = JsonTree::Object();
  metric["type"] = "Resource";
  metric["resource"]["name"] = "cpu";
  metric["resource"]["target"]["type"] = "Utilization";
  metric["resource"]["target"]["averageUtilization"] = utilization;
  return metric;
}

/// A member of the annotation on behavior. It is named after a Go struct's field, so any case is
/// accepted.
struct BehaviorField {
  std::string_view v1;
  std::string_view v2;
};
constexpr BehaviorField kBehaviorFields[] = {{"ScaleUp", "scaleUp"}, {"ScaleDown", "scaleDown"}};
constexpr BehaviorField kRules[] = {{"StabilizationWindowSeconds", "stabilizationWindowSeconds"},
                                    {"SelectPolicy", "selectPolicy"},
                                    {"Policies", "policies"},
                                    {"Tolerance", "tolerance"}};
constexpr BehaviorField kPolicy[] = {
    {"Type", "type"}, {"Value", "value"}, {"PeriodSeconds", "periodSeconds"}};

using ConvertValue = JsonTree (*)(const JsonTree& value);

JsonTree SameValue(const JsonTree& value) { return value; }

/// Missing members are null.
JsonTree Exported(std::span<const BehaviorField> fields, const JsonTree& v2, ConvertValue convert) {
  JsonTree v1 = JsonTree::Object();
  for (const BehaviorField& field : fields) {
    const JsonTree* const value = v2.Find(field.v2);
    v1[field.v1] = IsSet(value) ? convert(*value) : JsonTree();
  }
  return v1;
}

JsonTree Imported(std::span<const BehaviorField> fields, const JsonTree& v1, ConvertValue convert) {
  JsonTree v2 = JsonTree::Object();
  for (const JsonTree::Member& member : v1.members()) {
    for (const BehaviorField& field : fields) {
      if (base::ToLower(member.key) == base::ToLower(field.v1) && !member.value.IsNull()) {
        v2[field.v2] = convert(member.value);
      }
    }
  }
  return v2;
}

template <ConvertValue Policy>
JsonTree RuleValue(const JsonTree& value) {
  if (!value.IsArray()) {
    return value;
  }
  JsonTree policies = JsonTree::Array();
  for (const JsonTree& policy : value.elements()) {
    policies.Append(Policy(policy));
  }
  return policies;
}

JsonTree ExportedPolicy(const JsonTree& policy) { return Exported(kPolicy, policy, SameValue); }
JsonTree ImportedPolicy(const JsonTree& policy) { return Imported(kPolicy, policy, SameValue); }
JsonTree ExportedRules(const JsonTree& rules) {
  return Exported(kRules, rules, RuleValue<ExportedPolicy>);
}
JsonTree ImportedRules(const JsonTree& rules) {
  return Imported(kRules, rules, RuleValue<ImportedPolicy>);
}

/// Returns the members of the object at `member`. A missing object has no members.
JsonTree ObjectAt(const JsonTree& object, std::string_view member) {
  const JsonTree* const found = object.Find(member);
  return found != nullptr && found->IsObject() ? *found : JsonTree::Object();
}

std::vector<JsonTree> ElementsOf(const JsonTree& object, std::string_view member) {
  const JsonTree* const found = object.Find(member);
  return found == nullptr
             ? std::vector<JsonTree>()
             : std::vector<JsonTree>(found->elements().begin(), found->elements().end());
}

/// Removes the annotations of other versions, and returns their content, as far as it has the right
/// type.
JsonTree TakeAnnotations(JsonTree& metadata) {
  JsonTree said = JsonTree::Object();
  JsonTree* const annotations = metadata.Find("annotations");
  if (annotations == nullptr) {
    return said;
  }
  for (const std::string_view name : kOfVersions) {
    auto value = JsonTree::Parse(annotations->TextAt(name));
    if (value && (name == kBehavior ? value->IsObject() : value->IsArray())) {
      said[name] = std::move(*value);
    }
    annotations->Erase(name);
  }
  if (annotations->size() == 0) {
    metadata.Erase("annotations");
  }
  return said;
}

JsonTree HeadOf(const JsonTree& object, std::string_view api_version) {
  JsonTree head = JsonTree::Object();
  head["kind"] = "HorizontalPodAutoscaler";
  head["apiVersion"] = api_version;
  head["metadata"] = ObjectAt(object, "metadata");
  return head;
}

void TakeStatus(const JsonTree& from, JsonTree& to) {
  for (const char* const field :
       {"observedGeneration", "lastScaleTime", "currentReplicas", "desiredReplicas"}) {
    TakeIfSet(from, field, to);
  }
}

void TakeSpec(const JsonTree& from, JsonTree& to) {
  for (const char* const field : {"scaleTargetRef", "minReplicas", "maxReplicas"}) {
    TakeIfSet(from, field, to);
  }
}

JsonTree InV1(const JsonTree& object) {
  const JsonTree v2_spec = ObjectAt(object, "spec");
  const JsonTree v2_status = ObjectAt(object, "status");
  JsonTree v1 = HeadOf(object, "autoscaling/v1");
  TakeAnnotations(v1["metadata"]);
  JsonTree said = JsonTree::Object();
  JsonTree spec = JsonTree::Object();
  TakeSpec(v2_spec, spec);
  std::vector<JsonTree> others;
  for (JsonTree& metric : ElementsOf(v2_spec, "metrics")) {
    const JsonTree* const utilization = metric.At({"resource", "target", "averageUtilization"});
    if (!IsCpu(metric) || !IsSet(utilization)) {
      others.push_back(std::move(metric));
    } else if (spec.Find("targetCPUUtilizationPercentage") == nullptr) {
      spec["targetCPUUtilizationPercentage"] = *utilization;
    }
  }
  if (!others.empty()) {
    said[kMetrics] = MetricsInV1(kSpecs, others).ToJson();
  }
  JsonTree status = JsonTree::Object();
  TakeStatus(v2_status, status);
  const std::vector<JsonTree> current = ElementsOf(v2_status, "currentMetrics");
  for (const JsonTree& metric : current) {
    const JsonTree* const utilization = metric.At({"resource", "current", "averageUtilization"});
    if (IsCpu(metric) && IsSet(utilization)) {
      status["currentCPUUtilizationPercentage"] = *utilization;
    }
  }
  if (!current.empty()) {
    said[kCurrentMetrics] = MetricsInV1(kStatuses, current).ToJson();
  }
  if (const JsonTree* const behavior = v2_spec.Find("behavior"); IsSet(behavior)) {
    said[kBehavior] = Exported(kBehaviorFields, *behavior, ExportedRules).ToJson();
  }
  if (const JsonTree* const conditions = v2_status.Find("conditions");
      conditions != nullptr && conditions->size() > 0) {
    said[kConditions] = conditions->ToJson();
  }
  for (const JsonTree::Member& annotation : said.members()) {
    v1["metadata"]["annotations"][annotation.key] = annotation.value;
  }
  v1["spec"] = std::move(spec);
  v1["status"] = std::move(status);
  return v1;
}

JsonTree InV2(const JsonTree& object) {
  const JsonTree v1_spec = ObjectAt(object, "spec");
  const JsonTree v1_status = ObjectAt(object, "status");
  JsonTree v2 = HeadOf(object, "autoscaling/v2");
  const JsonTree said = TakeAnnotations(v2["metadata"]);
  JsonTree spec = JsonTree::Object();
  TakeSpec(v1_spec, spec);
  JsonTree metrics = JsonTree::Array();
  if (const JsonTree* const others = said.Find(kMetrics)) {
    metrics = MetricsInV2(kSpecs, *others);
  }
  const JsonTree* const utilization = v1_spec.Find("targetCPUUtilizationPercentage");
  if (IsSet(utilization) || metrics.size() == 0) {
    metrics.Append(CpuMetric(IsSet(utilization) ? *utilization : JsonTree(kDefaultUtilization)));
  }
  spec["metrics"] = std::move(metrics);
  if (const JsonTree* const behavior = said.Find(kBehavior)) {
    if (JsonTree read = Imported(kBehaviorFields, *behavior, ImportedRules); read.size() > 0) {
      spec["behavior"] = std::move(read);
    }
  }
  JsonTree status = JsonTree::Object();
  TakeStatus(v1_status, status);
  if (const JsonTree* const current = said.Find(kCurrentMetrics)) {
    status["currentMetrics"] = MetricsInV2(kStatuses, *current);
  } else if (const JsonTree* const cpu = v1_status.Find("currentCPUUtilizationPercentage");
             IsSet(cpu)) {
    JsonTree metric = JsonTree::Object();
    metric["type"] = "Resource";
    metric["resource"]["name"] = "cpu";
    metric["resource"]["current"]["averageUtilization"] = *cpu;
    status["currentMetrics"].Append(std::move(metric));
  }
  if (const JsonTree* const conditions = said.Find(kConditions)) {
    status["conditions"] = *conditions;
  }
  v2["spec"] = std::move(spec);
  v2["status"] = std::move(status);
  return v2;
}

}  // namespace

JsonTree AutoscalerInVersion(const JsonTree& object, std::string_view api_version) {
  if (object.TextAt("apiVersion") == api_version) {
    JsonTree same = object;
    if (JsonTree* const metadata = same.Find("metadata");
        metadata != nullptr && api_version == "autoscaling/v2") {
      TakeAnnotations(*metadata);
    }
    return same;
  }
  return api_version == "autoscaling/v1" ? InV1(object) : InV2(object);
}

}  // namespace kubexx::apiserver
