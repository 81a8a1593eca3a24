// Keeps objects that have changed lately as they came, and packs them later. Most objects that
// change do so several times in a row, and to pack and unpack the states in between would be
// wasted.
#include <utility>
#include <vector>

#include "kubexx/cache/internal/packed/packed_store.h"

namespace kubexx::cache {
namespace {

// A larger object would push out many others.
constexpr std::size_t kMaxWaiting = WaitingEntries::kMinRoom / 8;

}  // namespace

apimachinery::Result<EntryRef> PackedStore::MakeRecent(const Object& object,
                                                       std::uint64_t content_hash) {
  // While there is no dictionary, objects have to be packed at once to be learnt from.
  if (packer_.dictionary() == 0 || object.bytes.size() > kMaxWaiting) {
    return Pack(object, content_hash);
  }
  return NewEntry(object, content_hash, {.bytes = object.bytes}, true);
}

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

}  // namespace kubexx::cache
