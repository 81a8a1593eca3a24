/// @file
/// Snapshot: all objects of a store, which handlers get one by one.
#ifndef KUBEXX_CACHE_INTERNAL_INFORMER_SNAPSHOT_H_
#define KUBEXX_CACHE_INTERNAL_INFORMER_SNAPSHOT_H_

#include <array>
#include <cstddef>
#include <memory>
#include <vector>

#include "kubexx/base/mutex.h"
#include "kubexx/cache/internal/informer/packed_event.h"
#include "kubexx/cache/internal/packed/packed_store.h"

namespace kubexx::cache {

/// Takes eight bytes per object while a handler catches up, instead of an event per object.
/// Handlers that are at about the same position get the same event, so that each object is unpacked
/// and decoded once. Thread-safe.
class Snapshot {
 public:
  enum class Kind { kAdd, kInitialAdd, kResync };

  Snapshot(std::shared_ptr<const PackedStore> store, std::vector<EntryRef> entries, Kind kind)
      : store_(std::move(store)), entries_(std::move(entries)), kind_(kind) {}

  const std::vector<EntryRef>& entries() const { return entries_; }
  Kind kind() const { return kind_; }
  /// The event of entries()[i].
  std::shared_ptr<const PackedEvent> EventAt(std::size_t i) const;

 private:
  static constexpr std::size_t kRecent = 16;
  struct Recent {
    std::size_t index = 0;
    std::shared_ptr<const PackedEvent> event{};
  };

  const std::shared_ptr<const PackedStore> store_;
  const std::vector<EntryRef> entries_;
  const Kind kind_;
  mutable base::Mutex mu_;
  mutable std::array<Recent, kRecent> recent_ KX_GUARDED_BY(mu_);
};

}  // namespace kubexx::cache

#endif  // KUBEXX_CACHE_INTERNAL_INFORMER_SNAPSHOT_H_
