// Packs entries that are in a PackedStore already: those that have come as they were, and those of
// an older dictionary.
#include <algorithm>
#include <utility>
#include <vector>

#include "kubexx/cache/internal/packed/packed_store.h"

namespace kubexx::cache {
namespace {

// With each change at most so many slots are looked at, and at most so many entries are packed
// again.
constexpr std::size_t kSlotsAChange = 64;
constexpr std::size_t kRepacksAChange = 2;

}  // namespace

void PackedStore::PackOverdue() {
  std::vector<EntryRef> overdue;
  {
    base::MutexLock lock(mu_);
    overdue = waiting_.TakeOverdue(table_);
  }
  std::vector<std::pair<EntryRef, EntryRef>> replacements;
  replacements.reserve(overdue.size());
  for (EntryRef& entry : overdue) {
    EntryRef packed = PackedNow(*entry);
    replacements.emplace_back(std::move(entry), std::move(packed));
  }
  ReplaceIfSame(replacements);
}

EntryRef PackedStore::PackedNow(const Entry& entry) {
  const Packed packed = packer_.Pack(entry.packed());
  return Entry::WithBytes(
      entry,
      {.compressed = packed.compressed, .dictionary = packed.dictionary, .bytes = packed.bytes});
}

// Returns null when the entry would not become smaller.
EntryRef PackedStore::Repacked(const Entry& entry) {
  const auto object = Unpack(entry);
  if (!object) {
    return {};
  }
  auto again = Pack(*object, entry.content_hash());
  return again && (*again)->size() < entry.size() ? std::move(*again) : EntryRef();
}

// The first objects of a full state were packed before there was a dictionary, so they are several
// times larger than necessary, and may never change afterwards. There are only as many of them as
// the training needs.
void PackedStore::RepackEarly(EntryTable& table) {
  if (packer_.dictionary() == 0) {
    return;
  }
  std::vector<EntryRef> repacked;
  table.ForEach([&](const EntryRef& entry) {
    if (entry->compressed() && entry->dictionary() == 0) {
      if (EntryRef again = Repacked(*entry)) {
        repacked.push_back(std::move(again));
      }
    }
  });
  for (EntryRef& entry : repacked) {
    table.Insert(std::move(entry));
  }
}

// Returns a few entries of an older dictionary, which the walk over the slots meets.
std::vector<EntryRef> PackedStore::StaleEntries(std::uint8_t dictionary) {
  std::vector<EntryRef> stale;
  base::MutexLock lock(mu_);
  if (swept_for_ != dictionary || sweep_slots_ != table_.slots()) {
    // The walk begins anew, because there is a new dictionary or the table has moved its entries.
    swept_for_ = dictionary;
    sweep_slots_ = table_.slots();
    sweep_ = 0;
  }
  const std::size_t end = std::min(table_.slots(), sweep_ + kSlotsAChange);
  for (; sweep_ < end && stale.size() < kRepacksAChange; ++sweep_) {
    const EntryRef& entry = table_.At(sweep_);
    if (entry && entry->compressed() && entry->dictionary() != dictionary) {
      stale.push_back(entry);
    }
  }
  return stale;
}

void PackedStore::RepackSome() {
  const std::uint8_t dictionary = packer_.dictionary();
  if (dictionary == 0) {
    return;
  }
  std::vector<std::pair<EntryRef, EntryRef>> replacements;
  for (EntryRef& entry : StaleEntries(dictionary)) {
    if (EntryRef again = Repacked(*entry)) {
      replacements.emplace_back(std::move(entry), std::move(again));
    }
  }
  ReplaceIfSame(replacements);
}

// An entry that has changed meanwhile is newer than its replacement, so it is left alone.
void PackedStore::ReplaceIfSame(const std::vector<std::pair<EntryRef, EntryRef>>& replacements) {
  if (replacements.empty()) {
    return;
  }
  base::MutexLock lock(mu_);
  ReplaceIfSameLocked(replacements);
}

void PackedStore::ReplaceIfSameLocked(
    const std::vector<std::pair<EntryRef, EntryRef>>& replacements) {
  for (const auto& [old, now] : replacements) {
    if (table_.Has(*old) && now->terms_version() == indexers_->version()) {
      PutLocked(now);
    }
  }
}

}  // namespace kubexx::cache
