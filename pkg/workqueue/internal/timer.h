/// @file
/// One time of one key.
#ifndef KUBEXX_WORKQUEUE_INTERNAL_TIMER_H_
#define KUBEXX_WORKQUEUE_INTERNAL_TIMER_H_

#include <cstddef>
#include <cstdint>
#include <limits>

#include "kubexx/base/clock.h"

namespace kubexx::workqueue::internal {

struct Node;

/// Knows its place in the DelayHeap. Stays where it is while it is set.
struct Timer {
  static constexpr std::size_t kNotSet = std::numeric_limits<std::size_t>::max();

  explicit Timer(Node* owner) : node(owner) {}

  bool set() const { return index != kNotSet; }

  Node* const node;
  std::size_t index = kNotSet;  ///< in the heap
  std::uint64_t order = 0;      ///< among those of one time
  base::TimePoint due{};
};

}  // namespace kubexx::workqueue::internal

#endif  // KUBEXX_WORKQUEUE_INTERNAL_TIMER_H_
