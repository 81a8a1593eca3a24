#include "kubexx/apiserver/endpoints/validation/workloads/update_strategies.h"

#include <optional>
#include <string>
#include <string_view>

#include "kubexx/apiserver/endpoints/checks/counts.h"

namespace kubexx::apiserver {
namespace {

using codec::JsonTree;

constexpr std::string_view kRolling = "RollingUpdate";

const JsonTree& ObjectAt(const JsonTree& object, std::string_view member) {
  static const JsonTree kNone = JsonTree::Object();
  const JsonTree* const found = object.Find(member);
  return found == nullptr || !found->IsObject() ? kNone : *found;
}

/// The maximum numbers of unavailable and of surplus pods, as the strategy gives them.
struct Rolling {
  const JsonTree* unavailable;
  const JsonTree* surge;
  std::string path;
};

Rolling RollingOf(const JsonTree& strategy, const std::string& field, FieldCauses& causes) {
  const JsonTree& rolling = ObjectAt(strategy, "rollingUpdate");
  Rolling found{.unavailable = rolling.Find("maxUnavailable"),
                .surge = rolling.Find("maxSurge"),
                .path = field + ".rollingUpdate"};
  CheckCountOrPercent(found.unavailable, found.path + ".maxUnavailable", causes);
  CheckCountOrPercent(found.surge, found.path + ".maxSurge", causes);
  CheckNotAboveAll(found.unavailable, found.path + ".maxUnavailable", causes);
  return found;
}

void CheckStrategyOfDeployment(const JsonTree& strategy, FieldCauses& causes) {
  const std::string field = "spec.strategy";
  const std::string_view type = strategy.TextAt("type");
  if (type == "Recreate") {
    if (strategy.Find("rollingUpdate") != nullptr) {
      causes.Forbidden(field + ".rollingUpdate", "is not for the type 'Recreate'");
    }
  } else if (type == kRolling) {
    const Rolling rolling = RollingOf(strategy, field, causes);
    if (IsNone(rolling.unavailable) && IsNone(rolling.surge)) {
      causes.Invalid(rolling.path + ".maxUnavailable",
                     rolling.unavailable == nullptr ? "null" : rolling.unavailable->ToJson(),
                     "may not be 0 when `maxSurge` is 0");
    }
  } else {
    causes.NotSupported(field, strategy.ToJson(), R"("Recreate", "RollingUpdate")");
  }
}

void CheckStrategyOfDaemonSet(const JsonTree& strategy, FieldCauses& causes) {
  const std::string field = "spec.updateStrategy";
  const std::string_view type = strategy.TextAt("type");
  if (type != kRolling) {
    if (type != "OnDelete") {
      causes.NotSupported(field, strategy.ToJson(), R"("RollingUpdate", "OnDelete")");
    }
    return;
  }
  const Rolling rolling = RollingOf(strategy, field, causes);
  CheckNotAboveAll(rolling.surge, rolling.path + ".maxSurge", causes);
  if (!IsNone(rolling.unavailable) && !IsNone(rolling.surge)) {
    causes.Invalid(rolling.path + ".maxSurge", rolling.surge->ToJson(),
                   "may not be set when maxUnavailable is non-zero");
  } else if (IsNone(rolling.unavailable) && IsNone(rolling.surge)) {
    causes.Required(rolling.path + ".maxUnavailable", "cannot be 0 when maxSurge is 0");
  }
}

void CheckStrategyOfStatefulSet(const JsonTree& strategy, FieldCauses& causes) {
  const std::string field = "spec.updateStrategy";
  const std::string_view type = strategy.TextAt("type");
  const JsonTree* const rolling = strategy.Find("rollingUpdate");
  if (type == kRolling) {
    CheckNotNegative(ObjectAt(strategy, "rollingUpdate"), "partition", field + ".rollingUpdate",
                     causes);
  } else if (type != "OnDelete") {
    causes.Invalid(field, strategy.ToJson(), "the type must be 'RollingUpdate' or 'OnDelete'");
  } else if (rolling != nullptr && !rolling->IsNull()) {
    causes.Invalid(field + ".rollingUpdate", rolling->ToJson(),
                   "is for the type 'RollingUpdate' only");
  }
}

}  // namespace

void CheckDeploymentStrategy(const JsonTree& spec, FieldCauses& causes) {
  CheckNotNegative(spec, "minReadySeconds", "spec", causes);
  CheckStrategyOfDeployment(ObjectAt(spec, "strategy"), causes);
  CheckNotNegative(spec, "revisionHistoryLimit", "spec", causes);
  CheckNotNegative(spec, "progressDeadlineSeconds", "spec", causes);
  const JsonTree* const ready = spec.Find("minReadySeconds");
  const JsonTree* const deadline = spec.Find("progressDeadlineSeconds");
  const auto seconds = deadline == nullptr ? std::nullopt : deadline->AsInt();
  if (seconds && *seconds <= (ready == nullptr ? 0 : ready->AsInt().value_or(0))) {
    causes.Invalid("spec.progressDeadlineSeconds", deadline->ToJson(),
                   "must be greater than minReadySeconds");
  }
}

void CheckReplicaSetStrategy(const JsonTree& spec, FieldCauses& causes) {
  CheckNotNegative(spec, "minReadySeconds", "spec", causes);
}

void CheckDaemonSetStrategy(const JsonTree& spec, FieldCauses& causes) {
  CheckNotNegative(spec, "minReadySeconds", "spec", causes);
  CheckStrategyOfDaemonSet(ObjectAt(spec, "updateStrategy"), causes);
  CheckNotNegative(spec, "revisionHistoryLimit", "spec", causes);
}

void CheckStatefulSetStrategy(const JsonTree& spec, FieldCauses& causes) {
  CheckNotNegative(spec, "minReadySeconds", "spec", causes);
  CheckStrategyOfStatefulSet(ObjectAt(spec, "updateStrategy"), causes);
}

}  // namespace kubexx::apiserver
