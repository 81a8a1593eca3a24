#include "kubexx/cache/internal/packed/decoded_cache.h"

#include <iterator>
#include <utility>

namespace kubexx::cache {

void DecodedCache::Put(const EntryRef& entry, Decoded decoded) {
  if (!wanted_.load(std::memory_order_relaxed)) {
    return;
  }
  Items dropped;  // destroyed after the lock is released
  base::MutexLock lock(mu_);
  if (entry->raw_size() > max_bytes_ || by_entry_.contains(entry.get())) {
    return;
  }
  items_.push_back({entry, std::move(decoded)});
  by_entry_.emplace(entry.get(), std::prev(items_.end()));
  bytes_ += entry->raw_size();
  while (bytes_ > max_bytes_) {
    bytes_ -= items_.front().entry->raw_size();
    by_entry_.erase(items_.front().entry.get());
    dropped.splice(dropped.end(), items_, items_.begin());
  }
}

DecodedCache::Decoded DecodedCache::Take(const Entry& entry) {
  wanted_.store(true, std::memory_order_relaxed);
  Items taken;
  base::MutexLock lock(mu_);
  const auto found = by_entry_.find(&entry);
  if (found == by_entry_.end()) {
    return nullptr;
  }
  bytes_ -= entry.raw_size();
  taken.splice(taken.end(), items_, found->second);
  by_entry_.erase(found);
  return std::move(taken.front().decoded);
}

std::size_t DecodedCache::size() const {
  base::MutexLock lock(mu_);
  return items_.size();
}

}  // namespace kubexx::cache
