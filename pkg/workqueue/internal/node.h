/// @file
/// Node: everything that a queue stores about one key.
#ifndef KUBEXX_WORKQUEUE_INTERNAL_NODE_H_
#define KUBEXX_WORKQUEUE_INTERNAL_NODE_H_

#include <cstddef>
#include <memory>

#include "kubexx/base/clock.h"
#include "kubexx/workqueue/internal/settling.h"
#include "kubexx/workqueue/internal/timer.h"
#include "kubexx/workqueue/key.h"

namespace kubexx::workqueue::internal {

struct Tenant;

/// Exists while its key is queued, delayed or processed. Its address does not change, and its parts
/// link to each other, so that a queue looks up a key only once.
struct Node {
  Node() = default;
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;

  Key key{};
  std::size_t hash = 0;
  bool dirty = false;       ///< needs work; in the ready list unless `processing`
  bool processing = false;  ///< between Get and Done
  int priority = 0;         ///< the highest of all adds since the key was last taken

  Node* next = nullptr;  ///< in the ready list or in the list of processed nodes
  Node* previous = nullptr;
  Tenant* tenant = nullptr;  ///< only in a fair queue

  Timer delay{this};                     ///< the timer of a delayed add
  std::unique_ptr<Settling> settling{};  ///< debounced adds; null when there have been none

  base::TimePoint added{};  ///< `added` and `started` are set only with metrics
  base::TimePoint started{};

  bool delayed() const { return delay.set(); }
  bool settles() const { return settling != nullptr && settling->timer.set(); }
  bool unused() const { return !dirty && !processing && !delayed() && !settles(); }
};

/// A first-in first-out list of nodes that uses links in the nodes. Not thread-safe.
class NodeList {
 public:
  bool empty() const { return first_ == nullptr; }
  Node* front() const { return first_; }

  void PushBack(Node* node) {
    node->next = nullptr;
    node->previous = last_;
    (last_ == nullptr ? first_ : last_->next) = node;
    last_ = node;
  }
  void Remove(Node* node) {
    (node->previous == nullptr ? first_ : node->previous->next) = node->next;
    (node->next == nullptr ? last_ : node->next->previous) = node->previous;
  }
  /// Removes and returns the first node; there must be one.
  Node* PopFront() {
    Node* const node = first_;
    Remove(node);
    return node;
  }

 private:
  Node* first_ = nullptr;
  Node* last_ = nullptr;
};

}  // namespace kubexx::workqueue::internal

#endif  // KUBEXX_WORKQUEUE_INTERNAL_NODE_H_
