/// @file
/// How far a rollout is.
#ifndef KUBEXX_RELOADPOLICY_PHASE_H_
#define KUBEXX_RELOADPOLICY_PHASE_H_

#include <cstdint>
#include <optional>
#include <string_view>

#include "kubexx/base/clock.h"

namespace kubexx::reloadpolicy {

/// How far a rollout is, according to the workload's status.
enum class Phase : std::uint8_t {
  kComplete,     ///< all pods are replaced and available
  kUnavailable,  ///< all pods are replaced, not all are available
  kUpdating,     ///< pods are still being replaced
  kFailed,       ///< the status says that the rollout makes no progress
  kUnseen,       ///< the status describes an earlier generation of the workload
  kWaiting,      ///< the rollout waits at one of its own steps, such as a canary's
  kPaused,       ///< somebody has paused the rollout
  kWithoutPods,  ///< the workload has no replicas, so nothing shows whether it works
};

/// What a status says that may be of an earlier rollout or of the present one.
struct Presumed {
  Phase phase = Phase::kComplete;
  /// It counts as of the present one when that is so old and the status has not changed;
  /// std::nullopt: never.
  std::optional<base::Duration> after{};
};

/// The name that metrics, logs and `explain` show: "complete", "unavailable", "updating", "failed",
/// "unseen", "waiting", "paused" or "without pods".
std::string_view ToString(Phase phase);

/// The inverse of ToString. Returns std::nullopt for any other text.
std::optional<Phase> ParsePhase(std::string_view text);

/// Whether pods are being replaced or are missing, so that nobody should rely on the workload.
constexpr bool IsUnsettled(Phase phase) {
  return phase == Phase::kUpdating || phase == Phase::kUnavailable || phase == Phase::kFailed ||
         phase == Phase::kUnseen;
}

/// Whether the rollout has replaced everything it has to: kComplete or kWithoutPods.
constexpr bool IsThrough(Phase phase) {
  return phase == Phase::kComplete || phase == Phase::kWithoutPods;
}

}  // namespace kubexx::reloadpolicy

#endif  // KUBEXX_RELOADPOLICY_PHASE_H_
