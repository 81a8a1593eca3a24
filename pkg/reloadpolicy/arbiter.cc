#include "kubexx/reloadpolicy/arbiter.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "kubexx/apimachinery/time.h"

namespace kubexx::reloadpolicy {
namespace {

base::WallTime After(base::WallTime time, base::Duration duration) {
  return time + std::chrono::duration_cast<base::WallTime::duration>(duration);
}

std::string Shown(base::WallTime time) { return apimachinery::Time::From(time).ToString(); }

std::string Shown(base::Duration duration) {
  return apimachinery::Duration{duration.count()}.ToString();
}

template <class T>
Hold HoldBy(HoldReason reason, const Setting<T>& setting, const std::string& what) {
  return {
      .reason = reason, .message = what + " (" + setting.origin + ")", .policy = setting.policy};
}

/// Returns a hold unless each setting has a window that is open.
std::optional<Hold> CheckWindows(const std::vector<Setting<std::vector<MaintenanceWindow>>>& all,
                                 base::WallTime now) {
  const auto is_closed = [now](const Setting<std::vector<MaintenanceWindow>>& windows) {
    return std::ranges::none_of(windows.value, [now](const MaintenanceWindow& window) {
      return window.OpenUntil(now).has_value();
    });
  };
  const auto closed = std::ranges::find_if(all, is_closed);
  if (closed == all.end()) {
    return std::nullopt;
  }
  std::vector<const std::vector<MaintenanceWindow>*> windows;
  std::string whose;
  for (const auto& each : all) {
    windows.push_back(&each.value);
    whose += (whose.empty() ? "" : " and ") + each.origin;
  }
  const auto [next, not_before] = NextTogether(windows, now);
  if (all.size() == 1) {
    Hold hold = HoldBy(HoldReason::kOutsideWindow, *closed,
                       next ? "the next maintenance window opens at " + Shown(*next)
                            : "no maintenance window will open");
    hold.until = next;
    return hold;
  }
  return Hold{.reason = HoldReason::kOutsideWindow,
              .message = "a maintenance window of each of " + whose + " must be open, and " +
                         (next         ? "they are next open together at " + Shown(*next)
                          : not_before ? "they are not open together before " + Shown(*not_before) +
                                             "; whether they are then takes too long to compute"
                                       : "they are never open together before " +
                                             Shown(After(now, kTogetherHorizon))),
              .until = next ? next : not_before,
              .policy = closed->policy};
}

}  // namespace

std::string FailedText(const std::vector<ObjectRef>& failures, std::size_t total) {
  constexpr std::size_t kMaxNamed = 5;
  std::string text =
      std::to_string(total) + (total == 1 ? " rollout has failed" : " rollouts have failed");
  for (std::size_t i = 0; i < std::min(failures.size(), kMaxNamed); ++i) {
    text += (i == 0 ? ": " : ", ") + failures[i].ToString();
  }
  return text + (total > kMaxNamed ? " and others" : "");
}

Decision Arbiter::Ask(const Request& request, base::WallTime now) const {
  return Ask(request, policies_.Resolve(request.workload, request.annotations), now);
}

Decision Arbiter::Ask(const Request& request, const Effective& effective,
                      base::WallTime now) const {
  Decision decision{.tracked = effective.NeedsTracking() ||
                               OthersFollow(request.workload, effective.Order())};
  decision.hold = CheckTimes(request, effective, now);
  Scan scan{.now = now};
  if (!decision.hold) {
    decision.hold = CheckFailures(request.workload, effective, scan);
  }
  if (!decision.hold) {
    decision.hold = CheckHealthKnown(request, effective, now);
  }
  if (!decision.hold) {
    decision.hold = CheckOrder(request, effective);
  }
  if (!decision.hold) {
    decision.hold = CheckWaves(request, effective);
  }
  if (!decision.hold && !request.goes_on) {
    decision.hold = CheckLimits(request.workload, effective, scan);
  }
  return decision;
}

bool Arbiter::IsBroken(const Request& request, base::WallTime now) const {
  if (request.phase != Phase::kUnavailable) {
    return request.phase == Phase::kFailed;
  }
  const auto found = unavailable_.find(request.workload);
  return found != unavailable_.end() && After(found->second.since, kLeastUnavailable) <= now;
}

Decision Arbiter::Begin(const Request& request, base::WallTime now) {
  asked_anew_.erase(request.workload);
  const bool kept_a_place = woken_.erase(request.workload) > 0;
  Effective effective = policies_.Resolve(request.workload, request.annotations);
  Decision decision = Ask(request, effective, now);
  if (decision.hold) {
    wake_some_ = wake_some_ || kept_a_place;  // another workload may have the place
    Wait(request.workload, *decision.hold, std::move(effective), now);
    return decision;
  }
  StopWaiting(request.workload);
  const auto last = rollouts_.find(request.workload);
  if (decision.tracked) {
    const bool again = last != rollouts_.end() && last->second.uncertain;  // it is the same rollout
    const bool retries = again ? last->second.retried
                               : last != rollouts_.end() && last->second.MayCountAsFailed(now);
    // Where waves are in force it does not matter why a workload shows nothing about the data.
    const bool broken = again
                            ? last->second.broken
                            : !effective.waves && last == rollouts_.end() && IsBroken(request, now);
    const RolloutState state = retries  ? RolloutState::kRetried
                               : broken ? RolloutState::kStartedBroken
                                        : RolloutState::kStarted;
    decision.started = Start(request, state, now);
    decision.data = NoteData(request, effective);
    if (HasRollouts(request.workload.kind)) {
      decision.record = state;
    }
  } else if (last != rollouts_.end()) {
    End(request.workload, RolloutState::kLeft, now);
  }
  wake_some_ = true;  // there may be free places left
  return decision;
}

void Arbiter::Wait(const Request& request, Hold hold, base::WallTime now) {
  asked_anew_.erase(request.workload);
  wake_some_ = woken_.erase(request.workload) > 0 || wake_some_;
  Wait(request.workload, std::move(hold), policies_.Resolve(request.workload, request.annotations),
       now);
}

void Arbiter::Wait(const ObjectRef& workload, Hold hold, Effective effective, base::WallTime now) {
  const auto [at, is_new] = pending_.try_emplace(workload);
  if (is_new) {
    at->second.since = now;
    at->second.sequence = next_sequence_++;
  }
  auto& for_others = at->second.for_others_since;
  for_others = IsForOthers(hold.reason) ? std::optional(for_others.value_or(now)) : std::nullopt;
  if (hold.reason == HoldReason::kWave && hold.waits_for) {
    waited_for_.insert(*hold.waits_for);
  }
  if (at->second.hold.waits_for != hold.waits_for) {
    WaitFor(workload, at->second.hold.waits_for, hold.waits_for);
  }
  at->second.hold = std::move(hold);
  at->second.effective = std::move(effective);
}

void Arbiter::WaitFor(const ObjectRef& workload, const std::optional<ObjectRef>& before,
                      const std::optional<ObjectRef>& now) {
  if (const auto found = before ? waiting_for_.find(*before) : waiting_for_.end();
      found != waiting_for_.end()) {
    found->second.erase(workload);
    if (found->second.empty()) {
      waited_for_.erase(*before);
      waiting_for_.erase(found);
    }
  }
  if (now) {
    waiting_for_[*now].insert(workload);
  }
}

bool Arbiter::StopWaiting(const ObjectRef& workload) {
  const auto found = pending_.find(workload);
  if (found == pending_.end()) {
    return false;
  }
  WaitFor(workload, found->second.hold.waits_for, std::nullopt);
  pending_.erase(found);
  return true;
}

void Arbiter::Done(const ObjectRef& workload) {
  asked_anew_.erase(workload);
  const bool kept_a_place = woken_.erase(workload) > 0;
  if (StopWaiting(workload)) {
    wake_some_ = true;
    NoteMoved(workload);
  }
  wake_some_ = wake_some_ || kept_a_place;
  touched_.insert(workload);
}

std::optional<Hold> Arbiter::CheckTimes(const Request& request, const Effective& effective,
                                        base::WallTime now) const {
  if (!effective.brakes.empty()) {
    return Hold{.reason = HoldReason::kInvalidAnnotation, .message = effective.brakes.front()};
  }
  if (effective.paused && effective.paused->value) {
    return HoldBy(HoldReason::kPaused, *effective.paused, "no rollout begins");
  }
  if (request.goes_on) {
    return std::nullopt;
  }
  if (auto hold = CheckWindows(effective.windows, now)) {
    return hold;
  }
  if (!effective.min_interval) {
    return std::nullopt;
  }
  const auto last = IntervalStart(request, effective.min_interval->value, now);
  if (!last || After(*last, effective.min_interval->value) <= now) {
    return std::nullopt;
  }
  Hold hold = HoldBy(
      HoldReason::kMinInterval, *effective.min_interval,
      "rolled at " + Shown(*last) + ", less than " + Shown(effective.min_interval->value) + " ago");
  hold.until = After(*last, effective.min_interval->value);
  return hold;
}

std::optional<Hold> Arbiter::CheckFailures(const ObjectRef& workload, const Effective& effective,
                                           Scan& scan) const {
  const Setting<int>* limit = ReachedStop(workload, effective, scan);
  if (limit == nullptr) {
    return std::nullopt;
  }
  const std::vector<ObjectRef>& failures = FailuresUnder(limit->policy, scan);
  return HoldBy(HoldReason::kStopped, *limit, "stopped: " + FailedText(failures, failures.size()));
}

std::optional<Hold> Arbiter::CheckHealthKnown(const Request& request, const Effective& effective,
                                              base::WallTime now) const {
  const bool is_health_gated = effective.health_gate && effective.health_gate->value;
  if ((!is_health_gated && effective.stop_after_failures.empty()) ||
      request.phase != Phase::kUnavailable || rollouts_.contains(request.workload)) {
    return std::nullopt;  // the replica that follows its rollout knows more
  }
  const auto found = unavailable_.find(request.workload);
  if (found == unavailable_.end() || !found->second.is_since_before ||
      After(found->second.since, kLeastUnavailable) <= now) {
    return std::nullopt;
  }
  const std::string what =
      "the workload is unavailable, and the operator has just started and cannot know since when";
  Hold hold = is_health_gated
                  ? HoldBy(HoldReason::kHealthUnknown, *effective.health_gate, what)
                  : HoldBy(HoldReason::kHealthUnknown, effective.stop_after_failures.front(), what);
  hold.until = After(found->second.since, kLeastUnavailable);
  return hold;
}

std::optional<Hold> Arbiter::CheckOrder(const Request& request, const Effective& effective) const {
  if (effective.Order() <= 0 || request.before.empty()) {
    return std::nullopt;
  }
  Hold hold = HoldBy(HoldReason::kOrder, *effective.order,
                     "waits for " + request.before.front().ToString() + ", which comes first" +
                         WhyRefused(request.before.front()));
  hold.waits_for = request.before.front();
  return hold;
}

std::optional<Hold> Arbiter::CheckLimits(const ObjectRef& workload, const Effective& effective,
                                         Scan& scan) const {
  const auto full = FullLimit(workload, effective, scan);
  if (!full) {
    return std::nullopt;
  }
  const std::string what =
      std::to_string(full->limit.value) + " at a time " + full->where +
      (full->unhealthy == nullptr ? ""
                                  : "; " + full->unhealthy->ToString() + " is not healthy yet");
  return HoldBy(full->unhealthy == nullptr ? HoldReason::kLimit : HoldReason::kUnhealthy,
                full->limit, what);
}

}  // namespace kubexx::reloadpolicy
