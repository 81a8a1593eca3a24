// Computes how long an Arbiter's rollouts may take according to the known policies, and follows the
// clock when it is set back.
#include <algorithm>
#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "kubexx/reloadpolicy/arbiter.h"

namespace kubexx::reloadpolicy {
namespace {

// A smaller step back only means that two threads have read the clock in another order.
constexpr std::chrono::seconds kSetBack{1};

}  // namespace

void Arbiter::SetTimesUnder(const Policy& policy) {
  for (auto& [workload, rollout] : rollouts_) {
    if (policy.Governs(workload)) {
      SetTimes(workload, rollout);
      touched_.insert(workload);
    }
  }
  next_sweep_.reset();
}

void Arbiter::SetTimes(const ObjectRef& workload, Rollout& rollout) const {
  const bool has_rollouts = HasRollouts(workload.kind);
  const Effective effective = policies_.Resolve(workload, rollout.annotations);
  rollout.unread = IsUnread(workload.key.namespace_);
  rollout.timeout = rollout.unread ? Effective::kLongestHealthTimeout : effective.HealthTimeout();
  rollout.others_timeout = effective.OthersHealthTimeout();
  rollout.others_soak = has_rollouts ? effective.SoakTime() : base::Duration(0);
  rollout.soak = rollout.unread && has_rollouts ? Effective::kLongestSoakTime : rollout.others_soak;
}

bool Arbiter::IsUnread(const std::string& namespace_) const {
  return unread_.contains("") || unread_.contains(namespace_);
}

void Arbiter::SetUnread(const std::string& namespace_, bool is_unread, base::WallTime now) {
  if (is_unread ? !unread_.insert(namespace_).second : unread_.erase(namespace_) == 0) {
    return;
  }
  std::vector<ObjectRef> old;
  for (auto& [workload, rollout] : rollouts_) {
    if (!namespace_.empty() && workload.key.namespace_ != namespace_) {
      continue;
    }
    SetTimes(workload, rollout);
    touched_.insert(workload);
    // As when the rollout was first seen: without a record, an old rollout is over.
    if (!is_unread && rollout.restored && !rollout.record && !rollout.failed &&
        rollout.MayHaveFailed(now)) {
      old.push_back(workload);
    }
  }
  for (const ObjectRef& workload : old) {
    Drop(workload);
  }
  next_sweep_.reset();
}

void Arbiter::FollowClock(base::WallTime now) {
  const base::WallTime last = std::exchange(last_sweep_, now).value_or(now);
  if (now + kSetBack <= last) {
    for (auto& [workload, rollout] : rollouts_) {
      rollout.Clamp(now);
      touched_.insert(workload);
    }
    for (auto& [workload, unavailable] : unavailable_) {
      unavailable.since = std::min(unavailable.since, now);
    }
    for (auto& [workload, since] : settled_since_) {
      since = since == base::WallTime::max() ? since : std::min(since, now);
    }
    for (auto& [workload, failed] : failed_data_) {
      failed.Clamp(now);
    }
    for (auto& [workload, pending] : pending_) {
      pending.since = std::min(pending.since, now);
      if (pending.for_others_since) {
        pending.for_others_since = std::min(*pending.for_others_since, now);
      }
    }
    last_starts_.Clamp(now);
    next_prune_.reset();
    next_sweep_.reset();
  } else {
    last_sweep_ = std::max(last, now);
  }
}

std::vector<ObjectRef> Arbiter::Followed() const {
  std::vector<ObjectRef> workloads;
  workloads.reserve(rollouts_.size());
  for (const auto& [workload, rollout] : rollouts_) {
    workloads.push_back(workload);
  }
  return workloads;
}

}  // namespace kubexx::reloadpolicy
