#include "kubexx/cache/internal/packed/packed_store.h"

#include <utility>

#include "kubexx/cache/internal/packed/content_hash.h"
#include "kubexx/logging/log.h"

namespace kubexx::cache {

using apimachinery::Fail;
using apimachinery::ObjectKey;
using apimachinery::Result;

namespace {

// The number of objects that a store keeps for its next reads. It is about the number of concurrent
// readers; an unusually large object is not kept.
constexpr std::size_t kMaxScratches = 4;
constexpr std::size_t kMaxScratchBytes = std::size_t{64} * 1024;
// A larger object would push out many others that wait to be packed.
constexpr std::size_t kMaxWaiting = WaitingEntries::kMinRoom / 8;

EntryParts PartsOf(const Entry& entry, const ObjectKey& key) {
  return {.key = key,
          .resource_version = entry.resource_version(),
          .terms = entry.encoded_terms(),
          .terms_version = entry.terms_version(),
          .encoding = entry.encoding(),
          .raw_size = entry.raw_size(),
          .content_hash = entry.content_hash(),
          .compressed = entry.compressed(),
          .dictionary = entry.dictionary(),
          .changed = entry.changed(),
          .waits = entry.waits(),
          .packed = entry.packed()};
}

}  // namespace

std::uint64_t PackedStore::HashContent(const Object& object) {
  const std::uint64_t hash = internal::ContentHash(object.bytes);
  return object.encoding == codec::Encoding::kJson ? ~hash : hash;
}

Result<EntryRef> PackedStore::Pack(const Object& object, std::uint64_t content_hash) {
  Packed packed = packer_.Pack(object.bytes);
  if (packed.compressed && packed.dictionary == 0 && packer_.dictionary() != 0) {
    packed = packer_.Pack(object.bytes);  // this object was the last one that the dictionary needed
  }
  return NewEntry(
      object, content_hash,
      {.compressed = packed.compressed, .dictionary = packed.dictionary, .bytes = packed.bytes},
      false);
}

// Most objects that change do so several times in a row, and to pack and unpack the states in
// between would be wasted.
Result<EntryRef> PackedStore::MakeRecent(const Object& object, std::uint64_t content_hash) {
  // While there is no dictionary, objects have to be packed at once to be learnt from.
  if (packer_.dictionary() == 0 || object.bytes.size() > kMaxWaiting) {
    return Pack(object, content_hash);
  }
  return NewEntry(object, content_hash, {.bytes = object.bytes}, true);
}

Result<EntryRef> PackedStore::NewEntry(const Object& object, std::uint64_t content_hash,
                                       const PackedView& packed, bool waits) const {
  const IndexerSetRef indexers = this->indexers();
  const std::string terms = indexers->Encode(object);
  return Entry::New({.key = object.key,
                     .resource_version = object.resource_version,
                     .terms = terms,
                     .terms_version = indexers->version(),
                     .encoding = object.encoding,
                     .raw_size = object.bytes.size(),
                     .content_hash = content_hash,
                     .compressed = packed.compressed,
                     .dictionary = packed.dictionary,
                     .changed = waits,
                     .waits = waits,
                     .packed = packed.bytes});
}

Result<Object> PackedStore::Unpack(const Entry& entry) const {
  KX_ASSIGN_OR_RETURN(std::string bytes, packer_.Unpack(entry.compressed(), entry.dictionary(),
                                                        entry.packed(), entry.raw_size()));
  return Object{.encoding = entry.encoding(),
                .bytes = std::move(bytes),
                .key = entry.key(),
                .resource_version = std::string(entry.resource_version())};
}

Object PackedStore::TakeScratch() const {
  base::MutexLock lock(scratch_mu_);
  if (scratch_.empty()) {
    return {};
  }
  Object scratch = std::move(scratch_.back());
  scratch_.pop_back();
  return scratch;
}

void PackedStore::GiveScratch(Object scratch) const {
  if (scratch.bytes.capacity() > kMaxScratchBytes) {
    return;
  }
  base::MutexLock lock(scratch_mu_);
  if (scratch_.size() < kMaxScratches) {
    scratch_.push_back(std::move(scratch));
  }
}

Result<void> PackedStore::Read(const Entry& entry,
                               base::FunctionRef<void(const Object&)> read) const {
  Object object = TakeScratch();
  KX_RETURN_IF_ERROR(packer_.UnpackTo(object.bytes, entry.compressed(), entry.dictionary(),
                                      entry.packed(), entry.raw_size()));
  object.encoding = entry.encoding();
  object.key = entry.key();
  object.resource_version.assign(entry.resource_version());
  read(object);
  GiveScratch(std::move(object));
  return {};
}

PackedStore::IndexerSetRef PackedStore::indexers() const {
  base::MutexLock lock(indexers_mu_);
  return given_indexers_;
}

std::shared_ptr<const IndexerSet> PackedStore::whole_indexers() const {
  base::MutexLock lock(indexers_mu_);
  return given_whole_indexers_;
}

Result<void> PackedStore::AddIndexers(Indexers indexers) {
  return ExtendIndexers([&](const IndexerSet& current) { return current.With(indexers); });
}

Result<void> PackedStore::AddIndexer(TermsFunc terms) {
  return ExtendIndexers([&](const IndexerSet& current) { return current.With(terms); });
}

// A caller that is told that an index exists goes on to use it. So it returns only when the index
// is complete, too. It does the work itself: the functions are the user's, and when one of them
// hangs in another caller, this one must not hang with it.
Result<void> PackedStore::ExtendIndexers(Extend extend) {
  Result<void> extended;
  {
    base::MutexLock lock(mu_);
    if (Result<IndexerSetRef> next = extend(*indexers_)) {
      indexers_ = *std::move(next);
      base::MutexLock given_lock(indexers_mu_);
      given_indexers_ = indexers_;
    } else {
      extended = Fail(std::move(next).error());
    }
  }
  while (!AllIndexed()) {
    IndexExisting();
  }
  return extended;
}

bool PackedStore::AllIndexed() const {
  base::MutexLock lock(mu_);
  return whole_indexers_ == indexers_;
}

// As soon as a set is in place, no entry without its terms gets into the table. So one pass over
// the entries that were there before is enough, unless another caller puts the next set in place
// meanwhile. In that case the table refuses the entries that the pass has made, and every caller
// whose functions are in the next set has to make sure that the objects get the terms of that set.
// No lock makes the callers take turns, because the functions are the user's. The number of sets is
// limited, so this ends.
//
// The pass replaces the entries batch by batch, so that memory does not hold all of them twice.
// Until the pass has ended, readers do not see the additional terms that the entries of its batches
// have.
void PackedStore::IndexExisting() {
  constexpr std::size_t kBatch = 64;
  IndexerSetRef indexers;
  std::vector<EntryRef> entries;
  {
    base::MutexLock lock(mu_);
    indexers = indexers_;
    entries = table_.Entries();
  }
  std::vector<std::pair<EntryRef, EntryRef>> replacements;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    EntryRef indexed = Indexed(entries[i], *indexers);
    if (indexed != entries[i]) {
      replacements.emplace_back(std::move(entries[i]), std::move(indexed));
    }
    if (replacements.size() == kBatch) {
      base::MutexLock lock(mu_);
      if (!CurrentLocked(*indexers)) {
        return;  // the table would refuse the rest
      }
      ReplaceIfSameLocked(replacements);
      replacements.clear();
    }
  }
  base::MutexLock lock(mu_);
  if (CurrentLocked(*indexers)) {
    ReplaceIfSameLocked(replacements);
    whole_indexers_ = indexers;
    base::MutexLock given_lock(indexers_mu_);
    given_whole_indexers_ = indexers;
  }
}

