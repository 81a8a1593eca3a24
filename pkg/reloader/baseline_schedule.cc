#include "kubexx/reloader/baseline_schedule.h"

#include <algorithm>
#include <chrono>

namespace kubexx::reloader {

base::Duration BaselineSchedule::Ask(const WorkloadId& workload) {
  const base::TimePoint now = clock_.Now();
  const base::MutexLock lock(mu_);
  ExpireLocked(now);
  const auto found = slots_.find(workload);
  base::TimePoint slot{};
  if (found != slots_.end()) {
    slot = std::max(found->second, EarliestLocked(workload, now));
  } else {
    const auto spacing = std::chrono::duration_cast<base::Duration>(
        std::chrono::duration<double>(1 / options_.rate));
    next_free_ = std::max(next_free_, now - spacing * (options_.burst - 1));
    const base::TimePoint earliest = EarliestLocked(workload, now);
    slot = std::max({now, next_free_, earliest});
    // One that has to wait for reasons of its own takes its turn when the time has come.
    next_free_ += earliest > now ? base::Duration(0) : spacing;
  }
  if (slot > now) {
    slots_[workload] = slot;
    return slot - now;
  }
  WrittenLocked(workload, now);
  return base::Duration(0);
}

void BaselineSchedule::Written(const WorkloadId& workload) {
  const base::TimePoint now = clock_.Now();
  const base::MutexLock lock(mu_);
  ExpireLocked(now);
  WrittenLocked(workload, now);
}

bool BaselineSchedule::Forbidden(const WorkloadId& workload) {
  const base::TimePoint now = clock_.Now();
  const base::MutexLock lock(mu_);
  forbidden_until_[{workload.kind, workload.key.namespace_}] = now + options_.forbidden_interval;
  return refused_.insert(workload.kind).second;
}

void BaselineSchedule::Forget(const WorkloadId& workload) {
  const base::MutexLock lock(mu_);
  slots_.erase(workload);
}

std::size_t BaselineSchedule::size() const {
  const base::MutexLock lock(mu_);
  return slots_.size() + by_time_.size();
}

void BaselineSchedule::WrittenLocked(const WorkloadId& workload, base::TimePoint now) {
  slots_.erase(workload);
  written_[workload] = now;
  by_time_.emplace_back(now, workload);
}

void BaselineSchedule::ExpireLocked(base::TimePoint now) {
  while (!by_time_.empty() && by_time_.front().first + options_.workload_interval <= now) {
    const auto& [time, workload] = by_time_.front();
    if (const auto found = written_.find(workload);
        found != written_.end() && found->second == time) {
      written_.erase(found);
    }
    by_time_.pop_front();
  }
}

base::TimePoint BaselineSchedule::EarliestLocked(const WorkloadId& workload,
                                                 base::TimePoint now) const {
  base::TimePoint earliest = now;
  if (const auto found = written_.find(workload); found != written_.end()) {
    earliest = std::max(earliest, found->second + options_.workload_interval);
  }
  if (const auto found = forbidden_until_.find({workload.kind, workload.key.namespace_});
      found != forbidden_until_.end()) {
    earliest = std::max(earliest, found->second);
  }
  return earliest;
}

}  // namespace kubexx::reloader
