/// @file
/// How a source stands with policies whose waves restore data, and what has come of a restore.
#ifndef KUBEXX_RELOADER_RESTORE_RESTORE_STANDING_H_
#define KUBEXX_RELOADER_RESTORE_RESTORE_STANDING_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kubexx/apimachinery/time.h"
#include "kubexx/base/clock.h"
#include "kubexx/reloader/model/digest.h"
#include "kubexx/reloader/model/source.h"
#include "kubexx/reloadpolicy/policy.h"

namespace kubexx::reloader {

/// One of the sources for whose data a rollout has failed in a wave.
struct FailedSource {
  SourceId id{};
  Digest bad{};  ///< of all its data, which are present
  /// It is a ConfigMap, or a Secret that the policy names.
  bool is_named = true;
  bool operator==(const FailedSource&) const = default;
};

/// A rollout that has failed in a wave of a policy that restores data.
struct FailedRollout {
  reloadpolicy::ObjectRef workload{};
  /// The sources that have the data of that rollout, and those that are gone or not seen any more,
  /// sorted by id. Those that were put back already are left out.
  std::vector<FailedSource> sources{};
  /// A source of the rollout whose data are not those of the rollout any more, though the operator
  /// has not put others back; nobody knows whether the old data of the others go with these.
  std::optional<SourceId> changed{};
  /// Others of its sources have been put back since.
  bool others_put_back = false;
  /// It was for so many sources that its record may not name all.
  bool may_be_cut = false;
  bool operator==(const FailedRollout&) const = default;
};

/// How a source stands with policies whose waves have OnWaveFailure::kRestore, according to the
/// operator's caches.
struct RestoreStanding {
  /// The policy; std::nullopt: none such governs a workload that uses the source.
  std::optional<reloadpolicy::PolicyId> policy{};
  /// Whether the operator keeps snapshots of it: it is a ConfigMap, or a Secret that is named.
  bool is_named = true;
  /// Of all its data; std::nullopt: there is no such source, or its data are not known.
  std::optional<Digest> present{};
  /// The present data are good: all workloads in waves that use them have been rolled for them or
  /// began with them, none of these has failed, all pods of these have been of the present template
  /// and available for Waves::healthy_for, and there is one such workload at least.
  bool is_settled = false;
  /// The data become settled after this time if nothing happens; std::nullopt: something has to
  /// happen first, or they are settled.
  std::optional<base::Duration> settles_after{};
  /// A workload that keeps them from being settled, and how; empty: none does. Nobody knows when it
  /// ends.
  std::string unsettled{};
  /// A rollout for the present data has failed; or one for data that the source had before, and its
  /// workload still has them: then `changed` is the source, or there is no source any more.
  std::optional<FailedRollout> failure{};
  bool operator==(const RestoreStanding&) const = default;
};

/// The reason of the condition Restored while nothing has had to be restored.
inline constexpr char kNothingToRestore[] = "NothingToRestore";

/// In the message of a restore, before its time.
inline constexpr std::string_view kRestoredAt = ", at ";

/// What the users of a source and of a policy should know of restores.
struct RestoreReport {
  enum class Outcome : std::uint8_t {
    kRestored,  ///< the last good data were put back
    kHeld,      ///< they were not, and are not going to be until a person does something
    kUnready,   ///< nothing has failed, but no snapshot of good data can be taken
    kOver,      ///< what was reported last holds no longer
  };
  Outcome outcome = Outcome::kRestored;
  SourceId source{};
  std::string uid{};  ///< of the source; empty: not known
  reloadpolicy::PolicyId policy{};
  /// The workload that failed; std::nullopt with kUnready and kOver.
  std::optional<reloadpolicy::ObjectRef> workload{};
  std::string reason{};   ///< in UpperCamelCase, such as "NoSnapshot"
  std::string message{};  ///< a sentence; with kHeld and kUnready it says what to do
  /// With kRestored: when that was, in whole seconds; the same for all sources of one rollout.
  apimachinery::Time at{};
  /// With kRestored: another process did it, so users have been told of it, and only the states of
  /// policies need it.
  bool is_earlier = false;
  bool operator==(const RestoreReport&) const = default;
};

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_RESTORE_RESTORE_STANDING_H_
