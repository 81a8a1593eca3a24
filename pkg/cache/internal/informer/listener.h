/// @file
/// Listener: one handler of an informer with its bounded queue and its thread.
#ifndef KUBEXX_CACHE_INTERNAL_INFORMER_LISTENER_H_
#define KUBEXX_CACHE_INTERNAL_INFORMER_LISTENER_H_

#include <atomic>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <thread>
#include <variant>
#include <vector>

#include "kubexx/apimachinery/status.h"
#include "kubexx/base/clock.h"
#include "kubexx/base/mutex.h"
#include "kubexx/base/report_limit.h"
#include "kubexx/cache/handler_options.h"
#include "kubexx/cache/informer_event.h"
#include "kubexx/cache/internal/informer/merge_buffer.h"
#include "kubexx/cache/internal/informer/packed_event.h"
#include "kubexx/cache/internal/informer/snapshot.h"
#include "kubexx/metrics/registry.h"

namespace kubexx::cache {

/// Delivers events to one handler, in order, on a thread of its own. Its memory is bounded however
/// slow the handler is: see Overflow. Events that a stopped listener has not delivered, it delivers
/// after the next StartThread. Thread-safe.
class Listener {
 public:
  using Handler = std::function<void(const RawEvent&)>;
  using Event = std::shared_ptr<const PackedEvent>;

  /// Settings of a Listener.
  struct Options {
    std::string informer{};
    std::string name{};
    base::Clock& clock = base::Clock::Real();
    metrics::Registry* registry = nullptr;
    std::size_t max_events = 1024;
    Overflow overflow = Overflow::kMerge;
    base::Duration resync_period{0};  ///< zero means never
    bool tells_passing = false;
  };

  Listener(Options options, std::shared_ptr<const PackedStore> store, Handler handler);
  ~Listener();

  /// Throws std::system_error when the system has no thread left; the listener is then as before.
  void StartThread();
  /// Requests the stop: a running call of the handler finishes, and no further one follows. Keeps
  /// the queued events.
  void RequestStop();
  /// Requests the stop and waits for a running call, unless the handler itself is the caller.
  void StopThread();
  /// Whether the handler is the caller.
  bool OnOwnThread() const;
  /// Whether its thread has not ended yet.
  bool running() const;

  /// Queues events. Waits for room when the listener is bounded and its overflow is kHoldBack.
  void Push(std::span<const Event> events);
  /// Queues an event for each object of the snapshot; never waits. Skips a resync while an earlier
  /// one is queued or being delivered.
  void PushSnapshot(const std::shared_ptr<const Snapshot>& snapshot);
  /// Queues the end of the initial list; synced() is true when the listener reaches it. Never
  /// waits.
  void PushSynced();

  /// When not bounded, Push never waits. The informer uses this for its last deltas while it stops.
  void SetBounded(bool bounded);
  /// Accepts no more events and waits until the handler has got the queued ones. kCancelled when
  /// `stop` was requested first, kUnavailable when the thread does not run, kInvalid when the
  /// handler itself calls.
  apimachinery::Result<void> Drain(const std::stop_token& stop);
  /// Ends the listener for good: drops the queued events, and joins the thread unless the handler
  /// is the caller.
  void Close();

  bool synced() const;
  /// Waits until synced(); false when closed, or when `stop` was requested first.
  bool WaitForSync(const std::stop_token& stop) const;
  bool closed() const;
  const std::string& name() const { return options_.name; }

  /// Records whether the resync is due at `now`, and returns that.
  bool CheckResync(base::TimePoint now);
  /// Returns whether a resync was due, and resets that.
  bool TakeResync();

 private:
  struct Walk {
    std::shared_ptr<const Snapshot> snapshot;
    std::size_t next = 0;
  };
  struct Synced {};
  using Item = std::variant<Event, Walk, Synced>;

  void Run(const std::stop_token& stop);
  /// Waits for events and takes some of them, in order; returns none when stopped.
  std::vector<Event> Next(const std::stop_token& stop);
  /// Puts events that were not delivered back into the queue.
  void PutBack(std::span<Event> events);
  Event TakeLocked() KX_REQUIRES(mu_);
  /// Notifies those who wait for room.
  void TookLocked() KX_REQUIRES(mu_);
  Event TakeMergedLocked() KX_REQUIRES(mu_);
  void PushLocked(const Event& event) KX_REQUIRES(mu_);
  void MergeLocked(MergeBuffer::Change change) KX_REQUIRES(mu_);
  bool HasResyncLocked() const KX_REQUIRES(mu_);
  void WaitForRoomLocked() KX_REQUIRES(mu_);
  void SyncedLocked() KX_REQUIRES(mu_);
  bool EmptyLocked() const KX_REQUIRES(mu_) { return items_.empty() && late_.empty(); }
  bool TakesLocked() const KX_REQUIRES(mu_) { return !closed_ && !draining_; }
  void CountLocked() KX_REQUIRES(mu_) {
    queued_.Set(static_cast<double>(items_.size() + late_.size()));
  }
  void Deliver(const RawEvent& event);

  Options options_;
  /// How many events the thread takes at once; few from a small buffer, so that its size keeps its
  /// meaning.
  const std::size_t at_once_;
  std::shared_ptr<const PackedStore> store_;
  Handler handler_;
  metrics::Gauge queued_{};
  metrics::Counter merged_{};
  metrics::Counter held_back_seconds_{};
  metrics::Counter errors_{};
  base::ReportLimit exception_lines_{options_.clock};

  std::atomic<bool> ended_ = false;  // as closed_, for between two calls of the handler
  mutable base::Mutex mu_;
  base::CondVar not_full_;
  base::CondVar not_empty_;
  /// Notified of changes of `synced_`, `closed_` and `running_`, and when the queue has been worked
  /// off.
  mutable base::CondVar changed_;
  std::deque<Item> items_ KX_GUARDED_BY(mu_);
  /// The events that came after `items_` was full, until all of them have been delivered.
  MergeBuffer late_ KX_GUARDED_BY(mu_){options_.tells_passing};
  bool bounded_ KX_GUARDED_BY(mu_) = true;
  /// Whether the thread sleeps. Whoever wakes the thread resets it, so that others need not wake it
  /// again.
  bool sleeping_ KX_GUARDED_BY(mu_) = false;
  bool closed_ KX_GUARDED_BY(mu_) = false;
  bool draining_ KX_GUARDED_BY(mu_) = false;
  bool delivering_ KX_GUARDED_BY(mu_) = false;
  bool running_ KX_GUARDED_BY(mu_) = false;
  bool synced_ KX_GUARDED_BY(mu_) = false;
  bool resync_due_ KX_GUARDED_BY(mu_) = false;
  base::TimePoint next_resync_ KX_GUARDED_BY(mu_);
  std::thread::id thread_id_ KX_GUARDED_BY(mu_);
  std::stop_source stop_ KX_GUARDED_BY(mu_){std::nostopstate};
  /// Held while the thread is started, stopped and joined; before mu_.
  base::Mutex thread_mu_;
  std::optional<std::jthread> thread_ KX_GUARDED_BY(thread_mu_);
};

}  // namespace kubexx::cache

#endif  // KUBEXX_CACHE_INTERNAL_INFORMER_LISTENER_H_
