#include "kubexx/workqueue/queue.h"

#include <algorithm>
#include <functional>
#include <thread>
#include <utility>

#include "kubexx/base/mutex.h"
#include "kubexx/base/subscription.h"
#include "kubexx/workqueue/internal/delay_heap.h"
#include "kubexx/workqueue/internal/fair_list.h"
#include "kubexx/workqueue/internal/key_table.h"
#include "kubexx/workqueue/internal/queue_metrics.h"
#include "kubexx/workqueue/internal/ready_list.h"

namespace kubexx::workqueue {
namespace {

using internal::Node;

/// Delays are cut to this, far beyond any process's life, so that adding one to the time cannot
/// overflow.
constexpr base::Duration kMaxDelay = std::chrono::hours(24 * 365 * 10);

double ToSeconds(base::Duration d) { return std::chrono::duration<double>(d).count(); }

std::unique_ptr<internal::ReadyList> NewReadyList(const Queue::Options& options) {
  switch (options.order) {
    case Order::kPriority:
      return internal::NewPriorityList();
    case Order::kFair:
      return internal::NewFairList(options.fair);
    case Order::kArrival:
      break;
  }
  return internal::NewArrivalList();
}

}  // namespace

class Queue::Impl {
 public:
  explicit Impl(Options options)
      : clock_(options.clock),
        one_entry_a_key_(options.order == Order::kPriority),
        tenant_(options.order == Order::kFair ? options.fair.tenant : nullptr),
        limiter_(options.rate_limiter ? options.rate_limiter
                                      : NewDefaultRateLimiter(options.clock)),
        ready_(NewReadyList(options)) {
    if (options.registry != nullptr && !options.name.empty()) {
      metrics_ = internal::QueueMetrics(*options.registry, options.name);
      depth_ =
          internal::DepthMetric(*options.registry, options.name, options.order == Order::kPriority);
      scrape_ = options.registry->OnScrape([this] { UpdateRunningWork(); });
    }
    delays_ = std::jthread([this](const std::stop_token& stop) { RunDelays(stop); });
  }

  void Add(const Key& key, int priority) {
    const std::size_t hash = std::hash<Key>()(key);
    const std::string tenant = TenantOf(key);
    bool wake = false;
    {
      base::MutexLock lock(mu_);
      if (!shutting_down_) {
        wake = AddLocked(NodeFor(key, hash, tenant), priority);
      }
    }
    if (wake) {
      ready_cv_.notify_one();
    }
  }

  void AddAfter(const Key& key, base::Duration delay, int priority) {
    const std::size_t hash = std::hash<Key>()(key);
    const std::string tenant = TenantOf(key);
    bool wake_worker = false;
    bool wake_delays = false;
    {
      base::MutexLock lock(mu_);
      if (shutting_down_) {
        return;
      }
      metrics_.retries.Increment();
      Node* const node = NodeFor(key, hash, tenant);
      if (delay <= base::Duration::zero()) {
        wake_worker = AddLocked(node, priority);
      } else {
        wake_delays = DelayLocked(node, clock_.Now() + std::min(delay, kMaxDelay), priority);
      }
    }
    if (wake_worker) {
      ready_cv_.notify_one();
    }
    if (wake_delays) {
      delays_cv_.notify_one();
    }
  }

  void AddRateLimited(const Key& key, int priority) {
    if (!shutting_down()) {
      AddAfter(key, limiter_->When(key), priority);
    }
  }

  RateLimiter& limiter() const { return *limiter_; }

  Item Get(const std::stop_token& stop) {
    base::MutexLock lock(mu_);
    return GetLocked(stop);
  }

  void Done(Node* node) {
    bool wake = false;
    {
      base::MutexLock lock(mu_);
      wake = DoneLocked(node);
    }
    if (wake) {
      ready_cv_.notify_one();
    }
  }

  Item Next(Node* done, const std::stop_token& stop) {
    base::MutexLock lock(mu_);
    if (DoneLocked(done)) {
      ready_cv_.notify_one();
    }
    return GetLocked(stop);
  }

