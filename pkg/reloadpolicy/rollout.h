/// @file
/// One rollout that is followed until it has ended well.
#ifndef KUBEXX_RELOADPOLICY_ROLLOUT_H_
#define KUBEXX_RELOADPOLICY_ROLLOUT_H_

#include <chrono>
#include <map>
#include <optional>
#include <string>

#include "kubexx/base/clock.h"
#include "kubexx/reloadpolicy/phase.h"
#include "kubexx/reloadpolicy/rollout_record.h"

namespace kubexx::reloadpolicy {

/// A workload whose rollout has failed is mended when it has been healthy for at least this long,
/// however short the soak time is: a pod that crashes again and again is available in between.
inline constexpr base::Duration kLeastSoakAfterFailure = std::chrono::seconds(10);

/// A workload counts as broken before its rollout when it has been unavailable for at least this
/// long: one that has just been made is unavailable for a moment.
inline constexpr base::Duration kLeastUnavailable = std::chrono::seconds(10);

/// A rollout under way, or failed and not mended. Pure; a value type.
struct Rollout {
  base::WallTime started{};
  /// When the one before began, if that was later: by a clock that was wrong. Until this one has
  /// been observed, what stands on the workload from then is not of a later one.
  std::optional<base::WallTime> before{};
  /// From when the timeout counts: the beginning, or the end of a pause. Never after the status
  /// seen last.
  base::WallTime running_since{};
  base::Duration timeout{};
  /// As Effective::OthersHealthTimeout.
  base::Duration others_timeout{};
  base::Duration soak{};
  /// Policies that may ask for more cannot be read: `timeout` and `soak` are the longest then, and
  /// others go by `others_timeout` and `others_soak`, what is asked for as far as it is known.
  bool unread = false;
  base::Duration others_soak{};
  bool soaked_for_others = false;  ///< with `unread`: it has been complete for that time
  Phase phase = Phase::kUpdating;
  bool observed = false;  ///< the status seen is of this rollout or a later one
  bool retried = false;   ///< the one before failed, which counts until this one is healthy
  bool failed = false;    ///< it was seen to fail; only health ends that
  bool failed_for_others = false;  ///< the same of HasFailedForOthers
  bool broken = false;             ///< the workload was not available before it either
  bool uncertain = false;  ///< whether it was written is not known; it has a place, and cannot fail
  bool doubted = false;    ///< it is written again, after an attempt that is uncertain
  bool restored = false;   ///< read from the workload: what came before was not seen
  bool told = false;       ///< its failure
  /// Since when it has been complete without a break.
  std::optional<base::WallTime> healthy_since{};
  std::string uid{};
  std::string template_hash{};  ///< of the pod template that it rolls; empty when not known
  /// The workload's annotations, for what they say about timeouts.
  std::map<std::string, std::string> annotations{};
  std::optional<RolloutState> record{};  ///< what stands on the workload

  /// What stands on a workload may be a time to come, by a clock that was wrong or by somebody's
  /// hand, and so is what was known before a clock was set back: it counts from now.
  void Clamp(base::WallTime now);
  /// Takes in a status.
  void See(Phase seen, base::WallTime now);
  /// It has been complete for its soak time: it has ended well.
  bool IsHealthy(base::WallTime now) const;
  /// The same for others: it keeps no place that they wait for.
  bool IsHealthyForOthers(base::WallTime now) const;
  /// Nothing tells whether it has ended: there is no record, and policies cannot be read that say
  /// how long it counts.
  bool MayBeOld() const { return unread && restored && !record; }
  /// It does not get on, or not within its time.
  bool HasFailed(base::WallTime now) const;
  /// It has failed, and not only by a timeout that its own annotation makes shorter than others
  /// allow: from then on it keeps no place that they wait for, and may stop them.
  bool HasFailedForOthers(base::WallTime now) const;
  /// It does not get on, but neither did its workload before, or perhaps it was never written.
  bool IsLeft(base::WallTime now) const { return (broken || uncertain) && IsStuck(now); }
  /// It has failed for others, or the one before has and it is not healthy yet.
  bool CountsAsFailed(base::WallTime now) const;
  /// As CountsAsFailed, and also when its time was over before this process saw it: it may have
  /// failed while nobody watched.
  bool MayCountAsFailed(base::WallTime now) const;
  /// The same by its own timeout.
  bool MayHaveFailed(base::WallTime now) const;
  /// When one of the answers above changes, if no status comes first.
  std::optional<base::WallTime> NextChange(base::WallTime now) const;

 private:
  base::WallTime SoakedAt() const { return SoakedAfter(soak); }
  base::WallTime SoakedAfter(base::Duration least) const;
  bool IsStuckForOthers(base::WallTime now) const;
  base::WallTime Deadline() const;
  base::WallTime OthersDeadline() const;
  bool IsTimed() const;
  bool CanTimeOut() const;
  bool WasOver(base::WallTime deadline, base::WallTime now) const;
  bool IsStuck(base::WallTime now) const;
};

}  // namespace kubexx::reloadpolicy

#endif  // KUBEXX_RELOADPOLICY_ROLLOUT_H_
