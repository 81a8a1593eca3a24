/// @file
/// What stands on a workload about its last rollout, so that no restart forgets it.
#ifndef KUBEXX_RELOADPOLICY_ROLLOUT_RECORD_H_
#define KUBEXX_RELOADPOLICY_ROLLOUT_RECORD_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace kubexx::reloadpolicy {

/// Written on a workload in the same write as what rolls it, and again when the rollout ends or
/// fails: "<state> <uid of the workload>". A rollout whose end was not written has not ended: that
/// must be seen first, by whatever process.
inline constexpr std::string_view kRolloutStateAnnotation = "reloader.kubexx.io/rollout-state";

/// What became of a rollout.
enum class RolloutState : std::uint8_t {
  kStarted,
  kRetried,        ///< started after one that failed, which counts until this one is healthy
  kStartedBroken,  ///< started when the workload was not available: if it never gets so, that is
                   ///< nothing new
  kFailed,
  kCompleted,
  kLeft,  ///< not followed any more: others have changed the template, or nothing asks for it
};

/// "started", "retried", "started-broken", "failed", "completed", "left".
std::string_view ToString(RolloutState state);

/// Whether the rollout must still be followed.
constexpr bool IsOpen(RolloutState state) {
  return state != RolloutState::kCompleted && state != RolloutState::kLeft;
}

/// Whether workloads of the kind have a status that tells of rollouts.
constexpr bool HasRollouts(std::string_view kind) { return kind != "CronJob" && kind != "Job"; }

/// The annotation's value.
std::string RecordFor(RolloutState state, std::string_view uid);

/// What the annotations say; nothing when that is about an object with another uid, as on a copy,
/// or cannot be read.
std::optional<RolloutState> RecordOf(const std::map<std::string, std::string>& annotations,
                                     std::string_view uid);

}  // namespace kubexx::reloadpolicy

#endif  // KUBEXX_RELOADPOLICY_ROLLOUT_RECORD_H_
