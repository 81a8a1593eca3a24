/// @file
/// DecodedCache: the recently decoded states of objects.
#ifndef KUBEXX_CACHE_INTERNAL_PACKED_DECODED_CACHE_H_
#define KUBEXX_CACHE_INTERNAL_PACKED_DECODED_CACHE_H_

#include <atomic>
#include <cstddef>
#include <list>
#include <memory>
#include <unordered_map>

#include "kubexx/base/mutex.h"
#include "kubexx/cache/internal/packed/entry.h"

namespace kubexx::cache {

/// Keeps the decoded object of an event until the next event of the same object, which needs it as
/// the old state. This saves time because most objects change several times in a row. The cache
/// keeps nothing until somebody has asked for an old state, because many handlers never ask. It is
/// bounded and drops the oldest states first. Thread-safe.
class DecodedCache {
 public:
  using Decoded = std::shared_ptr<const void>;

  /// `max_bytes` limits the sum of the entries' sizes before packing; a decoded object takes about
  /// three times as much.
  explicit DecodedCache(std::size_t max_bytes = 4 << 20) : max_bytes_(max_bytes) {}

  /// Remembers the decoded state of an entry.
  void Put(const EntryRef& entry, Decoded decoded);
  /// Returns the remembered state of an entry, or null. The cache forgets the state, because it is
  /// the old state of only one event.
  Decoded Take(const Entry& entry);

  std::size_t size() const;

 private:
  struct Item {
    EntryRef entry;  ///< held, so that no other entry gets its address
    Decoded decoded;
  };
  using Items = std::list<Item>;

  const std::size_t max_bytes_;
  std::atomic<bool> wanted_ = false;
  mutable base::Mutex mu_;
  Items items_ KX_GUARDED_BY(mu_);  // The oldest item is in front.
  std::unordered_map<const Entry*, Items::iterator> by_entry_ KX_GUARDED_BY(mu_);
  std::size_t bytes_ KX_GUARDED_BY(mu_) = 0;
};

}  // namespace kubexx::cache

#endif  // KUBEXX_CACHE_INTERNAL_PACKED_DECODED_CACHE_H_
