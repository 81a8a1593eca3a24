#include "kubexx/reloadpolicy/gate.h"

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

std::optional<Hold> CheckWindows(const Effective& effective, base::WallTime now) {
  if (!effective.windows) {
    return std::nullopt;
  }
  std::optional<base::WallTime> next;
  for (const MaintenanceWindow& window : effective.windows->value) {
    if (window.OpenUntil(now)) {
      return std::nullopt;
    }
    if (const auto opening = window.NextOpening(now)) {
      next = std::min(next.value_or(*opening), *opening);
    }
  }
  Hold hold = HoldBy(HoldReason::kOutsideWindow, *effective.windows,
                     next ? "the next maintenance window opens at " + Shown(*next)
                          : "no maintenance window will open");
  hold.until = next;
  return hold;
}

bool WaitsForPlace(HoldReason reason) {
  return reason == HoldReason::kLimit || reason == HoldReason::kUnhealthy;
}

}  // namespace

std::string_view ToString(Phase phase) {
  switch (phase) {
    case Phase::kComplete:
      return "complete";
    case Phase::kUnavailable:
      return "unavailable";
    case Phase::kUpdating:
      return "updating";
    case Phase::kFailed:
      break;
  }
  return "failed";
}

std::optional<Phase> ParsePhase(std::string_view text) {
  for (const Phase phase :
       {Phase::kComplete, Phase::kUnavailable, Phase::kUpdating, Phase::kFailed}) {
    if (ToString(phase) == text) {
      return phase;
    }
  }
  return std::nullopt;
}

std::string_view ToString(HoldReason reason) {
  switch (reason) {
    case HoldReason::kPaused:
      return "Paused";
    case HoldReason::kSourcePaused:
      return "SourcePaused";
    case HoldReason::kOutsideWindow:
      return "OutsideMaintenanceWindow";
    case HoldReason::kMinInterval:
      return "MinInterval";
    case HoldReason::kStopped:
      return "StoppedAfterFailures";
    case HoldReason::kOrder:
      return "Order";
    case HoldReason::kLimit:
      return "ConcurrencyLimit";
    case HoldReason::kUnhealthy:
      break;
  }
  return "Unhealthy";
}

bool Gate::Rollout::FailedAt(base::WallTime now) const {
  return phase == Phase::kFailed || After(started, timeout) <= now;
}

void Gate::SetPolicy(Policy policy) {
  policies_.Set(std::move(policy));
  wake_all_ = true;
}

void Gate::RemovePolicy(const PolicyId& id) {
  if (policies_.Remove(id)) {
    wake_all_ = true;
  }
}

void Gate::Observe(const ObjectRef& workload, const Annotations& annotations, Phase phase,
                   bool initial, base::WallTime now) {
  const auto last = LastRolloutOf(annotations);
  const auto found = rollouts_.find(workload);
  if (!last) {
    return;  // never rolled by this operator, or what was written has not arrived yet
  }
  using std::chrono::floor;
  using std::chrono::seconds;
  if (found != rollouts_.end() && !found->second.observed &&
      floor<seconds>(*last) < floor<seconds>(found->second.started)) {
    return;  // from before the write
  }
  if (phase == Phase::kComplete) {
    if (found != rollouts_.end()) {
      rollouts_.erase(found);
      wake_some_ = true;
    }
    return;
  }
  const base::Duration timeout = policies_.Resolve(workload, annotations).HealthTimeout();
  if (found == rollouts_.end() && !initial && After(*last, timeout) <= now) {
    return;
  }
  Rollout& rollout = rollouts_[workload];
  wake_some_ = wake_some_ || rollout.phase != phase;
  rollout.started = std::max(rollout.started, *last);
  rollout.timeout = timeout;
  rollout.phase = phase;
  rollout.observed = true;
}

void Gate::Forget(const ObjectRef& workload) {
  Cancel(workload);
  Done(workload);
}

Decision Gate::Ask(const Request& request, base::WallTime now) const {
  return Ask(request, policies_.Resolve(request.workload, request.annotations), now);
}

Decision Gate::Ask(const Request& request, const Effective& effective, base::WallTime now) const {
  Decision decision{.tracked = effective.NeedsTracking()};
  decision.hold = CheckTimes(request, effective, now);
  if (!decision.hold) {
    decision.hold = CheckFailures(request.workload, effective, now);
  }
  if (!decision.hold) {
    decision.hold = CheckOrder(request, effective);
  }
  if (!decision.hold) {
    decision.hold = CheckLimits(request.workload, effective, now);
  }
  return decision;
}

