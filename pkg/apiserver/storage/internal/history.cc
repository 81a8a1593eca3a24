#include "kubexx/apiserver/storage/internal/history.h"

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace kubexx::apiserver::storage::internal {

using apimachinery::Result;

Result<KeyValue> ToKeyValue(const Item& item) {
  KeyValue kv;
  if (item.key) {
    kv.key = *item.key;
  }
  KX_ASSIGN_OR_RETURN(kv.value, ValueOf(item.value));
  kv.create_revision = item.create;
  kv.mod_revision = item.mod;
  return kv;
}

Result<std::shared_ptr<const Event>> ToEvent(const Change& change) {
  auto event = std::make_shared<Event>();
  event->type = change.now.value ? Event::Type::kPut : Event::Type::kDelete;
  KX_ASSIGN_OR_RETURN(event->kv, ToKeyValue(change.now));
  KX_ASSIGN_OR_RETURN(event->prev, ToKeyValue(change.before));
  return event;
}

History::~History() {
  for (auto& [key, newest] : keys_) {
    // The chain is destroyed one by one. From its head, the destructor would recurse as deep as the
    // chain is long.
    std::unique_ptr<Version> version = std::move(newest->previous);
    while (version) {
      version = std::move(version->previous);
    }
  }
}

Item History::ItemOf(const Version* version) {
  Item item;
  if (version != nullptr) {
    item.key = version->key;
    item.value = version->value;
    item.create = version->create;
    item.mod = version->mod;
  }
  return item;
}

const History::Version* History::LiveAt(const Version* newest, Revision revision) {
  while (newest != nullptr && newest->mod > revision) {
    newest = newest->previous.get();
  }
  return newest != nullptr && newest->value ? newest : nullptr;
}

Item History::Find(std::string_view key, Revision revision) const {
  const auto found = keys_.find(key);
  return found == keys_.end() ? Item() : ItemOf(LiveAt(found->second.get(), revision));
}

void History::AddLive(const Version& version) {
  ++live_keys_;
  live_bytes_ += version.key->size() + version.value->raw_size;
}

void History::SubtractLive(const Version& version) {
  --live_keys_;
  live_bytes_ -= version.key->size() + version.value->raw_size;
}

Item History::Write(std::string_view key, BlobRef value, base::TimePoint now) {
  auto version = std::make_unique<Version>();
  version->mod = ++current_;
  version->create = current_;
  version->value = std::move(value);
  if (version->value) {
    value_bytes_ += version->value->bytes.size();
  }
  const auto found = keys_.find(key);
  if (found != keys_.end()) {
    Version& before = *found->second;
    version->key = before.key;
    if (before.value) {
      version->create = before.create;
      SubtractLive(before);
    }
    version->previous = std::move(found->second);
    past_bytes_ += BytesOf(version->previous.get());
  } else {
    version->key = std::make_shared<const std::string>(key);
  }
  if (version->value) {
    AddLive(*version);
  } else {
    version->create = 0;
  }
  log_.push_back({.version = version.get(), .time = now, .event = nullptr});
  Item written = ItemOf(version.get());
  if (found != keys_.end()) {
    found->second = std::move(version);
  } else {
    const std::string_view view = *version->key;
    keys_.emplace(view, std::move(version));
  }
  return written;
}

void History::Undo(Revision kept) {
  while (current_ > kept && !log_.empty()) {
    // The newest version of its key, because it is the last one.
    Version* const version = log_.back().version;
    log_.pop_back();
    --current_;
    if (version->value) {
      value_bytes_ -= version->value->bytes.size();
      SubtractLive(*version);
    }
    const auto found = keys_.find(*version->key);
    std::unique_ptr<Version> previous = std::move(version->previous);
    past_bytes_ -= BytesOf(previous.get());
    if (previous && previous->value) {
      AddLive(*previous);
    } else if (previous && previous->mod < first()) {
      previous.reset();  // a deletion that Trim would have removed as the newest version
    }
    if (previous) {
      found->second = std::move(previous);
    } else {
      keys_.erase(found);
    }
  }
}

void History::Restore(std::string_view key, BlobRef value, Revision create, Revision mod) {
  auto version = std::make_unique<Version>();
  version->key = std::make_shared<const std::string>(key);
  version->value = std::move(value);
  version->create = create;
  version->mod = mod;
  const std::string_view view = *version->key;
  const auto [place, added] = keys_.emplace(view, nullptr);
  if (added) {
    value_bytes_ += version->value->bytes.size();
    AddLive(*version);
    place->second = std::move(version);
  }
}

void History::SetBase(Revision base) { current_ = compacted_ = base; }

Range History::List(std::string_view prefix, std::string_view after, Revision revision,
                    std::size_t limit) const {
  Range range;
  auto at = after > prefix ? keys_.upper_bound(after) : keys_.lower_bound(prefix);
  for (; at != keys_.end() && at->first.starts_with(prefix); ++at) {
    const Version* version = LiveAt(at->second.get(), revision);
    if (version == nullptr) {
      continue;
    }
    if (limit != 0 && range.items.size() == limit) {
      ++range.remaining;
    } else {
      range.items.push_back(ItemOf(version));
    }
  }
  return range;
}

std::int64_t History::Count(std::string_view prefix, Revision revision) const {
  std::int64_t count = 0;
  for (auto at = keys_.lower_bound(prefix); at != keys_.end() && at->first.starts_with(prefix);
       ++at) {
    count += LiveAt(at->second.get(), revision) != nullptr ? 1 : 0;
  }
  return count;
}

History::Entry& History::EntryAt(Revision revision) {
  return log_[static_cast<std::size_t>(revision - first())];
}
const History::Entry& History::EntryAt(Revision revision) const {
  return log_[static_cast<std::size_t>(revision - first())];
}

Change History::ChangeAt(Revision revision) const {
  const Version* version = EntryAt(revision).version;
  Change change;
  change.now = ItemOf(version);
  const Version* before = version->previous.get();
  change.before = ItemOf(before != nullptr && before->value ? before : nullptr);
  return change;
}

const std::string& History::KeyAt(Revision revision) const {
  return *EntryAt(revision).version->key;
}

std::shared_ptr<const Event>& History::EventAt(Revision revision) {
  return EntryAt(revision).event;
}

void History::Repack(std::string_view key, Revision mod, const BlobRef& packed) {
  const auto found = keys_.find(key);
  Version* newer = nullptr;
  Version* version = found == keys_.end() ? nullptr : found->second.get();
  while (version != nullptr && version->mod > mod) {
    newer = std::exchange(version, version->previous.get());
  }
  if (version != nullptr && version->mod == mod && version->value) {
    const std::size_t before = BytesOf(version);
    version->value = packed;
    value_bytes_ += packed->bytes.size() - before;  // Unsigned numbers wrap in both directions.
    if (newer != nullptr && newer->mod > compacted_) {
      past_bytes_ += packed->bytes.size() - before;
    }
  }
  if (mod >= first() && mod <= current_) {
    EventAt(mod) = nullptr;  // it holds the uncompressed value
  }
}

std::size_t History::BytesOf(const Version* version) {
  return version != nullptr && version->value ? version->value->bytes.size() : 0;
}

void History::Compact(Revision revision) {
  while (compacted_ < revision) {
    // Nobody can ask for what was before the change any more.
    past_bytes_ -= BytesOf(EntryAt(++compacted_).version->previous.get());
  }
}

void History::CompactOld(std::size_t keep, base::TimePoint oldest, Revision limit) {
  // The entry of the compacted revision itself is no longer needed, because no watch starts before
  // it.
  while (compacted_ < limit && compacted_ < current_ &&
         (static_cast<std::size_t>(current_ - compacted_) > keep ||
          EntryAt(compacted_ + 1).time < oldest)) {
    Compact(compacted_ + 1);
  }
}

void History::CompactLarge(std::size_t bytes, Revision limit) {
  while (past_bytes_ > bytes && compacted_ < limit && compacted_ < current_) {
    Compact(compacted_ + 1);
  }
}

void History::DropOlder(Version& version) {
  std::unique_ptr<Version> older = std::move(version.previous);
  while (older) {
    if (older->value) {
      value_bytes_ -= older->value->bytes.size();
    }
    older = std::move(older->previous);
  }
}

bool History::Trim(std::size_t steps) {
  for (; steps > 0 && !log_.empty() && first() <= compacted_; --steps) {
    Version* version = log_.front().version;
    log_.pop_front();
    DropOlder(*version);
    const auto found = keys_.find(*version->key);
    if (!version->value && found->second.get() == version) {
      keys_.erase(found);
    }
  }
  return !log_.empty() && first() <= compacted_;
}

}  // namespace kubexx::apiserver::storage::internal
