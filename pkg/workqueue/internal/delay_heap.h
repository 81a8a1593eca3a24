/// @file
/// Keys by the time when they fall due.
#ifndef KUBEXX_WORKQUEUE_INTERNAL_DELAY_HEAP_H_
#define KUBEXX_WORKQUEUE_INTERNAL_DELAY_HEAP_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "kubexx/base/clock.h"
#include "kubexx/workqueue/internal/node.h"

namespace kubexx::workqueue::internal {

/// A binary heap whose nodes know their place, so that a time can be moved or taken back. Keys of
/// one time come in the order in which they got it. Not thread-safe.
class DelayHeap {
 public:
  bool empty() const { return heap_.empty(); }
  /// The node that falls due first; there must be one.
  Node* front() const { return heap_.front(); }
  /// TimePoint::max() when empty.
  base::TimePoint NextDue() const { return empty() ? base::TimePoint::max() : front()->due; }

  /// Adds a node, or moves it to another time.
  void Set(Node* node, base::TimePoint due);
  /// The node must be in it.
  void Remove(Node* node);

 private:
  static bool Before(const Node* a, const Node* b) {
    return a->due != b->due ? a->due < b->due : a->delay_order < b->delay_order;
  }
  void Place(std::size_t at, Node* node) {
    heap_[at] = node;
    node->delay_index = at;
  }
  void Up(std::size_t at);
  void Down(std::size_t at);

  std::vector<Node*> heap_;
  std::uint64_t next_order_ = 0;
};

}  // namespace kubexx::workqueue::internal

#endif  // KUBEXX_WORKQUEUE_INTERNAL_DELAY_HEAP_H_
