/// @file
/// The ordered, bounded queue between a Reflector and an informer's own thread.
#ifndef KUBEXX_CACHE_INTERNAL_INFORMER_DELTA_QUEUE_H_
#define KUBEXX_CACHE_INTERNAL_INFORMER_DELTA_QUEUE_H_

#include <atomic>
#include <cstddef>
#include <deque>
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
/// An object is gone. `object` has no bytes when its last state could not be had.
struct DeleteDelta {
  Object object{};
};
/// These are all objects now.
struct ReplaceDelta {
  EntryTable table{};
  std::string resource_version{};
  /// The objects of this namespace only, when set.
  std::optional<std::string> namespace_{};
  /// Of a source of all namespaces, this one was listed by itself: the informer's version stays.
  bool is_part = false;
  /// Turns true once the store has them; may be null.
  std::shared_ptr<std::atomic<bool>> applied{};
  /// What could not be read of them.
  Unreadable unreadable{};
  /// Known to be gone, although something could not be read.
  std::set<apimachinery::ObjectKey> deleted{};
};
/// A change could not be read.
struct UnreadableDelta {
  apimachinery::Status why{};
  std::string namespace_{};  ///< of the source that sent it; empty for a source of all
};
/// The source has said that everything up to this version has been sent.
struct BookmarkDelta {
  std::string resource_version{};
  std::string namespace_{};  ///< of the source that sent it; empty for a source of all
};
/// The objects of a namespace cannot be had for now; nobody is to wait for them.
struct UnavailableDelta {
  std::string namespace_{};
};
/// Deliver every object again.
struct ResyncDelta {};
/// Nothing; makes the consumer look at what else there is to do.
struct WakeDelta {};
/// A delta that is rarer than UpsertDelta, in an allocation of its own: what waits in a queue has
/// the size of the largest. Never empty, unless moved from.
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
/// One step of what the reflector hands to the distributor.
using Delta = std::variant<UpsertDelta, Rare<DeleteDelta>, Rare<ReplaceDelta>, Rare<BookmarkDelta>,
                           Rare<UnreadableDelta>, Rare<UnavailableDelta>, ResyncDelta, WakeDelta>;

/// Deltas to apply in one step: some upserts and deletes, in order, or one of another kind.
struct DeltaBatch {
  std::vector<Delta> deltas{};
  base::TimePoint queued{};  ///< when the first of them was
};

/// Every delta in order, none merged, as client-go's RealFIFO; a full state and a resync are one
/// delta each. Bounded by count and by bytes: when it is full the producers wait, and with them
/// their connections to the server. One consumer, which takes deltas in batches. Thread-safe.
class DeltaQueue {
 public:
  /// Settings of a DeltaQueue.
  struct Options {
    base::Clock& clock = base::Clock::Real();
    std::size_t max_deltas = 1000;
    std::size_t max_bytes = 8 << 20;  ///< one larger delta is taken when the queue is empty
    std::size_t max_batch = 256;
    metrics::Gauge queued{};  ///< set to the number of deltas
  };

  explicit DeltaQueue(Options options) : options_(options) {}

  /// Waits for room. kCancelled when the queue is or becomes closed. The deltas of one Flush count
  /// as queued when the first of them was: they came together.
  apimachinery::Result<void> Push(Delta delta);
  /// The same, for one of several: the consumer may go on to sleep until Flush, or until a whole
  /// batch waits, so that it is not woken for each.
  apimachinery::Result<void> PushSome(Delta delta);
  /// Wakes the consumer for what PushSome has left.
  void Flush();
  /// Puts a WakeDelta in, at once, full or not.
  void Wake();
  /// Waits for deltas; nothing when the queue is closed, even when some are left.
  std::optional<DeltaBatch> Pop();

  /// Ends all waits. Deltas that are left are dropped by Open: whoever stops a reflector lets it
  /// list again.
  void Close();
  void Open();

 private:
  struct Item {
    Delta delta;
    std::size_t bytes;
    base::TimePoint queued;
  };

  Item TakeLocked() KX_REQUIRES(mu_);
  void CountLocked() KX_REQUIRES(mu_) {
    options_.queued.Set(closed_ ? 0 : static_cast<double>(items_.size()));
  }

  Options options_;
  base::Mutex mu_;
  base::CondVar not_full_;
  base::CondVar not_empty_;
  std::deque<Item> items_ KX_GUARDED_BY(mu_);
  std::size_t bytes_ KX_GUARDED_BY(mu_) = 0;
  bool closed_ KX_GUARDED_BY(mu_) = false;
  // When the first delta since the last Flush came; a million events a second read no clock each.
  std::optional<base::TimePoint> came_ KX_GUARDED_BY(mu_);
  bool sleeping_ KX_GUARDED_BY(mu_) = false;  // the consumer, and nobody has woken it
};

}  // namespace kubexx::cache

#endif  // KUBEXX_CACHE_INTERNAL_INFORMER_DELTA_QUEUE_H_