EntryRef PackedStore::Indexed(EntryRef entry, const IndexerSet& indexers) const {
  if (entry->terms_version() == indexers.version()) {
    return entry;
  }
  const Result<Object> object = Unpack(*entry);
  if (!object) {
    logging::Error("Cannot index a cached object",
                   {{"key", entry->key().ToString()}, {"error", object.error()}});
    return entry;
  }
  const std::string terms = indexers.Encode(*object);
  EntryParts parts = PartsOf(*entry, object->key);
  parts.terms = terms;
  parts.terms_version = indexers.version();
  Result<EntryRef> indexed = Entry::New(parts);
  return indexed ? std::move(*indexed) : entry;
}

void PackedStore::IndexAll(EntryTable& table, const IndexerSet& indexers) const {
  std::vector<EntryRef> changed;
  table.ForEach([&](const EntryRef& entry) {
    if (EntryRef indexed = Indexed(entry, indexers); indexed != entry) {
      changed.push_back(std::move(indexed));
    }
  });
  for (EntryRef& entry : changed) {
    table.Insert(std::move(entry));
  }
}

EntryRef PackedStore::PutLocked(EntryRef entry) {
  EntryRef old = table_.Insert(entry);
  waiting_.Put(*entry, old.get());
  index_.Put(entry, old.get());
  return old;
}

