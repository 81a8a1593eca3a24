#include "kubexx/cache/internal/informer/snapshot.h"

namespace kubexx::cache {

std::shared_ptr<const PackedEvent> Snapshot::EventAt(std::size_t i) const {
  base::MutexLock lock(mu_);
  Recent& slot = recent_[i % kRecent];
  if (!slot.event || slot.index != i) {
    const bool resync = kind_ == Kind::kResync;
    slot.index = i;
    slot.event = std::make_shared<const PackedEvent>(
        store_, resync ? RawEvent::Type::kUpdate : RawEvent::Type::kAdd, entries_[i],
        resync ? entries_[i] : EntryRef(),
        RawEvent::Flags{.is_in_initial_list = kind_ == Kind::kInitialAdd});
  }
  return slot.event;
}

}  // namespace kubexx::cache
