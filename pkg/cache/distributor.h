/// @file
/// Applies deltas to the store and tells the listeners.
#ifndef KUBEXX_CACHE_DISTRIBUTOR_H_
#define KUBEXX_CACHE_DISTRIBUTOR_H_

#include <memory>
#include <string_view>
#include <vector>

#include "kubexx/base/mutex.h"
#include "kubexx/cache/delta_queue.h"
#include "kubexx/cache/listener.h"
#include "kubexx/cache/packed_store.h"

namespace kubexx::cache {

/// The listeners of an informer. Thread-safe.
class ListenerSet {
 public:
  /// Adds a listener unless it is closed; starts its thread while the set is running.
  void Add(const std::shared_ptr<Listener>& listener);
  void Remove(const Listener* listener);
  std::vector<std::shared_ptr<Listener>> All() const;

  void Start();
  /// Waits for running handlers; they must not need this set meanwhile.
  void Stop();
  void SetBounded(bool bounded);

 private:
  mutable base::Mutex mu_;
  std::vector<std::shared_ptr<Listener>> listeners_ KX_GUARDED_BY(mu_);
  bool running_ KX_GUARDED_BY(mu_) = false;
  bool bounded_ KX_GUARDED_BY(mu_) = true;
};

/// Turns deltas into changes of the store and events for the listeners, the store first. One thread
/// at a time.
class Distributor {
 public:
  Distributor(std::shared_ptr<PackedStore> store, ListenerSet& listeners)
      : store_(std::move(store)), listeners_(listeners) {}

  void Apply(Delta&& delta);

  /// Brings a new listener up to date and adds it to the set.
  void Attach(const std::shared_ptr<Listener>& listener, bool synced);

 private:
  void On(UpsertDelta&& delta);
  void On(DeleteDelta&& delta);
  void On(ReplaceDelta&& delta);
  void On(BookmarkDelta&& delta);
  void On(ResyncDelta&& delta);
  void On(WakeDelta&&) {}

  void Tell(RawEvent::Type type, EntryRef object, EntryRef old, RawEvent::Flags flags = {});

  std::shared_ptr<PackedStore> store_;
  ListenerSet& listeners_;
  bool ever_synced_ = false;
};

}  // namespace kubexx::cache

#endif  // KUBEXX_CACHE_DISTRIBUTOR_H_
