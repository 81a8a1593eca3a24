#include "kubexx/controller/consistency_store.h"

#include <algorithm>
#include <limits>

#include "kubexx/apimachinery/resource_version.h"
#include "kubexx/logging/log.h"

namespace kubexx::controller {
namespace {

bool IsOlder(const std::string& a, const std::string& b) {
  const auto order = apimachinery::CompareResourceVersions(a, b);
  return order && *order == std::strong_ordering::less;
}

}  // namespace

void ConsistencyStore::Wrote(const workqueue::Key& owner, Write write) {
  if (!write.cached || !apimachinery::CompareResourceVersions(write.version, "0")) {
    return;
  }
  // The lock is released while the caches are asked, because they have locks of their own.
  Waiting waiting{.since = clock_.Now(), .cached = write.cached()};
  bool sweep = false;
  {
    const base::MutexLock lock(mu_);
    std::vector<Waiting>& writes = writes_[owner];
    const auto found = std::ranges::find_if(
        writes, [&write](const Waiting& each) { return AreOfOneCache(each.write, write); });
    if (found == writes.end()) {
      waiting.write = std::move(write);
      writes.push_back(std::move(waiting));
    } else if (IsOlder(found->write.version, write.version) ||
               IsOlder(waiting.cached, found->cached)) {
      waiting.write = std::move(write);
      *found = std::move(waiting);
    }
    sweep = writes_.size() >= sweep_at_;
  }
  if (sweep) {
    Sweep();
  }
}

std::optional<ConsistencyStore::Stale> ConsistencyStore::Look(const Waiting& waiting) const {
  const Write& write = waiting.write;
  std::string cached = write.cached();
  const bool is_waited_for =
      (!write.may_be_unseen && !cached.empty()) || clock_.Now() - waiting.since < kPatience;
  const bool went_back = !cached.empty() && IsOlder(cached, waiting.cached);
  if (!is_waited_for || went_back || !(cached.empty() || IsOlder(cached, write.version))) {
    return std::nullopt;
  }
  return Stale{.resource = write.resource, .written = write.version, .cached = std::move(cached)};
}

std::optional<ConsistencyStore::Stale> ConsistencyStore::Check(const workqueue::Key& owner) {
  for (const Waiting& each : Find(owner)) {
    auto stale = Look(each);
    if (stale && clock_.Now() - each.since < kGiveUp) {
      return stale;
    }
    if (Erase(owner, each.write) && stale) {
      TellGivenUp(owner, *stale, each.write);
    }
  }
  return std::nullopt;
}

void ConsistencyStore::WroteUncached(Write write) {
  if (!apimachinery::CompareResourceVersions(write.version, "0")) {
    return;
  }
  const base::MutexLock lock(mu_);
  Uncached& newest = uncached_[{std::move(write.resource), std::move(write.namespace_)}];
  if (newest.version.empty() || IsOlder(newest.version, write.version)) {
    newest = {.version = std::move(write.version),
              .since = clock_.Now(),
              .may_be_unseen = write.may_be_unseen};
  }
  // It is possible that nobody ever reads the objects that are written.
  if (uncached_.size() >= sweep_uncached_at_) {
    std::erase_if(uncached_, [this](const auto& each) { return IsOver(each.second); });
    sweep_uncached_at_ = std::max(kFirstSweep, 2 * uncached_.size());
  }
}

std::optional<ConsistencyStore::Stale> ConsistencyStore::CheckRead(
    std::string_view resource, std::string_view namespace_,
    base::FunctionRef<std::string(std::string_view)> cached) {
  std::vector<std::pair<ResourceAndNamespace, Uncached>> writes;
  {
    const base::MutexLock lock(mu_);
    for (auto each = uncached_.lower_bound({std::string(resource), std::string(namespace_)});
         each != uncached_.end() && each->first.first == resource &&
         (namespace_.empty() || each->first.second == namespace_);
         ++each) {
      writes.emplace_back(*each);
    }
  }
  // The lock is released while the cache is asked, because the cache has a lock of its own.
  for (auto& [where, write] : writes) {
    std::string version = cached(where.second);
    if (!IsOver(write) && IsOlder(version, write.version)) {
      return Stale{.resource = where.first,
                   .written = std::move(write.version),
                   .cached = std::move(version)};
    }
    const base::MutexLock lock(mu_);
    const auto found = uncached_.find(where);
    if (found != uncached_.end() && found->second.version == write.version) {
      uncached_.erase(found);
    }
  }
  return std::nullopt;
}

bool ConsistencyStore::IsOver(const Uncached& write) const {
  return clock_.Now() - write.since >= (write.may_be_unseen ? kPatience : kGiveUp);
}

void ConsistencyStore::Sweep() {
  std::vector<workqueue::Key> owners;
  {
    const base::MutexLock lock(mu_);
    sweep_at_ = std::numeric_limits<std::size_t>::max();  // only one thread at a time sweeps
    owners.reserve(writes_.size());
    for (const auto& [owner, writes] : writes_) {
      owners.push_back(owner);
    }
  }
  for (const workqueue::Key& owner : owners) {
    (void)Check(owner);  // forgets the writes that the cache has seen
  }
  const base::MutexLock lock(mu_);
  sweep_at_ = std::max(kFirstSweep, 2 * writes_.size());
}

std::vector<ConsistencyStore::Waiting> ConsistencyStore::Find(const workqueue::Key& owner) const {
  const base::MutexLock lock(mu_);
  const auto found = writes_.find(owner);
  return found == writes_.end() ? std::vector<Waiting>() : found->second;
}

bool ConsistencyStore::Erase(const workqueue::Key& owner, const Write& write) {
  const base::MutexLock lock(mu_);
  const auto found = writes_.find(owner);
  if (found == writes_.end()) {
    return false;
  }
  const std::size_t erased = std::erase_if(found->second, [&write](const Waiting& each) {
    return AreOfOneCache(each.write, write) && each.write.version == write.version;
  });
  if (found->second.empty()) {
    writes_.erase(found);
  }
  return erased != 0;
}

void ConsistencyStore::TellGivenUp(const workqueue::Key& owner, const Stale& stale,
                                   const Write& write) {
  if (const auto left_out = given_up_lines_.Admit()) {
    logging::Warning(
        "A cache has not reached a write of its controller, which no longer waits for it",
        {{"object", owner.object.ToString()},
         {"resource", stale.resource},
         {"namespace", write.namespace_},
         {"written", stale.written},
         {"cached", stale.cached},
         {"others", *left_out}});
  }
}

std::size_t ConsistencyStore::size() const {
  const base::MutexLock lock(mu_);
  return writes_.size();
}

}  // namespace kubexx::controller
