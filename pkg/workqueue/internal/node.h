/// @file
/// What a queue knows of one key.
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

/// Lives while its key is queued, delayed or worked on. It stays where it is, and its parts link to
/// each other, so that after one look-up by key nothing is looked up again.
struct Node {
  Node() = default;
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;

  Key key{};
  std::size_t hash = 0;
  bool dirty = false;       ///< needs work; in the ready list unless it is worked on
  bool processing = false;  ///< between Get and Done
  int priority = 0;         ///< of what waits: the highest since the key was taken last

  Node* next = nullptr;  ///< in the ready list, or among those that are worked on
  Node* previous = nullptr;
  Tenant* tenant = nullptr;  ///< of a fair queue

  Timer delay{this};                     ///< of a delayed add
  std::unique_ptr<Settling> settling{};  ///< of debounced adds; null when there have been none

  base::TimePoint added{};  ///< these two with metrics only
  base::TimePoint started{};

  bool delayed() const { return delay.set(); }
  bool settles() const { return settling != nullptr && settling->timer.set(); }
  bool unused() const { return !dirty && !processing && !delayed() && !settles(); }
};

/// A first-in first-out list of nodes, through their own links. Not thread-safe.
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
  /// There must be one.
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