Decision Gate::Begin(const Request& request, base::WallTime now) {
  woken_.erase(request.workload);
  Effective effective = policies_.Resolve(request.workload, request.annotations);
  const Decision decision = Ask(request, effective, now);
  if (decision.hold) {
    Wait(request.workload, *decision.hold, std::move(effective), now);
    return decision;
  }
  pending_.erase(request.workload);
  if (decision.tracked) {
    rollouts_[request.workload] = {.started = now, .timeout = effective.HealthTimeout()};
  }
  wake_some_ = true;  // there may be places left
  return decision;
}

void Gate::Wait(const Request& request, Hold hold, base::WallTime now) {
  woken_.erase(request.workload);
  Wait(request.workload, std::move(hold), policies_.Resolve(request.workload, request.annotations),
       now);
}

void Gate::Wait(const ObjectRef& workload, Hold hold, Effective effective, base::WallTime now) {
  const auto [at, is_new] = pending_.try_emplace(workload);
  if (is_new) {
    at->second.since = now;
    at->second.sequence = next_sequence_++;
  }
  at->second.hold = std::move(hold);
  at->second.effective = std::move(effective);
}

void Gate::Cancel(const ObjectRef& workload) {
  if (rollouts_.erase(workload) > 0) {
    wake_some_ = true;
  }
}

void Gate::Done(const ObjectRef& workload) {
  const bool kept_a_place = woken_.erase(workload) > 0;
  const bool waited = pending_.erase(workload) > 0;
  wake_some_ = wake_some_ || kept_a_place || waited;
}

std::optional<Hold> Gate::CheckTimes(const Request& request, const Effective& effective,
                                     base::WallTime now) const {
  if (effective.paused && effective.paused->value) {
    return HoldBy(HoldReason::kPaused, *effective.paused, "paused");
  }
  if (auto hold = CheckWindows(effective, now)) {
    return hold;
  }
  if (!effective.min_interval) {
    return std::nullopt;
  }
  std::optional<base::WallTime> last = LastRolloutOf(request.annotations);
  if (const auto found = rollouts_.find(request.workload); found != rollouts_.end()) {
    last = std::max(last.value_or(found->second.started), found->second.started);
  }
  // A time to come is a clock that was wrong; it must not hold rollouts back for ever.
  if (!last || *last > After(now, effective.min_interval->value) ||
      After(*last, effective.min_interval->value) <= now) {
    return std::nullopt;
  }
  Hold hold = HoldBy(
      HoldReason::kMinInterval, *effective.min_interval,
      "rolled at " + Shown(*last) + ", less than " + Shown(effective.min_interval->value) + " ago");
  hold.until = After(*last, effective.min_interval->value);
  return hold;
}

int Gate::FailuresUnder(const std::optional<PolicyId>& policy, const ObjectRef* except,
                        base::WallTime now) const {
  const Policy* governing = policy ? policies_.Find(*policy) : nullptr;
  return static_cast<int>(std::ranges::count_if(rollouts_, [&](const auto& entry) {
    return entry.second.FailedAt(now) && (except == nullptr || entry.first != *except) &&
           (governing == nullptr || governing->Governs(entry.first));
  }));
}

std::optional<Hold> Gate::CheckFailures(const ObjectRef& workload, const Effective& effective,
                                        base::WallTime now) const {
  const auto& limit = effective.stop_after_failures;
  if (!limit) {
    return std::nullopt;
  }
  if (const auto own = rollouts_.find(workload);
      own != rollouts_.end() && own->second.FailedAt(now)) {
    return std::nullopt;  // the change may be what mends it
  }
  const int failures = FailuresUnder(limit->policy, nullptr, now);
  if (failures < limit->value) {
    return std::nullopt;
  }
  return HoldBy(HoldReason::kStopped, *limit,
                "stopped: " + std::to_string(failures) + " rollouts have failed");
}

std::optional<Hold> Gate::CheckOrder(const Request& request, const Effective& effective) const {
  if (effective.Order() <= 0 || request.before.empty()) {
    return std::nullopt;
  }
  Hold hold = HoldBy(HoldReason::kOrder, *effective.order,
                     "waits for " + request.before.front().ToString() + ", which comes first");
  hold.waits_for = request.before.front();
  return hold;
}

