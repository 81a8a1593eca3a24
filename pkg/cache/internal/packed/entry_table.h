/// @file
/// EntryTable: a hash set of entries by key, with eight bytes per slot.
#ifndef KUBEXX_CACHE_INTERNAL_PACKED_ENTRY_TABLE_H_
#define KUBEXX_CACHE_INTERNAL_PACKED_ENTRY_TABLE_H_

#include <cstddef>
#include <string_view>
#include <vector>

#include "kubexx/cache/internal/packed/entry.h"

namespace kubexx::cache {

/// Entries by namespace and name. Open addressing, linear probing, no tombstones; grows when three
/// quarters full and shrinks when seven eighths empty. Movable. Not thread-safe.
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

  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  /// The size of the entries' allocations and of the slots in bytes.
  std::size_t bytes() const { return entry_bytes_ + slots_.size() * sizeof(EntryRef); }

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

  std::size_t FindSlot(std::string_view namespace_, std::string_view name, std::size_t hash) const;
  void Resize(std::size_t slots);

  std::vector<EntryRef> slots_{};
  std::size_t size_ = 0;
  std::size_t entry_bytes_ = 0;
};

}  // namespace kubexx::cache

#endif  // KUBEXX_CACHE_INTERNAL_PACKED_ENTRY_TABLE_H_
