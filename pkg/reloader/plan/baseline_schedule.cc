#include "kubexx/reloader/plan/baseline_schedule.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <limits>

namespace kubexx::reloader {
namespace {

/// An informer shows the operator's own write later than its answer comes. An annotation that is
/// missing earlier than this was not removed.
constexpr base::Duration kShownAfter = std::chrono::seconds(10);

/// The time for which a write is remembered. A tool that removes the annotation less often does no
/// harm.
constexpr base::Duration kRemembered = std::chrono::hours(1);

/// The shortest and the longest time between two looks at what watches have told.
constexpr base::Duration kFirstLook = std::chrono::seconds(10);
constexpr base::Duration kRarestLook = std::chrono::minutes(10);

constexpr base::Duration kSweepInterval = std::chrono::minutes(1);

/// Fewer removals may be a person's `kubectl replace`.
constexpr int kLostForGood = 3;

std::size_t HashOf(const WorkloadId& workload) {
  const std::hash<std::string> hash;
  std::size_t result = static_cast<std::size_t>(workload.kind);
  for (const std::string* part : {&workload.key.namespace_, &workload.key.name}) {
    result = result * 1'000'003 ^ hash(*part);
  }
  return result;
}

/// Returns `first`, doubled for each time after the first, but at most `limit`.
base::Duration Doubled(base::Duration first, int times, base::Duration limit) {
  base::Duration interval = first;
  for (int i = 1; i < times && interval < limit; ++i) {
    interval *= 2;
  }
  return std::min(interval, limit);
}

void CountUp(std::uint16_t& count) {
  if (count < std::numeric_limits<std::uint16_t>::max()) {
    ++count;
  }
}

}  // namespace

BaselineSchedule::Turn BaselineSchedule::Ask(const WorkloadId& workload, std::string_view baseline,
                                             bool is_news) {
  const base::TimePoint now = clock_.Now();
  const base::MutexLock lock(mu_);
  ExpireLocked(now);
  Turn turn;
  const auto found = writes_.find(HashOf(workload));
  if (found != writes_.end()) {
    Write& write = found->second;
    const bool is_same =
        write.is_there && write.baseline == std::hash<std::string_view>()(baseline);
    is_news = is_news && !is_same;
    if (is_same && now - write.at >= kShownAfter) {
      write.is_there = false;
      CountUp(write.lost);
      turn.is_fought = write.lost == kLostForGood;
    }
  }
  turn.wait = SlotLocked(workload, now, is_news);
  if (turn.wait == base::Duration(0)) {
    slots_.erase(workload);
    Write& write = writes_[HashOf(workload)];
    write.at = now;
    write.is_there = false;
  }
  return turn;
}

base::Duration BaselineSchedule::SlotLocked(const WorkloadId& workload, base::TimePoint now,
                                            bool is_news) {
  const base::TimePoint earliest = EarliestLocked(workload, now, is_news);
  auto found = slots_.find(workload);
  if (found == slots_.end()) {
    if (earliest > now) {
      return earliest - now;  // its turn comes when that time has come
    }
    const auto spacing = std::chrono::duration_cast<base::Duration>(
        std::chrono::duration<double>(1 / options_.rate));
    next_free_ = std::max(next_free_, now - spacing * (options_.burst - 1));
    found = slots_.emplace(workload, next_free_).first;
    next_free_ += spacing;
  }
  return std::max({found->second, earliest, now}) - now;
}

void BaselineSchedule::Written(const WorkloadId& workload, std::string_view baseline) {
  const base::TimePoint now = clock_.Now();
  const base::MutexLock lock(mu_);
  ExpireLocked(now);
  slots_.erase(workload);
  Write& write = writes_[HashOf(workload)];
  write.at = now;
  write.baseline = std::hash<std::string_view>()(baseline);
  write.is_there = true;
  write.failures = 0;
}

bool BaselineSchedule::Failed(const WorkloadId& workload) {
  const base::TimePoint now = clock_.Now();
  const base::MutexLock lock(mu_);
  Write& write = writes_[HashOf(workload)];
  write.at = now;
  write.is_there = false;
  CountUp(write.failures);
  return write.failures == 1;
}

void BaselineSchedule::Overtaken(const WorkloadId& workload) {
  const base::TimePoint now = clock_.Now();
  const base::MutexLock lock(mu_);
  writes_[HashOf(workload)].at = now - options_.workload_interval;
}

void BaselineSchedule::Forbidden(const WorkloadId& workload) {
  const base::TimePoint now = clock_.Now();
  const base::MutexLock lock(mu_);
  std::erase_if(forbidden_until_, [now](const auto& entry) { return entry.second <= now; });
  forbidden_until_[{workload.kind, workload.key.namespace_}] = now + options_.forbidden_interval;
}

void BaselineSchedule::NothingToDo(const WorkloadId& workload) {
  const base::MutexLock lock(mu_);
  slots_.erase(workload);
}

base::Duration BaselineSchedule::LookAgain(const WorkloadId& workload) {
  const base::TimePoint now = clock_.Now();
  const base::MutexLock lock(mu_);
  const auto [found, is_first] = looks_.try_emplace(workload);
  Look& look = found->second;
  if (is_first || look.at <= now) {  // plans that have another reason are none of these looks
    look.pause = is_first ? kFirstLook : std::min(2 * look.pause, kRarestLook);
    look.at = now + look.pause;
  }
  return look.at - now;
}

void BaselineSchedule::HasSeen(const WorkloadId& workload) {
  const base::MutexLock lock(mu_);
  looks_.erase(workload);
}

void BaselineSchedule::Forget(const WorkloadId& workload) {
  const base::MutexLock lock(mu_);
  looks_.erase(workload);
  slots_.erase(workload);
  writes_.erase(HashOf(workload));
}

std::size_t BaselineSchedule::size() const {
  const base::MutexLock lock(mu_);
  return slots_.size() + writes_.size() + looks_.size();
}

base::Duration BaselineSchedule::IntervalOf(const Write& write) const {
  return std::max(Doubled(options_.workload_interval, write.lost, options_.lost_interval),
                  Doubled(options_.workload_interval, write.failures, options_.failed_interval));
}

void BaselineSchedule::ExpireLocked(base::TimePoint now) {
  if (now < next_sweep_) {
    return;
  }
  next_sweep_ = now + kSweepInterval;
  std::erase_if(writes_, [&](const auto& entry) {
    const Write& write = entry.second;
    return now - write.at >= std::max(kRemembered, 2 * IntervalOf(write));
  });
}

base::TimePoint BaselineSchedule::EarliestLocked(const WorkloadId& workload, base::TimePoint now,
                                                 bool is_news) const {
  base::TimePoint earliest = now;
  const auto found = writes_.find(HashOf(workload));
  const bool is_undisturbed =
      is_news && found != writes_.end() && found->second.lost == 0 && found->second.failures == 0;
  if (found != writes_.end() && !is_undisturbed) {
    earliest = std::max(earliest, found->second.at + IntervalOf(found->second));
  }
  if (const auto until = forbidden_until_.find({workload.kind, workload.key.namespace_});
      until != forbidden_until_.end()) {
    earliest = std::max(earliest, until->second);
  }
  return earliest;
}

}  // namespace kubexx::reloader
