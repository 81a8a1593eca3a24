#include "kubexx/cache/packed_store.h"

#include <exception>

#include "kubexx/cache/internal/content_hash.h"
#include "kubexx/logging/log.h"

namespace kubexx::cache {

using apimachinery::ObjectKey;
using apimachinery::Result;

std::uint64_t PackedStore::HashContent(const Object& object) {
  const std::uint64_t hash = internal::ContentHash(object.bytes);
  return object.encoding == codec::Encoding::kJson ? ~hash : hash;
}

IndexTerms PackedStore::TermsOf(const Object& object) const {
  IndexTerms terms;
  for (const Indexer& indexer : indexers_) {
    try {
      IndexTerms more = indexer(object);
      terms.insert(terms.end(), std::make_move_iterator(more.begin()),
                   std::make_move_iterator(more.end()));
    } catch (const std::exception& e) {
      logging::Error("an indexer threw", {{"key", object.key.ToString()}, {"error", e.what()}});
    } catch (...) {
      logging::Error("an indexer threw", {{"key", object.key.ToString()}});
    }
  }
  return terms;
}

Result<EntryRef> PackedStore::Pack(const Object& object, std::uint64_t content_hash) {
  Packed packed = packer_.Pack(object.bytes);
  if (packed.compressed && packed.dictionary == 0 && packer_.dictionary() != 0) {
    packed = packer_.Pack(object.bytes);  // this object was the last one to learn from
  }
  return NewEntry(object, content_hash, packed);
}

Result<EntryRef> PackedStore::NewEntry(const Object& object, std::uint64_t content_hash,
                                       const Packed& packed) const {
  const IndexTerms terms = TermsOf(object);
  return Entry::New({.key = object.key,
                     .resource_version = object.resource_version,
                     .terms = terms,
                     .encoding = object.encoding,
                     .raw_size = object.bytes.size(),
                     .content_hash = content_hash,
                     .packed = packed});
}

Result<Object> PackedStore::Unpack(const Entry& entry) const {
  KX_ASSIGN_OR_RETURN(std::string bytes, packer_.Unpack(entry.compressed(), entry.dictionary(),
                                                        entry.packed(), entry.raw_size()));
  return Object{.encoding = entry.encoding(),
                .bytes = std::move(bytes),
                .key = entry.key(),
                .resource_version = std::string(entry.resource_version())};
}

void PackedStore::IndexLocked(const EntryRef& entry) {
  for (Term& term : entry->terms()) {
    index_[std::move(term)].insert(entry.get());
  }
}

void PackedStore::UnindexLocked(const EntryRef& entry) {
  for (const Term& term : entry->terms()) {
    if (const auto found = index_.find(term); found != index_.end()) {
      found->second.erase(entry.get());
      if (found->second.empty()) {
        index_.erase(found);
      }
    }
  }
}

EntryRef PackedStore::Put(EntryRef entry) {
  RepackEarly();
  base::MutexLock lock(mu_);
  resource_version_ = entry->resource_version();
  IndexLocked(entry);
  EntryRef old = table_.Insert(std::move(entry));
  if (old) {
    UnindexLocked(old);
  }
  return old;
}

EntryRef PackedStore::Remove(const ObjectKey& key) {
  base::MutexLock lock(mu_);
  EntryRef old = table_.Erase(key.namespace_, key.name);
  if (old) {
    UnindexLocked(old);
  }
  return old;
}

EntryTable PackedStore::Swap(EntryTable table, std::string_view resource_version) {
  RepackEarly(table);
  base::MutexLock lock(mu_);
  std::swap(table_, table);
  resource_version_ = resource_version;
  index_.clear();
  if (!indexers_.empty()) {
    for (const EntryRef& entry : table_.Entries()) {
      IndexLocked(entry);
    }
  }
  return table;
}

void PackedStore::SetResourceVersion(std::string_view resource_version) {
  base::MutexLock lock(mu_);
  resource_version_ = resource_version;
}

// The first objects were packed before there was a dictionary, several times larger than need be.
// Does not look again once it has found the dictionary; later dictionaries leave older entries as
// they are.
void PackedStore::RepackEarly() {
  if (repacked_ || packer_.dictionary() == 0) {
    return;
  }
  EntryTable copy;
  for (EntryRef& entry : Entries()) {
    copy.Insert(std::move(entry));
  }
  Swap(std::move(copy), resource_version());
}

void PackedStore::RepackEarly(EntryTable& table) {
  if (packer_.dictionary() == 0) {
    return;
  }
  repacked_ = true;
  for (const EntryRef& entry : table.Entries()) {
    if (!entry->compressed() || entry->dictionary() != 0) {
      continue;
    }
    if (const auto object = Unpack(*entry)) {
      if (auto again = Pack(*object, entry->content_hash())) {
        table.Insert(std::move(*again));
      }
    }
  }
}

EntryRef PackedStore::Find(const ObjectKey& key) const {
  base::MutexLock lock(mu_);
  return table_.Find(key.namespace_, key.name);
}

std::vector<EntryRef> PackedStore::Entries() const {
  base::MutexLock lock(mu_);
  return table_.Entries();
}

std::vector<ObjectKey> PackedStore::Keys() const {
  const std::vector<EntryRef> entries = Entries();
  std::vector<ObjectKey> keys;
  keys.reserve(entries.size());
  for (const EntryRef& entry : entries) {
    keys.push_back(entry->key());
  }
  return keys;
}

std::vector<ObjectKey> PackedStore::KeysByIndex(std::string_view index,
                                                std::string_view value) const {
  const Term term{std::string(index), std::string(value)};
  std::vector<ObjectKey> keys;
  base::MutexLock lock(mu_);
  if (const auto found = index_.find(term); found != index_.end()) {
    keys.reserve(found->second.size());
    for (const Entry* entry : found->second) {
      keys.push_back(entry->key());
    }
  }
  return keys;
}

std::size_t PackedStore::size() const {
  base::MutexLock lock(mu_);
  return table_.size();
}

std::size_t PackedStore::bytes() const {
  base::MutexLock lock(mu_);
  return table_.bytes();
}

std::string PackedStore::resource_version() const {
  base::MutexLock lock(mu_);
  return resource_version_;
}

}  // namespace kubexx::cache
