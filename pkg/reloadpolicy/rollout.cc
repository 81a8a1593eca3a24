#include "kubexx/reloadpolicy/rollout.h"

#include <algorithm>
#include <utility>

#include "kubexx/apimachinery/time.h"

namespace kubexx::reloadpolicy {
namespace {

/// What to do about a failure of which only silence tells.
constexpr char kNothingTells[] =
    "; its status has no observedGeneration and is as it was before the rollout, so that nothing "
    "tells whether it has ended: settledFor in --workload-kinds says when such a status counts";

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

void Rollout::See(Phase seen, base::WallTime now, const std::optional<Presumed>& may_be) {
  Clamp(now);  // otherwise it would keep its place for that long
  presumed = may_be;
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
    soaked_for_others = lived = false;
    soaked = is_growing && !failed ? soaked : base::Duration(0);
    return;
  }
  is_growing = false;
  if (!healthy_since) {
    soaked = failed ? base::Duration(0) : soaked;
    healthy_since = Later(now, -soaked);
  }
}

void Rollout::NoteWanted(std::optional<std::int64_t> wants, base::WallTime now) {
  if (!wants) {
    return;
  }
  const auto previous = std::exchange(wanted, wants);
  const bool is_most = !most_wanted || *wants > *most_wanted;
  most_wanted = is_most ? wants : most_wanted;
  // One that is not complete for another reason, such as pods that crash, gets no more time by it.
  if (!previous || *wants <= *previous || failed || (!healthy_since && !is_growing)) {
    return;
  }
  const base::Duration complete_for =
      healthy_since ? std::max<base::Duration>(now - *healthy_since, base::Duration(0)) : soaked;
  const bool goes_on = complete_for - soaked >= kLeastSoakAfterFailure;  // so it ends some day
  if (!is_most && !goes_on && regrown >= kMostRegrown) {
    return;
  }
  regrown += is_most || goes_on ? 0 : 1;
  soaked = is_most ? base::Duration(0) : complete_for;
  is_growing = true;
  running_since = std::max(running_since, now);
}

bool Rollout::WasCompleteInTime(const std::optional<base::WallTime>& completed) const {
  // A status has whole seconds, so one of this second may be of the rollout before.
  return completed && *completed > started && *completed <= Later(running_since, timeout);
}

std::optional<base::WallTime> Rollout::PresumedAt() const {
  return presumed && presumed->after ? std::optional(Later(running_since, *presumed->after))
                                     : std::nullopt;
}

bool Rollout::NoteTold(std::uint64_t version) {
  if (version == 0) {
    return false;
  }
  // Where versions have begun anew, nobody knows whether it was written before that or since then.
  // What follows this state is of after both.
  if (version < told_version && written > version) {
    written = version + 1;
  }
  told_version = version;
  return written != 0 && written <= version;
}

bool Rollout::Presume(base::WallTime now) {
  const auto at = PresumedAt();
  if (!at || now < *at) {
    return false;
  }
  See(presumed->phase, *at);  // it has been so since then, also while nobody looked
  return true;
}

base::WallTime Rollout::SoakedAfter(base::Duration least) const {
  return Later(*healthy_since, failed || retried ? std::max(least, kLeastSoakAfterFailure) : least);
}

base::WallTime Rollout::Deadline() const {
  // Of a rollout that is left, or that no event has told of, only the place matters.
  // Until a status is presumed to be of this rollout nothing tells whether it has ended.
  return MayFail()
             ? std::max(Later(running_since, timeout), PresumedAt().value_or(base::WallTime::min()))
             : OthersDeadline();
}

base::WallTime Rollout::OthersDeadline() const {
  return std::max(Later(running_since, unread ? others_timeout : std::max(timeout, others_timeout)),
                  PresumedAt().value_or(base::WallTime::min()));
}

bool Rollout::IsTimed() const {
  return !healthy_since && !sent && phase != Phase::kPaused && phase != Phase::kWaiting;
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
  return !IsHealthy(now) && (failed || (MayFail() && IsStuck(now)));
}

bool Rollout::IsUntold(base::WallTime now) const {
  return !observed && !broken && !uncertain && IsStuck(now);
}

bool Rollout::IsStuckForOthers(base::WallTime now) const {
  return (phase == Phase::kFailed && observed) || (IsTimed() && OthersDeadline() <= now);
}

bool Rollout::HasFailedForOthers(base::WallTime now) const {
  if (unread) {
    const bool may_fail = failed || (MayFail() && !MayBeOld() && !healthy_since);
    return !IsHealthyForOthers(now) && (failed_for_others || (may_fail && IsStuckForOthers(now)));
  }
  return HasFailed(now) &&
         (failed_for_others || timeout >= others_timeout || IsStuckForOthers(now));
}

bool Rollout::CountsAsFailed(base::WallTime now) const {
  return HasFailedForOthers(now) || (retried && !IsHealthy(now));
}

bool Rollout::IsUnclear(base::WallTime now) const {
  return restored && !broken && !lived && !IsHealthy(now) && phase != Phase::kPaused &&
         phase != Phase::kWaiting;
}

bool Rollout::WasOver(base::WallTime deadline, base::WallTime now) const {
  return IsUnclear(now) && deadline <= now;
}

bool Rollout::MayCountAsFailed(base::WallTime now) const {
  return CountsAsFailed(now) ||
         (!MayBeOld() && IsUnclear(now) && (relapsed || OthersDeadline() <= now));
}

bool Rollout::MayHaveFailed(base::WallTime now) const {
  return HasFailed(now) || CountsAsFailed(now) || WasOver(Deadline(), now);
}

std::optional<base::WallTime> Rollout::NextChange(base::WallTime now) const {
  const auto own = NextOwnChange(now);
  const auto at = PresumedAt();
  return at ? std::optional(std::max(std::min(own.value_or(*at), *at), now)) : own;
}

std::optional<base::WallTime> Rollout::NextOwnChange(base::WallTime now) const {
  if (healthy_since) {
    const auto soaked_at = unread && !soaked_for_others ? SoakedAfter(others_soak) : SoakedAt();
    const auto living =
        restored && !lived ? Later(*healthy_since, kLeastSoakAfterFailure) : soaked_at;
    return std::max(std::min(soaked_at, living), now);
  }
  if (unread && IsTimed() && !failed_for_others && OthersDeadline() > now) {
    return OthersDeadline();
  }
  if (!IsTimed() || (failed && (failed_for_others || timeout >= others_timeout || unread))) {
    return std::nullopt;
  }
  if ((MayBeOld() && Deadline() <= now) || IsUntold(now)) {
    return std::nullopt;
  }
  return std::max(failed ? OthersDeadline() : Deadline(), now);
}

std::string Rollout::WhyFailed() const {
  const std::string begun = std::string(in_place ? "the reload in place" : "the rollout") +
                            " begun at " + apimachinery::Time::From(started).ToString();
  if (undone) {
    return begun + " was undone before it had been healthy for long enough";
  }
  if (phase == Phase::kFailed) {
    return begun + " makes no progress, according to the workload's status";
  }
  if (failed && was_stuck) {
    return begun + " made no progress, according to the workload's status; its phase is now: " +
           std::string(ToString(phase));
  }
  if (restored && told) {
    return begun + " has failed; its phase is now: " + std::string(ToString(phase));
  }
  return begun + " was not complete and healthy within " +
         apimachinery::Duration{timeout.count()}.ToString() +
         "; its phase is now: " + std::string(ToString(phase)) + (presumed ? kNothingTells : "");
}

}  // namespace kubexx::reloadpolicy
