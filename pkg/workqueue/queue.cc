#include "kubexx/workqueue/queue.h"

#include <algorithm>
#include <map>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#include "kubexx/base/mutex.h"
#include "kubexx/base/subscription.h"
#include "kubexx/workqueue/internal/queue_metrics.h"
#include "kubexx/workqueue/internal/ring.h"

namespace kubexx::workqueue {
namespace {

/// Delays are cut to this, far beyond any process's life, so that adding one to the time cannot
/// overflow.
constexpr base::Duration kMaxDelay = std::chrono::hours(24 * 365 * 10);

/// Not noexcept on purpose: libstdc++ then keeps the hash in each node and does not compute it
/// again when it walks a bucket.
struct CachedHash {
  std::size_t operator()(const Key& key) const { return std::hash<Key>()(key); }
};

double ToSeconds(base::Duration d) { return std::chrono::duration<double>(d).count(); }

}  // namespace

class Queue::Impl {
 public:
  explicit Impl(Options options)
      : clock_(options.clock),
        limiter_(options.rate_limiter ? std::move(options.rate_limiter)
                                      : NewDefaultRateLimiter(options.clock)) {
    if (options.registry != nullptr && !options.name.empty()) {
      metrics_ = internal::QueueMetrics(*options.registry, options.name);
      scrape_ = options.registry->OnScrape([this] { UpdateRunningWork(); });
    }
    delays_ = std::jthread([this](const std::stop_token& stop) { RunDelays(stop); });
  }

  void Add(Key key) {
    bool wake = false;
    {
      base::MutexLock lock(mu_);
      if (!shutting_down_) {
        wake = AddLocked(NodeFor(std::move(key)));
      }
    }
    if (wake) {
      ready_cv_.notify_one();
    }
  }

  void AddAfter(Key key, base::Duration delay) {
    bool wake_worker = false;
    bool wake_delays = false;
    {
      base::MutexLock lock(mu_);
      if (shutting_down_) {
        return;
      }
      metrics_.retries.Increment();
      if (delay <= base::Duration::zero()) {
        wake_worker = AddLocked(NodeFor(std::move(key)));
      } else {
        wake_delays =
            DelayLocked(NodeFor(std::move(key)), clock_.Now() + std::min(delay, kMaxDelay));
      }
    }
    if (wake_worker) {
      ready_cv_.notify_one();
    }
    if (wake_delays) {
      delays_cv_.notify_one();
    }
  }

  void AddRateLimited(Key key) {
    if (!shutting_down()) {
      const base::Duration delay = limiter_->When(key);
      AddAfter(std::move(key), delay);
    }
  }

  RateLimiter& limiter() const { return *limiter_; }

  std::optional<Key> Get(const std::stop_token& stop) {
    base::MutexLock lock(mu_);
    while (true) {
      if (stop.stop_requested()) {
        // The notification that woke this worker may have been for a key: pass it on.
        if (!ready_.empty() && waiting_workers_ > 0) {
          ready_cv_.notify_one();
        }
        return std::nullopt;
      }
      if (!ready_.empty()) {
        return TakeLocked();
      }
      if (shutting_down_) {
        return std::nullopt;
      }
      ++waiting_workers_;
      clock_.WaitUntil(mu_, ready_cv_, stop, base::TimePoint::max());
      --waiting_workers_;
    }
  }

  void Done(const Key& key) {
    bool wake = false;
    {
      base::MutexLock lock(mu_);
      const auto found = keys_.find(key);
      if (found == keys_.end() || !found->second.processing) {
        return;
      }
      wake = DoneLocked(found);
      if (draining_ && ready_.empty() && processing_.empty()) {
        idle_cv_.notify_all();
      }
    }
    if (wake) {
      ready_cv_.notify_one();
    }
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
    while (draining_ && !(ready_.empty() && processing_.empty())) {
      clock_.WaitUntil(mu_, idle_cv_, {}, base::TimePoint::max());
    }
  }

  bool shutting_down() const {
    base::MutexLock lock(mu_);
    return shutting_down_;
  }

  std::size_t Len() const {
    base::MutexLock lock(mu_);
    return ready_.size();
  }

 private:
  struct State;
  using Keys = std::unordered_map<Key, State, CachedHash>;
  using Node = Keys::value_type;  // Stays where it is while other keys come and go.
  using Delayed = std::multimap<base::TimePoint, Node*>;

  /// What is known of one key. It has a node while any of the three applies.
  struct State {
    bool dirty = false;       ///< needs work; queued in ready_ unless it is being worked on
    bool processing = false;  ///< between Get and Done
    bool delayed = false;     ///< has an entry in delayed_
    std::size_t processing_index = 0;
    base::TimePoint added{};
    base::TimePoint started{};
    Delayed::iterator delay{};
  };

  Node* NodeFor(Key&& key) KX_REQUIRES(mu_) { return &*keys_.try_emplace(std::move(key)).first; }

  void EraseIfUnusedLocked(Keys::iterator node) KX_REQUIRES(mu_) {
    const State& state = node->second;
    if (!state.dirty && !state.processing && !state.delayed) {
      keys_.erase(node);
    }
  }

  /// Whether a waiting worker should be woken.
  bool AddLocked(Node* node) KX_REQUIRES(mu_) {
    State& state = node->second;
    if (state.dirty) {
      return false;
    }
    state.dirty = true;
    ++dirty_;
    if (metrics_.enabled) {
      state.added = clock_.Now();
      metrics_.adds.Increment();
      metrics_.depth.Set(static_cast<double>(dirty_));
    }
    return !state.processing && PushLocked(node);
  }

