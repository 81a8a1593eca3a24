/// @file
/// How far a rollout is, and what else is seen of a workload.
#ifndef KUBEXX_RELOADPOLICY_PHASE_H_
#define KUBEXX_RELOADPOLICY_PHASE_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
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

/// The state of a workload as an informer shows it.
struct Sighting {
  std::string uid{};
  const std::map<std::string, std::string>& annotations;
  Phase phase = Phase::kComplete;
  /// The hash of the workload's pod template; empty when it is not known.
  std::string template_hash{};
  /// The process has just started and sees this workload for the first time, so the workload may
  /// have been in this state for longer.
  bool is_first_look = false;
  /// The running pods are being given new data, in place of a rollout.
  bool is_in_place = false;
  /// When a command that undoes rollouts last wrote the workload.
  std::optional<base::WallTime> undone{};
  /// When an operator last rolled the workload, by the API server's clock: later than its start
  /// where the write was on the way for long.
  std::optional<base::WallTime> rolled{};
  std::optional<Presumed> presumed{};  ///< only with kUnseen
  /// The hash of the pod template where the status may be that of an earlier one, as its kind does
  /// not say of which it is; empty for other kinds. With a new one the workload is settled anew.
  std::string template_without_status{};
  /// The resource version of this state; 0: not known.
  std::uint64_t version = 0;
  /// How many pods the workload is to have; std::nullopt: not known.
  std::optional<std::int64_t> wanted{};
  /// When the last rollout was first complete, by the status; std::nullopt: it was not, or the
  /// status does not tell.
  std::optional<base::WallTime> completed{};
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