EntryRef PackedStore::RemoveLocked(std::string_view namespace_, std::string_view name) {
  EntryRef old = table_.Erase(namespace_, name);
  if (old) {
    waiting_.Remove(*old);
    index_.Remove(*old);
  }
  return old;
}

EntryRef PackedStore::Put(EntryRef entry) {
  std::vector<Change> changes(1);
  changes[0].resource_version = entry->resource_version();
  changes[0].entry = std::move(entry);
  Apply(changes);
  return std::move(changes[0].entry);
}

EntryRef PackedStore::Remove(const ObjectKey& key) {
  base::MutexLock lock(mu_);
  return RemoveLocked(key.namespace_, key.name);
}

void PackedStore::Apply(std::vector<Change>& changes) {
  for (bool applied = false; !applied;) {
    const IndexerSetRef indexers = this->indexers();
    for (Change& change : changes) {
      if (change.entry) {
        change.entry = Indexed(std::move(change.entry), *indexers);
      }
    }
    base::MutexLock lock(mu_);
    if (!CurrentLocked(*indexers)) {
      continue;
    }
    std::string_view version;
    for (Change& change : changes) {
      if (options_.version_per_namespace) {
        SetVersionLocked(change.entry ? change.entry->namespace_() : change.key.namespace_,
                         change.resource_version);
      } else if (!change.resource_version.empty()) {
        version = change.resource_version;
      }
      change.entry = change.entry ? PutLocked(std::move(change.entry))
                                  : RemoveLocked(change.key.namespace_, change.key.name);
    }
    SetVersionLocked({}, version);
    applied = true;
  }
  constexpr std::size_t kChangesARepack = 128;
  for (std::size_t i = 0; i < changes.size(); i += kChangesARepack) {
    RepackSome();
  }
}

EntryTable PackedStore::Swap(EntryTable table, std::string_view resource_version) {
  RepackEarly(table);
  while (true) {
    const IndexerSetRef indexers = this->indexers();
    TermIndex index;
    if (!indexers->empty()) {
      IndexAll(table, *indexers);
      table.ForEach([&index](const EntryRef& entry) { index.Put(entry, nullptr); });
    }
    base::MutexLock lock(mu_);
    if (!CurrentLocked(*indexers)) {
      continue;
    }
    std::swap(table_, table);
    std::swap(index_, index);
    waiting_.Reset(table_);
    sweep_ = 0;
    versions_.clear();
    SetVersionLocked({}, resource_version);
    return table;
  }
}

EntryTable PackedStore::SwapNamespace(std::string_view namespace_, EntryTable table,
                                      std::string_view resource_version) {
  RepackEarly(table);
  while (true) {
    const IndexerSetRef indexers = this->indexers();
    IndexAll(table, *indexers);
    base::MutexLock lock(mu_);
    if (!CurrentLocked(*indexers)) {
      continue;
    }
    EntryTable old;
    for (EntryRef& entry : EntriesInLocked(namespace_)) {
      if (!table.Find(entry->namespace_(), entry->name())) {
        RemoveLocked(entry->namespace_(), entry->name());
      }
      old.Insert(std::move(entry));
    }
    for (EntryRef& entry : table.Entries()) {
      PutLocked(std::move(entry));
    }
    SetVersionLocked(namespace_, resource_version);
    return old;
  }
}

void PackedStore::SetVersionLocked(std::string_view namespace_, std::string_view resource_version) {
  if (resource_version.empty()) {
    return;
  }
  const std::string_view scope = options_.version_per_namespace ? namespace_ : "";
  if (const auto found = versions_.find(scope); found != versions_.end()) {
    found->second = resource_version;
  } else {
    versions_.emplace(scope, resource_version);
  }
}

void PackedStore::SetResourceVersion(std::string_view namespace_,
                                     std::string_view resource_version) {
  base::MutexLock lock(mu_);
  SetVersionLocked(namespace_, resource_version);
}

}  // namespace kubexx::cache
