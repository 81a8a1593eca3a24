/// @file
/// A rollout that the arbiter follows until it has ended well.
#ifndef KUBEXX_RELOADPOLICY_ROLLOUT_H_
#define KUBEXX_RELOADPOLICY_ROLLOUT_H_

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "kubexx/base/clock.h"
#include "kubexx/reloadpolicy/phase.h"
#include "kubexx/reloadpolicy/rolled_data.h"
#include "kubexx/reloadpolicy/rollout_record.h"

namespace kubexx::reloadpolicy {

/// A workload whose rollout has failed counts as failed until it has been healthy for at least this
/// long, even if the soak time is shorter: a pod that crashes repeatedly is available in between.
inline constexpr base::Duration kLeastSoakAfterFailure = std::chrono::seconds(10);

/// A workload counts as broken before its rollout when it has been unavailable for at least this
/// long: a new workload is unavailable for a moment, too.
inline constexpr base::Duration kLeastUnavailable = std::chrono::seconds(10);

/// So often is a workload that gets back pods that it has had before, and has not been complete for
/// kLeastSoakAfterFailure since the last time, given the timeout anew. An autoscaler may add and
/// take away pods all day, and a rollout has to end.
inline constexpr int kMostRegrown = 10;

/// A rollout that is under way, or that has failed while its workload has not become healthy since.
/// Pure; a value type.
struct Rollout {
  base::WallTime started{};
  /// When the previous rollout began, if that time is later than `started` because a clock was
  /// wrong. Until this rollout has been observed, a record on the workload with a time up to this
  /// one belongs to the previous rollout.
  std::optional<base::WallTime> before{};
  /// The time from which the timeout counts: the start, the end of a pause, or the moment when pods
  /// were added to a complete workload. Never later than the last status that was seen.
  base::WallTime running_since{};
  /// How long the rollout may take before it has failed.
  base::Duration timeout{};
  /// See Effective::OthersHealthTimeout.
  base::Duration others_timeout{};
  /// For how long the rollout must be healthy before it has ended well.
  base::Duration soak{};
  /// Policies that may apply to the workload cannot be read. Then `timeout` and `soak` are the
  /// longest that a policy may ask for, while `others_timeout` and `others_soak`, by which other
  /// rollouts wait for this one, come from the settings that are known.
  bool unread = false;
  base::Duration others_soak{};
  bool soaked_for_others = false;  ///< with `unread`: it has been complete for `others_soak`
  Phase phase = Phase::kUpdating;
  /// What the last status seen says, if it may be of an earlier rollout.
  std::optional<Presumed> presumed{};
  bool observed = false;  ///< the last status seen is of this rollout or a later one
  /// Its write is on the way, and nothing has told of it yet, neither an answer nor an event: it
  /// keeps its place and cannot fail, since no pods may have begun.
  bool sent = false;
  /// The resource version that its write got, and the last one that an event has told of since it
  /// began; 0: not known. From `written` on a state of the workload is of this rollout, or a later
  /// one, also where somebody has taken its annotations away by then.
  std::uint64_t written = 0;
  std::uint64_t told_version = 0;
  /// The previous rollout failed, and counts as failed until this one is healthy.
  bool retried = false;
  bool failed = false;             ///< it has failed; only a healthy workload ends that
  bool was_stuck = false;          ///< it failed because its status told of no progress
  bool failed_for_others = false;  ///< HasFailedForOthers has been true
  bool untold_for_others = false;  ///< IsUntold has been true
  bool broken = false;             ///< the workload was already unavailable before this rollout
  /// It is unknown whether it was written; it keeps its place and cannot fail.
  bool uncertain = false;
  bool doubted = false;   ///< it is being written again, after an attempt whose outcome is unknown
  bool restored = false;  ///< it was found on the workload: this process has not seen its beginning
  bool told = false;      ///< its failure has been reported
  /// A policy's status tells of it, and nobody has seen on the workload which rollout it is.
  bool remembered = false;
  bool undone = false;    ///< it counts as failed because a person has undone it
  bool in_place = false;  ///< it is no rollout, but a reload of the running pods
  /// The data that it is for; empty: it is of no wave, or the workload had no pods that could show
  /// anything of the data when it began.
  DataVersions data{};
  /// Since when it has been complete without interruption, where the time in which pods that it has
  /// had before came back is left out (`soaked`); std::nullopt when it is not complete.
  std::optional<base::WallTime> healthy_since{};
  /// It has been complete for kLeastSoakAfterFailure without interruption, or its status says that
  /// it became so in time: see MayCountAsFailed.
  bool lived = false;
  /// Its status says that it was complete in time, and it was not when this process first saw it:
  /// pods may have been added meanwhile, or those that were there crash.
  bool relapsed = false;
  /// How many pods the workload was to have by the last status, and the most that it was to have
  /// since the rollout began; std::nullopt: not known.
  std::optional<std::int64_t> wanted{};
  std::optional<std::int64_t> most_wanted{};
  /// Pods were added while it was complete, and it has not been complete since.
  bool is_growing = false;
  /// How often that was within most_wanted without the soak's having gone on since the last time.
  int regrown = 0;
  /// For how long it had been complete when pods that it has had before were added. The soak goes
  /// on from there once it is complete again.
  base::Duration soaked{};
  std::string uid{};
  std::string template_hash{};  ///< of the pod template that it rolls out; empty when not known
  /// The workload's annotations, which may set timeouts.
  std::map<std::string, std::string> annotations{};
  std::optional<RolloutState> record{};  ///< the state that is recorded on the workload

