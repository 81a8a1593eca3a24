#include "kubexx/cache/internal/packed/waiting_entries.h"

#include <algorithm>
#include <unordered_set>
#include <utility>

namespace kubexx::cache {
namespace {

// The number of places of entries that are gone is limited to this many for each entry that waits,
// plus the constant below.
constexpr std::size_t kMaxGoneForEach = 3;
constexpr std::size_t kMaxGonePlaces = 1024;
// The factors by which the room grows with each byte that was packed in vain, and shrinks with each
// byte that was not.
constexpr std::size_t kGrowth = 2;
constexpr std::size_t kShrinking = 2;

}  // namespace

void WaitingEntries::Put(const Entry& entry, const Entry* old) {
  if (old != nullptr) {
    Remove(*old);
  }
  if (!entry.waits()) {
    return;
  }
  ++count_;
  bytes_ += entry.size();
  if (old == &entry) {
    return;
  }
  places_.push_back({&entry, entry.key_hash(), entry.content_hash()});
  if (old == nullptr || !old->changed()) {
    room_ -= std::min(room_ - kMinRoom, entry.size() / kShrinking);
  } else if (!old->waits()) {
    room_ = std::min(kMaxRoom, room_ + kGrowth * entry.size());
  }
}

void WaitingEntries::Remove(const Entry& old) {
  if (old.waits()) {
    --count_;
    bytes_ -= old.size();
  }
}

void WaitingEntries::Reset(const EntryTable& table) {
  count_ = 0;
  bytes_ = 0;
  table.ForEach([this](const EntryRef& entry) {
    if (entry->waits()) {
      ++count_;
      bytes_ += entry->size();
    }
  });
}

std::vector<EntryRef> WaitingEntries::TakeOverdue(const EntryTable& table) {
  std::vector<EntryRef> overdue;
  for (std::size_t left = bytes_; left > room_ && !places_.empty(); places_.pop_front()) {
    if (EntryRef entry = Find(table, places_.front())) {
      left -= std::min(left, entry->size());
      overdue.push_back(std::move(entry));
    }
  }
  if (places_.size() > (1 + kMaxGoneForEach) * count_ + kMaxGonePlaces) {
    Compact(table);
  }
  return overdue;
}

EntryRef WaitingEntries::Find(const EntryTable& table, const Place& place) {
  EntryRef entry = table.FindAddress(place.address, place.key_hash);
  return entry && entry->waits() && entry->content_hash() == place.content_hash ? entry
                                                                                : EntryRef();
}

void WaitingEntries::Compact(const EntryTable& table) {
  // The same state of an object may have come twice, and may have been allocated at the same
  // address.
  std::unordered_set<const Entry*> seen;
  std::erase_if(places_, [&](const Place& place) {
    return !Find(table, place) || !seen.insert(place.address).second;
  });
}

}  // namespace kubexx::cache
