/// @file
/// Settling: the debounced adds of one key.
#ifndef KUBEXX_WORKQUEUE_INTERNAL_SETTLING_H_
#define KUBEXX_WORKQUEUE_INTERNAL_SETTLING_H_

#include <optional>

#include "kubexx/base/clock.h"
#include "kubexx/workqueue/debounce.h"
#include "kubexx/workqueue/internal/timer.h"

namespace kubexx::workqueue::internal {

/// The debounced adds that no worker has handled yet, and the time until which they wait. The owner
/// has to keep `timer` in the heap as Note says. The caller passes the current time. Not
/// thread-safe.
class Settling {
 public:
  explicit Settling(Node* node) : timer(node) {}

  /// Records an add. Returns the time when the key falls due, or std::nullopt when that time does
  /// not change.
  std::optional<base::TimePoint> Note(const Debounce& debounce, base::TimePoint now);
  /// Whether adds still wait for their window at `now`.
  bool WaitsAt(base::TimePoint now) const { return timer.set() && timer.due > now; }
  /// Whether there are adds that no worker has handled yet.
  bool pending() const { return pending_; }
  /// Records that the key has become ready because of these adds.
  void FellDue(base::TimePoint now) { adds_.due = now; }
  /// Records that a worker has taken the key and handles all adds so far. The result is valid until
  /// the next call.
  const Settled& Take();
  /// Records that the worker has not handled `taken`.
  void PutBack(const Settled& taken);

  Timer timer;
  /// Whether the key is ready only because of these adds. Then a further debounced add postpones it
  /// again.
  bool alone = false;

 private:
  bool pending_ = false;
  Settled adds_{};
  Settled taken_{};
};

}  // namespace kubexx::workqueue::internal

#endif  // KUBEXX_WORKQUEUE_INTERNAL_SETTLING_H_
