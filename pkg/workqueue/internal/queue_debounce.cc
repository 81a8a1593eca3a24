// Implements a queue's debounced adds. They are kept apart, so that queues without them do not pay
// for them.
#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "kubexx/workqueue/internal/queue_impl.h"
#include "kubexx/workqueue/internal/settling.h"

namespace kubexx::workqueue {

using internal::Settling;
using internal::Timer;

void Queue::Impl::AddDebounced(const Key& key, const Debounce& debounce, int priority) {
  const std::size_t hash = std::hash<Key>()(key);
  const std::string tenant = TenantOf(key);
  bool wake_worker = false;
  bool wake_delays = false;
  {
    const base::MutexLock lock(mu_);
    if (shutting_down_) {
      return;
    }
    Node* const node = NodeFor(key, hash, tenant);
    if (node->settling == nullptr) {
      node->settling = std::make_unique<Settling>(node);
    }
    Settling& settling = *node->settling;
    const base::TimePoint now = clock_.Now();
    const auto due = settling.Note(debounce, now);
    RaiseWaitingLocked(node, priority);
    if (!due) {
      return;
    }
    if (one_entry_a_key_ && node->dirty && !settling.alone) {
      settling.FellDue(now);  // a worker gets the key anyway
      return;
    }
    if (*due <= now) {
      wake_worker = SettledLocked(node, now);
    } else {
      const base::TimePoint planned = delayed_.NextDue();
      delayed_.Set(&settling.timer, *due);
      wake_delays = *due < planned;
    }
    wake_worker = CallOnReadyLocked(wake_worker);
  }
  if (wake_worker) {
    ready_cv_.notify_one();
  }
  if (wake_delays) {
    delays_.Wake();
  }
}

void Queue::Impl::EndWindows() {
  const base::MutexLock lock(mu_);
  EndWindowsLocked();
}

void Queue::Impl::ShutDownAfterWindows() {
  const base::MutexLock lock(mu_);
  EndWindowsLocked();
  draining_ = false;
  ShutDownLocked();
  idle_cv_.notify_all();
}

void Queue::Impl::EndWindowsLocked() {
  std::vector<Timer*> windows;
  for (Timer* const timer : delayed_.timers()) {
    Node* const node = timer->node;
    const bool is_window = timer != &node->delay;
    // A key that was put back waits only for its delay, and its adds have not been handled either.
    if (is_window || (node->settling != nullptr && node->settling->pending() && !node->settles() &&
                      !node->dirty)) {
      windows.push_back(timer);
    }
  }
  std::ranges::sort(windows, internal::DelayHeap::Before);
  const base::TimePoint now = clock_.Now();
  for (Timer* const timer : windows) {
    Node* const node = timer->node;
    if (timer == &node->delay) {
      delayed_.Remove(timer);
    }
    if (timer == &node->delay ? AddLocked(node, node->priority) : SettledLocked(node, now)) {
      WakeWorkerLocked();
    }
  }
}

void Queue::Impl::PutBack(Item item, base::Duration after) {
  const Settled* const settled = item.settled_;
  const int priority = item.priority();
  Node* const node = Release(item);
  bool wake_worker = false;
  bool wake_delays = false;
  {
    const base::MutexLock lock(mu_);
    if (!shutting_down_) {
      metrics_.retries.Increment();
      if (settled != nullptr) {
        node->settling->PutBack(*settled);
      }
      if (after <= base::Duration::zero()) {
        wake_worker = AddLocked(node, priority);
      } else {
        wake_delays = DelayLocked(node, clock_.Now() + std::min(after, kMaxDelay), priority);
      }
    } else if (settled != nullptr) {  // keys that are ready are still handed out
      node->settling->PutBack(*settled);
      wake_worker = AddLocked(node, priority);
    }
    wake_worker = CallOnReadyLocked(DoneLocked(node) || wake_worker);
  }
  if (wake_worker) {
    ready_cv_.notify_one();
  }
  if (wake_delays) {
    delays_.Wake();
  }
}

void Queue::Impl::RaiseWaitingLocked(Node* node, int priority) {
  if (node->dirty) {
    RaiseLocked(node, priority);
  } else {
    node->priority =
        node->delayed() || node->settles() ? std::max(priority, node->priority) : priority;
  }
}

bool Queue::Impl::SettledLocked(Node* node, base::TimePoint due) {
  Settling& settling = *node->settling;
  if (settling.timer.set()) {
    delayed_.Remove(&settling.timer);
  }
  settling.FellDue(due);
  // Whether no add of another kind was merged into this key, because such an add comes at its own
  // time.
  const bool alone = (!node->dirty && !(one_entry_a_key_ && node->delayed())) || settling.alone;
  const bool wake = AddLocked(node, node->priority);
  settling.alone = alone;
  return wake;
}

bool Queue::Impl::PutOffLocked(Node* node) {
  Settling& settling = *node->settling;
  if (!settling.alone || !settling.timer.set() || !settling.WaitsAt(clock_.Now())) {
    return false;
  }
  settling.alone = false;
  node->dirty = false;
  if (metrics_.enabled) {
    depth_.Add(node->priority, -1);
  }
  (void)ready_->Finished(node);  // ignores the result, because the caller looks at the list again
  return true;
}

void Queue::Impl::TakeSettledLocked(Node* node, Item& item) {
  Settling& settling = *node->settling;
  settling.alone = false;
  if (!settling.pending()) {
    return;
  }
  if (settling.timer.set()) {
    if (settling.WaitsAt(clock_.Now())) {
      item.settling_ = true;
      return;
    }
    delayed_.Remove(&settling.timer);
    settling.FellDue(settling.timer.due);
  }
  item.settled_ = &settling.Take();
}

}  // namespace kubexx::workqueue
