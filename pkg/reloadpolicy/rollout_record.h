/// @file
/// The record of a workload's last rollout that is stored on the workload and thus survives
/// restarts.
#ifndef KUBEXX_RELOADPOLICY_ROLLOUT_RECORD_H_
#define KUBEXX_RELOADPOLICY_ROLLOUT_RECORD_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace kubexx::reloadpolicy {

/// The operator writes this annotation in the write that rolls a workload, and again when the
/// rollout ends or fails. Its value is "<state> <uid of the workload>". As long as the record does
/// not tell of an end, every process treats the rollout as not ended.
inline constexpr std::string_view kRolloutStateAnnotation = "reloader.kubexx.io/rollout-state";

/// The state of a rollout as it is recorded.
enum class RolloutState : std::uint8_t {
  kStarted,
  kRetried,  ///< started after a failed rollout, which counts as failed until this one is healthy
  kStartedBroken,  ///< started while the workload was already unavailable
  kFailed,
  kCompleted,
  kLeft,  ///< no longer followed: somebody else has changed the template, or nothing needs tracking
};

/// Returns "started", "retried", "started-broken", "failed", "completed" or "left".
std::string_view ToString(RolloutState state);

/// Whether the arbiter still has to follow a rollout in this state.
constexpr bool IsOpen(RolloutState state) {
  return state != RolloutState::kCompleted && state != RolloutState::kLeft;
}

/// Whether the status of workloads of this kind reports how far a rollout is.
constexpr bool HasRollouts(std::string_view kind) { return kind != "CronJob" && kind != "Job"; }

/// The value of kRolloutStateAnnotation for a workload with this uid.
std::string RecordFor(RolloutState state, std::string_view uid);

/// Reads kRolloutStateAnnotation. Returns std::nullopt when the annotation is missing or malformed,
/// or names another uid: then it was copied from another object.
std::optional<RolloutState> RecordOf(const std::map<std::string, std::string>& annotations,
                                     std::string_view uid);

}  // namespace kubexx::reloadpolicy

#endif  // KUBEXX_RELOADPOLICY_ROLLOUT_RECORD_H_
