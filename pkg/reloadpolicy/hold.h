/// @file
/// Why a rollout waits.
#ifndef KUBEXX_RELOADPOLICY_HOLD_H_
#define KUBEXX_RELOADPOLICY_HOLD_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "kubexx/base/clock.h"
#include "kubexx/reloadpolicy/policy.h"

namespace kubexx::reloadpolicy {

/// The reason for which a rollout waits.
enum class HoldReason : std::uint8_t {
  kPoliciesUnread,
  kInvalidAnnotation,
  kPaused,
  kSourcePaused,
  kOutsideWindow,
  kMinInterval,
  kStopped,
  kOrder,
  kWave,
  kWaveFailed,
  kLimit,
  kUnhealthy,
  kHealthUnknown,
};

/// All values of HoldReason.
inline constexpr std::array kHoldReasons{
    HoldReason::kPoliciesUnread, HoldReason::kInvalidAnnotation,
    HoldReason::kPaused,         HoldReason::kSourcePaused,
    HoldReason::kOutsideWindow,  HoldReason::kMinInterval,
    HoldReason::kStopped,        HoldReason::kOrder,
    HoldReason::kWave,           HoldReason::kWaveFailed,
    HoldReason::kLimit,          HoldReason::kUnhealthy,
    HoldReason::kHealthUnknown};

/// Whether a rollout with this reason waits because of other rollouts. All other reasons are
/// settings that somebody has chosen, such as maintenance windows and pauses, or facts that are not
/// known yet.
constexpr bool IsForOthers(HoldReason reason) {
  return reason == HoldReason::kOrder || reason == HoldReason::kWave ||
         reason == HoldReason::kLimit || reason == HoldReason::kUnhealthy;
}

/// The name that status and Events show, such as "OutsideMaintenanceWindow".
std::string_view ToString(HoldReason reason);

/// The reason for which a rollout may not begin now.
struct Hold {
  HoldReason reason = HoldReason::kPaused;
  std::string message{};
  /// The time at which to ask again; std::nullopt when no known time ends the wait.
  std::optional<base::WallTime> until{};
  /// The policy that makes the rollout wait; std::nullopt when an annotation or a flag does.
  std::optional<PolicyId> policy{};
  /// Only with kOrder and kWave: the workload that must be rolled first.
  std::optional<ObjectRef> waits_for{};
  bool operator==(const Hold&) const = default;
};

/// A workload of an earlier wave that has to be rolled, or to be healthy, first.
struct EarlierWave {
  std::size_t wave = 0;   ///< that of the workload that asks, counted from 1
  std::size_t waves = 0;  ///< the number of waves
  ObjectRef waits_for{};
  /// When that workload has been healthy for long enough, if nothing happens to it and no rollout
  /// of it is followed.
  std::optional<base::WallTime> until{};
};

}  // namespace kubexx::reloadpolicy

#endif  // KUBEXX_RELOADPOLICY_HOLD_H_
