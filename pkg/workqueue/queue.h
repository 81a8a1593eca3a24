/// @file
/// Queue: the rate-limited work queue of keys.
#ifndef KUBEXX_WORKQUEUE_QUEUE_H_
#define KUBEXX_WORKQUEUE_QUEUE_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>

#include "kubexx/base/clock.h"
#include "kubexx/base/executor/executor.h"
#include "kubexx/metrics/registry.h"
#include "kubexx/workqueue/debounce.h"
#include "kubexx/workqueue/fair_options.h"
#include "kubexx/workqueue/key.h"
#include "kubexx/workqueue/rate_limiter.h"

namespace kubexx::workqueue {

namespace internal {
struct Node;
}

/// The order in which workers get keys.
enum class Order : std::uint8_t {
  /// First come, first served; as client-go's workqueue.
  kArrival,
  /// Higher priorities first, each in order of arrival; as controller-runtime's PriorityQueue. A
  /// waiting key has one entry: another add keeps the higher priority and the earlier time. A key
  /// whose priority rises goes to the end of its new priority.
  kPriority,
  /// Tenants take turns, so that a tenant with many keys does not delay the others: a tenant's
  /// first key waits for at most one turn of each other tenant. Otherwise like kArrival.
  kFair,
};

/// Settings of one add.
struct AddOptions {
  /// Higher ones go first in a queue of Order::kPriority; the other queues ignore it.
  int priority = 0;
  /// Adds the key after this time; at once when it is zero or negative.
  base::Duration after{0};
  /// Whether to add the key after the rate limiter's delay for it, instead of `after`.
  bool rate_limited = false;
  /// When set, adds the key when it has been quiet, see Queue::AddDebounced.
  std::optional<Debounce> debounce{};
};

/// Passes keys to workers. A key is processed by at most one worker at a time. Several adds of a
/// waiting key count as one. A key that is added while a worker processes it comes again when that
/// work is done, as if added then. Adds may be delayed, rate-limited or debounced. As client-go's
/// `util/workqueue` TypedRateLimitingInterface, with its metrics; the two gauges of running work
/// are computed when they are scraped. Memory grows with the number of distinct keys, not of adds.
/// Thread-safe; has one thread of its own for delays, unless it has an executor. When the queue is
/// destroyed, no call may be running and no item may exist.
class Queue {
  class Impl;

 public:
  /// Settings of a Queue.
  struct Options {
    /// The label `name` of the metrics; without a name or registry there are none.
    std::string name{};
    base::Clock& clock = base::Clock::Real();
    metrics::Registry* registry = nullptr;
    /// The default is the larger delay of a per-key exponential backoff (5 ms to 1000 s) and a
    /// bucket of 10/s with burst 100.
    std::shared_ptr<RateLimiter> rate_limiter{};
    Order order = Order::kArrival;
    /// For Order::kFair.
    FairOptions fair{};
    /// Its threads end the delays; null: the queue has a thread of its own for that.
    std::shared_ptr<base::Executor> executor{};
    /// When set, workers do not block in Get but call TryNext, as TaskWorkers do: this function is
    /// called whenever there is a key for a worker, and when the queue is shut down. It must
    /// neither block nor use the queue. When a ShutDown has returned no call of it goes on, and it
    /// is called only when a worker ends its work on a key.
    std::function<void()> on_ready{};
  };

  /// A key that a worker has taken, or none. Done or the destructor ends the work on the key.
  /// Move-only; only one thread may use it at a time.
  class [[nodiscard]] Item {
   public:
    Item() = default;
    Item(Item&& other) noexcept
        : queue_(std::exchange(other.queue_, nullptr)),
          node_(other.node_),
          settled_(other.settled_),
          priority_(other.priority_),
          settling_(other.settling_) {}
    Item& operator=(Item&& other) noexcept {
      if (this != &other) {
        Done();
        queue_ = std::exchange(other.queue_, nullptr);
        node_ = other.node_;
        settled_ = other.settled_;
        priority_ = other.priority_;
        settling_ = other.settling_;
      }
      return *this;
    }
    ~Item() { Done(); }

