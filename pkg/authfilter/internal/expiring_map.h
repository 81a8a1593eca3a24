/// @file
/// ExpiringMap: keeps answers for a limited time.
#ifndef KUBEXX_AUTHFILTER_INTERNAL_EXPIRING_MAP_H_
#define KUBEXX_AUTHFILTER_INTERNAL_EXPIRING_MAP_H_

#include <cstddef>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "kubexx/base/clock.h"
#include "kubexx/base/mutex.h"

namespace kubexx::authfilter::internal {

/// Keeps at most `max_entries` values, each until it expires; when full, the one that was added
/// first goes. Thread-safe.
template <class V>
class ExpiringMap {
 public:
  ExpiringMap(std::size_t max_entries, base::Clock& clock)
      : max_entries_(max_entries), clock_(clock) {}

  std::optional<V> Find(const std::string& key) {
    base::MutexLock lock(mu_);
    const auto found = entries_.find(key);
    if (found == entries_.end() || clock_.Now() >= found->second.expires) {
      return std::nullopt;
    }
    return found->second.value;
  }

  void Put(const std::string& key, V value, base::Duration ttl) {
    base::MutexLock lock(mu_);
    const Entry entry{.value = std::move(value), .expires = clock_.Now() + ttl};
    const auto [at, added] = entries_.insert_or_assign(key, entry);
    if (added) {
      order_.push_back(key);
    }
    while (order_.size() > max_entries_) {
      entries_.erase(order_.front());
      order_.pop_front();
    }
  }

  std::size_t size() {
    base::MutexLock lock(mu_);
    return entries_.size();
  }

 private:
  struct Entry {
    V value{};
    base::TimePoint expires{};
  };

  const std::size_t max_entries_;
  base::Clock& clock_;
  base::Mutex mu_;
  std::map<std::string, Entry> entries_ KX_GUARDED_BY(mu_);
  std::deque<std::string> order_ KX_GUARDED_BY(mu_);
};

}  // namespace kubexx::authfilter::internal

#endif  // KUBEXX_AUTHFILTER_INTERNAL_EXPIRING_MAP_H_
