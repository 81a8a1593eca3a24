// The queries of a PackedStore. None of them unpacks an object.
#include <algorithm>
#include <utility>

#include "kubexx/cache/internal/packed/packed_store.h"

namespace kubexx::cache {

using apimachinery::ObjectKey;

namespace {

std::vector<ObjectKey> KeysOf(const std::vector<EntryRef>& entries) {
  std::vector<ObjectKey> keys;
  keys.reserve(entries.size());
  for (const EntryRef& entry : entries) {
    keys.push_back(entry->key());
  }
  return keys;
}

}  // namespace

EntryRef PackedStore::Find(std::string_view namespace_, std::string_view name) const {
  base::MutexLock lock(mu_);
  return table_.Find(namespace_, name);
}

bool PackedStore::Contains(const ObjectKey& key) const { return static_cast<bool>(Find(key)); }

std::vector<EntryRef> PackedStore::Entries() const {
  base::MutexLock lock(mu_);
  return table_.Entries();
}

std::vector<EntryRef> PackedStore::EntriesIn(std::string_view namespace_) const {
  base::MutexLock lock(mu_);
  return EntriesInLocked(namespace_);
}

std::vector<EntryRef> PackedStore::EntriesInLocked(std::string_view namespace_) const {
  if (whole_indexers_->IsNamed(kNamespaceIndex)) {
    const EntryTable* postings = PostingsLocked(kNamespaceIndex, namespace_);
    return postings == nullptr ? std::vector<EntryRef>() : postings->Entries();
  }
  std::vector<EntryRef> entries;
  table_.ForEach([&](const EntryRef& entry) {
    if (entry->namespace_() == namespace_) {
      entries.push_back(entry);
    }
  });
  return entries;
}

std::vector<ObjectKey> PackedStore::Keys() const { return KeysOf(Entries()); }

const EntryTable* PackedStore::PostingsLocked(std::string_view index,
                                              std::string_view value) const {
  const auto id = whole_indexers_->Find(index);
  return id ? index_.Find(EncodeTerm(*id, value)) : nullptr;
}

PackedStore::Query PackedStore::QueryOf(const IndexTerms& terms, const IndexerSet& indexers) {
  Query query;
  query.encoded.reserve(terms.size());
  query.wanted.reserve(terms.size());
  for (const auto& [index, value] : terms) {
    const auto id = indexers.Find(index);
    if (!id) {
      query.wanted.emplace_back();
      continue;
    }
    query.encoded.push_back(EncodeTerm(*id, value));
    query.wanted.push_back(
        {.term = query.encoded.back(),
         .unread = EncodeTerm(kUnreadIndex, std::string(1, static_cast<char>(*id)))});
  }
  return query;
}

std::vector<EntryRef> PackedStore::FoundLocked(const Query& query) const {
  return query.encoded.size() == query.wanted.size() ? index_.FindAll(query.encoded)
                                                     : std::vector<EntryRef>();
}

std::vector<EntryRef> PackedStore::EntriesByIndex(const IndexTerms& terms,
                                                  std::vector<EntryRef>* unread) const {
  const Query query = QueryOf(terms, *whole_indexers());
  base::MutexLock lock(mu_);
  if (unread != nullptr) {
    *unread = UnreadLocked(query.wanted);
  }
  return FoundLocked(query);
}

// All alternatives are looked up under one lock. Otherwise an object that moves from one
// alternative to another between two look-ups would be missed, or would be found in two states.
std::vector<EntryRef> PackedStore::EntriesByAnyOf(std::span<const IndexTerms> alternatives) const {
  const IndexerSetRef indexers = whole_indexers();
  std::vector<Query> queries;
  queries.reserve(alternatives.size());
  for (const IndexTerms& terms : alternatives) {
    queries.push_back(QueryOf(terms, *indexers));
  }
  std::vector<EntryRef> out;
  bool each_once = queries.size() < 2;
  {
    base::MutexLock lock(mu_);
    for (const Query& query : queries) {
      for (EntryRef& entry : FoundLocked(query)) {
        out.push_back(std::move(entry));
      }
      for (EntryRef& entry : UnreadLocked(query.wanted)) {
        out.push_back(std::move(entry));
        each_once = false;
      }
    }
  }
  if (!each_once) {
    std::ranges::sort(out, {}, &EntryRef::get);
    const auto rest = std::ranges::unique(out);
    out.erase(rest.begin(), rest.end());
  }
  return out;
}

// Returns the entries that might have all of `terms`. An entry may be returned several times.
std::vector<EntryRef> PackedStore::UnreadLocked(const std::vector<Wanted>& terms) const {
  const std::string any = EncodeTerm(kUnreadIndex, {});
  const auto may_have_all = [&](const EntryRef& entry) {
    const EncodedTerms has = entry->terms();
    return std::ranges::all_of(terms, [&has, &any](const Wanted& each) {
      return (!each.term.empty() && (has.Contains(each.term) || has.Contains(each.unread))) ||
             has.Contains(any);
    });
  };
  std::vector<std::string_view> marks;
  if (!terms.empty()) {
    marks.push_back(any);
  }
  for (const Wanted& each : terms) {
    if (!each.unread.empty()) {
      marks.push_back(each.unread);
    }
  }
  std::vector<EntryRef> unread;
  for (const std::string_view mark : marks) {
    if (const EntryTable* marked = index_.Find(mark)) {
      marked->ForEach([&](const EntryRef& entry) {
        if (may_have_all(entry)) {
          unread.push_back(entry);
        }
      });
    }
  }
  return unread;
}

std::vector<ObjectKey> PackedStore::KeysByIndex(const IndexTerms& terms) const {
  return KeysOf(EntriesByIndex(terms));
}

std::vector<ObjectKey> PackedStore::KeysByIndex(std::string_view index,
                                                std::string_view value) const {
  std::vector<EntryRef> entries;
  {
    base::MutexLock lock(mu_);
    if (const EntryTable* postings = PostingsLocked(index, value)) {
      entries = postings->Entries();
    }
  }
  return KeysOf(entries);
}

std::size_t PackedStore::CountByIndex(std::string_view index, std::string_view value) const {
  base::MutexLock lock(mu_);
  const EntryTable* postings = PostingsLocked(index, value);
  return postings == nullptr ? 0 : postings->size();
}

std::vector<std::string> PackedStore::IndexValues(std::string_view index) const {
  base::MutexLock lock(mu_);
  const auto id = whole_indexers_->Find(index);
  return id ? index_.Values(*id) : std::vector<std::string>();
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
  std::string_view oldest;
  for (const auto& [scope, version] : versions_) {
    if (oldest.empty() || IsOlderVersion(version, oldest)) {
      oldest = version;
    }
  }
  return std::string(oldest);
}

std::string PackedStore::resource_version(std::string_view namespace_) const {
  base::MutexLock lock(mu_);
  const auto found = versions_.find(options_.version_per_namespace ? namespace_ : "");
  return found == versions_.end() ? std::string() : found->second;
}

bool IsOlderVersion(std::string_view a, std::string_view b) {
  return a.size() != b.size() ? a.size() < b.size() : a < b;
}

}  // namespace kubexx::cache
