/// @file
/// Distributor: applies deltas to the store and passes the changes to the listeners.
#ifndef KUBEXX_CACHE_INTERNAL_INFORMER_DISTRIBUTOR_H_
#define KUBEXX_CACHE_INTERNAL_INFORMER_DISTRIBUTOR_H_

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "kubexx/base/executor/ordered_task.h"
#include "kubexx/base/mutex.h"
#include "kubexx/cache/internal/informer/delta_queue.h"
#include "kubexx/cache/internal/informer/listener.h"
#include "kubexx/cache/internal/informer/packed_event.h"
#include "kubexx/cache/internal/packed/packed_store.h"

namespace kubexx::cache {

/// The listeners of an informer. Thread-safe.
class ListenerSet {
 public:
  /// Keeps a listener that will join the set later by a call of Add. Starts the listener while the
  /// set is running.
  void Await(std::shared_ptr<Listener> listener);
  std::vector<std::shared_ptr<Listener>> Awaited() const;
  /// Adds an awaited listener unless it is closed.
  void Add(const std::shared_ptr<Listener>& listener);
  /// Removes a closed listener, whether it has been added or is awaited. When its own handler
  /// removes it, the set keeps it until that call has returned.
  void Remove(const std::shared_ptr<Listener>& listener);
  /// Whether the resync of any listener is due at `now`.
  bool CheckResync(base::TimePoint now) const;
  std::vector<std::shared_ptr<Listener>> All() const;

  /// Starts all listeners, including awaited ones.
  void Start();
  /// Requests the stop: running handler calls finish, and no further ones follow.
  void RequestStop();
  /// Requests the stop and waits for running handlers, which must not use this set meanwhile.
  void Stop();
  /// Closes all listeners, including awaited ones. Must not be called by a handler.
  void Close();
  void SetBounded(bool bounded);
  /// Whether a handler of this set is the caller of this function.
  bool OnOwnThread() const;
  /// Whether a listener has not ended yet.
  bool HasRunning() const;

 private:
  /// The listeners that are started while the set is running.
  std::vector<std::shared_ptr<Listener>> StartedLocked() const KX_REQUIRES(mu_);

  mutable base::Mutex mu_;
  std::vector<std::shared_ptr<Listener>> listeners_ KX_GUARDED_BY(mu_);
  std::vector<std::shared_ptr<Listener>> awaited_ KX_GUARDED_BY(mu_);
  /// The listeners that were removed by their own handlers.
  std::vector<std::shared_ptr<Listener>> ended_ KX_GUARDED_BY(mu_);
  bool running_ KX_GUARDED_BY(mu_) = false;
  bool bounded_ KX_GUARDED_BY(mu_) = true;
};

/// Turns deltas into changes of the store and events for the listeners, the store first. Only one
/// thread may use it at a time.
class Distributor {
 public:
  /// `on_state` is called when the store has got a full state of a scope (see StoreFaults), and
  /// before any listener gets that state. It may be empty.
  Distributor(std::shared_ptr<PackedStore> store, ListenerSet& listeners,
              std::function<void(const std::string& scope)> on_state = {})
      : store_(std::move(store)), listeners_(listeners), on_state_(std::move(on_state)) {}

  /// Applies a batch. The store has all its changes before the listeners get the first one.
  void Apply(DeltaBatch&& batch);

  /// Brings a new listener up to date and adds it to the set.
  void Attach(const std::shared_ptr<Listener>& listener, bool synced);
  /// Tells the listeners that the initial list has ended.
  void TellSynced();

 private:
  /// A change that has been packed, but has not been passed to the listeners yet.
  struct Pending {
    RawEvent::Type type = RawEvent::Type::kUpdate;
    EntryRef object{};  ///< null for a delete without a last state
  };

  void ApplyChanges(std::vector<Delta>&& deltas);
  void Prepare(UpsertDelta& delta, Pending& pending, PackedStore::Change& change);
  void Prepare(DeleteDelta& delta, Pending& pending, PackedStore::Change& change);
  std::shared_ptr<const PackedEvent> EventOf(Pending&& pending, EntryRef&& old) const;

  void On(ReplaceDelta&& delta);
  void KeepUnnamed(ReplaceDelta& delta) const;
  void On(BookmarkDelta&& delta);
  void On(ResyncDelta&& delta);

  void TellDifference(const EntryTable& old_table, const std::vector<EntryRef>& entries);
  void TellAll(std::vector<EntryRef> entries, bool initial);
  void Tell(std::vector<std::shared_ptr<const PackedEvent>>& events,
            base::OrderedTask::Hurry hurry = base::OrderedTask::Hurry::kNow);

  std::shared_ptr<PackedStore> store_;
  ListenerSet& listeners_;
  const std::function<void(const std::string& scope)> on_state_;
  std::set<std::string> synced_namespaces_{};
};

}  // namespace kubexx::cache

#endif  // KUBEXX_CACHE_INTERNAL_INFORMER_DISTRIBUTOR_H_
