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
#include <thread>

#include "kubexx/base/clock.h"
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
  /// Takes the keys that nobody got, and the work, off the metrics.
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
  void Done(internal::Node* node);
  void PutBack(Item item, base::Duration after);
  /// Takes the node out of an item, so that the item's end no longer ends the work on the key.
  static internal::Node* Release(Item& item) {
    item.queue_ = nullptr;
    return item.node_;
  }

  void ShutDown();
  void ShutDownWithDrain();
  bool shutting_down() const;
  std::size_t Len() const;

 private:
  using Node = internal::Node;

  /// The longest delay; longer ones are shortened to it, so that adding a delay to the time cannot
  /// overflow.
  static constexpr base::Duration kMaxDelay = std::chrono::hours(24 * 365 * 10);

  std::string TenantOf(const Key& key) const { return tenant_ ? tenant_(key) : std::string(); }
  Node* NodeFor(const Key& key, std::size_t hash, const std::string& tenant) KX_REQUIRES(mu_);
  void EraseIfUnusedLocked(Node* node) KX_REQUIRES(mu_);

  /// Returns whether to wake a waiting worker.
  bool AddLocked(Node* node, int priority) KX_REQUIRES(mu_);
  void RemoveTimersLocked(Node* node) KX_REQUIRES(mu_);
  void RaiseLocked(Node* node, int priority) KX_REQUIRES(mu_);
  bool PushLocked(Node* node) KX_REQUIRES(mu_);
  /// Returns whether to notify ready_cv_: true when a worker waits that has not been notified yet.
  bool WakeLocked() KX_REQUIRES(mu_);
  /// Returns whether the delay thread has to wake earlier than planned.
  bool DelayLocked(Node* node, base::TimePoint at, int priority) KX_REQUIRES(mu_);
  Item GetLocked(const std::stop_token& stop) KX_REQUIRES(mu_);
  Item TakeLocked(Node* node) KX_REQUIRES(mu_);
  /// Returns whether to wake a waiting worker. It wakes at most one, so that the worker is counted
  /// once.
  bool DoneLocked(Node* node) KX_REQUIRES(mu_);
  void DoneWhileShuttingDownLocked() KX_REQUIRES(mu_);
  bool IdleLocked() const KX_REQUIRES(mu_) { return ready_->size() == 0 && working_.empty(); }
  void EndWindowsLocked() KX_REQUIRES(mu_);
  void ShutDownLocked() KX_REQUIRES(mu_);
  void RunDelays(const std::stop_token& stop);
  void UpdateRunningWork();

  /// Sets the priority of a key that is not ready yet to the highest one of its waiting adds.
  void RaiseWaitingLocked(Node* node, int priority) KX_REQUIRES(mu_);
  /// Handles that the key has fallen due at `due`. Returns whether to wake a waiting worker.
  bool SettledLocked(Node* node, base::TimePoint due) KX_REQUIRES(mu_);
  /// Returns whether a node with debounced adds that the ready list returned has to wait longer.
  bool PutOffLocked(Node* node) KX_REQUIRES(mu_);
  /// Sets what an item tells about its debounced adds.
  void TakeSettledLocked(Node* node, Item& item) KX_REQUIRES(mu_);

  base::Clock& clock_;
  const bool one_entry_a_key_;
  const std::function<std::string(const Key&)> tenant_;
  const std::shared_ptr<RateLimiter> limiter_;
  internal::QueueMetrics metrics_;
  mutable base::Mutex mu_;
  base::CondVar ready_cv_;   // For workers, one for each key.
  base::CondVar delays_cv_;  // For the delay thread: an earlier time, or stop.
  base::CondVar idle_cv_;    // For ShutDownWithDrain.
  internal::KeyTable keys_ KX_GUARDED_BY(mu_);
  const std::unique_ptr<internal::ReadyList> ready_ KX_GUARDED_BY(mu_);
  internal::NodeList working_ KX_GUARDED_BY(mu_);
  internal::DelayHeap delayed_ KX_GUARDED_BY(mu_);
  internal::DepthMetric depth_ KX_GUARDED_BY(mu_);
  std::size_t waiting_workers_ KX_GUARDED_BY(mu_) = 0;
  std::size_t waking_workers_ KX_GUARDED_BY(mu_) = 0;  // Of those: notified, not yet running.
  bool shutting_down_ KX_GUARDED_BY(mu_) = false;
  bool draining_ KX_GUARDED_BY(mu_) = false;
  base::Subscription scrape_;  // Ends before what UpdateRunningWork reads.
  std::jthread delays_;        // Last, so that it ends first.
};

// What every add does: inline, as it is called from two sources.

inline bool Queue::Impl::WakeLocked() {
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
