/// @file
/// The rate-limited work queue of keys.
#ifndef KUBEXX_WORKQUEUE_QUEUE_H_
#define KUBEXX_WORKQUEUE_QUEUE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>

#include "kubexx/base/clock.h"
#include "kubexx/metrics/registry.h"
#include "kubexx/workqueue/debounce.h"
#include "kubexx/workqueue/fair_options.h"
#include "kubexx/workqueue/key.h"
#include "kubexx/workqueue/rate_limiter.h"

namespace kubexx::workqueue {

namespace internal {
struct Node;
}

/// In what order keys are handed out.
enum class Order : std::uint8_t {
  /// First come, first served; as client-go's workqueue.
  kArrival,
  /// Higher priorities first, each in order of arrival; as controller-runtime's PriorityQueue. A
  /// key that waits has one pending entry: adding it again keeps the higher priority and the
  /// earlier time. One whose priority is raised goes to the end of its new class.
  kPriority,
  /// Tenants take turns, so that one with many keys does not keep the others waiting: a tenant's
  /// first key waits for one turn of each other tenant at most. Otherwise as kArrival.
  kFair,
};

/// How one add is made.
struct AddOptions {
  /// Higher goes first in a queue of Order::kPriority; others do not look at it.
  int priority = 0;
  /// Adds after this time; at once when it is not positive.
  base::Duration after{0};
  /// Adds after the rate limiter's delay for this key instead.
  bool rate_limited = false;
  /// Adds when the key has been quiet instead, see Queue::AddDebounced.
  std::optional<Debounce> debounce{};
};

/// Hands keys to workers: each key at most once at a time (single flight), several adds of a
/// waiting key as one; a key added while it is worked on comes again when that work is done, as if
/// added then. Delayed, rate-limited and debounced adds. As client-go's `util/workqueue`
/// TypedRateLimitingInterface, with its metrics; the two gauges of running work are computed when
/// they are scraped. Memory grows with the number of distinct keys, not of adds. Thread-safe; one
/// thread of its own for delays. No call may be running, and no item may be left, when it is
/// destroyed.
class Queue {
  class Impl;

 public:
  /// Settings of a Queue.
  struct Options {
    /// Label `name` of the metrics; without a name or registry there are none.
    std::string name{};
    base::Clock& clock = base::Clock::Real();
    metrics::Registry* registry = nullptr;
    /// Default: the larger of per-key exponential backoff (5 ms to 1000 s) and a bucket of 10/s
    /// with burst 100.
    std::shared_ptr<RateLimiter> rate_limiter{};
    Order order = Order::kArrival;
    /// For Order::kFair.
    FairOptions fair{};
  };

  /// A key that a worker has taken, or none. Its end, by Done or destruction, ends the work on the
  /// key. Move-only; used by one thread at a time.
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
    /// There must be one. Valid until the work is done.
    const Key& operator*() const;
    const Key* operator->() const { return &**this; }
    /// That it was taken with.
    int priority() const { return priority_; }
    /// The debounced adds that this work answers; null when there were none since the key was taken
    /// before, and while settling(). Valid until the work is done.
    const Settled* settled() const { return settled_; }
    /// Whether an add of another kind brought the key while debounced ones wait for their window:
    /// it comes again when that is over. Who would rather act once leaves the work to that time.
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
  /// ShutDown, and drops what is queued.
  ~Queue();
  Queue(const Queue&) = delete;
  Queue& operator=(const Queue&) = delete;

  /// Never blocks. No effect after ShutDown.
  void Add(const Key& key);
  void Add(const Key& key, const AddOptions& options);
  /// Adds after `delay`; at once when it is not positive. The earlier of two pending times of a key
  /// wins. An Add in between does not take back the later one, except with Order::kPriority. No
  /// effect after ShutDown, which also drops keys whose time has not come.
  void AddAfter(const Key& key, base::Duration delay);
  /// AddAfter the rate limiter's delay for this key.
  void AddRateLimited(const Key& key);
  /// Adds once the key has been quiet: see Debounce. A further debounced add puts a key off again
  /// that has fallen due and that no worker has taken yet. Adds of other kinds bring the key at
  /// their own time, see Item::settling; with Order::kPriority they take the debounced ones along.
  /// No effect after ShutDown, which also drops keys that wait for their window.
  void AddDebounced(const Key& key, const Debounce& debounce);
  /// Has all keys fall due now that wait for their window, or were put back with debounced adds, in
  /// the order of their times.
  void EndWindows();
  /// EndWindows and ShutDown in one step, between which no add comes that would put a key off: an
  /// end that loses nothing.
  void ShutDownAfterWindows();
  /// Ends the work on the key as if it had not been taken: it comes again after `after`, at once
  /// when that is not positive, and its debounced adds count as not acted on. After ShutDown it
  /// comes again at once when it has debounced adds; otherwise only the work on it ends.
  void PutBack(Item item, base::Duration after);
  /// Forgets the key's failures in the rate limiter. Does not end the work on it.
  void Forget(const Key& key);
  int NumRequeues(const Key& key) const;

  /// Blocks for a key; none when the queue is shut down and empty, or `stop` is requested.
  Item Get(const std::stop_token& stop = {});
  /// The same after ending the work on `done`, in one step: the cheapest way to work in a loop.
  Item Next(Item done, const std::stop_token& stop = {});

  /// Takes no more keys; workers get what is queued, then nothing.
  void ShutDown();
  /// ShutDown, then waits until workers have taken every queued key and are done with it. A call of
  /// ShutDown ends the wait, for when there are no workers left.
  void ShutDownWithDrain();
  bool shutting_down() const;

  /// Keys waiting for a worker, without delayed ones.
  std::size_t Len() const;

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace kubexx::workqueue

#endif  // KUBEXX_WORKQUEUE_QUEUE_H_
