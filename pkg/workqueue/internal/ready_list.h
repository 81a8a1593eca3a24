/// @file
/// The order in which keys are handed out.
#ifndef KUBEXX_WORKQUEUE_INTERNAL_READY_LIST_H_
#define KUBEXX_WORKQUEUE_INTERNAL_READY_LIST_H_

#include <cstddef>
#include <memory>
#include <string>

#include "kubexx/workqueue/internal/node.h"

namespace kubexx::workqueue::internal {

/// Keys that wait for a worker. The one part in which the kinds of queue differ. Not thread-safe.
class ReadyList {
 public:
  virtual ~ReadyList() = default;

  /// A node came into being, with its key set, or is about to go.
  virtual void Attach(Node* /*node*/, const std::string& /*tenant*/) {}
  virtual void Detach(Node* /*node*/) {}

  void Push(Node* node) {
    ++size_;
    DoPush(node);
  }
  /// The next node; null when there is none that may be handed out now.
  Node* Pop() {
    Node* const node = DoPop();
    size_ -= node != nullptr ? 1U : 0U;
    return node;
  }
  /// Gives a waiting node another priority.
  virtual void Raise(Node* node, int priority) { node->priority = priority; }
  /// The work on a node that Pop gave has ended. Whether a key may be handed out now that could not
  /// be before.
  virtual bool Finished(Node* /*node*/) { return false; }

  std::size_t size() const { return size_; }

 protected:
  virtual void DoPush(Node* node) = 0;
  virtual Node* DoPop() = 0;

 private:
  std::size_t size_ = 0;
};

/// In order of arrival.
std::unique_ptr<ReadyList> NewArrivalList();
/// Higher priorities first, each in order of arrival.
std::unique_ptr<ReadyList> NewPriorityList();

}  // namespace kubexx::workqueue::internal

#endif  // KUBEXX_WORKQUEUE_INTERNAL_READY_LIST_H_
