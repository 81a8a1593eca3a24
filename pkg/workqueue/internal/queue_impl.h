/// @file
/// Queue::Impl: the implementation of Queue.
#ifndef KUBEXX_WORKQUEUE_INTERNAL_QUEUE_IMPL_H_
#define KUBEXX_WORKQUEUE_INTERNAL_QUEUE_IMPL_H_

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>

#include "kubexx/base/clock.h"
#include "kubexx/base/executor/scheduled_task.h"
#include "kubexx/base/mutex.h"
#include "kubexx/base/subscription.h"
#include "kubexx/workqueue/internal/delay_heap.h"
#include "kubexx/workqueue/internal/key_table.h"
#include "kubexx/workqueue/internal/queue_metrics.h"
#include "kubexx/workqueue/internal/ready_list.h"
#include "kubexx/workqueue/queue.h"

namespace kubexx::workqueue {

/// The functions of Queue, with one mutex. The code for debounced adds is in queue_debounce.cc.
class Queue::Impl {
 public:
  explicit Impl(Options options);
  /// Removes the queue's waiting keys and running work from the metrics.
  ~Impl();
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  void Add(const Key& key, int priority);
  void AddAfter(const Key& key, base::Duration delay, int priority);
  void AddRateLimited(const Key& key, int priority);
  void AddDebounced(const Key& key, const Debounce& debounce, int priority);
  void EndWindows();
  void ShutDownAfterWindows();
  RateLimiter& limiter() const { return *limiter_; }

  Item Get(const std::stop_token& stop);
  Item Next(internal::Node* done, const std::stop_token& stop);
  Item TryNext(internal::Node* done);
  void Done(internal::Node* node);
  void PutBack(Item item, base::Duration after);
  /// Takes the node out of an item, so that the destructor of the item does not end the work on the
  /// key.
  static internal::Node* Release(Item& item) {
    item.queue_ = nullptr;
    return item.node_;
  }

  void ShutDown();
  void ShutDownWithDrain();
  bool shutting_down() const;
  bool IsOver() const;
  std::size_t Len() const;

 private:
  using Node = internal::Node;

  /// The longest delay. A longer one is shortened to it, so that the sum of the time and a delay
  /// cannot overflow.
  static constexpr base::Duration kMaxDelay = std::chrono::hours(24 * 365 * 10);

  std::string TenantOf(const Key& key) const { return tenant_ ? tenant_(key) : std::string(); }
  Node* NodeFor(const Key& key, std::size_t hash, const std::string& tenant) KX_REQUIRES(mu_);
  void EraseIfUnusedLocked(Node* node) KX_REQUIRES(mu_);

  /// Returns whether to wake a waiting worker.
  bool AddLocked(Node* node, int priority) KX_REQUIRES(mu_);
  void RemoveTimersLocked(Node* node) KX_REQUIRES(mu_);
  void RaiseLocked(Node* node, int priority) KX_REQUIRES(mu_);
  bool PushLocked(Node* node) KX_REQUIRES(mu_);
  /// Returns whether to wake a worker: true when a worker waits that has not been notified yet.
  bool WakeLocked() KX_REQUIRES(mu_);
  /// Calls on_ready, if there is one, when a worker is to be woken. With the lock, so that no call
  /// of it goes on when ShutDown has returned. Returns whether to notify a worker in Get instead,
  /// which the caller does when it has released the lock, for which that worker would wait.
  bool CallOnReadyLocked(bool wake) KX_REQUIRES(mu_) {
    if (!on_ready_) {
      return wake;
    }
    if (wake) {
      on_ready_();
    }
    return false;
  }
  void WakeWorkerLocked() KX_REQUIRES(mu_) {
    if (CallOnReadyLocked(true)) {
      ready_cv_.notify_one();
    }
  }
  void WakeAllWorkersLocked() KX_REQUIRES(mu_) {
    if (on_ready_) {
      on_ready_();
    } else {
      ready_cv_.notify_all();
    }
  }
  /// Returns whether the delays have to be looked at earlier than planned.
  bool DelayLocked(Node* node, base::TimePoint at, int priority) KX_REQUIRES(mu_);
  Item GetLocked(const std::stop_token& stop) KX_REQUIRES(mu_);
  /// Takes the next key, if there is one.
  Item TakeNextLocked() KX_REQUIRES(mu_);
  Item TakeLocked(Node* node) KX_REQUIRES(mu_);
  /// Returns whether to wake a waiting worker. It wakes at most one, because that worker is counted
  /// once.
  bool DoneLocked(Node* node) KX_REQUIRES(mu_);
  void DoneWhileShuttingDownLocked() KX_REQUIRES(mu_);
  bool IdleLocked() const KX_REQUIRES(mu_) { return ready_->size() == 0 && working_.empty(); }
  void EndWindowsLocked() KX_REQUIRES(mu_);
  void ShutDownLocked() KX_REQUIRES(mu_);
  /// Makes the keys ready whose time has come. Returns the next time.
  base::TimePoint EndDelays();
  void UpdateRunningWork();