    explicit operator bool() const { return queue_ != nullptr; }
    /// The key; there must be one. Valid until the work is done.
    const Key& operator*() const;
    const Key* operator->() const { return &**this; }
    /// The priority with which the key was taken.
    int priority() const { return priority_; }
    /// The debounced adds that this work handles; null when there were none since the key was last
    /// taken, and while settling(). Valid until the work is done.
    const Settled* settled() const { return settled_; }
    /// Whether an add of another kind brought the key while debounced adds wait for their window;
    /// the key comes again at the end of the window. A worker that prefers to act once can leave
    /// the work until then.
    bool settling() const { return settling_; }
    /// Ends the work on the key. May be called again.
    void Done();

   private:
    friend class Queue::Impl;
    Item(Impl* queue, internal::Node* node, int priority)
        : queue_(queue), node_(node), priority_(priority) {}

    Impl* queue_ = nullptr;
    internal::Node* node_ = nullptr;
    const Settled* settled_ = nullptr;
    int priority_ = 0;
    bool settling_ = false;
  };

  explicit Queue(Options options);
  /// Drops the queued keys, which the metrics no longer count then.
  ~Queue();
  Queue(const Queue&) = delete;
  Queue& operator=(const Queue&) = delete;

  /// Adds a key. Never blocks. Has no effect after ShutDown.
  void Add(const Key& key);
  void Add(const Key& key, const AddOptions& options);
  /// Adds the key after `delay`; at once when it is zero or negative. Of two pending times of a key
  /// the earlier one counts. An Add in the meantime does not cancel the delayed one, except with
  /// Order::kPriority. Has no effect after ShutDown, which also drops keys whose time has not come.
  void AddAfter(const Key& key, base::Duration delay);
  /// Adds the key after the rate limiter's delay for it.
  void AddRateLimited(const Key& key);
  /// Adds the key when it has been quiet: see Debounce. A further debounced add also postpones a
  /// key that has fallen due but that no worker has taken yet. Adds of other kinds bring the key at
  /// their own time, see Item::settling; with Order::kPriority the debounced adds then count as
  /// handled, too. Has no effect after ShutDown, which also drops keys that wait for their window.
  void AddDebounced(const Key& key, const Debounce& debounce);
  /// Makes all keys fall due now that wait for their window, or that were put back with debounced
  /// adds, in the order of their times.
  void EndWindows();
  /// Calls EndWindows and ShutDown in one step, so that no add in between can postpone a key, and
  /// no debounced key is lost.
  void ShutDownAfterWindows();
  /// Ends the work on the key as if no worker had taken it. The key comes again after `after`, or
  /// at once when that is zero or negative, and its debounced adds count as not handled. After
  /// ShutDown the key comes again at once when it has debounced adds; otherwise only the work on it
  /// ends.
  void PutBack(Item item, base::Duration after);
  /// Makes the rate limiter forget the key's failures. Does not end the work on the key.
  void Forget(const Key& key);
  int NumRequeues(const Key& key) const;

  /// Blocks until there is a key and takes it. Returns no key when the queue is shut down and
  /// empty, or `stop` is requested.
  Item Get(const std::stop_token& stop = {});
  /// Ends the work on `done` and then does the same as Get, in one step, which is the cheapest way
  /// to work in a loop.
  Item Next(Item done, const std::stop_token& stop = {});
  /// The same without blocking: returns no key when there is none now. For queues with on_ready.
  Item TryNext(Item done);

  /// Makes the queue accept no more keys. Workers get the queued keys, and then none.
  void ShutDown();
  /// Calls ShutDown, then waits until workers have taken every queued key and finished it. When
  /// there are no workers left, a call of ShutDown ends the wait.
  void ShutDownWithDrain();
  bool shutting_down() const;
  /// Whether the queue is shut down and empty, so that workers get no further key, except one that
  /// a worker puts back.
  bool IsOver() const;

  /// The number of keys that wait for a worker, without delayed ones.
  std::size_t Len() const;

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace kubexx::workqueue

#endif  // KUBEXX_WORKQUEUE_QUEUE_H_
