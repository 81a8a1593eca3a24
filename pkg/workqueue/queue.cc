#include "kubexx/workqueue/queue.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "kubexx/workqueue/internal/fair_list.h"
#include "kubexx/workqueue/internal/queue_impl.h"

namespace kubexx::workqueue {
namespace {

using internal::Node;

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

Queue::Impl::Impl(Options options)
    : clock_(options.clock),
      one_entry_a_key_(options.order == Order::kPriority),
      tenant_(options.order == Order::kFair ? options.fair.tenant : nullptr),
      limiter_(options.rate_limiter ? options.rate_limiter : NewDefaultRateLimiter(options.clock)),
      on_ready_(std::move(options.on_ready)),
      ready_(NewReadyList(options)),
      delays_(std::move(options.executor), clock_,
              [this](const std::stop_token&) { return EndDelays(); }) {
  if (options.registry != nullptr && !options.name.empty()) {
    metrics_ = internal::QueueMetrics(*options.registry, options.name);
    depth_ =
        internal::DepthMetric(*options.registry, options.name, options.order == Order::kPriority);
    scrape_ = options.registry->OnScrape([this] { UpdateRunningWork(); });
  }
  delays_.Start();
}

// The series stay in the registry, where a later queue of the same name may use them.
Queue::Impl::~Impl() {
  delays_.Stop();
  scrape_.Reset();
  const base::MutexLock lock(mu_);
  for (const Node* const node : keys_.Nodes()) {
    if (node->dirty) {
      depth_.Add(node->priority, -1);
    }
  }
  metrics_.unfinished_work.Set(0);
  metrics_.longest_running.Set(0);
}

inline void Queue::Impl::Add(const Key& key, int priority) {
  const std::size_t hash = std::hash<Key>()(key);
  const std::string tenant = TenantOf(key);
  bool wake = false;
  {
    base::MutexLock lock(mu_);
    if (!shutting_down_) {
      wake = CallOnReadyLocked(AddLocked(NodeFor(key, hash, tenant), priority));
    }
  }
  if (wake) {
    ready_cv_.notify_one();
  }
}

void Queue::Impl::AddAfter(const Key& key, base::Duration delay, int priority) {
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
    wake_worker = CallOnReadyLocked(wake_worker);
  }
  if (wake_worker) {
    ready_cv_.notify_one();
  }
  if (wake_delays) {
    delays_.Wake();
  }
}

void Queue::Impl::AddRateLimited(const Key& key, int priority) {
  if (!shutting_down()) {
    AddAfter(key, limiter_->When(key), priority);
  }
}

Queue::Item Queue::Impl::Get(const std::stop_token& stop) {
  base::MutexLock lock(mu_);
  return GetLocked(stop);
}

void Queue::Impl::Done(Node* node) {
  bool wake = false;
  {
    base::MutexLock lock(mu_);
    wake = CallOnReadyLocked(DoneLocked(node));
  }
  if (wake) {
    ready_cv_.notify_one();
  }
}

Queue::Item Queue::Impl::Next(Node* done, const std::stop_token& stop) {
  base::MutexLock lock(mu_);
  if (DoneLocked(done)) {
    WakeWorkerLocked();
  }
  return GetLocked(stop);
}

Queue::Item Queue::Impl::TryNext(Node* done) {
  base::MutexLock lock(mu_);
  if (done != nullptr && DoneLocked(done)) {
    WakeWorkerLocked();
  }
  return TakeNextLocked();
}

void Queue::Impl::ShutDown() {
  base::MutexLock lock(mu_);
  draining_ = false;
  ShutDownLocked();
  idle_cv_.notify_all();
}

void Queue::Impl::ShutDownWithDrain() {
  base::MutexLock lock(mu_);
  draining_ = true;
  ShutDownLocked();
  while (draining_ && !IdleLocked()) {
    clock_.WaitUntil(mu_, idle_cv_, {}, base::TimePoint::max());
  }
}

bool Queue::Impl::shutting_down() const {
  base::MutexLock lock(mu_);
  return shutting_down_;
}

bool Queue::Impl::IsOver() const {
  base::MutexLock lock(mu_);
  return shutting_down_ && ready_->size() == 0;
}

std::size_t Queue::Impl::Len() const {
  base::MutexLock lock(mu_);
  return ready_->size();
}

void Queue::Impl::EraseIfUnusedLocked(Node* node) {
  if (node->unused()) {
    ready_->Detach(node);
    keys_.Erase(node);
  }
}

void Queue::Impl::RemoveTimersLocked(Node* node) {
  if (node->delayed()) {
    delayed_.Remove(&node->delay);
  }
  if (node->settles()) {
    delayed_.Remove(&node->settling->timer);
    node->settling->FellDue(clock_.Now());
  }
}

void Queue::Impl::RaiseLocked(Node* node, int priority) {
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

bool Queue::Impl::DelayLocked(Node* node, base::TimePoint at, int priority) {
  if (node->dirty && one_entry_a_key_) {
    RaiseLocked(node, priority);
    if (node->settling != nullptr) {
      node->settling->alone = false;  // no later debounced add may postpone this add
    }
    return false;
  }
  if (node->delayed() || node->settles()) {
    priority = std::max(priority, node->priority);
  }
  if (!node->dirty) {
    node->priority = priority;
  }
  if (node->delayed() && node->delay.due <= at) {
    return false;
  }
  delayed_.Set(&node->delay, at);
  return delayed_.front() == &node->delay;
}

inline Queue::Item Queue::Impl::TakeNextLocked() {
  while (Node* const node = ready_->Pop()) {
    if (node->settling == nullptr || !PutOffLocked(node)) {
      return TakeLocked(node);
    }
  }
  return {};
}

inline Queue::Item Queue::Impl::GetLocked(const std::stop_token& stop) {
  while (true) {
    if (stop.stop_requested()) {
      // The notification that woke this worker may have been for a key, so it is passed on to
      // another worker.
      if (ready_->size() > 0 && WakeLocked()) {
        WakeWorkerLocked();
      }
      return {};
    }
    if (Item item = TakeNextLocked()) {
      return item;
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

inline Queue::Item Queue::Impl::TakeLocked(Node* node) {
  node->dirty = false;
  node->processing = true;
  working_.PushBack(node);
  if (metrics_.enabled) {
    node->started = clock_.Now();
    depth_.Add(node->priority, -1);
    metrics_.queue_duration.Observe(ToSeconds(node->started - node->added));
  }
  Item item(this, node, node->priority);
  if (node->settling != nullptr) {
    TakeSettledLocked(node, item);
  }
  return item;
}

bool Queue::Impl::DoneLocked(Node* node) {
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

void Queue::Impl::DoneWhileShuttingDownLocked() {
  if (IdleLocked()) {
    idle_cv_.notify_all();
  }
  if (ready_->size() == 0) {
    WakeAllWorkersLocked();  // wakes workers that waited for a tenant's turn
  }
}

void Queue::Impl::ShutDownLocked() {
  const bool was_shutting_down = std::exchange(shutting_down_, true);
  while (!delayed_.empty()) {
    internal::Timer* const timer = delayed_.front();
    delayed_.Remove(timer);
    EraseIfUnusedLocked(timer->node);
  }
  if (!was_shutting_down) {
    WakeAllWorkersLocked();
  }
}

base::TimePoint Queue::Impl::EndDelays() {
  base::MutexLock lock(mu_);
  const base::TimePoint now = clock_.Now();
  while (delayed_.NextDue() <= now) {
    internal::Timer* const timer = delayed_.front();
    Node* const node = timer->node;
    delayed_.Remove(timer);
    if (timer == &node->delay ? AddLocked(node, node->priority) : SettledLocked(node, timer->due)) {
      WakeWorkerLocked();
    }
  }
  return delayed_.NextDue();
}

void Queue::Impl::UpdateRunningWork() {
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

const Key& Queue::Item::operator*() const { return node_->key; }

void Queue::Item::Done() {
  if (queue_ != nullptr) {
    std::exchange(queue_, nullptr)->Done(node_);
  }
}

Queue::Queue(Options options) : impl_(std::make_unique<Impl>(std::move(options))) {}
Queue::~Queue() = default;

void Queue::Add(const Key& key) { impl_->Add(key, 0); }

void Queue::Add(const Key& key, const AddOptions& options) {
  if (options.debounce) {
    impl_->AddDebounced(key, *options.debounce, options.priority);
  } else if (options.rate_limited) {
    impl_->AddRateLimited(key, options.priority);
  } else if (options.after != base::Duration::zero()) {
    impl_->AddAfter(key, options.after, options.priority);
  } else {
    impl_->Add(key, options.priority);
  }
}

void Queue::AddAfter(const Key& key, base::Duration delay) { impl_->AddAfter(key, delay, 0); }
void Queue::AddRateLimited(const Key& key) { impl_->AddRateLimited(key, 0); }
void Queue::AddDebounced(const Key& key, const Debounce& debounce) {
  impl_->AddDebounced(key, debounce, 0);
}
void Queue::EndWindows() { impl_->EndWindows(); }
void Queue::ShutDownAfterWindows() { impl_->ShutDownAfterWindows(); }
void Queue::PutBack(Item item, base::Duration after) {
  if (item) {
    impl_->PutBack(std::move(item), after);
  }
}
void Queue::Forget(const Key& key) { impl_->limiter().Forget(key); }
int Queue::NumRequeues(const Key& key) const { return impl_->limiter().NumRequeues(key); }
Queue::Item Queue::Get(const std::stop_token& stop) { return impl_->Get(stop); }

Queue::Item Queue::Next(Item done, const std::stop_token& stop) {
  return done ? impl_->Next(Impl::Release(done), stop) : impl_->Get(stop);
}

Queue::Item Queue::TryNext(Item done) {
  return impl_->TryNext(done ? Impl::Release(done) : nullptr);
}

void Queue::ShutDown() { impl_->ShutDown(); }
void Queue::ShutDownWithDrain() { impl_->ShutDownWithDrain(); }
bool Queue::shutting_down() const { return impl_->shutting_down(); }
bool Queue::IsOver() const { return impl_->IsOver(); }
std::size_t Queue::Len() const { return impl_->Len(); }

}  // namespace kubexx::workqueue
