#include "kubexx/reloader/history/rollout_ends.h"

#include <string>

#include "kubexx/reloader/history/history.h"
#include "kubexx/reloader/model/annotations.h"

namespace kubexx::reloader {

namespace {

/// When the newest rollout of a history began; std::nullopt when there is none.
std::optional<apimachinery::Time> NewestIn(const std::string* text) {
  const auto history = text == nullptr ? std::nullopt : std::optional(History::Parse(*text));
  return history && *history && !(*history)->rollouts.empty()
             ? std::optional((*history)->rollouts.front().at)
             : std::nullopt;
}

}  // namespace

void RolloutEnds::Observe(const Workload& before, const Workload& now, apimachinery::Time time) {
  const base::MutexLock lock(mu_);
  if (before.uid != now.uid) {
    rollouts_.erase(now.id);
    return;
  }
  if (HasOtherTemplate(before, now)) {
    ObserveTemplate(before, now);
  }
  const auto found = rollouts_.find(now.id);
  const bool is_through = IsThrough(now.phase);
  if (found == rollouts_.end() || found->second.is_over ||
      (!is_through && now.phase != reloadpolicy::Phase::kFailed)) {
    return;
  }
  // A rollout that has failed and recovers ends at the time when it has recovered.
  std::optional<RolloutEnd>& end = found->second.end;
  if (!end || (end->has_failed && is_through)) {
    end = {.time = time, .has_failed = !is_through};
  }
}

// A rollout of the operator is a newer entry in the history, by the same write. An undo brings back
// older ones.
void RolloutEnds::ObserveTemplate(const Workload& before, const Workload& now) {
  const std::string* had = Find(before.annotations, kHistoryAnnotation);
  const std::string* has = Find(now.annotations, kHistoryAnnotation);
  if (has == nullptr) {
    rollouts_.erase(now.id);
    return;
  }
  const auto newest = NewestIn(has);
  const auto before_it = NewestIn(had);
  const bool is_own =
      (had == nullptr || *had != *has) && newest && (!before_it || *before_it <= *newest);
  if (!is_own) {
    if (const auto found = rollouts_.find(now.id); found != rollouts_.end()) {
      found->second.is_over = true;
    }
  } else if (rollouts_.contains(now.id) || rollouts_.size() < kMaxWorkloads) {
    rollouts_[now.id] = {};
  }
}

std::optional<RolloutEnd> RolloutEnds::EndOf(const WorkloadId& workload) const {
  const base::MutexLock lock(mu_);
  const auto found = rollouts_.find(workload);
  return found == rollouts_.end() ? std::nullopt : found->second.end;
}

void RolloutEnds::Forget(const WorkloadId& workload) {
  const base::MutexLock lock(mu_);
  rollouts_.erase(workload);
}

}  // namespace kubexx::reloader
