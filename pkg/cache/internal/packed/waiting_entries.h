/// @file
/// WaitingEntries: the entries of a store whose objects have changed lately and are not packed yet.
#ifndef KUBEXX_CACHE_INTERNAL_PACKED_WAITING_ENTRIES_H_
#define KUBEXX_CACHE_INTERNAL_PACKED_WAITING_ENTRIES_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "kubexx/cache/internal/packed/entry.h"
#include "kubexx/cache/internal/packed/entry_table.h"

namespace kubexx::cache {

/// Chooses the entries that a store packs. When the waiting entries have more bytes than there is
/// room for, it chooses the objects that have not changed for the longest time. A state that was
/// replaced takes no room.
///
/// The room begins with a few megabytes. When an object has been packed and then changes again, the
/// packing was wasted, and so is the unpacking for readers that ask for the old state. Each such
/// case makes the room larger, up to a limit, until the objects that change repeatedly fit. Objects
/// that change only once make the room smaller again. Not thread-safe.
class WaitingEntries {
 public:
  static constexpr std::size_t kMinRoom = std::size_t{2} << 20;
  static constexpr std::size_t kMaxRoom = std::size_t{32} << 20;

  /// Call this when `entry` has come into the table and has replaced `old`, which may be null.
  void Put(const Entry& entry, const Entry* old);
  /// Call this when an entry has left the table.
  void Remove(const Entry& old);
  /// Call this when `table` has become the store's content.
  void Reset(const EntryTable& table);

  /// Returns the entries of `table` that have to be packed now. They count as waiting until the
  /// packed entries replace them.
  std::vector<EntryRef> TakeOverdue(const EntryTable& table);

  /// The size of the entries that wait, in bytes.
  std::size_t bytes() const { return bytes_; }
  std::size_t room() const { return room_; }

 private:
  /// Records an entry that waited when it came. The entry may be gone by now.
  struct Place {
    const Entry* address = nullptr;  ///< not to be read
    std::uint32_t key_hash = 0;
    /// The hash of the object, because a later state of it may be allocated at the same address.
    std::uint64_t content_hash = 0;
  };

  static EntryRef Find(const EntryTable& table, const Place& place);
  /// Drops the places of entries that are gone.
  void Compact(const EntryTable& table);

  std::deque<Place> places_{};  // The place that came first is in front.
  std::size_t count_ = 0;
  std::size_t bytes_ = 0;
  std::size_t room_ = kMinRoom;
};

}  // namespace kubexx::cache

#endif  // KUBEXX_CACHE_INTERNAL_PACKED_WAITING_ENTRIES_H_
