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

/// Holds entries by namespace and name. The table uses open addressing and linear probing without
/// tombstones. It grows when it is three quarters full, and shrinks when it is seven eighths empty.
/// A byte of each entry's hash lies beside the slots, so that a search reads hardly any entry
/// except the one that it finds: entries lie all over the memory and are seldom in the processor's
/// cache. Movable. Not thread-safe.
class EntryTable {
 public:
  /// Returns null when there is no such key.
  EntryRef Find(std::string_view namespace_, std::string_view name) const;
  /// Inserts `entry`. Returns the entry with the same key that it replaces, or null.
  EntryRef Insert(EntryRef entry);
  /// Removes an entry and returns it, or null when there is none.
  EntryRef Erase(std::string_view namespace_, std::string_view name);

  /// Whether the table has this very entry.
  bool Has(const Entry& entry) const;
  /// Returns the entry at `address`, or null when the table has no entry there whose key has this
  /// hash. `address` is not read before the entry is found in the table.
  EntryRef FindAddress(const Entry* address, std::uint32_t key_hash) const;

  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  /// The size of the entries' allocations and of the slots in bytes.
  std::size_t bytes() const { return entry_bytes_ + slots_.size() * kSlotBytes; }

  /// All entries, in no particular order.
  std::vector<EntryRef> Entries() const;
  /// Calls `each` with every entry, in no particular order.
  template <class F>
  void ForEach(F&& each) const {
    for (const EntryRef& slot : slots_) {
      if (slot) {
        each(slot);
      }
    }
  }

  /// Gives the entry in slot `i` of slots(), which may be null, to callers that walk the table in
  /// several steps. The entries move when the table changes.
  std::size_t slots() const { return slots_.size(); }
  const EntryRef& At(std::size_t i) const { return slots_[i]; }

 private:
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);
  static constexpr std::size_t kSlotBytes = sizeof(EntryRef) + 1;
  static constexpr std::uint8_t kEmpty = 0;

  /// Made of other bits of the hash than those that choose the slot. Never kEmpty.
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
