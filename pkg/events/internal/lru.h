/// @file
/// A map of bounded size.
#ifndef KUBEXX_EVENTS_INTERNAL_LRU_H_
#define KUBEXX_EVENTS_INTERNAL_LRU_H_

#include <cstddef>
#include <list>
#include <optional>
#include <unordered_map>
#include <utility>

namespace kubexx::events::internal {

/// Keeps the `capacity` entries that were used last. Not thread-safe.
template <class Key, class Value, class Hash = std::hash<Key>>
class Lru {
 public:
  using Entry = std::pair<const Key, Value>;

  explicit Lru(std::size_t capacity) : capacity_(capacity) {}

  /// Returns the value at `key`, or null if there is none. The value becomes the one that was used
  /// last.
  Value* Find(const Key& key) {
    const auto found = index_.find(key);
    if (found == index_.end()) {
      return nullptr;
    }
    entries_.splice(entries_.begin(), entries_, found->second);
    return &found->second->second;
  }

  /// Sets the value at `key`. Returns the value that was removed to make room for it, if any.
  std::optional<Value> Put(const Key& key, Value value) {
    if (Value* const there = Find(key)) {
      *there = std::move(value);
      return std::nullopt;
    }
    entries_.emplace_front(key, std::move(value));
    index_.emplace(key, entries_.begin());
    if (entries_.size() <= capacity_) {
      return std::nullopt;
    }
    index_.erase(entries_.back().first);
    std::optional<Value> gone(std::move(entries_.back().second));
    entries_.pop_back();
    return gone;
  }

  /// Calls `each` for all values, the last used first, and removes those for which it returns
  /// false.
  template <class F>
  void Filter(F each) {
    for (auto entry = entries_.begin(); entry != entries_.end();) {
      if (each(entry->second)) {
        ++entry;
      } else {
        index_.erase(entry->first);
        entry = entries_.erase(entry);
      }
    }
  }

  std::size_t size() const { return entries_.size(); }

 private:
  const std::size_t capacity_;
  std::list<Entry> entries_;
  std::unordered_map<Key, typename std::list<Entry>::iterator, Hash> index_;
};

}  // namespace kubexx::events::internal

#endif  // KUBEXX_EVENTS_INTERNAL_LRU_H_
