/// @file
/// How far a rollout is.
#ifndef KUBEXX_RELOADPOLICY_PHASE_H_
#define KUBEXX_RELOADPOLICY_PHASE_H_

#include <cstdint>
#include <optional>
#include <string_view>

namespace kubexx::reloadpolicy {

/// How far a rollout is, by the workload's status.
enum class Phase : std::uint8_t {
  kComplete,     ///< all pods are replaced and available
  kUnavailable,  ///< all pods are replaced, not all are available
  kUpdating,     ///< pods are still being replaced
  kFailed,       ///< the status says that it does not get on
  kUnseen,       ///< the status is of an earlier generation
  kWaiting,      ///< a step of the rollout itself waits, as that of a canary
  kPaused,       ///< its user has paused it
  kWithoutPods,  ///< it wants none: nothing is left to replace, and nothing shows that it works
};

/// As metrics, logs and `explain` show it: "complete", "unavailable", "updating", "failed",
/// "unseen", "waiting", "paused", "without pods".
std::string_view ToString(Phase phase);

/// The inverse of ToString.
std::optional<Phase> ParsePhase(std::string_view text);

/// Whether nothing more will come of it: kComplete or kWithoutPods.
constexpr bool IsThrough(Phase phase) {
  return phase == Phase::kComplete || phase == Phase::kWithoutPods;
}

}  // namespace kubexx::reloadpolicy

#endif  // KUBEXX_RELOADPOLICY_PHASE_H_
