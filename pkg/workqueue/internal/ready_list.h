/// @file
/// ReadyList: decides the order in which workers get keys.
#ifndef KUBEXX_WORKQUEUE_INTERNAL_READY_LIST_H_
#define KUBEXX_WORKQUEUE_INTERNAL_READY_LIST_H_

#include <cstddef>
#include <memory>
#include <string>

#include "kubexx/workqueue/internal/node.h"

namespace kubexx::workqueue::internal {

/// The keys that wait for a worker. The kinds of queue differ only in this part. Not thread-safe.
class ReadyList {
 public:
  virtual ~ReadyList() = default;

  /// The queue calls Attach when it has created a node and set its key, and calls Detach before it
  /// removes the node.
  virtual void Attach(Node* /*node*/, const std::string& /*tenant*/) {}
  virtual void Detach(Node* /*node*/) {}

  void Push(Node* node) {
    ++size_;
    DoPush(node);
  }
  /// Removes and returns the next node; null when no node may be taken now.
  Node* Pop() {
    Node* const node = DoPop();
    size_ -= node != nullptr ? 1U : 0U;
    return node;
  }
  /// Gives a waiting node another priority.
  virtual void Raise(Node* node, int priority) { node->priority = priority; }
  /// The queue calls this when the work on a node from Pop has ended. Returns whether a key may be
  /// taken now that could not be taken before.
  virtual bool Finished(Node* /*node*/) { return false; }

  std::size_t size() const { return size_; }

 protected:
  virtual void DoPush(Node* node) = 0;
  virtual Node* DoPop() = 0;

 private:
  std::size_t size_ = 0;
};

/// Makes a list in order of arrival.
std::unique_ptr<ReadyList> NewArrivalList();
/// Makes a list with higher priorities first, and each priority in order of arrival.
std::unique_ptr<ReadyList> NewPriorityList();

}  // namespace kubexx::workqueue::internal

#endif  // KUBEXX_WORKQUEUE_INTERNAL_READY_LIST_H_
