#include "kubexx/reloader/history/rollout_ends.h"

#include "kubexx/reloader/model/annotations.h"

namespace kubexx::reloader {

void RolloutEnds::Observe(const Workload& before, const Workload& now, apimachinery::Time time) {
  const base::MutexLock lock(mu_);
  if (before.uid != now.uid) {
    rollouts_.erase(now.id);
    return;
  }
  if (HasOtherTemplate(before, now)) {
    const bool is_kept = Find(now.annotations, kHistoryAnnotation) != nullptr;
    if (is_kept && (rollouts_.contains(now.id) || rollouts_.size() < kMaxWorkloads)) {
      rollouts_[now.id] = {};
    } else {
      rollouts_.erase(now.id);
    }
  }
  const auto found = rollouts_.find(now.id);
  const bool is_through = IsThrough(now.phase);
  if (found == rollouts_.end() || (!is_through && now.phase != reloadpolicy::Phase::kFailed)) {
    return;
  }
  // A rollout that has failed and recovers ends at the time when it has recovered.
  if (!found->second.end || (found->second.has_failed && is_through)) {
    found->second = {.end = time, .has_failed = !is_through};
  }
}

std::optional<apimachinery::Time> RolloutEnds::EndOf(const WorkloadId& workload) const {
  const base::MutexLock lock(mu_);
  const auto found = rollouts_.find(workload);
  return found == rollouts_.end() ? std::nullopt : found->second.end;
}

void RolloutEnds::Forget(const WorkloadId& workload) {
  const base::MutexLock lock(mu_);
  rollouts_.erase(workload);
}

}  // namespace kubexx::reloader
