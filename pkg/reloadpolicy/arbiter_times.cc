// Computes how long an Arbiter's rollouts may take according to the known policies.
#include <string>
#include <vector>

#include "kubexx/reloadpolicy/arbiter.h"

namespace kubexx::reloadpolicy {

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

std::vector<ObjectRef> Arbiter::Followed() const {
  std::vector<ObjectRef> workloads;
  workloads.reserve(rollouts_.size());
  for (const auto& [workload, rollout] : rollouts_) {
    workloads.push_back(workload);
  }
  return workloads;
}

}  // namespace kubexx::reloadpolicy
