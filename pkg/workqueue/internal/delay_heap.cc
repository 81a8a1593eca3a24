#include "kubexx/workqueue/internal/delay_heap.h"

namespace kubexx::workqueue::internal {

void DelayHeap::Set(Timer* timer, base::TimePoint due) {
  timer->due = due;
  timer->order = next_order_++;
  if (!timer->set()) {
    heap_.push_back(timer);
    Up(heap_.size() - 1);
    return;
  }
  Up(timer->index);
  Down(timer->index);
}

void DelayHeap::Remove(Timer* timer) {
  const std::size_t at = timer->index;
  timer->index = Timer::kNotSet;
  Timer* const last = heap_.back();
  heap_.pop_back();
  if (last != timer) {
    Place(at, last);
    Up(at);
    Down(last->index);
  }
}

void DelayHeap::Up(std::size_t at) {
  Timer* const timer = heap_[at];
  while (at > 0 && Before(timer, heap_[(at - 1) / 2])) {
    Place(at, heap_[(at - 1) / 2]);
    at = (at - 1) / 2;
  }
  Place(at, timer);
}

void DelayHeap::Down(std::size_t at) {
  Timer* const timer = heap_[at];
  while (2 * at + 1 < heap_.size()) {
    std::size_t child = 2 * at + 1;
    if (child + 1 < heap_.size() && Before(heap_[child + 1], heap_[child])) {
      ++child;
    }
    if (!Before(heap_[child], timer)) {
      break;
    }
    Place(at, heap_[child]);
    at = child;
  }
  Place(at, timer);
}

}  // namespace kubexx::workqueue::internal
