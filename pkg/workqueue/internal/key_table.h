/// @file
/// KeyTable: finds the node of a key.
#ifndef KUBEXX_WORKQUEUE_INTERNAL_KEY_TABLE_H_
#define KUBEXX_WORKQUEUE_INTERNAL_KEY_TABLE_H_

#include <cstddef>
#include <memory>
#include <vector>

#include "kubexx/workqueue/internal/node.h"

namespace kubexx::workqueue::internal {

/// A hash table of pointers with open addressing and linear probing, which owns the nodes. A
/// removal closes its gap, so there are no tombstones. The table uses the memory of a few removed
/// nodes and their strings for the next keys, so that it allocates nothing in the steady state. The
/// hashes have to be such that nobody can choose keys with the same hash, as std::hash<Key> is. Not
/// thread-safe.
class KeyTable {
 public:
  KeyTable();
  ~KeyTable();
  KeyTable(const KeyTable&) = delete;
  KeyTable& operator=(const KeyTable&) = delete;

  /// Returns the node of `key`, or a new, unused one when there is none. `hash` is the hash of
  /// `key`.
  Node* FindOrAdd(const Key& key, std::size_t hash);
  void Erase(Node* node);
  std::size_t size() const { return size_; }
  /// All nodes, in no particular order.
  std::vector<const Node*> Nodes() const;

 private:
  struct Slot {
    std::size_t hash = 0;
    Node* node = nullptr;
  };
  static constexpr std::size_t kMinSlots = 64;   // sizes are powers of two
  static constexpr std::size_t kMaxSpare = 256;  // the number of nodes that are kept for later keys

  std::size_t Home(std::size_t hash) const { return (hash * kSpread) >> shift_; }
  std::size_t After(std::size_t slot) const { return (slot + 1) & (slots_.size() - 1); }
  void Resize(std::size_t slots);
  std::unique_ptr<Node> TakeSpare();

  // 2^64 / golden ratio. It spreads hashes over the table whose low or high bits are the same.
  static constexpr std::size_t kSpread = 0x9e3779b97f4a7c15ULL;

  std::vector<Slot> slots_;
  int shift_ = 0;  // 64 - log2(slots)
  std::size_t size_ = 0;
  std::vector<std::unique_ptr<Node>> spare_;
};

}  // namespace kubexx::workqueue::internal

#endif  // KUBEXX_WORKQUEUE_INTERNAL_KEY_TABLE_H_
