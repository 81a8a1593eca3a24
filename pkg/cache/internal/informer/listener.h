/// @file
/// Listener: one handler of an informer with its bounded queue and its task.
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
#include <variant>
#include <vector>

#include "kubexx/apimachinery/status.h"
#include "kubexx/base/clock.h"
#include "kubexx/base/executor/ordered_task.h"
#include "kubexx/base/mutex.h"
#include "kubexx/base/report_limit.h"
#include "kubexx/cache/handler_options.h"
#include "kubexx/cache/informer_event.h"
#include "kubexx/cache/internal/informer/merge_buffer.h"
#include "kubexx/cache/internal/informer/packed_event.h"
#include "kubexx/cache/internal/informer/snapshot.h"
#include "kubexx/metrics/registry.h"

namespace kubexx::cache {

/// Delivers events to one handler, in order, as a task of an executor. Its memory is bounded even
/// if the handler is slow; see Overflow. After the next Start a stopped listener delivers the
/// events that it had not delivered yet. Thread-safe.
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

  Listener(std::shared_ptr<base::Executor> executor, Options options,
           std::shared_ptr<const PackedStore> store, Handler handler);
  ~Listener();

  /// Begins to deliver. The call has no effect while the listener delivers, and after Close.
  void Start();
  /// Requests the stop: a running call of the handler finishes, and no further one follows. Keeps
  /// the queued events.
  void RequestStop();
  /// Requests the stop and waits for a running call, unless the handler itself is the caller.
  void Stop();
  /// Whether the caller is the handler.
  bool OnOwnThread() const { return task_.IsCurrent(); }
  /// Whether the listener delivers, or a call that was running when it was stopped has not returned
  /// yet.
  bool running() const;

  /// Queues events. Waits for room when the listener is bounded and its overflow is kHoldBack.
  /// `hurry` tells when the handler has its turn.
  void Push(std::span<const Event> events,
            base::OrderedTask::Hurry hurry = base::OrderedTask::Hurry::kNow);
  /// Queues an event for each object of the snapshot; never waits. Skips a resync while an earlier
  /// resync is queued or is being delivered.
  void PushSnapshot(const std::shared_ptr<const Snapshot>& snapshot);
  /// Queues the end of the initial list; synced() is true when the listener reaches it. Never
  /// waits.
  void PushSynced();

  /// Push never waits while `bounded` is false. The informer uses this for its last deltas while it
  /// stops.
  void SetBounded(bool bounded);
  /// Accepts no more events and waits until the handler has got the queued ones. Returns kCancelled
  /// when `stop` was requested first, kUnavailable when the listener does not run, and kInvalid
  /// when the handler itself calls.
  apimachinery::Result<void> Drain(const std::stop_token& stop);
  /// Ends the listener for good: drops the queued events and waits for a running call, unless the
  /// handler is the caller.
  void Close();

  bool synced() const;
  /// Waits until synced() is true. Returns false when the listener was closed, or when `stop` was
  /// requested first.
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

  /// Delivers some events. Returns whether other events wait.
  bool Step();
  /// Takes some events from the queue, in order, and marks the events of the last Take as
  /// delivered. Returns none when there are none, and when the listener is stopped.
  std::vector<Event> Take();
  /// Marks the listener as one that delivers nothing until the next Take.
  void PauseLocked() KX_REQUIRES(mu_);
  /// Puts events that were not delivered back into the queue.
  void PutBack(std::span<Event> events);
  Event TakeLocked() KX_REQUIRES(mu_);
  /// Notifies the threads that wait for room.
  void TookLocked() KX_REQUIRES(mu_);
  Event TakeMergedLocked() KX_REQUIRES(mu_);
  void PushLocked(const Event& event) KX_REQUIRES(mu_);
  void MergeLocked(MergeBuffer::Change change) KX_REQUIRES(mu_);
  bool HasResyncLocked() const KX_REQUIRES(mu_);
  void WaitForRoomLocked() KX_REQUIRES(mu_);
  void SyncedLocked() KX_REQUIRES(mu_);
  void RequestStopLocked() KX_REQUIRES(mu_);
  bool EmptyLocked() const KX_REQUIRES(mu_) { return items_.empty() && late_.empty(); }
  bool TakesLocked() const KX_REQUIRES(mu_) { return !closed_ && !draining_; }
  void CountLocked() KX_REQUIRES(mu_) {
    queued_.Set(static_cast<double>(items_.size() + late_.size()));
  }
  void Deliver(const RawEvent& event);

  Options options_;
  /// The number of events that the listener takes at a time. It is small when the buffer is small,
  /// because the events that were taken come on top of the buffer's size.
  const std::size_t at_once_;
  std::shared_ptr<const PackedStore> store_;
  Handler handler_;
  metrics::Gauge queued_{};
  metrics::Counter merged_{};
  metrics::Counter held_back_seconds_{};
  metrics::Counter errors_{};
  base::ReportLimit exception_lines_{options_.clock};

  /// Whether the listener has to stop. It is read between two calls of the handler.
  std::atomic<bool> halted_ = false;
  mutable base::Mutex mu_;
  base::CondVar not_full_;
  /// Is notified when `synced_`, `closed_` or `running_` changes, and when the queue has become
  /// empty.
  mutable base::CondVar changed_;
  std::deque<Item> items_ KX_GUARDED_BY(mu_);
  /// The events that came while `items_` was full. Events go here until all of these have been
  /// delivered.
  MergeBuffer late_ KX_GUARDED_BY(mu_){options_.tells_passing};
  bool bounded_ KX_GUARDED_BY(mu_) = true;
  bool closed_ KX_GUARDED_BY(mu_) = false;
  bool draining_ KX_GUARDED_BY(mu_) = false;
  bool delivering_ KX_GUARDED_BY(mu_) = false;
  bool running_ KX_GUARDED_BY(mu_) = false;
  bool synced_ KX_GUARDED_BY(mu_) = false;
  bool resync_due_ KX_GUARDED_BY(mu_) = false;
  base::TimePoint next_resync_ KX_GUARDED_BY(mu_);
  bool stop_requested_ KX_GUARDED_BY(mu_) = false;
  base::OrderedTask task_;  // This is the last member, so that it ends first.
};

}  // namespace kubexx::cache

#endif  // KUBEXX_CACHE_INTERNAL_INFORMER_LISTENER_H_
