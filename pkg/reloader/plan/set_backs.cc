#include "kubexx/reloader/plan/set_backs.h"

#include <algorithm>
#include <chrono>
#include <functional>
#include <string>

namespace kubexx::reloader {
namespace {

/// The time for which a workload is remembered. A tool that sets it back less often does no harm.
constexpr base::Duration kRememberedFor = std::chrono::hours(1);

/// Fewer set-backs may be a person's `kubectl replace`.
constexpr int kFoughtFrom = 3;

std::size_t HashOfData(const std::vector<Change>& changes) {
  std::string text;
  for (const Change& change : changes) {
    text.append(change.container).append("/").append(change.variable).append("=");
    text.append(change.value).append("\n");
  }
  return std::hash<std::string>()(text);
}

}  // namespace

void SetBacks::SetBack(const WorkloadId& workload) {
  const base::TimePoint now = clock_.Now();
  const base::MutexLock lock(mu_);
  std::erase_if(entries_, [&](const auto& each) {
    return now - each.second.at >= std::max(kRememberedFor, 2 * IntervalOf(each.second));
  });
  Entry& entry = entries_[workload];
  entry.at = now;
  ++entry.times;
}

SetBacks::Turn SetBacks::Ask(const WorkloadId& workload, const std::vector<Change>& changes) {
  const base::MutexLock lock(mu_);
  const auto found = entries_.find(workload);
  if (found == entries_.end()) {
    return {};
  }
  Entry& entry = found->second;
  const std::size_t data = HashOfData(changes);
  if (entry.data != 0 && entry.data != data) {
    entry.times = std::min(entry.times, 1);  // these are other data than those that were set back
  }
  entry.data = data;
  Turn turn;
  turn.is_fought = entry.times >= kFoughtFrom && !entry.is_told;
  entry.is_told = entry.is_told || turn.is_fought;
  turn.wait = std::max(entry.at + IntervalOf(entry) - clock_.Now(), base::Duration(0));
  return turn;
}

void SetBacks::Forget(const WorkloadId& workload) {
  const base::MutexLock lock(mu_);
  entries_.erase(workload);
}

std::size_t SetBacks::size() const {
  const base::MutexLock lock(mu_);
  return entries_.size();
}

base::Duration SetBacks::IntervalOf(const Entry& entry) {
  base::Duration interval = entry.times < 2 ? base::Duration(0) : kFirst;
  for (int i = 2; i < entry.times && interval < kMost; ++i) {
    interval *= 2;
  }
  return std::min(interval, kMost);
}

}  // namespace kubexx::reloader
