#include "kubexx/cache/distributor.h"

#include <utility>

#include "kubexx/logging/log.h"

namespace kubexx::cache {
namespace {

bool SameContent(const Entry& a, const Entry& b) {
  return &a == &b ||
         (!a.resource_version().empty() && a.resource_version() == b.resource_version() &&
          a.content_hash() == b.content_hash());
}

}  // namespace

void ListenerSet::Add(const std::shared_ptr<Listener>& listener) {
  base::MutexLock lock(mu_);
  if (listener->closed()) {
    return;
  }
  listener->SetBounded(bounded_);
  listeners_.push_back(listener);
  if (running_) {
    listener->StartThread();
  }
}

void ListenerSet::Remove(const Listener* listener) {
  base::MutexLock lock(mu_);
  std::erase_if(listeners_, [listener](const auto& each) { return each.get() == listener; });
}

std::vector<std::shared_ptr<Listener>> ListenerSet::All() const {
  base::MutexLock lock(mu_);
  return listeners_;
}

void ListenerSet::Start() {
  base::MutexLock lock(mu_);
  running_ = true;
  for (const auto& listener : listeners_) {
    listener->StartThread();
  }
}

void ListenerSet::Stop() {
  std::vector<std::shared_ptr<Listener>> listeners;
  {
    base::MutexLock lock(mu_);
    running_ = false;
    listeners = listeners_;
  }
  for (const auto& listener : listeners) {
    listener->StopThread();
  }
}

void ListenerSet::SetBounded(bool bounded) {
  base::MutexLock lock(mu_);
  bounded_ = bounded;
  for (const auto& listener : listeners_) {
    listener->SetBounded(bounded);
  }
}

void Distributor::Apply(Delta&& delta) {
  std::visit([this](auto&& each) { On(std::move(each)); }, std::move(delta));
}

void Distributor::Attach(const std::shared_ptr<Listener>& listener, bool synced) {
  listener->PushSnapshot(store_->Entries());
  if (synced) {
    listener->PushSynced();
  }
  listeners_.Add(listener);
}

void Distributor::On(UpsertDelta&& delta) {
  auto entry = store_->PackLater(delta.object, delta.content_hash);
  if (!entry) {
    logging::Error("cannot cache an object",
                   {{"name", delta.object.key.name.substr(0, 256)}, {"error", entry.error()}});
    return;
  }
  EntryRef old = store_->Put(*entry);
  if (!old) {
    Tell(RawEvent::Type::kAdd, std::move(*entry), {});
  } else if (!SameContent(*old, **entry)) {
    Tell(RawEvent::Type::kUpdate, std::move(*entry), std::move(old));
  }
}

void Distributor::On(DeleteDelta&& delta) {
  EntryRef old = store_->Remove(delta.object.key);
  store_->SetResourceVersion(delta.object.resource_version);
  if (!old) {
    return;  // nobody was told that it exists
  }
  if (delta.object.bytes.empty()) {
    Tell(RawEvent::Type::kDelete, std::move(old), {}, {.final_state_unknown = true});
    return;
  }
  auto last = store_->Pack(delta.object);
  Tell(RawEvent::Type::kDelete, last ? std::move(*last) : std::move(old), {});
}

void Distributor::On(ReplaceDelta&& delta) {
  const EntryTable old_table = store_->Swap(std::move(delta.table), delta.resource_version);
  const std::vector<EntryRef> entries = store_->Entries();
  for (const EntryRef& old : old_table.Entries()) {
    if (!store_->Find(old->key())) {
      Tell(RawEvent::Type::kDelete, old, {}, {.final_state_unknown = true});
    }
  }
  const RawEvent::Flags flags{.is_in_initial_list = !ever_synced_};
  for (const EntryRef& entry : entries) {
    EntryRef old = old_table.Find(entry->namespace_(), entry->name());
    if (!old) {
      Tell(RawEvent::Type::kAdd, entry, {}, flags);
    } else if (!SameContent(*old, *entry)) {
      Tell(RawEvent::Type::kUpdate, entry, std::move(old));
    }
  }
  ever_synced_ = true;
  for (const auto& listener : listeners_.All()) {
    listener->PushSynced();
  }
}

void Distributor::On(BookmarkDelta&& delta) { store_->SetResourceVersion(delta.resource_version); }

void Distributor::On(ResyncDelta&&) {
  for (const EntryRef& entry : store_->Entries()) {
    Tell(RawEvent::Type::kUpdate, entry, entry);
  }
}

void Distributor::Tell(RawEvent::Type type, EntryRef object, EntryRef old, RawEvent::Flags flags) {
  const auto listeners = listeners_.All();
  if (listeners.empty()) {
    return;
  }
  const auto event =
      std::make_shared<const RawEvent>(store_, type, std::move(object), std::move(old), flags);
  for (const auto& listener : listeners) {
    listener->Push(event);
  }
}

}  // namespace kubexx::cache
