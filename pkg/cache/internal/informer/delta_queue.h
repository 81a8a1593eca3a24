/// @file
/// The ordered, bounded queue between a Reflector and an informer's distribution.
#ifndef KUBEXX_CACHE_INTERNAL_INFORMER_DELTA_QUEUE_H_
#define KUBEXX_CACHE_INTERNAL_INFORMER_DELTA_QUEUE_H_

#include <atomic>
#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "kubexx/apimachinery/object_key.h"
#include "kubexx/apimachinery/status.h"
#include "kubexx/base/clock.h"
#include "kubexx/base/mutex.h"
#include "kubexx/cache/internal/packed/entry.h"
#include "kubexx/cache/internal/packed/entry_table.h"
#include "kubexx/cache/internal/packed/store_faults.h"
#include "kubexx/cache/object.h"
#include "kubexx/metrics/registry.h"

namespace kubexx::cache {

/// The source has an object that is new or has changed.
struct UpsertDelta {
  EntryRef entry{};
};
/// The source has deleted an object. `object` has no bytes when its last state is unknown.
struct DeleteDelta {
  Object object{};
};
/// A full state: `table` has all objects.
struct ReplaceDelta {
  EntryTable table{};
  std::string resource_version{};
  /// When set, `table` has only the objects of this namespace.
  std::optional<std::string> namespace_{};
  /// Whether the source covers all namespaces, but only this namespace was listed again. Then the
  /// informer's resourceVersion does not change.
  bool is_part = false;
  /// Becomes true when the store has the objects. May be null.
  std::shared_ptr<std::atomic<bool>> applied{};
  /// The objects that could not be read.
  Unreadable unreadable{};
  /// The objects that are known to be deleted, although the list had objects that could not be
  /// read.
  std::set<apimachinery::ObjectKey> deleted{};
};
/// The watch brought a change that could not be read.
struct UnreadableDelta {
  apimachinery::Status why{};
  std::string namespace_{};  ///< the source's namespace; empty for a source of all
};
/// The source has sent every change up to this resourceVersion.
struct BookmarkDelta {
  std::string resource_version{};
  std::string namespace_{};  ///< the source's namespace; empty for a source of all
};
/// The server refuses the objects of a namespace for now, so the sync does not wait for them.
struct UnavailableDelta {
  std::string namespace_{};
};
/// Every object has to be delivered again.
struct ResyncDelta {};
/// Has no content. It wakes the consumer, which then looks for other work.
struct WakeDelta {};
/// A delta that is rarer than UpsertDelta. It is allocated separately, because an element of the
/// queue is as large as the largest kind of delta. It is never empty, unless it was moved from.
template <class T>
class Rare {
 public:
  Rare(T delta)  // NOLINT(google-explicit-constructor): as if it were the delta
      : delta_(std::make_unique<T>(std::move(delta))) {}
  T& operator*() const { return *delta_; }
  T* operator->() const { return delta_.get(); }

 private:
  std::unique_ptr<T> delta_;
};
/// One step that the reflector passes to the distributor.
using Delta = std::variant<UpsertDelta, Rare<DeleteDelta>, Rare<ReplaceDelta>, Rare<BookmarkDelta>,
                           Rare<UnreadableDelta>, Rare<UnavailableDelta>, ResyncDelta, WakeDelta>;

/// The deltas that the consumer applies in one step: either several upserts and deletes, in order,
/// or one delta of another kind.
struct DeltaBatch {
  std::vector<Delta> deltas{};
  base::TimePoint queued{};  ///< when the first of them was queued
  bool more = false;         ///< whether others wait behind them
};

/// Keeps every delta in order and merges none, as client-go's RealFIFO does. A full state and a
/// resync are one delta each. The queue is bounded by count and by bytes. When it is full, the
/// producers wait, and so the server cannot send more on their connections. One consumer takes the
/// deltas in batches. Thread-safe.
class DeltaQueue {
 public:
  /// Settings of a DeltaQueue.
  struct Options {
    base::Clock& clock = base::Clock::Real();
    std::size_t max_deltas = 1000;
    std::size_t max_bytes = 8 << 20;  ///< an empty queue takes one larger delta
    std::size_t max_batch = 256;
    metrics::Gauge queued{};  ///< set to the number of deltas
    /// The queue calls this when the consumer has to look at the queue. It may hold its lock while
    /// it calls, so the function must not block and must not use the queue.
    std::function<void()> wake = [] {};
  };

  explicit DeltaQueue(Options options) : options_(std::move(options)) {}

  /// Waits until the queue has room, and adds a delta. Returns kCancelled when the queue is closed,
  /// or is closed meanwhile. A task of an executor does not wait, because the consumer is such a
  /// task, too: Push adds the task's delta even to a full queue. Such a task has to call HasRoom
  /// before it begins work that brings deltas. All deltas of one Flush have the time at which the
  /// first of them was pushed, because they arrived together.
  apimachinery::Result<void> Push(Delta delta);
  /// Does as Push for one of several deltas. The consumer is woken by Flush, or as soon as a whole
  /// batch waits.
  apimachinery::Result<void> PushSome(Delta delta);
  /// Wakes the consumer for the deltas that PushSome has added.
  void Flush();
  /// Adds a WakeDelta at once, even when the queue is full.
  void Wake();
  /// Returns whether the queue has room. After it has returned false, the queue calls `wake` once,
  /// without its lock, when half of the queue is free or the queue is closed. `who` identifies the
  /// caller; of several calls with the same `who` the last one counts.
  bool HasRoom(const void* who, const std::function<void()>& wake);
  /// Takes a batch of deltas and never waits. Returns std::nullopt when there are no deltas, and
  /// when the queue is closed, even if some deltas are left.
  std::optional<DeltaBatch> Pop();

  /// Close ends all waits. Open drops the deltas that are left, because a reflector that was
  /// stopped lists again.
  void Close();
  void Open();

 private:
  struct Item {
    Delta delta;
    std::size_t bytes;
    base::TimePoint queued;
  };

  using Waiting = std::map<const void*, std::function<void()>>;

  Item TakeLocked() KX_REQUIRES(mu_);
  bool IsFullLocked(std::size_t bytes) const KX_REQUIRES(mu_) {
    return !items_.empty() &&
           (items_.size() >= options_.max_deltas || bytes_ + bytes > options_.max_bytes);
  }
  static void WakeAll(const Waiting& waiting);
  /// Does the work of Pop. `for_room` gets the callers of HasRoom that now have to be woken.
  std::optional<DeltaBatch> Take(Waiting& for_room);
  void CountLocked() KX_REQUIRES(mu_) {
    options_.queued.Set(closed_ ? 0 : static_cast<double>(items_.size()));
  }

  Options options_;
  base::Mutex mu_;
  base::CondVar not_full_;
  std::deque<Item> items_ KX_GUARDED_BY(mu_);
  std::size_t bytes_ KX_GUARDED_BY(mu_) = 0;
  bool closed_ KX_GUARDED_BY(mu_) = false;
  Waiting for_room_ KX_GUARDED_BY(mu_);
  // The time at which the first delta since the last Flush came. With this member the queue reads
  // the clock once per Flush, and not for each of perhaps a million events a second.
  std::optional<base::TimePoint> came_ KX_GUARDED_BY(mu_);
};

}  // namespace kubexx::cache

#endif  // KUBEXX_CACHE_INTERNAL_INFORMER_DELTA_QUEUE_H_