  bool PushLocked(Node* node) KX_REQUIRES(mu_) {
    ready_.Push(node);
    return waiting_workers_ > 0;
  }

  /// Whether the delay thread has to wake earlier than it planned.
  bool DelayLocked(Node* node, base::TimePoint at) KX_REQUIRES(mu_) {
    State& state = node->second;
    if (!state.delayed) {
      state.delay = delayed_.emplace(at, node);
      state.delayed = true;
    } else if (at < state.delay->first) {
      auto entry = delayed_.extract(state.delay);
      entry.key() = at;
      state.delay = delayed_.insert(std::move(entry));
    } else {
      return false;
    }
    return state.delay == delayed_.begin();
  }

  Key TakeLocked() KX_REQUIRES(mu_) {
    Node* const node = ready_.Pop();
    State& state = node->second;
    state.dirty = false;
    --dirty_;
    state.processing = true;
    state.processing_index = processing_.size();
    processing_.push_back(node);
    if (metrics_.enabled) {
      state.started = clock_.Now();
      metrics_.depth.Set(static_cast<double>(dirty_));
      metrics_.queue_duration.Observe(ToSeconds(state.started - state.added));
    }
    return node->first;
  }

  bool DoneLocked(Keys::iterator node) KX_REQUIRES(mu_) {
    State& state = node->second;
    processing_[state.processing_index] = processing_.back();
    processing_[state.processing_index]->second.processing_index = state.processing_index;
    processing_.pop_back();
    state.processing = false;
    if (metrics_.enabled) {
      metrics_.work_duration.Observe(ToSeconds(clock_.Now() - state.started));
    }
    if (state.dirty) {
      return PushLocked(&*node);
    }
    EraseIfUnusedLocked(node);
    return false;
  }

  void ShutDownLocked() KX_REQUIRES(mu_) {
    shutting_down_ = true;
    for (const auto& [at, node] : std::exchange(delayed_, {})) {
      node->second.delayed = false;
      EraseIfUnusedLocked(keys_.find(node->first));
    }
    ready_cv_.notify_all();
  }

  void RunDelays(const std::stop_token& stop) {
    base::MutexLock lock(mu_);
    while (!stop.stop_requested()) {
      const base::TimePoint now = clock_.Now();
      while (!delayed_.empty() && delayed_.begin()->first <= now) {
        Node* const node = delayed_.begin()->second;
        delayed_.erase(delayed_.begin());
        node->second.delayed = false;
        if (AddLocked(node)) {
          ready_cv_.notify_one();
        }
      }
      const auto next = delayed_.empty() ? base::TimePoint::max() : delayed_.begin()->first;
      clock_.WaitUntil(mu_, delays_cv_, stop, next);
    }
  }

  void UpdateRunningWork() {
    base::MutexLock lock(mu_);
    const base::TimePoint now = clock_.Now();
    base::Duration sum{0};
    base::Duration longest{0};
    for (const Node* node : processing_) {
      const base::Duration running = now - node->second.started;
      sum += running;
      longest = std::max(longest, running);
    }
    metrics_.unfinished_work.Set(ToSeconds(sum));
    metrics_.longest_running.Set(ToSeconds(longest));
  }

  base::Clock& clock_;
  const std::shared_ptr<RateLimiter> limiter_;
  internal::QueueMetrics metrics_;
  mutable base::Mutex mu_;
  base::CondVar ready_cv_;   // For workers, one for each key.
  base::CondVar delays_cv_;  // For the delay thread: an earlier time, or stop.
  base::CondVar idle_cv_;    // For ShutDownWithDrain.
  Keys keys_ KX_GUARDED_BY(mu_);
  internal::Ring<Node*> ready_ KX_GUARDED_BY(mu_);
  std::vector<Node*> processing_ KX_GUARDED_BY(mu_);
  Delayed delayed_ KX_GUARDED_BY(mu_);
  std::size_t dirty_ KX_GUARDED_BY(mu_) = 0;
  std::size_t waiting_workers_ KX_GUARDED_BY(mu_) = 0;
  bool shutting_down_ KX_GUARDED_BY(mu_) = false;
  bool draining_ KX_GUARDED_BY(mu_) = false;
  base::Subscription scrape_;  // Ends before what UpdateRunningWork reads.
  std::jthread delays_;        // Last, so that it ends first.
};

Queue::Queue(Options options) : impl_(std::make_unique<Impl>(std::move(options))) {}
Queue::~Queue() { impl_->ShutDown(); }

void Queue::Add(Key key) { impl_->Add(std::move(key)); }
void Queue::AddAfter(Key key, base::Duration delay) { impl_->AddAfter(std::move(key), delay); }
void Queue::AddRateLimited(Key key) { impl_->AddRateLimited(std::move(key)); }
void Queue::Forget(const Key& key) { impl_->limiter().Forget(key); }
int Queue::NumRequeues(const Key& key) const { return impl_->limiter().NumRequeues(key); }
std::optional<Key> Queue::Get(std::stop_token stop) { return impl_->Get(stop); }
void Queue::Done(const Key& key) { impl_->Done(key); }
void Queue::ShutDown() { impl_->ShutDown(); }
void Queue::ShutDownWithDrain() { impl_->ShutDownWithDrain(); }
bool Queue::shutting_down() const { return impl_->shutting_down(); }
std::size_t Queue::Len() const { return impl_->Len(); }

}  // namespace kubexx::workqueue
