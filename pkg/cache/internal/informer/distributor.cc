#include "kubexx/cache/internal/informer/distributor.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "kubexx/base/executor/ordered_task.h"

namespace kubexx::cache {
namespace {

bool SameContent(const Entry& a, const Entry& b) {
  return &a == &b ||
         (!a.resource_version().empty() && a.resource_version() == b.resource_version() &&
          a.content_hash() == b.content_hash());
}

}  // namespace

void ListenerSet::Await(std::shared_ptr<Listener> listener) {
  base::MutexLock lock(mu_);
  if (running_) {
    listener->Start();
  }
  awaited_.push_back(std::move(listener));
}

std::vector<std::shared_ptr<Listener>> ListenerSet::Awaited() const {
  base::MutexLock lock(mu_);
  return awaited_;
}

void ListenerSet::Add(const std::shared_ptr<Listener>& listener) {
  base::MutexLock lock(mu_);
  std::erase(awaited_, listener);
  if (listener->closed()) {
    return;
  }
  listener->SetBounded(bounded_);
  listeners_.push_back(listener);
}

void ListenerSet::Remove(const std::shared_ptr<Listener>& listener) {
  std::vector<std::shared_ptr<Listener>> gone;  // destroyed without the lock
  const bool on_own_thread = listener->OnOwnThread();
  base::MutexLock lock(mu_);
  std::erase(listeners_, listener);
  std::erase(awaited_, listener);
  const auto over = std::ranges::partition(ended_, &Listener::running);
  gone.assign(std::move_iterator(over.begin()), std::move_iterator(over.end()));
  ended_.erase(over.begin(), over.end());
  if (on_own_thread) {
    ended_.push_back(listener);
  }
}

std::vector<std::shared_ptr<Listener>> ListenerSet::All() const {
  base::MutexLock lock(mu_);
  return listeners_;
}

std::vector<std::shared_ptr<Listener>> ListenerSet::StartedLocked() const {
  std::vector<std::shared_ptr<Listener>> all = listeners_;
  all.insert(all.end(), awaited_.begin(), awaited_.end());
  return all;
}

bool ListenerSet::CheckResync(base::TimePoint now) const {
  bool any = false;
  for (const auto& listener : All()) {
    any = listener->CheckResync(now) || any;
  }
  return any;
}

void ListenerSet::Start() {
  base::MutexLock lock(mu_);
  running_ = true;
  for (const auto& listener : StartedLocked()) {
    listener->Start();
  }
}

void ListenerSet::RequestStop() {
  std::vector<std::shared_ptr<Listener>> listeners;
  {
    base::MutexLock lock(mu_);
    running_ = false;
    listeners = StartedLocked();
  }
  for (const auto& listener : listeners) {
    listener->RequestStop();
  }
}

void ListenerSet::Stop() {
  RequestStop();
  std::vector<std::shared_ptr<Listener>> listeners;
  {
    base::MutexLock lock(mu_);
    listeners = StartedLocked();
    // A handler that has ended its own registration may still be running.
    listeners.insert(listeners.end(), ended_.begin(), ended_.end());
  }
  for (const auto& listener : listeners) {
    listener->Stop();
  }
}

void ListenerSet::Close() {
  std::vector<std::shared_ptr<Listener>> listeners;
  {
    base::MutexLock lock(mu_);
    listeners = StartedLocked();
    listeners.insert(listeners.end(), ended_.begin(), ended_.end());
    ended_.clear();
  }
  for (const auto& listener : listeners) {
    listener->Close();
  }
}

bool ListenerSet::OnOwnThread() const {
  base::MutexLock lock(mu_);
  return std::ranges::any_of(listeners_, &Listener::OnOwnThread) ||
         std::ranges::any_of(awaited_, &Listener::OnOwnThread) ||
         std::ranges::any_of(ended_, &Listener::OnOwnThread);
}

bool ListenerSet::HasRunning() const {
  base::MutexLock lock(mu_);
  return std::ranges::any_of(listeners_, &Listener::running) ||
         std::ranges::any_of(awaited_, &Listener::running) ||
         std::ranges::any_of(ended_, &Listener::running);
}

void ListenerSet::SetBounded(bool bounded) {
  base::MutexLock lock(mu_);
  bounded_ = bounded;
  for (const auto& listener : listeners_) {
    listener->SetBounded(bounded);
  }
}

void Distributor::Apply(DeltaBatch&& batch) {
  Delta& first = batch.deltas.front();
  if (auto* replace = std::get_if<Rare<ReplaceDelta>>(&first)) {
    On(std::move(**replace));
  } else if (auto* bookmark = std::get_if<Rare<BookmarkDelta>>(&first)) {
    On(std::move(**bookmark));
  } else if (const auto* unreadable = std::get_if<Rare<UnreadableDelta>>(&first)) {
    store_->faults().Add(store_->ScopeOf((*unreadable)->namespace_), (*unreadable)->why);
  } else if (std::holds_alternative<ResyncDelta>(first)) {
    On(ResyncDelta{});
  } else if (std::holds_alternative<UpsertDelta>(first) ||
             std::holds_alternative<Rare<DeleteDelta>>(first)) {
    ApplyChanges(std::move(batch.deltas));
  }
}

void Distributor::Attach(const std::shared_ptr<Listener>& listener, bool synced) {
  listener->PushSnapshot(
      std::make_shared<const Snapshot>(store_, store_->Entries(), Snapshot::Kind::kInitialAdd));
  if (synced) {
    listener->PushSynced();
  }
  listeners_.Add(listener);
}

void Distributor::TellSynced() {
  for (const auto& listener : listeners_.All()) {
    listener->PushSynced();
  }
}

void Distributor::ApplyChanges(std::vector<Delta>&& deltas) {
  std::vector<Pending> pending;
  std::vector<PackedStore::Change> changes;
  pending.reserve(deltas.size());
  changes.reserve(deltas.size());
  for (Delta& delta : deltas) {
    Pending next;
    PackedStore::Change change;
    if (auto* upsert = std::get_if<UpsertDelta>(&delta)) {
      Prepare(*upsert, next, change);
    } else if (auto* deleted = std::get_if<Rare<DeleteDelta>>(&delta)) {
      Prepare(**deleted, next, change);
    }
    pending.push_back(std::move(next));
    changes.push_back(std::move(change));
  }
  store_->Apply(changes);
  store_->PackOverdue();
  std::vector<std::shared_ptr<const PackedEvent>> events;
  events.reserve(pending.size());
  for (std::size_t i = 0; i < pending.size(); ++i) {
    if (auto event = EventOf(std::move(pending[i]), std::move(changes[i].entry))) {
      events.push_back(std::move(event));
    }
  }
  // This is the last thing that the step does.
  Tell(events, base::OrderedTask::Hurry::kAfterThisStep);
}

void Distributor::Prepare(UpsertDelta& delta, Pending& pending, PackedStore::Change& change) {
  pending.object = delta.entry;
  change.resource_version = delta.entry->resource_version();
  change.entry = std::move(delta.entry);
}

void Distributor::Prepare(DeleteDelta& delta, Pending& pending, PackedStore::Change& change) {
  pending.type = RawEvent::Type::kDelete;
  if (!delta.object.bytes.empty()) {
    if (auto last = store_->Pack(delta.object)) {
      pending.object = std::move(*last);
    }
  }
  change.key = std::move(delta.object.key);
  change.resource_version = std::move(delta.object.resource_version);
}

// Returns null when the listeners need not be told of the change.
std::shared_ptr<const PackedEvent> Distributor::EventOf(Pending&& pending, EntryRef&& old) const {
  RawEvent::Flags flags{.is_single_change = true};
  if (pending.type == RawEvent::Type::kDelete) {
    if (!old) {
      return nullptr;  // no listener was told that the object exists
    }
    if (!pending.object) {
      pending.object = old;
      flags.final_state_unknown = true;
    }
  } else if (!old) {
    pending.type = RawEvent::Type::kAdd;
  } else if (SameContent(*old, *pending.object)) {
    return nullptr;
  }
  return std::make_shared<const PackedEvent>(store_, pending.type, std::move(pending.object),
                                             std::move(old), flags);
}

void Distributor::On(ReplaceDelta&& delta) {
  const std::string scope = delta.namespace_.value_or("");
  if (delta.unreadable.count > 0) {
    KeepUnnamed(delta);
  }
  const EntryTable old_table =
      delta.namespace_
          ? store_->SwapNamespace(scope, std::move(delta.table), delta.resource_version)
          : store_->Swap(std::move(delta.table), delta.resource_version);
  if (!delta.is_part) {
    store_->faults().Replace(scope, std::move(delta.unreadable));
  } else if (delta.unreadable.count > 0) {
    store_->faults().Add(store_->ScopeOf(scope), delta.unreadable.first);
  }
  if (!delta.is_part && on_state_) {
    on_state_(scope);
  }
  std::vector<EntryRef> entries = delta.namespace_ ? store_->EntriesIn(scope) : store_->Entries();
  const bool initial = !delta.is_part && synced_namespaces_.insert(scope).second;
  if (delta.applied) {
    *delta.applied = true;
  }
  if (old_table.empty()) {
    TellAll(std::move(entries), initial);
  } else {
    TellDifference(old_table, entries);
  }
}

// An object that could not be read may be any of the stored objects that the new state does not
// have. Therefore no listener is told that one of those was deleted until a state could be read
// completely.
void Distributor::KeepUnnamed(ReplaceDelta& delta) const {
  for (EntryRef& old :
       delta.namespace_ ? store_->EntriesIn(*delta.namespace_) : store_->Entries()) {
    if (!delta.table.Find(old->namespace_(), old->name()) && !delta.deleted.contains(old->key())) {
      delta.table.Insert(std::move(old));
    }
  }
}

void Distributor::TellAll(std::vector<EntryRef> entries, bool initial) {
  const auto snapshot = std::make_shared<const Snapshot>(
      store_, std::move(entries), initial ? Snapshot::Kind::kInitialAdd : Snapshot::Kind::kAdd);
  for (const auto& listener : listeners_.All()) {
    listener->PushSnapshot(snapshot);
  }
}

void Distributor::TellDifference(const EntryTable& old_table,
                                 const std::vector<EntryRef>& entries) {
  constexpr std::size_t kEventsAtOnce = 128;
  std::vector<std::shared_ptr<const PackedEvent>> events;
  const auto tell = [&](RawEvent::Type type, const EntryRef& object, const EntryRef& old,
                        bool final_state_unknown) {
    events.push_back(std::make_shared<const PackedEvent>(
        store_, type, object, old, RawEvent::Flags{.final_state_unknown = final_state_unknown}));
    if (events.size() == kEventsAtOnce) {
      Tell(events);
    }
  };
  old_table.ForEach([&](const EntryRef& old) {
    if (!store_->Find(old->namespace_(), old->name())) {
      tell(RawEvent::Type::kDelete, old, old, true);
    }
  });
  for (const EntryRef& entry : entries) {
    const EntryRef old = old_table.Find(entry->namespace_(), entry->name());
    if (!old) {
      tell(RawEvent::Type::kAdd, entry, {}, false);
    } else if (!SameContent(*old, *entry)) {
      tell(RawEvent::Type::kUpdate, entry, old, false);
    }
  }
  Tell(events);
}

void Distributor::On(BookmarkDelta&& delta) {
  store_->SetResourceVersion(delta.namespace_, delta.resource_version);
}

void Distributor::On(ResyncDelta&&) {
  std::shared_ptr<const Snapshot> snapshot;
  for (const auto& listener : listeners_.All()) {
    if (listener->TakeResync()) {
      if (!snapshot) {
        snapshot =
            std::make_shared<const Snapshot>(store_, store_->Entries(), Snapshot::Kind::kResync);
      }
      listener->PushSnapshot(snapshot);
    }
  }
}

void Distributor::Tell(std::vector<std::shared_ptr<const PackedEvent>>& events,
                       base::OrderedTask::Hurry hurry) {
  if (events.empty()) {
    return;
  }
  for (const auto& listener : listeners_.All()) {
    listener->Push(events, hurry);
  }
  events.clear();
}

}  // namespace kubexx::cache