  static Node* Release(Item& item) {
    item.queue_ = nullptr;
    return item.node_;
  }

  void ShutDown() {
    base::MutexLock lock(mu_);
    draining_ = false;
    ShutDownLocked();
    idle_cv_.notify_all();
  }

  void ShutDownWithDrain() {
    base::MutexLock lock(mu_);
    draining_ = true;
    ShutDownLocked();
    while (draining_ && !IdleLocked()) {
      clock_.WaitUntil(mu_, idle_cv_, {}, base::TimePoint::max());
    }
  }

  bool shutting_down() const {
    base::MutexLock lock(mu_);
    return shutting_down_;
  }

  std::size_t Len() const {
    base::MutexLock lock(mu_);
    return ready_->size();
  }

 private:
  std::string TenantOf(const Key& key) const { return tenant_ ? tenant_(key) : std::string(); }

  Node* NodeFor(const Key& key, std::size_t hash, const std::string& tenant) KX_REQUIRES(mu_) {
    Node* const node = keys_.FindOrAdd(key, hash);
    if (node->unused()) {
      ready_->Attach(node, tenant_ ? tenant : key.object.namespace_);
    }
    return node;
  }

  void EraseIfUnusedLocked(Node* node) KX_REQUIRES(mu_) {
    if (node->unused()) {
      ready_->Detach(node);
      keys_.Erase(node);
    }
  }

