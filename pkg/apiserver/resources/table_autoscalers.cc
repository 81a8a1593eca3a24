// Tables of HorizontalPodAutoscalers, which show the targets in one cell.
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "kubexx/apiserver/object/autoscaler_versions.h"
#include "kubexx/apiserver/object/metadata.h"
#include "kubexx/apiserver/resources/table_cells.h"
#include "kubexx/apiserver/resources/table_columns.h"

namespace kubexx::apiserver {
namespace {

using codec::JsonTree;

/// A kind of metric, with the member of the metric that has the target.
struct MetricKind {
  std::string_view type;
  std::string_view member;
  bool named;  ///< by a resource, which may be aimed at in percent of what was requested
};
constexpr MetricKind kMetricKinds[] = {{"External", "external", false},
                                       {"Pods", "pods", false},
                                       {"Object", "object", false},
                                       {"Resource", "resource", true},
                                       {"ContainerResource", "containerResource", true}};
constexpr std::size_t kShownMetrics = 2;

/// Returns "7/10": the current value and the target. `status` may be null.
std::string Aim(const JsonTree& metric, const JsonTree* status, std::string_view field,
                std::string_view unit) {
  const auto target = ValueAt(metric, {"target", field});
  const auto current = status == nullptr ? std::nullopt : ValueAt(*status, {"current", field});
  return (current ? *current + std::string(unit) : "<unknown>") + "/" +
         (target ? *target + std::string(unit) : "<auto>");
}

std::string AimOf(const MetricKind& kind, const JsonTree& metric, const JsonTree* status) {
  const bool average = ValueAt(metric, {"target", "averageValue"}).has_value();
  if (kind.named) {
    return std::string(metric.TextAt("name")) + ": " +
           (average ? Aim(metric, status, "averageValue", "")
                    : Aim(metric, status, "averageUtilization", "%"));
  }
  if (kind.type == "Pods") {
    return Aim(metric, status, "averageValue", "");
  }
  return average ? Aim(metric, status, "averageValue", "") + " (avg)"
                 : Aim(metric, status, "value", "");
}

JsonTree TargetsCell(const JsonTree& o) {
  const JsonTree scaler = AutoscalerInVersion(o, "autoscaling/v2");
  const auto statuses = ElementsAt(scaler, {"status", "currentMetrics"});
  std::vector<std::string> aims;
  for (const JsonTree& spec : ElementsAt(scaler, {"spec", "metrics"})) {
    std::string aim = "<unknown type>";
    for (const MetricKind& kind : kMetricKinds) {
      const JsonTree* const metric = spec.Find(kind.member);
      if (kind.type == spec.TextAt("type") && metric != nullptr) {
        const std::size_t at = aims.size();
        aim = AimOf(kind, *metric, at < statuses.size() ? statuses[at].Find(kind.member) : nullptr);
      }
    }
    aims.push_back(std::move(aim));
  }
  return OrElse(FirstOf(std::move(aims), kShownMetrics, ", "));
}

JsonTree ReferenceCell(const JsonTree& o) {
  return StringAt(o, {"spec", "scaleTargetRef", "kind"}) + "/" +
         StringAt(o, {"spec", "scaleTargetRef", "name"});
}
JsonTree MinPodsCell(const JsonTree& o) {
  return ValueAt(o, {"spec", "minReplicas"}).value_or("<unset>");
}
JsonTree MaxPodsCell(const JsonTree& o) { return NumberAt(o, {"spec", "maxReplicas"}); }
JsonTree ReplicasCell(const JsonTree& o) { return NumberAt(o, {"status", "currentReplicas"}); }

constexpr Column kAutoscalerColumns[] = {kNameColumn,
                                         {"Reference", "string", ReferenceCell},
                                         {"Targets", "string", TargetsCell},
                                         {"MinPods", "string", MinPodsCell},
                                         {"MaxPods", "string", MaxPodsCell},
                                         {"Replicas", "string", ReplicasCell},
                                         kAgeColumn};

}  // namespace

constexpr ColumnTable kAutoscalerTable{.columns = kAutoscalerColumns};

}  // namespace kubexx::apiserver
