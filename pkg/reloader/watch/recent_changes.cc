#include "kubexx/reloader/watch/recent_changes.h"

#include <chrono>
#include <functional>

namespace kubexx::reloader {
namespace {

constexpr base::Duration kKept = std::chrono::seconds(10);
constexpr std::size_t kMost = 10'000;

}  // namespace

void RecentChanges::Add(const SourceId& source, const Digest& before, const Move& now) {
  if (now.version == 0) {
    return;
  }
  const base::TimePoint at = clock_.Now();
  const base::MutexLock lock(mu_);
  by_namespace_[source.key.namespace_].push_back({{source, before, now}, at});
  order_.push_back(source.key.namespace_);
  ForgetOldLocked(at);
}

std::vector<RecentChanges::Change> RecentChanges::Since(std::string_view namespace_,
                                                        std::uint64_t version) {
  std::vector<Change> changes;
  const base::TimePoint now = clock_.Now();
  const base::MutexLock lock(mu_);
  ForgetOldLocked(now);  // thousands may have changed by then
  const auto found = by_namespace_.find(namespace_);
  if (found == by_namespace_.end()) {
    return changes;
  }
  for (const Entry& entry : found->second) {
    if (entry.change.now.version > version) {
      changes.push_back(entry.change);
    }
  }
  return changes;
}

void RecentChanges::ForgetOldLocked(base::TimePoint now) {
  while (!order_.empty()) {
    const auto oldest = by_namespace_.find(order_.front());
    if (order_.size() <= kMost && now - oldest->second.front().at < kKept) {
      return;
    }
    oldest->second.pop_front();
    if (oldest->second.empty()) {
      by_namespace_.erase(oldest);
    }
    order_.pop_front();
  }
}

}  // namespace kubexx::reloader