Gate::Load Gate::LoadFor(const ObjectRef& workload, bool healthy_only, base::WallTime now) const {
  Load load;
  const auto count = [&](const ObjectRef& other) {
    ++load.in_cluster;
    load.in_namespace += other.key.namespace_ == workload.key.namespace_ ? 1 : 0;
  };
  for (const auto& [other, rollout] : rollouts_) {
    const bool failed = rollout.FailedAt(now);
    if (other == workload) {
      continue;  // its next rollout takes the place of the last one
    }
    if (!failed && rollout.phase == Phase::kUpdating) {
      count(other);
    } else if (healthy_only) {
      count(other);
      load.unhealthy = &other;
    }
  }
  for (const ObjectRef& other : woken_) {
    if (other != workload && !rollouts_.contains(other)) {
      count(other);
    }
  }
  return load;
}

std::optional<Hold> Gate::CheckLimits(const ObjectRef& workload, const Effective& effective,
                                      base::WallTime now) const {
  const bool healthy = effective.health_gate && effective.health_gate->value;
  std::optional<Setting<int>> in_namespace = effective.max_in_namespace;
  const std::optional<Setting<int>>& in_cluster = effective.max_in_cluster;
  if (healthy && !in_namespace && !in_cluster) {
    in_namespace = {1, effective.health_gate->origin, effective.health_gate->policy};
  }
  if (!in_namespace && !in_cluster) {
    return std::nullopt;
  }
  const Load load = LoadFor(workload, healthy, now);
  const auto hold = [&](const Setting<int>& limit, const std::string& where) {
    const std::string what =
        std::to_string(limit.value) + " at a time " + where +
        (load.unhealthy == nullptr ? "" : "; " + load.unhealthy->ToString() + " is not available");
    return HoldBy(load.unhealthy == nullptr ? HoldReason::kLimit : HoldReason::kUnhealthy, limit,
                  what);
  };
  if (in_namespace && load.in_namespace >= in_namespace->value) {
    return hold(*in_namespace, "in the namespace");
  }
  if (in_cluster && load.in_cluster >= in_cluster->value) {
    return hold(*in_cluster, "in the cluster");
  }
  return std::nullopt;
}

bool Gate::MayGoOn(const ObjectRef& workload, const Pending& pending, base::WallTime now) const {
  const Hold& hold = pending.hold;
  switch (hold.reason) {
    case HoldReason::kLimit:
    case HoldReason::kUnhealthy:
      return !CheckLimits(workload, pending.effective, now);
    case HoldReason::kStopped:
      return !CheckFailures(workload, pending.effective, now);
    case HoldReason::kOrder:
      return !rollouts_.contains(*hold.waits_for) && !pending_.contains(*hold.waits_for);
    default:
      return false;  // ends at a time, or with a policy or annotation
  }
}

std::vector<ObjectRef> Gate::TakeWakes(base::WallTime now) {
  std::vector<ObjectRef> result;
  if (!wake_all_ && !wake_some_) {
    return result;
  }
  std::vector<std::pair<std::uint64_t, const ObjectRef*>> waiting;
  for (const auto& [workload, pending] : pending_) {
    if (!woken_.contains(workload)) {
      waiting.emplace_back(pending.sequence, &workload);
    }
  }
  std::ranges::sort(waiting);
  for (const auto& [sequence, workload] : waiting) {
    const Pending& pending = pending_.at(*workload);
    if (wake_all_) {
      result.push_back(*workload);  // their settings may be others now
    } else if (MayGoOn(*workload, pending, now)) {
      if (WaitsForPlace(pending.hold.reason)) {
        woken_.insert(*workload);  // keeps the place, so that one is woken for each
      }
      result.push_back(*workload);
    }
  }
  wake_all_ = false;
  wake_some_ = false;
  return result;
}

PolicyReport Gate::ReportFor(const Policy& policy, base::WallTime now) const {
  PolicyReport report;
  for (const auto& [workload, rollout] : rollouts_) {
    if (policy.Governs(workload)) {
      ++(rollout.FailedAt(now) ? report.failed : report.active);
    }
  }
  for (const auto& [workload, pending] : pending_) {
    if (pending.hold.policy == policy.id) {
      report.pending.emplace_back(workload, &pending);
    }
  }
  std::ranges::sort(report.pending, {}, [](const auto& each) { return each.second->sequence; });
  const auto& limit = policy.settings.stop_after_failures;
  report.stopped = limit && report.failed >= *limit;
  return report;
}

}  // namespace kubexx::reloadpolicy
