/// @file
/// Timer: a time at which one key falls due.
#ifndef KUBEXX_WORKQUEUE_INTERNAL_TIMER_H_
#define KUBEXX_WORKQUEUE_INTERNAL_TIMER_H_

#include <cstddef>
#include <cstdint>
#include <limits>

#include "kubexx/base/clock.h"

namespace kubexx::workqueue::internal {

struct Node;

/// Knows its position in the DelayHeap. It must not move in memory while it is set.
struct Timer {
  static constexpr std::size_t kNotSet = std::numeric_limits<std::size_t>::max();

  explicit Timer(Node* owner) : node(owner) {}

  bool set() const { return index != kNotSet; }

  Node* const node;
  std::size_t index = kNotSet;  ///< position in the heap
  std::uint64_t order = 0;      ///< order among timers of the same time
  base::TimePoint due{};
};

}  // namespace kubexx::workqueue::internal

#endif  // KUBEXX_WORKQUEUE_INTERNAL_TIMER_H_
