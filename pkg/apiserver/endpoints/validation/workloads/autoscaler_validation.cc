#include "kubexx/apiserver/endpoints/validation/workloads/autoscaler_validation.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include "kubexx/apiserver/endpoints/checks/field_path.h"
#include "kubexx/apiserver/endpoints/checks/value_checks.h"

namespace kubexx::apiserver {
namespace {

using codec::JsonTree;

constexpr std::int64_t kMaxWindowSeconds = 3600;
constexpr std::int64_t kMaxPeriodSeconds = 1800;

/// The rules for the version of a referenced type.
enum class VersionRule : std::uint8_t { kAny, kGroupOrNone, kGroup };

void CheckScaleReference(const JsonTree& reference, VersionRule rule, const FieldPath& path,
                         FieldCauses& causes) {
  for (const std::string_view member : {"kind", "name"}) {
    if (NeedText(reference, member, path, causes)) {
      CheckSegment(reference.TextAt(member), path.Of(member), causes);
    }
  }
  const std::string_view version = reference.TextAt("apiVersion");
  const auto slashes = std::ranges::count(version, '/');
  const bool has_group = slashes == 1 && !version.starts_with('/');
  if (rule != VersionRule::kAny && slashes > 1) {
    causes.Invalid(path.Of("apiVersion"), QuotedJson(version), "is no group and version");
  } else if (rule == VersionRule::kGroup && !has_group) {
    causes.Invalid(path.Of("apiVersion"), QuotedJson(version), "apiVersion must specify API group");
  }
}

void CheckMetricTarget(const JsonTree& target, const FieldPath& path, FieldCauses& causes) {
  const std::string_view type = target.TextAt("type");
  if (type.empty()) {
    causes.Required(path.Of("type"), "must specify a metric target type");
  }
  if (!IsAmong(type, "Utilization|Value|AverageValue")) {
    causes.Invalid(path.Of("type"), QuotedJson(type),
                   "must be either Utilization, Value, or AverageValue");
  }
  CheckQuantityAt(target, "value", /*more_than_zero=*/true, path, causes);
  CheckQuantityAt(target, "averageValue", /*more_than_zero=*/true, path, causes);
  if (const auto percent = IntAt(target, "averageUtilization"); percent && *percent < 1) {
    causes.Invalid(path.Of("averageUtilization"), std::to_string(*percent),
                   "must be greater than 0");
  }
}

void CheckIdentifier(const JsonTree& metric, const FieldPath& path, FieldCauses& causes) {
  if (NeedText(metric, "name", path, causes)) {
    CheckSegment(metric.TextAt("name"), path.Of("name"), causes);
  }
}

/// Checks that one of the two members is given. For some kinds of metrics only one of them is
/// allowed.
void CheckEither(const JsonTree& target, std::string_view one, std::string_view needed,
                 std::string_view forbidden, const FieldPath& path, FieldCauses& causes) {
  const bool has_one = GivenAt(target, one) != nullptr;
  const bool has_average = GivenAt(target, "averageValue") != nullptr;
  if (!has_one && !has_average) {
    causes.Required(path.Of(needed), "must set either a target value or an average");
  } else if (has_one && has_average && !forbidden.empty()) {
    causes.Forbidden(path.Of(forbidden), "may not set both a target value and an average");
  }
}

/// Checks a kind of metric, which needs the member of the same name.
void CheckMetricSource(const JsonTree& source, std::string_view kind, const FieldPath& path,
                       FieldCauses& causes) {
  const JsonTree& target = PartAt(source, "target");
  const FieldPath at = path.Member("target");
  CheckMetricTarget(target, at, causes);
  if (kind == "resource" || kind == "containerResource") {
    NeedText(source, "name", path, causes);
    if (kind == "containerResource") {
      NeedText(source, "container", path, causes);
      CheckDnsLabelAt(source, "container", path, causes);
    }
    CheckEither(target, "averageUtilization", "averageUtilization", "averageValue", at, causes);
    return;
  }
  CheckIdentifier(PartAt(source, "metric"), path.Member("metric"), causes);
  if (kind == "object") {
    CheckScaleReference(PartAt(source, "describedObject"), VersionRule::kGroupOrNone,
                        path.Member("describedObject"), causes);
    CheckEither(target, "value", "averageValue", "", at, causes);
  } else if (kind == "external") {
    CheckEither(target, "value", "averageValue", "value", at, causes);
  } else if (GivenAt(target, "averageValue") == nullptr) {
    causes.Required(at.Of("averageValue"), "must specify a positive target averageValue");
  }
}

struct MetricSourceKind {
  std::string_view type;
  std::string_view member;
};
/// The kinds in the order in which kube-apiserver checks them. Only the first one is checked.
constexpr MetricSourceKind kMetricSourceKinds[] = {{"Object", "object"},
                                                   {"External", "external"},
                                                   {"Pods", "pods"},
                                                   {"Resource", "resource"},
                                                   {"ContainerResource", "containerResource"}};

void CheckMetric(const JsonTree& metric, const FieldPath& path, FieldCauses& causes) {
  const std::string_view type = metric.TextAt("type");
  const auto* const expected = std::ranges::find(kMetricSourceKinds, type, &MetricSourceKind::type);
  if (type.empty()) {
    causes.Required(path.Of("type"), "must specify a metric source type");
  }
  if (expected == std::end(kMetricSourceKinds)) {
    AddNotSupported(type, "ContainerResource|External|Object|Pods|Resource", path.Of("type"),
                    causes);
  } else if (GivenAt(metric, expected->member) == nullptr) {
    causes.Required(path.Of(expected->member),
                    "must populate information for the given metric source");
  }
  int present = 0;
  for (const MetricSourceKind& kind : kMetricSourceKinds) {
    const JsonTree* const source = GivenAt(metric, kind.member);
    if (source != nullptr && ++present == 1) {
      CheckMetricSource(*source, kind.member, path.Member(kind.member), causes);
    }
  }
  for (const MetricSourceKind& kind : kMetricSourceKinds) {
    if (present > 1 && kind.type != type && GivenAt(metric, kind.member) != nullptr) {
      causes.Forbidden(path.Of(kind.member), "must populate the given metric source only");
    }
  }
}

void CheckScalingRules(const JsonTree& rules, const FieldPath& path, FieldCauses& causes) {
  CheckLeast(rules, "stabilizationWindowSeconds", 0, path, causes);
  if (const auto window = IntAt(rules, "stabilizationWindowSeconds").value_or(0);
      window > kMaxWindowSeconds) {
    causes.Invalid(path.Of("stabilizationWindowSeconds"), std::to_string(window),
                   "must be less than or equal to 3600");
  }
  CheckChoice(rules, "selectPolicy", "Disabled|Max|Min", path, causes);
  if (ListAt(rules, "policies").empty()) {
    causes.Required(path.Of("policies"), "must specify at least one Policy");
  }
  ForEachOf(rules, "policies", path, [&](const JsonTree& policy, const FieldPath& here) {
    if (const std::string_view type = policy.TextAt("type"); !IsAmong(type, "Percent|Pods")) {
      AddNotSupported(type, "Percent|Pods", here.Of("type"), causes);
    }
    for (const std::string_view member : {"value", "periodSeconds"}) {
      if (const std::int64_t number = IntAt(policy, member).value_or(0); number <= 0) {
        causes.Invalid(here.Of(member), std::to_string(number), "must be greater than zero");
      }
    }
    if (const std::int64_t period = IntAt(policy, "periodSeconds").value_or(0);
        period > kMaxPeriodSeconds) {
      causes.Invalid(here.Of("periodSeconds"), std::to_string(period),
                     "must be less than or equal to 1800");
    }
  });
  CheckQuantityAt(rules, "tolerance", /*more_than_zero=*/false, path, causes);
}

/// The minimum is at least one, unless it was zero before; in that case a client outside of the
/// autoscaler starts the first pod.
void CheckReplicaLimits(const JsonTree* old, const JsonTree& spec, const FieldPath& at,
                        FieldCauses& causes) {
  const auto least = IntAt(spec, "minReplicas");
  const bool had_none = old != nullptr && IntAt(*old, "minReplicas") == 0;
  CheckLeast(spec, "minReplicas", had_none ? 0 : 1, at, causes);
  const std::int64_t most = IntAt(spec, "maxReplicas").value_or(0);
  if (most == 0) {
    causes.Required(at.Of("maxReplicas"), "must be set and greater than 0");
  } else if (most < 0) {
    causes.Invalid(at.Of("maxReplicas"), std::to_string(most),
                   "must be greater than or equal to 1");
  }
  if (least && most < *least) {
    causes.Invalid(at.Of("maxReplicas"), std::to_string(most),
                   "must be greater than or equal to `minReplicas`");
  }
  const auto from_outside = [](const JsonTree& metric) {
    return IsAmong(metric.TextAt("type"), "Object|External");
  };
  if (least == 0 && std::ranges::none_of(ListAt(spec, "metrics"), from_outside)) {
    causes.Forbidden(at.Of("metrics"),
                     "must specify at least one Object or External metric to support scaling to "
                     "zero replicas");
  }
}

}  // namespace

void CheckAutoscaler(const JsonTree* old, const JsonTree& spec, FieldCauses& causes) {
  const FieldPath at("spec");
  CheckReplicaLimits(old, spec, at, causes);
  const JsonTree& target = PartAt(spec, "scaleTargetRef");
  const JsonTree* const former = old == nullptr ? nullptr : GivenAt(*old, "scaleTargetRef");
  const bool same = former != nullptr &&
                    former->TextAt("apiVersion") == target.TextAt("apiVersion") &&
                    former->TextAt("kind") == target.TextAt("kind");
  CheckScaleReference(target,
                      same                                               ? VersionRule::kAny
                      : target.TextAt("kind") == "ReplicationController" ? VersionRule::kGroupOrNone
                                                                         : VersionRule::kGroup,
                      at.Member("scaleTargetRef"), causes);
  ForEachOf(spec, "metrics", at, [&](const JsonTree& metric, const FieldPath& here) {
    CheckMetric(metric, here, causes);
  });
  IfGiven(spec, "behavior", at, [&](const JsonTree& behavior, const FieldPath& here) {
    for (const std::string_view member : {"scaleUp", "scaleDown"}) {
      IfGiven(behavior, member, here, [&](const JsonTree& rules, const FieldPath& of_rules) {
        CheckScalingRules(rules, of_rules, causes);
      });
    }
  });
}

}  // namespace kubexx::apiserver
