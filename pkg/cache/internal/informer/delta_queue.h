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

/// An object was added or changed.
struct UpsertDelta {
  EntryRef entry{};
};
/// An object was deleted. `object` has no bytes when its last state is unknown.
struct DeleteDelta {
  Object object{};
};
/// A full state: `table` has all objects.
struct ReplaceDelta {
  EntryTable table{};
  std::string resource_version{};
  /// When set, `table` has only the objects of this namespace.
  std::optional<std::string> namespace_{};
  /// One namespace of a source of all namespaces was listed alone; the informer's resourceVersion
  /// does not change.
  bool is_part = false;
  /// Turns true when the store has the objects; may be null.
  std::shared_ptr<std::atomic<bool>> applied{};
  /// The objects that could not be read.
  Unreadable unreadable{};
  /// Objects that are known to be deleted, although some objects could not be read.
  std::set<apimachinery::ObjectKey> deleted{};
};
/// A change could not be read.
struct UnreadableDelta {
  apimachinery::Status why{};
  std::string namespace_{};  ///< the source's namespace; empty for a source of all
};
/// The source has sent every change up to this resourceVersion.
struct BookmarkDelta {
  std::string resource_version{};
  std::string namespace_{};  ///< the source's namespace; empty for a source of all
};
/// The objects of a namespace cannot be read for now, so the sync does not wait for them.
struct UnavailableDelta {
  std::string namespace_{};
};
/// Every object has to be delivered again.
struct ResyncDelta {};
/// Has no content; wakes the consumer so that it looks for other work.
struct WakeDelta {};
/// A delta that is rarer than UpsertDelta, in a separate allocation, because an element of the
/// queue is as large as the largest kind of delta. Never empty, unless moved from.
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

/// Deltas to apply in one step: several upserts and deletes, in order, or one delta of another
/// kind.
struct DeltaBatch {
  std::vector<Delta> deltas{};
  base::TimePoint queued{};  ///< when the first of them was queued
  bool more = false;         ///< whether others wait behind them
};

/// Keeps every delta in order and merges none, as client-go's RealFIFO; a full state and a resync
/// are one delta each. Bounded by count and by bytes: when it is full, the producers wait, and
/// thereby their connections to the server do, too. One consumer takes the deltas in batches.
/// Thread-safe.
class DeltaQueue {
 public:
  /// Settings of a DeltaQueue.
  struct Options {
    base::Clock& clock = base::Clock::Real();
    std::size_t max_deltas = 1000;
    std::size_t max_bytes = 8 << 20;  ///< an empty queue takes one larger delta
    std::size_t max_batch = 256;
    metrics::Gauge queued{};  ///< set to the number of deltas
    /// Called when the consumer has to look at the queue. May be called with the queue's lock held,
    /// and must not block or use the queue.
    std::function<void()> wake = [] {};
  };

  explicit DeltaQueue(Options options) : options_(std::move(options)) {}

  /// Waits for room and adds a delta. kCancelled when the queue is or becomes closed. A task of an
  /// executor does not wait, since the consumer is one, too: it asks HasRoom before it begins what
  /// brings deltas, and the queue grows by what that brings. All deltas of
  /// one Flush have the time at which the first of them was queued, because they arrived together.
  apimachinery::Result<void> Push(Delta delta);
  /// Like Push, for one of several deltas: the consumer is not woken before Flush, or before a
  /// whole batch waits.
  apimachinery::Result<void> PushSome(Delta delta);
  /// Wakes the consumer for the deltas of PushSome.
  void Flush();
  /// Adds a WakeDelta at once, even when the queue is full.
  void Wake();
  /// Whether the queue is not full. After false, it calls `wake` once when half of it is free, or
  /// it is closed, without a lock; `who` is whoever asks, of whom the last call counts.
  bool HasRoom(const void* who, const std::function<void()>& wake);
  /// Takes deltas. Returns std::nullopt when there are none, and when the queue is closed, even
  /// when some deltas are left. Never waits.
  std::optional<DeltaBatch> Pop();

  /// Ends all waits. Open drops the remaining deltas: a reflector that was stopped lists again.
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
  /// As Pop. `for_room` has whoever is to be called then.
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
  // When the first delta since the last Flush came; a million events a second read no clock each.
  std::optional<base::TimePoint> came_ KX_GUARDED_BY(mu_);
};

}  // namespace kubexx::cache

#endif  // KUBEXX_CACHE_INTERNAL_INFORMER_DELTA_QUEUE_H_
