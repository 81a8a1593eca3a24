#include "kubexx/reloadpolicy/rollout.h"

#include <algorithm>

namespace kubexx::reloadpolicy {
namespace {

base::WallTime Later(base::WallTime time, base::Duration duration) {
  return time + std::chrono::duration_cast<base::WallTime::duration>(duration);
}

}  // namespace

void Rollout::Clamp(base::WallTime now) {
  running_since = std::min(running_since, now);
  if (healthy_since) {
    healthy_since = std::min(*healthy_since, now);
  }
}

void Rollout::See(Phase seen, base::WallTime now) {
  Clamp(now);  // otherwise it would keep its place for that long
  if (seen == Phase::kUnseen) {
    if (phase == Phase::kPaused) {
      // The rollout was resumed: its pods are replaced from now on, although no status shows that
      // yet.
      phase = Phase::kUpdating;
      running_since = now;
    }
    return;  // the event says nothing else of the present state, and its status follows
  }
  if (phase == Phase::kPaused || phase == Phase::kWaiting) {
    running_since = now;  // the time of a pause does not count
  }
  phase = seen;
  // A failed rollout without pods does not count as repaired, because the next workloads would get
  // the change that broke it. Nor does one in a wave count as healthy: somebody may have taken the
  // pods away because they crash.
  if (!IsThrough(seen) || (seen == Phase::kWithoutPods && (failed || !data.empty()))) {
    healthy_since.reset();
    soaked_for_others = false;
  } else if (!healthy_since) {
    healthy_since = now;
  }
}

base::WallTime Rollout::SoakedAfter(base::Duration least) const {
  return Later(*healthy_since, failed || retried ? std::max(least, kLeastSoakAfterFailure) : least);
}

base::WallTime Rollout::Deadline() const {
  // A rollout that was left is not reported as failed, because only its place matters.
  return broken || uncertain ? OthersDeadline() : Later(running_since, timeout);
}

base::WallTime Rollout::OthersDeadline() const {
  return Later(running_since, unread ? others_timeout : std::max(timeout, others_timeout));
}

bool Rollout::IsTimed() const {
  return !healthy_since && phase != Phase::kPaused && phase != Phase::kWaiting;
}

bool Rollout::CanTimeOut() const { return !failed && IsTimed(); }

bool Rollout::IsStuck(base::WallTime now) const {
  return CanTimeOut() && ((phase == Phase::kFailed && observed) || Deadline() <= now);
}

bool Rollout::IsHealthy(base::WallTime now) const { return healthy_since && SoakedAt() <= now; }

bool Rollout::IsHealthyForOthers(base::WallTime now) const {
  return IsHealthy(now) || (unread && healthy_since && SoakedAfter(others_soak) <= now);
}

bool Rollout::HasFailed(base::WallTime now) const {
  return !IsHealthy(now) && (failed || (!broken && !uncertain && IsStuck(now)));
}

bool Rollout::IsStuckForOthers(base::WallTime now) const {
  return (phase == Phase::kFailed && observed) || (IsTimed() && OthersDeadline() <= now);
}

bool Rollout::HasFailedForOthers(base::WallTime now) const {
  if (unread) {
    const bool may_fail = failed || (!broken && !uncertain && !MayBeOld() && !healthy_since);
    return !IsHealthyForOthers(now) && (failed_for_others || (may_fail && IsStuckForOthers(now)));
  }
  return HasFailed(now) &&
         (failed_for_others || timeout >= others_timeout || IsStuckForOthers(now));
}

bool Rollout::CountsAsFailed(base::WallTime now) const {
  return HasFailedForOthers(now) || (retried && !IsHealthy(now));
}

bool Rollout::WasOver(base::WallTime deadline, base::WallTime now) const {
  return restored && !broken && !IsHealthy(now) && phase != Phase::kPaused &&
         phase != Phase::kWaiting && deadline <= now;
}

bool Rollout::MayCountAsFailed(base::WallTime now) const {
  return CountsAsFailed(now) || (!MayBeOld() && WasOver(OthersDeadline(), now));
}

bool Rollout::MayHaveFailed(base::WallTime now) const {
  return HasFailed(now) || CountsAsFailed(now) || WasOver(Deadline(), now);
}

std::optional<base::WallTime> Rollout::NextChange(base::WallTime now) const {
  if (healthy_since) {
    return std::max(unread && !soaked_for_others ? SoakedAfter(others_soak) : SoakedAt(), now);
  }
  if (unread && IsTimed() && !failed_for_others && OthersDeadline() > now) {
    return OthersDeadline();
  }
  if (!IsTimed() || (failed && (failed_for_others || timeout >= others_timeout || unread))) {
    return std::nullopt;
  }
  if (MayBeOld() && Deadline() <= now) {
    return std::nullopt;
  }
  return std::max(failed ? OthersDeadline() : Deadline(), now);
}

}  // namespace kubexx::reloadpolicy
