#include "kubexx/reloadpolicy/hold.h"

namespace kubexx::reloadpolicy {

std::string_view ToString(HoldReason reason) {
  switch (reason) {
    case HoldReason::kPoliciesUnread:
      return "PoliciesUnread";
    case HoldReason::kInvalidAnnotation:
      return "InvalidAnnotation";
    case HoldReason::kPaused:
      return "Paused";
    case HoldReason::kSourcePaused:
      return "SourcePaused";
    case HoldReason::kOutsideWindow:
      return "OutsideMaintenanceWindow";
    case HoldReason::kMinInterval:
      return "MinInterval";
    case HoldReason::kStopped:
      return "StoppedAfterFailures";
    case HoldReason::kOrder:
      return "Order";
    case HoldReason::kWave:
      return "Wave";
    case HoldReason::kWaveFailed:
      return "WaveFailed";
    case HoldReason::kLimit:
      return "ConcurrencyLimit";
    case HoldReason::kUnhealthy:
      return "Unhealthy";
    case HoldReason::kHealthUnknown:
      break;
  }
  return "HealthUnknown";
}

}  // namespace kubexx::reloadpolicy
