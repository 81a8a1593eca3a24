/// @file
/// DelayHeap: orders timers by the time when they fall due.
#ifndef KUBEXX_WORKQUEUE_INTERNAL_DELAY_HEAP_H_
#define KUBEXX_WORKQUEUE_INTERNAL_DELAY_HEAP_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "kubexx/base/clock.h"
#include "kubexx/workqueue/internal/timer.h"

namespace kubexx::workqueue::internal {

/// A binary heap whose timers know their position, so that a timer can be moved or removed. Timers
/// with the same time are in the order in which they were set. Not thread-safe.
class DelayHeap {
 public:
  bool empty() const { return heap_.empty(); }
  /// The timer that falls due first; there must be one.
  Timer* front() const { return heap_.front(); }
  /// The time of the first timer, or TimePoint::max() when there is none.
  base::TimePoint NextDue() const { return empty() ? base::TimePoint::max() : front()->due; }

  /// Adds a timer, or moves it to another time.
  void Set(Timer* timer, base::TimePoint due);
  /// Removes a timer, which must be in the heap.
  void Remove(Timer* timer);
  /// All timers, in no particular order; valid until the next call of Set or Remove.
  const std::vector<Timer*>& timers() const { return heap_; }

  /// Whether `a` falls due before `b`.
  static bool Before(const Timer* a, const Timer* b) {
    return a->due != b->due ? a->due < b->due : a->order < b->order;
  }

 private:
  void Place(std::size_t at, Timer* timer) {
    heap_[at] = timer;
    timer->index = at;
  }
  void Up(std::size_t at);
  void Down(std::size_t at);

  std::vector<Timer*> heap_;
  std::uint64_t next_order_ = 0;
};

}  // namespace kubexx::workqueue::internal

#endif  // KUBEXX_WORKQUEUE_INTERNAL_DELAY_HEAP_H_
