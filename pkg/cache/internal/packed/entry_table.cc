#include "kubexx/cache/internal/packed/entry_table.h"

#include <utility>

namespace kubexx::cache {
namespace {

// The number is small, because most index terms have few entries.
constexpr std::size_t kFirstSlots = 2;
constexpr std::size_t kMinShrinkSlots = 16;

}  // namespace

std::size_t EntryTable::FindSlot(std::string_view namespace_, std::string_view name,
                                 std::uint32_t hash) const {
  if (slots_.empty()) {
    return kNone;
  }
  const std::size_t mask = slots_.size() - 1;
  const std::uint8_t tag = TagOf(hash);
  for (std::size_t i = hash & mask;; i = (i + 1) & mask) {
    if (tags_[i] == kEmpty) {
      return i;
    }
    if (tags_[i] != tag) {
      continue;
    }
    const Entry& entry = *slots_[i];
    if (entry.key_hash() == hash && entry.name() == name && entry.namespace_() == namespace_) {
      return i;
    }
  }
}

EntryRef EntryTable::Find(std::string_view namespace_, std::string_view name) const {
  const std::size_t slot = FindSlot(namespace_, name, Entry::HashKey(namespace_, name));
  return slot == kNone ? EntryRef() : slots_[slot];
}

EntryRef EntryTable::FindAddress(const Entry* address, std::uint32_t key_hash) const {
  const std::size_t mask = slots_.empty() ? 0 : slots_.size() - 1;
  for (std::size_t i = key_hash & mask; !slots_.empty() && slots_[i]; i = (i + 1) & mask) {
    if (slots_[i].get() == address) {
      return slots_[i];
    }
  }
  return {};
}

EntryRef EntryTable::Insert(EntryRef entry) {
  // Keeps the table at most three quarters full, so that a probe always ends.
  if ((size_ + 1) * 4 > slots_.size() * 3) {
    Resize(slots_.empty() ? kFirstSlots : slots_.size() * 2);
  }
  const std::size_t place = FindSlot(entry->namespace_(), entry->name(), entry->key_hash());
  EntryRef& slot = slots_[place];
  tags_[place] = TagOf(entry->key_hash());
  entry_bytes_ += entry->size();
  if (slot) {
    entry_bytes_ -= slot->size();
  } else {
    ++size_;
  }
  return std::exchange(slot, std::move(entry));
}

EntryRef EntryTable::Erase(std::string_view namespace_, std::string_view name) {
  std::size_t hole = FindSlot(namespace_, name, Entry::HashKey(namespace_, name));
  if (hole == kNone || !slots_[hole]) {
    return {};
  }
  EntryRef erased = std::exchange(slots_[hole], EntryRef());
  tags_[hole] = kEmpty;
  --size_;
  entry_bytes_ -= erased->size();
  // Moves the following entries of the same run back into the hole, so that probes still reach
  // them.
  const std::size_t mask = slots_.size() - 1;
  for (std::size_t i = (hole + 1) & mask; slots_[i]; i = (i + 1) & mask) {
    const std::size_t home = slots_[i]->key_hash() & mask;
    if (((i - home) & mask) >= ((i - hole) & mask)) {
      Move(i, hole);
      hole = i;
    }
  }
  if (slots_.size() > kMinShrinkSlots && size_ * 8 < slots_.size()) {
    Resize(slots_.size() / 2);
  }
  return erased;
}

void EntryTable::Move(std::size_t from, std::size_t to) {
  slots_[to] = std::exchange(slots_[from], EntryRef());
  tags_[to] = std::exchange(tags_[from], kEmpty);
}

void EntryTable::Resize(std::size_t slots) {
  std::vector<EntryRef> old(slots);
  old.swap(slots_);
  tags_.assign(slots, kEmpty);
  for (EntryRef& entry : old) {
    if (entry) {
      const std::size_t slot = FindSlot(entry->namespace_(), entry->name(), entry->key_hash());
      tags_[slot] = TagOf(entry->key_hash());
      slots_[slot] = std::move(entry);
    }
  }
}

std::vector<EntryRef> EntryTable::Entries() const {
  std::vector<EntryRef> out;
  out.reserve(size_);
  ForEach([&out](const EntryRef& entry) { out.push_back(entry); });
  return out;
}

bool EntryTable::Has(const Entry& entry) const {
  const std::size_t slot = FindSlot(entry.namespace_(), entry.name(), entry.key_hash());
  return slot != kNone && slots_[slot].get() == &entry;
}

}  // namespace kubexx::cache