  /// Whether a waiting worker should be woken.
  bool AddLocked(Node* node, int priority) KX_REQUIRES(mu_) {
    if (one_entry_a_key_ && node->delayed()) {
      priority = std::max(priority, node->priority);
      delayed_.Remove(node);
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

  void RaiseLocked(Node* node, int priority) KX_REQUIRES(mu_) {
    if (priority <= node->priority) {
      return;
    }
    depth_.Add(node->priority, -1);
    depth_.Add(priority, 1);
    if (node->processing) {
      node->priority = priority;
    } else {
      ready_->Raise(node, priority);
    }
  }

  bool PushLocked(Node* node) KX_REQUIRES(mu_) {
    ready_->Push(node);
    return WakeLocked();
  }

  /// Whether to notify ready_cv_: not when nobody waits, nor more often than workers wait.
  bool WakeLocked() KX_REQUIRES(mu_) {
    if (waking_workers_ >= waiting_workers_) {
      return false;
    }
    ++waking_workers_;
    return true;
  }

  /// Whether the delay thread has to wake earlier than it planned.
  bool DelayLocked(Node* node, base::TimePoint at, int priority) KX_REQUIRES(mu_) {
    if (node->dirty && one_entry_a_key_) {
      RaiseLocked(node, priority);
      return false;
    }
    if (node->delayed()) {
      priority = std::max(priority, node->priority);
    }
    if (!node->dirty) {
      node->priority = priority;
    }
    if (node->delayed() && node->due <= at) {
      return false;
    }
    delayed_.Set(node, at);
    return delayed_.front() == node;
  }

  Item GetLocked(const std::stop_token& stop) KX_REQUIRES(mu_) {
    while (true) {
      if (stop.stop_requested()) {
        // The notification that woke this worker may have been for a key: pass it on.
        if (ready_->size() > 0 && WakeLocked()) {
          ready_cv_.notify_one();
        }
        return {};
      }
      if (Node* const node = ready_->Pop()) {
        return TakeLocked(node);
      }
      if (shutting_down_ && ready_->size() == 0) {
        return {};
      }
      ++waiting_workers_;
      clock_.WaitUntil(mu_, ready_cv_, stop, base::TimePoint::max());
      --waiting_workers_;
      waking_workers_ -= waking_workers_ > 0 ? 1U : 0U;
    }
  }

  Item TakeLocked(Node* node) KX_REQUIRES(mu_) {
    node->dirty = false;
    node->processing = true;
    working_.PushBack(node);
    if (metrics_.enabled) {
      node->started = clock_.Now();
      depth_.Add(node->priority, -1);
      metrics_.queue_duration.Observe(ToSeconds(node->started - node->added));
    }
    return {this, node, node->priority};
  }

  /// Whether a waiting worker should be woken: one at most, and so it is counted once.
  bool DoneLocked(Node* node) KX_REQUIRES(mu_) {
    working_.Remove(node);
    node->processing = false;
    if (metrics_.enabled) {
      metrics_.work_duration.Observe(ToSeconds(clock_.Now() - node->started));
    }
    bool more = ready_->Finished(node);
    if (node->dirty) {
      ready_->Push(node);
      more = true;
    } else {
      EraseIfUnusedLocked(node);
    }
    const bool wake = more && WakeLocked();
    if (shutting_down_) {
      DoneWhileShuttingDownLocked();
    }
    return wake;
  }

  void DoneWhileShuttingDownLocked() KX_REQUIRES(mu_) {
    if (IdleLocked()) {
      idle_cv_.notify_all();
    }
    if (ready_->size() == 0) {
      ready_cv_.notify_all();  // for workers that waited for a tenant's turn
    }
  }

  bool IdleLocked() const KX_REQUIRES(mu_) { return ready_->size() == 0 && working_.empty(); }

  void ShutDownLocked() KX_REQUIRES(mu_) {
    shutting_down_ = true;
    while (!delayed_.empty()) {
      Node* const node = delayed_.front();
      delayed_.Remove(node);
      EraseIfUnusedLocked(node);
    }
    ready_cv_.notify_all();
  }

  void RunDelays(const std::stop_token& stop) {
    base::MutexLock lock(mu_);
    while (!stop.stop_requested()) {
      const base::TimePoint now = clock_.Now();
      while (delayed_.NextDue() <= now) {
        Node* const node = delayed_.front();
        delayed_.Remove(node);
        if (AddLocked(node, node->priority)) {
          ready_cv_.notify_one();
        }
      }
      clock_.WaitUntil(mu_, delays_cv_, stop, delayed_.NextDue());
    }
  }

  void UpdateRunningWork() {
    base::MutexLock lock(mu_);
    const base::TimePoint now = clock_.Now();
    base::Duration sum{0};
    base::Duration longest{0};
    for (const Node* node = working_.front(); node != nullptr; node = node->next) {
      const base::Duration running = now - node->started;
      sum += running;
      longest = std::max(longest, running);
    }
    metrics_.unfinished_work.Set(ToSeconds(sum));
    metrics_.longest_running.Set(ToSeconds(longest));
  }

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

const Key& Queue::Item::operator*() const { return node_->key; }

void Queue::Item::Done() {
  if (queue_ != nullptr) {
    std::exchange(queue_, nullptr)->Done(node_);
  }
}

Queue::Queue(Options options) : impl_(std::make_unique<Impl>(std::move(options))) {}
Queue::~Queue() { impl_->ShutDown(); }

void Queue::Add(const Key& key) { impl_->Add(key, 0); }

void Queue::Add(const Key& key, const AddOptions& options) {
  if (options.rate_limited) {
    impl_->AddRateLimited(key, options.priority);
  } else if (options.after != base::Duration::zero()) {
    impl_->AddAfter(key, options.after, options.priority);
  } else {
    impl_->Add(key, options.priority);
  }
}

void Queue::AddAfter(const Key& key, base::Duration delay) { impl_->AddAfter(key, delay, 0); }
void Queue::AddRateLimited(const Key& key) { impl_->AddRateLimited(key, 0); }
void Queue::Forget(const Key& key) { impl_->limiter().Forget(key); }
int Queue::NumRequeues(const Key& key) const { return impl_->limiter().NumRequeues(key); }
Queue::Item Queue::Get(const std::stop_token& stop) { return impl_->Get(stop); }

Queue::Item Queue::Next(Item done, const std::stop_token& stop) {
  return done ? impl_->Next(Impl::Release(done), stop) : impl_->Get(stop);
}

void Queue::ShutDown() { impl_->ShutDown(); }
void Queue::ShutDownWithDrain() { impl_->ShutDownWithDrain(); }
bool Queue::shutting_down() const { return impl_->shutting_down(); }
std::size_t Queue::Len() const { return impl_->Len(); }

}  // namespace kubexx::workqueue
