#include "kubexx/workqueue/internal/delay_heap.h"

namespace kubexx::workqueue::internal {

void DelayHeap::Set(Node* node, base::TimePoint due) {
  node->due = due;
  node->delay_order = next_order_++;
  if (!node->delayed()) {
    heap_.push_back(node);
    Up(heap_.size() - 1);
    return;
  }
  Up(node->delay_index);
  Down(node->delay_index);
}

void DelayHeap::Remove(Node* node) {
  const std::size_t at = node->delay_index;
  node->delay_index = Node::kNotDelayed;
  Node* const last = heap_.back();
  heap_.pop_back();
  if (last != node) {
    Place(at, last);
    Up(at);
    Down(last->delay_index);
  }
}

void DelayHeap::Up(std::size_t at) {
  Node* const node = heap_[at];
  while (at > 0 && Before(node, heap_[(at - 1) / 2])) {
    Place(at, heap_[(at - 1) / 2]);
    at = (at - 1) / 2;
  }
  Place(at, node);
}

void DelayHeap::Down(std::size_t at) {
  Node* const node = heap_[at];
  while (2 * at + 1 < heap_.size()) {
    std::size_t child = 2 * at + 1;
    if (child + 1 < heap_.size() && Before(heap_[child + 1], heap_[child])) {
      ++child;
    }
    if (!Before(heap_[child], node)) {
      break;
    }
    Place(at, heap_[child]);
    at = child;
  }
  Place(at, node);
}

}  // namespace kubexx::workqueue::internal
