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

/// Chooses what a store packs: the objects that have been quiet for longest, when those that wait
/// have more bytes than there is room for. States that were replaced take no room.
///
/// The room begins with a few megabytes. When an object changes again that has been packed
/// meanwhile, packing it was for nothing, and so is unpacking it for whoever asks for the old
/// state: then the room grows, up to a limit, until the objects that change again and again fit.
/// Objects that change once make it smaller again. Not thread-safe.
class WaitingEntries {
 public:
  static constexpr std::size_t kMinRoom = std::size_t{2} << 20;
  static constexpr std::size_t kMaxRoom = std::size_t{32} << 20;

  /// To be called when `entry` has come into the table, in the place of `old`, which may be null.
  void Put(const Entry& entry, const Entry* old);
  /// To be called when an entry has left the table.
  void Remove(const Entry& old);
  /// To be called when `table` has become the content.
  void Reset(const EntryTable& table);

  /// Returns the entries of `table` that have to be packed now. They wait until others replace
  /// them.
  std::vector<EntryRef> TakeOverdue(const EntryTable& table);

  /// The size of the entries that wait, in bytes.
  std::size_t bytes() const { return bytes_; }
  std::size_t room() const { return room_; }

 private:
  /// An entry that waited when it came, and may be gone.
  struct Place {
    const Entry* address = nullptr;  ///< not to be read
    std::uint32_t key_hash = 0;
    /// Of the object, as a later state of it may come to lie at the same address.
    std::uint64_t content_hash = 0;
  };

  static EntryRef Find(const EntryTable& table, const Place& place);
  /// Drops the places of entries that are gone.
  void Compact(const EntryTable& table);

  std::deque<Place> places_{};  // the one that came first in front
  std::size_t count_ = 0;
  std::size_t bytes_ = 0;
  std::size_t room_ = kMinRoom;
};

}  // namespace kubexx::cache

#endif  // KUBEXX_CACHE_INTERNAL_PACKED_WAITING_ENTRIES_H_
