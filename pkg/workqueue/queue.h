/// @file
/// The rate-limited work queue of keys.
#ifndef KUBEXX_WORKQUEUE_QUEUE_H_
#define KUBEXX_WORKQUEUE_QUEUE_H_

#include <cstddef>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include "kubexx/apimachinery/object_key.h"
#include "kubexx/base/clock.h"
#include "kubexx/metrics/registry.h"
#include "kubexx/workqueue/rate_limiter.h"

namespace kubexx::workqueue {

/// What is queued: a kind tag chosen by the user (may be empty) and an object key.
struct Key {
  std::string kind{};
  apimachinery::ObjectKey object{};
  auto operator<=>(const Key&) const = default;
};

/// Hands keys to workers: each key at most once at a time (single flight), in order of arrival,
/// several adds of a waiting key as one; a key added while it is worked on comes again after Done.
/// Delayed and rate-limited adds. As client-go's `util/workqueue` TypedRateLimitingInterface, with
/// its metrics; the two gauges of running work are computed when they are scraped. Memory grows
/// with the number of distinct keys, not of adds. Thread-safe; one thread of its own for delays. No
/// call may be running when it is destroyed.
class Queue {
 public:
  struct Options {
    /// Label `name` of the metrics; without a name or registry there are none.
    std::string name{};
    base::Clock& clock = base::Clock::Real();
    metrics::Registry* registry = nullptr;
    /// Default: the larger of per-key exponential backoff (5 ms to 1000 s) and a bucket of 10/s
    /// with burst 100.
    std::shared_ptr<RateLimiter> rate_limiter{};
  };

  explicit Queue(Options options);
  /// ShutDown, and drops what is queued.
  ~Queue();
  Queue(const Queue&) = delete;
  Queue& operator=(const Queue&) = delete;

  /// Never blocks. No effect after ShutDown.
  void Add(Key key);
  /// Adds after `delay`; at once when it is not positive. The earlier of two pending times of a key
  /// wins. An Add in between does not take back the later one. No effect after ShutDown, which also
  /// drops keys whose time has not come.
  void AddAfter(Key key, base::Duration delay);
  /// AddAfter the rate limiter's delay for this key.
  void AddRateLimited(Key key);
  /// Forgets the key's failures in the rate limiter. Does not replace Done.
  void Forget(const Key& key);
  int NumRequeues(const Key& key) const;

  /// Blocks for a key; nothing when the queue is shut down and empty, or `stop` is requested. Call
  /// Done for each key.
  std::optional<Key> Get(std::stop_token stop = {});
  /// The work on a key from Get has ended. A key that is not worked on is ignored.
  void Done(const Key& key);

  /// Takes no more keys; workers get what is queued, then nothing.
  void ShutDown();
  /// ShutDown, then waits until workers have taken every queued key and are Done with it. A call of
  /// ShutDown ends the wait, for when there are no workers left.
  void ShutDownWithDrain();
  bool shutting_down() const;

  /// Keys waiting for a worker, without delayed ones.
  std::size_t Len() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace kubexx::workqueue

template <>
struct std::hash<kubexx::workqueue::Key> {
  std::size_t operator()(const kubexx::workqueue::Key& key) const noexcept {
    return std::hash<std::string>()(key.kind) * 31 +
           std::hash<kubexx::apimachinery::ObjectKey>()(key.object);
  }
};

#endif  // KUBEXX_WORKQUEUE_QUEUE_H_