  /// Raises the priority of a key that is not ready yet to the highest priority of its waiting
  /// adds.
  void RaiseWaitingLocked(Node* node, int priority) KX_REQUIRES(mu_);
  /// Does what is necessary when the key has fallen due at `due`. Returns whether to wake a waiting
  /// worker.
  bool SettledLocked(Node* node, base::TimePoint due) KX_REQUIRES(mu_);
  /// Returns whether a node from the ready list has debounced adds for which it has to wait longer.
  bool PutOffLocked(Node* node) KX_REQUIRES(mu_);
  /// Sets the fields of an item that tell of its debounced adds.
  void TakeSettledLocked(Node* node, Item& item) KX_REQUIRES(mu_);

  base::Clock& clock_;
  const bool one_entry_a_key_;
  const std::function<std::string(const Key&)> tenant_;
  const std::shared_ptr<RateLimiter> limiter_;
  const std::function<void()> on_ready_;
  internal::QueueMetrics metrics_;
  mutable base::Mutex mu_;
  base::CondVar ready_cv_;  // notified once for each key, for the workers
  base::CondVar idle_cv_;   // for ShutDownWithDrain
  internal::KeyTable keys_ KX_GUARDED_BY(mu_);
  const std::unique_ptr<internal::ReadyList> ready_ KX_GUARDED_BY(mu_);
  internal::NodeList working_ KX_GUARDED_BY(mu_);
  internal::DelayHeap delayed_ KX_GUARDED_BY(mu_);
  internal::DepthMetric depth_ KX_GUARDED_BY(mu_);
  std::size_t waiting_workers_ KX_GUARDED_BY(mu_) = 0;
  std::size_t waking_workers_ KX_GUARDED_BY(mu_) = 0;  // the notified ones that do not run yet
  bool shutting_down_ KX_GUARDED_BY(mu_) = false;
  bool draining_ KX_GUARDED_BY(mu_) = false;
  base::Subscription scrape_;   // declared after the members that UpdateRunningWork reads
  base::ScheduledTask delays_;  // This is the last member, so that it ends first.
};

// Does the work of every add. It is inline because two sources call it.

inline bool Queue::Impl::WakeLocked() {
  if (on_ready_) {
    return true;
  }
  if (waking_workers_ >= waiting_workers_) {
    return false;
  }
  ++waking_workers_;
  return true;
}

inline bool Queue::Impl::PushLocked(Node* node) {
  ready_->Push(node);
  return WakeLocked();
}

inline internal::Node* Queue::Impl::NodeFor(const Key& key, std::size_t hash,
                                            const std::string& tenant) {
  Node* const node = keys_.FindOrAdd(key, hash);
  if (node->unused()) {
    ready_->Attach(node, tenant_ ? tenant : key.object.namespace_);
  }
  return node;
}

inline bool Queue::Impl::AddLocked(Node* node, int priority) {
  if (one_entry_a_key_ && (node->delayed() || node->settles())) {
    priority = std::max(priority, node->priority);
    RemoveTimersLocked(node);
  }
  if (node->settling != nullptr) {
    node->settling->alone = false;
  }
  if (node->dirty) {
    RaiseLocked(node, priority);
    return false;
  }
  node->dirty = true;
  node->priority = priority;
  if (metrics_.enabled) {
    node->added = clock_.Now();
    metrics_.adds.Increment();
    depth_.Add(priority, 1);
  }
  return !node->processing && PushLocked(node);
}

}  // namespace kubexx::workqueue

#endif  // KUBEXX_WORKQUEUE_INTERNAL_QUEUE_IMPL_H_
