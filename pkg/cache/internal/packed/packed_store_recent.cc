// What changed lately is kept as it came and packed later: objects change several times in a row,
// mostly, and then packing and unpacking the states in between would be for nothing.
#include <utility>

#include "kubexx/cache/internal/packed/packed_store.h"

namespace kubexx::cache {
namespace {

// Of all states that wait, those that were replaced since included.
constexpr std::size_t kMaxRecentBytes = 2 << 20;

}  // namespace

apimachinery::Result<EntryRef> PackedStore::MakeRecent(const Object& object,
                                                       std::uint64_t content_hash) {
  // Without a dictionary there is more to learn first; a large object would drive out many others.
  if (packer_.dictionary() == 0 || object.bytes.size() > kMaxRecentBytes / 8) {
    return Pack(object, content_hash);
  }
  return NewEntry(object, content_hash, {.bytes = object.bytes});
}

void PackedStore::PackLater(std::span<const EntryRef> entries) {
  if (packer_.dictionary() == 0) {
    return;
  }
  std::vector<EntryRef> due;
  {
    base::MutexLock lock(mu_);
    for (const EntryRef& entry : entries) {
      if (!entry->compressed() && entry->raw_size() <= kMaxRecentBytes / 8) {
        recent_.push_back(entry);
        recent_bytes_ += entry->size();
      }
    }
    while (recent_bytes_ > kMaxRecentBytes) {
      recent_bytes_ -= recent_.front()->size();
      if (table_.Has(*recent_.front())) {
        due.push_back(std::move(recent_.front()));
      }
      recent_.pop_front();
    }
  }
  for (const EntryRef& old : due) {
    PackNow(old);
  }
}

void PackedStore::PackNow(const EntryRef& old) {
  const auto object = Unpack(*old);
  if (!object) {
    return;
  }
  auto packed = Pack(*object, old->content_hash());
  if (!packed) {
    return;
  }
  ReplaceIfSame({{old, std::move(*packed)}});
}

}  // namespace kubexx::cache
