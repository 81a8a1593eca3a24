#include "kubexx/controller/consistency_store.h"

#include <algorithm>

#include "kubexx/controller/resource_version.h"

namespace kubexx::controller {
namespace {

bool IsOlder(const std::string& a, const std::string& b) {
  const auto order = CompareResourceVersions(a, b);
  return order && *order == std::strong_ordering::less;
}

}  // namespace

void ConsistencyStore::Wrote(const workqueue::Key& owner, const std::string& resource,
                             const std::string& written, CacheVersion cached) {
  if (!cached || !CompareResourceVersions(written, "0")) {
    return;
  }
  const base::MutexLock lock(mu_);
  std::vector<Write>& writes = writes_[owner];
  const auto found = std::ranges::find(writes, resource, &Write::resource);
  if (found == writes.end()) {
    writes.push_back({.resource = resource, .version = written, .cached = std::move(cached)});
  } else if (IsOlder(found->version, written)) {
    found->version = written;
    found->cached = std::move(cached);
  }
}

std::optional<ConsistencyStore::Stale> ConsistencyStore::Check(const workqueue::Key& owner) {
  // The caches are asked without the lock: they have locks of their own.
  for (const Write& write : Find(owner)) {
    std::string cached = write.cached();
    if (cached.empty() || IsOlder(cached, write.version)) {
      return Stale{
          .resource = write.resource, .written = write.version, .cached = std::move(cached)};
    }
    Erase(owner, write);
  }
  return std::nullopt;
}

std::vector<ConsistencyStore::Write> ConsistencyStore::Find(const workqueue::Key& owner) const {
  const base::MutexLock lock(mu_);
  const auto found = writes_.find(owner);
  return found == writes_.end() ? std::vector<Write>() : found->second;
}

void ConsistencyStore::Erase(const workqueue::Key& owner, const Write& write) {
  const base::MutexLock lock(mu_);
  const auto found = writes_.find(owner);
  if (found == writes_.end()) {
    return;
  }
  std::erase_if(found->second, [&write](const Write& each) {
    return each.resource == write.resource && each.version == write.version;
  });
  if (found->second.empty()) {
    writes_.erase(found);
  }
}

std::size_t ConsistencyStore::size() const {
  const base::MutexLock lock(mu_);
  return writes_.size();
}

}  // namespace kubexx::controller