  /// Moves times in the future to `now`. Such times come from a clock that was wrong or has been
  /// set back, or from an annotation that somebody has edited.
  void Clamp(base::WallTime now);
  /// Takes a new status of the workload into account. `may_be`: only with kUnseen.
  void See(Phase seen, base::WallTime now, const std::optional<Presumed>& may_be = std::nullopt);
  /// Takes into account how many pods the workload is to have; std::nullopt: not known. When more
  /// are added after it was complete, these are given the timeout anew: nothing is wrong with the
  /// pods that were there. Its soak begins anew where there are more than ever. Call it before See.
  void NoteWanted(std::optional<std::int64_t> wants, base::WallTime now);
  /// Whether the rollout was complete at `completed`, and its timeout was not over then.
  bool WasCompleteInTime(const std::optional<base::WallTime>& completed) const;
  /// Takes into account that an event has told of the workload as it is at this version; 0: not
  /// known. Returns whether that is after the rollout's write.
  bool NoteTold(std::uint64_t version);
  /// Takes what is presumed into account, if the rollout is old enough. Returns whether it is.
  bool Presume(base::WallTime now);
  /// Whether the workload has been complete for the soak time, so that the rollout has ended well.
  bool IsHealthy(base::WallTime now) const;
  /// Whether the rollout is healthy as far as other rollouts are concerned: it takes no place from
  /// them any more.
  bool IsHealthyForOthers(base::WallTime now) const;
  /// Whether nothing tells if the rollout has already ended: it has no record, and the policies
  /// that say how long it counts cannot be read.
  bool MayBeOld() const { return unread && restored && !record; }
  /// Whether the rollout makes no progress, or has taken longer than its timeout. One of which only
  /// the answer to its write has told cannot fail: its pods may be healthy, and the watch behind.
  bool HasFailed(base::WallTime now) const;
  /// Whether the rollout has failed as far as other rollouts are concerned. A timeout that the
  /// workload's own annotation makes shorter than the others' is not enough for that. From then on
  /// this rollout takes no place from others, and counts for stopAfterFailures.
  bool HasFailedForOthers(base::WallTime now) const;
  /// Whether the rollout makes no progress, but is not to blame: its workload was broken before, or
  /// the rollout may never have been written.
  bool IsLeft(base::WallTime now) const { return (broken || uncertain) && IsStuck(now); }
  /// Whether no event has told of the rollout for as long as others wait for it. It takes no place
  /// from them any more, and is followed until one does.
  bool IsUntold(base::WallTime now) const;
  /// Whether the rollout has failed for others, or retries one that has failed and is not healthy
  /// yet.
  bool CountsAsFailed(base::WallTime now) const;
  /// Whether CountsAsFailed, or the timeout was over before this process saw the rollout: it may
  /// have failed while no process watched; so may one that has relapsed. One whose soak goes on has
  /// not, once it has lived: pods that crash repeatedly are complete for a shorter time in between.
  bool MayCountAsFailed(base::WallTime now) const;
  /// Does the same as MayCountAsFailed, but with the rollout's own timeout.
  bool MayHaveFailed(base::WallTime now) const;
  /// Whether `lived` is to be true.
  bool HasLived(base::WallTime now) const {
    return healthy_since && now - *healthy_since >= kLeastSoakAfterFailure;
  }
  /// A sentence without a full stop: why it has failed, if it has.
  std::string WhyFailed() const;
  /// The time at which one of the answers above changes if no new status arrives before;
  /// std::nullopt when none does.
  std::optional<base::WallTime> NextChange(base::WallTime now) const;

 private:
  base::WallTime SoakedAt() const { return SoakedAfter(soak); }
  base::WallTime SoakedAfter(base::Duration least) const;
  bool IsStuckForOthers(base::WallTime now) const;
  std::optional<base::WallTime> PresumedAt() const;
  /// NextChange as if nothing were presumed.
  std::optional<base::WallTime> NextOwnChange(base::WallTime now) const;
  base::WallTime Deadline() const;
  base::WallTime OthersDeadline() const;
  bool IsTimed() const;
  bool CanTimeOut() const;
  /// Whether its time, or its status, may tell that it has failed.
  bool MayFail() const { return observed && !broken && !uncertain; }
  /// Whether nobody knows what became of it before this process saw it, and nothing has shown since
  /// then that it goes well.
  bool IsUnclear(base::WallTime now) const;
  bool WasOver(base::WallTime deadline, base::WallTime now) const;
  bool IsStuck(base::WallTime now) const;
};

}  // namespace kubexx::reloadpolicy

#endif  // KUBEXX_RELOADPOLICY_ROLLOUT_H_
