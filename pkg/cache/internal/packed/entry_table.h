/// @file
/// EntryTable: a hash set of entries by key, with nine bytes per slot.
#ifndef KUBEXX_CACHE_INTERNAL_PACKED_ENTRY_TABLE_H_
#define KUBEXX_CACHE_INTERNAL_PACKED_ENTRY_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "kubexx/cache/internal/packed/entry.h"

namespace kubexx::cache {

/// Entries by namespace and name. Open addressing, linear probing, no tombstones; grows when three
/// quarters full and shrinks when seven eighths empty. A byte of each entry's hash lies beside the
/// slots, so that a search reads next to no entries but the one that it finds: they are all over
/// the memory, and seldom in the processor's cache. Movable. Not thread-safe.
class EntryTable {
 public:
  /// Returns null when there is no such key.
  EntryRef Find(std::string_view namespace_, std::string_view name) const;
  /// Inserts `entry`, and returns the entry with the same key that it replaces, or null.
  EntryRef Insert(EntryRef entry);
  /// Removes an entry and returns it, or null when there is none.
  EntryRef Erase(std::string_view namespace_, std::string_view name);

  /// Whether the table has this very entry.
  bool Has(const Entry& entry) const;
  /// Returns the entry at `address`, which is not read before it is found, or null when the table
  /// has none there whose key has this hash.
  EntryRef FindAddress(const Entry* address, std::uint32_t key_hash) const;

  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  /// The size of the entries' allocations and of the slots in bytes.
  std::size_t bytes() const { return entry_bytes_ + slots_.size() * kSlotBytes; }

  /// All entries, in no particular order.
  std::vector<EntryRef> Entries() const;
  /// Calls `each` for all entries, in no particular order.
  template <class F>
  void ForEach(F&& each) const {
    for (const EntryRef& slot : slots_) {
      if (slot) {
        each(slot);
      }
    }
  }

  /// For walks in several steps: the entry in slot `i` of slots(), which may be null. The entries
  /// move when the table changes.
  std::size_t slots() const { return slots_.size(); }
  const EntryRef& At(std::size_t i) const { return slots_[i]; }

 private:
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);
  static constexpr std::size_t kSlotBytes = sizeof(EntryRef) + 1;
  static constexpr std::uint8_t kEmpty = 0;

  /// Of other bits than those that choose the slot; never kEmpty.
  static std::uint8_t TagOf(std::uint32_t hash) {
    return static_cast<std::uint8_t>(hash >> 24 | 1);
  }

  std::size_t FindSlot(std::string_view namespace_, std::string_view name,
                       std::uint32_t hash) const;
  /// Moves the entry of a slot to an empty one.
  void Move(std::size_t from, std::size_t to);
  void Resize(std::size_t slots);

  std::vector<EntryRef> slots_{};
  std::vector<std::uint8_t> tags_{};  ///< of the entries; kEmpty where there is none
  std::size_t size_ = 0;
  std::size_t entry_bytes_ = 0;
};

}  // namespace kubexx::cache

#endif  // KUBEXX_CACHE_INTERNAL_PACKED_ENTRY_TABLE_H_
