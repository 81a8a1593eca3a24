/// @file
/// The debounced adds of one key.
#ifndef KUBEXX_WORKQUEUE_INTERNAL_SETTLING_H_
#define KUBEXX_WORKQUEUE_INTERNAL_SETTLING_H_

#include <optional>

#include "kubexx/base/clock.h"
#include "kubexx/workqueue/debounce.h"
#include "kubexx/workqueue/internal/timer.h"

namespace kubexx::workqueue::internal {

/// Which debounced adds no worker has taken the key for, and until when they wait; who has it keeps
/// `timer` in the heap accordingly. Time is passed in. Not thread-safe.
class Settling {
 public:
  explicit Settling(Node* node) : timer(node) {}

  /// Notes an add and returns when the key falls due; nothing when that does not change.
  std::optional<base::TimePoint> Note(const Debounce& debounce, base::TimePoint now);
  /// Whether adds wait for their window at `now`.
  bool WaitsAt(base::TimePoint now) const { return timer.set() && timer.due > now; }
  /// Whether there are adds that no worker has taken the key for.
  bool pending() const { return pending_; }
  /// The key is ready because of them.
  void FellDue(base::TimePoint now) { adds_.due = now; }
  /// A worker has the key, and acts on all adds so far. The result stays until the next call.
  const Settled& Take();
  /// It has not acted on `taken` after all.
  void PutBack(const Settled& taken);

  Timer timer;
  /// The key is ready for no other reason than these adds, so that a further one puts it off again.
  bool alone = false;

 private:
  bool pending_ = false;
  Settled adds_{};
  Settled taken_{};
};

}  // namespace kubexx::workqueue::internal

#endif  // KUBEXX_WORKQUEUE_INTERNAL_SETTLING_H_
