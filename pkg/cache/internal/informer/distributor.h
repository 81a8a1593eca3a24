/// @file
/// Applies deltas to the store and tells the listeners.
#ifndef KUBEXX_CACHE_INTERNAL_INFORMER_DISTRIBUTOR_H_
#define KUBEXX_CACHE_INTERNAL_INFORMER_DISTRIBUTOR_H_

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "kubexx/base/mutex.h"
#include "kubexx/cache/internal/informer/delta_queue.h"
#include "kubexx/cache/internal/informer/listener.h"
#include "kubexx/cache/internal/packed/packed_store.h"

namespace kubexx::cache {

/// The listeners of an informer. Thread-safe.
class ListenerSet {
 public:
  /// Keeps a listener that is not one of the set yet, until Add.
  void Await(std::shared_ptr<Listener> listener);
  std::vector<std::shared_ptr<Listener>> Awaited() const;
  /// Adds a listener unless it is closed; starts its thread while the set is running.
  void Add(const std::shared_ptr<Listener>& listener);
  /// A closed one, awaited ones too. Kept until its thread has ended when its own handler removes
  /// it.
  void Remove(const std::shared_ptr<Listener>& listener);
  /// Whether the resync of any of them is due at `now`.
  bool CheckResync(base::TimePoint now) const;
  std::vector<std::shared_ptr<Listener>> All() const;

  void Start();
  /// Handlers are called no more, once the calls that are running have returned.
  void RequestStop();
  /// The same, and waits for running handlers; they must not need this set meanwhile.
  void Stop();
  /// Closes all, awaited ones too; not from a handler.
  void Close();
  void SetBounded(bool bounded);
  /// Whether the caller is one of the handlers.
  bool OnOwnThread() const;

 private:
  mutable base::Mutex mu_;
  std::vector<std::shared_ptr<Listener>> listeners_ KX_GUARDED_BY(mu_);
  std::vector<std::shared_ptr<Listener>> awaited_ KX_GUARDED_BY(mu_);
  /// Removed by their own handlers.
  std::vector<std::shared_ptr<Listener>> ended_ KX_GUARDED_BY(mu_);
  bool running_ KX_GUARDED_BY(mu_) = false;
  bool bounded_ KX_GUARDED_BY(mu_) = true;
};

/// Turns deltas into changes of the store and events for the listeners, the store first. One thread
/// at a time.
class Distributor {
 public:
  /// `on_state` is called when a full state of a scope (see StoreFaults) is in the store, before
  /// anybody is told of it; may be empty.
  Distributor(std::shared_ptr<PackedStore> store, ListenerSet& listeners,
              std::function<void(const std::string& scope)> on_state = {})
      : store_(std::move(store)), listeners_(listeners), on_state_(std::move(on_state)) {}

  /// The changes of a batch are all in the store before the first of them is told.
  void Apply(DeltaBatch&& batch);

  /// Brings a new listener up to date and adds it to the set.
  void Attach(const std::shared_ptr<Listener>& listener, bool synced);
  /// Tells the end of the initial list.
  void TellSynced();

 private:
  /// A change between Pack and Tell.
  struct Pending {
    RawEvent::Type type = RawEvent::Type::kUpdate;
    EntryRef object{};  ///< none: a delete without a last state
  };

  void ApplyChanges(std::vector<Delta>&& deltas);
  void Prepare(UpsertDelta& delta, Pending& pending, PackedStore::Change& change);
  void Prepare(DeleteDelta& delta, Pending& pending, PackedStore::Change& change);
  std::shared_ptr<const RawEvent> EventOf(Pending&& pending, EntryRef&& old) const;

  void On(ReplaceDelta&& delta);
  void KeepUnnamed(ReplaceDelta& delta) const;
  void On(BookmarkDelta&& delta);
  void On(ResyncDelta&& delta);

  void TellDifference(const EntryTable& old_table, const std::vector<EntryRef>& entries);
  void TellAll(std::vector<EntryRef> entries, bool initial);
  void Tell(std::vector<std::shared_ptr<const RawEvent>>& events);

  std::shared_ptr<PackedStore> store_;
  ListenerSet& listeners_;
  const std::function<void(const std::string& scope)> on_state_;
  std::set<std::string> synced_namespaces_{};
};

}  // namespace kubexx::cache

#endif  // KUBEXX_CACHE_INTERNAL_INFORMER_DISTRIBUTOR_H_
