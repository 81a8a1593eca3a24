/// @file
/// PackedStore: the cache of one type, with packed objects by key and indexes.
#ifndef KUBEXX_CACHE_INTERNAL_PACKED_PACKED_STORE_H_
#define KUBEXX_CACHE_INTERNAL_PACKED_PACKED_STORE_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kubexx/apimachinery/object_key.h"
#include "kubexx/apimachinery/status.h"
#include "kubexx/base/function_ref.h"
#include "kubexx/base/mutex.h"
#include "kubexx/cache/indexer_set.h"
#include "kubexx/cache/internal/packed/decoded_cache.h"
#include "kubexx/cache/internal/packed/entry.h"
#include "kubexx/cache/internal/packed/entry_table.h"
#include "kubexx/cache/internal/packed/store_faults.h"
#include "kubexx/cache/internal/packed/term_index.h"
#include "kubexx/cache/internal/packed/waiting_entries.h"
#include "kubexx/cache/object.h"
#include "kubexx/cache/packer.h"

namespace kubexx::cache {

/// Settings of a PackedStore.
struct PackedStoreOptions {
  PackerOptions packer{};
  /// Whether each namespace has a source of its own, with resourceVersions of its own.
  bool version_per_namespace = false;
  StoreFaults::Options faults{};
};

/// As client-go's ThreadSafeStore, with packed objects. Thread-safe, even with several writers.
/// Entries that it returns stay valid without it. It runs packing, unpacking and indexers outside
/// of the lock. With every change it repacks a few entries that still use an older dictionary, so
/// that memory does not grow as objects change.
class PackedStore {
 public:
  /// One change of many; see Apply.
  struct Change {
    /// The entry to put; null removes the object at `key`.
    EntryRef entry{};
    apimachinery::ObjectKey key{};
    std::string resource_version{};
  };

  explicit PackedStore(PackedStoreOptions options = {}) : options_(std::move(options)) {}

  /// Adds indexes, at any time and on several threads at once. When it returns, the existing
  /// objects have been indexed; until then there is no such index for any reader, so that nobody
  /// takes a part of the objects for all. kAlreadyExists when there is an index of one of the
  /// names, which is whole then, too; kInvalid when there are too many.
  apimachinery::Result<void> AddIndexers(Indexers indexers);
  apimachinery::Result<void> AddIndexer(TermsFunc terms);

  /// Packs an object with its index terms; does not store it. kInvalid when its key is too long.
  apimachinery::Result<EntryRef> Pack(const Object& object, std::uint64_t content_hash);
  apimachinery::Result<EntryRef> Pack(const Object& object) {
    return Pack(object, HashContent(object));
  }
  /// Like Pack, for an object that has just changed and may soon change again: unless the object is
  /// large, the entry has its bytes unpacked. The caller has to call PackOverdue after storing it.
  apimachinery::Result<EntryRef> MakeRecent(const Object& object, std::uint64_t content_hash);
  /// Packs the stored objects that have been quiet for longest, when those that are not packed have
  /// too many bytes; see WaitingEntries. Replaces the stored entries.
  void PackOverdue();
  /// Returns the object of an entry.
  apimachinery::Result<Object> Unpack(const Entry& entry) const;
  /// Calls `read` with the object of an entry, which is valid only during the call. Allocates no
  /// memory for it. `read` may use the store.
  apimachinery::Result<void> Read(const Entry& entry,
                                  base::FunctionRef<void(const Object&)> read) const;

  /// Stores an entry and returns the one that it replaces. The store's resourceVersion becomes the
  /// entry's.
  EntryRef Put(EntryRef entry);
  /// Removes an entry and returns it.
  EntryRef Remove(const apimachinery::ObjectKey& key);
  /// Applies all changes in one step, in order. Sets each change's `entry` to the entry that it has
  /// replaced or removed.
  void Apply(std::vector<Change>& changes);
  /// Makes `table` the whole content in one step, and returns the former content.
  EntryTable Swap(EntryTable table, std::string_view resource_version);
  /// Like Swap, for the objects of one namespace; `table` has no others.
  EntryTable SwapNamespace(std::string_view namespace_, EntryTable table,
                           std::string_view resource_version);
  /// Sets the resourceVersion. `namespace_` is used only by a store with versions by namespace.
  void SetResourceVersion(std::string_view namespace_, std::string_view resource_version);

  /// Returns null when there is no such key.
  EntryRef Find(std::string_view namespace_, std::string_view name) const;
  EntryRef Find(const apimachinery::ObjectKey& key) const { return Find(key.namespace_, key.name); }
  bool Contains(const apimachinery::ObjectKey& key) const;
  std::vector<EntryRef> Entries() const;
  /// The entries of one namespace; uses the index kNamespaceIndex if there is one that is whole.
  std::vector<EntryRef> EntriesIn(std::string_view namespace_) const;
  std::vector<apimachinery::ObjectKey> Keys() const;

  /// The entries that have all of `terms`; none when `terms` is empty. Unpacks nothing.
  std::vector<EntryRef> EntriesByIndex(const IndexTerms& terms) const {
    return EntriesByIndex(terms, nullptr);
  }
  /// Like the above. `unread` gets the entries that might also have the terms, because the function
  /// of one of the indexes threw for them.
  std::vector<EntryRef> EntriesByIndex(const IndexTerms& terms,
                                       std::vector<EntryRef>* unread) const;
  /// The entries that have all terms of one of `alternatives` at least, or might have them because
  /// the function of one of the indexes threw for them; each once, all of one moment.
  std::vector<EntryRef> EntriesByAnyOf(std::span<const IndexTerms> alternatives) const;
  std::vector<apimachinery::ObjectKey> KeysByIndex(const IndexTerms& terms) const;
  std::vector<apimachinery::ObjectKey> KeysByIndex(std::string_view index,
                                                   std::string_view value) const;
  std::size_t CountByIndex(std::string_view index, std::string_view value) const;
  /// The values under which `index` has objects.
  std::vector<std::string> IndexValues(std::string_view index) const;

  std::size_t size() const;
  /// The size of entries and slots in bytes, without indexes and dictionaries.
  std::size_t bytes() const;
  /// The resourceVersion up to which the store has every change; with versions by namespace, the
  /// lowest of the known ones. Empty when none is known.
  std::string resource_version() const;
  std::string resource_version(std::string_view namespace_) const;

  static std::uint64_t HashContent(const Object& object);

  /// The indexers of which every stored entry has the terms, for readers.
  std::shared_ptr<const IndexerSet> whole_indexers() const;

  /// The objects that were recently decoded for handlers.
  DecodedCache& decoded() const { return decoded_; }
  /// The faults that the store's readers have to learn of.
  StoreFaults& faults() const { return faults_; }
  /// The scope of faults() to which a namespace belongs.
  std::string_view ScopeOf(std::string_view namespace_) const {
    return options_.version_per_namespace ? namespace_ : std::string_view();
  }

 private:
  using IndexerSetRef = std::shared_ptr<const IndexerSet>;
  using Extend = base::FunctionRef<apimachinery::Result<IndexerSetRef>(const IndexerSet& current)>;

  /// A term of a query.
  struct Wanted {
    std::string term;    ///< empty when no object has had its index
    std::string unread;  ///< the term of entries for which the function threw; or empty
  };
  /// The terms of a query, and their encoded forms, of which those are missing whose index no
  /// object has had.
  struct Query {
    std::vector<Wanted> wanted{};
    std::vector<std::string> encoded{};
  };
  static Query QueryOf(const IndexTerms& terms, const IndexerSet& indexers);
  std::vector<EntryRef> FoundLocked(const Query& query) const KX_REQUIRES(mu_);
  apimachinery::Result<EntryRef> NewEntry(const Object& object, std::uint64_t content_hash,
                                          const PackedView& packed, bool waits) const;
  /// The same entry with its object packed.
  EntryRef PackedNow(const Entry& entry);
  /// The indexers that entries are made with now.
  IndexerSetRef indexers() const;
  apimachinery::Result<void> ExtendIndexers(Extend extend);
  /// Whether every stored entry has the terms of the indexers in place.
  bool AllIndexed() const;
  /// Gives the stored entries the terms of the indexers in place. When others come into place
  /// meanwhile, it has to be done again.
  void IndexExisting();
  /// Returns the entry itself, or one with the terms that `indexers` compute for it.
  EntryRef Indexed(EntryRef entry, const IndexerSet& indexers) const;
  void IndexAll(EntryTable& table, const IndexerSet& indexers) const;
  EntryRef Repacked(const Entry& entry);
  void RepackEarly(EntryTable& table);
  void RepackSome();
  void ReplaceIfSame(const std::vector<std::pair<EntryRef, EntryRef>>& replacements);
  void ReplaceIfSameLocked(const std::vector<std::pair<EntryRef, EntryRef>>& replacements)
      KX_REQUIRES(mu_);

  bool CurrentLocked(const IndexerSet& indexers) const KX_REQUIRES(mu_) {
    return indexers_.get() == &indexers;
  }
  EntryRef PutLocked(EntryRef entry) KX_REQUIRES(mu_);
  EntryRef RemoveLocked(std::string_view namespace_, std::string_view name) KX_REQUIRES(mu_);
  void SetVersionLocked(std::string_view namespace_, std::string_view resource_version)
      KX_REQUIRES(mu_);
  std::vector<EntryRef> EntriesInLocked(std::string_view namespace_) const KX_REQUIRES(mu_);
  std::vector<EntryRef> UnreadLocked(const std::vector<Wanted>& terms) const KX_REQUIRES(mu_);
  const EntryTable* PostingsLocked(std::string_view index, std::string_view value) const
      KX_REQUIRES(mu_);
  std::vector<EntryRef> StaleEntries(std::uint8_t dictionary);

  Object TakeScratch() const;
  void GiveScratch(Object scratch) const;

  const PackedStoreOptions options_;
  Packer packer_{options_.packer};
  mutable base::Mutex scratch_mu_;
  /// Objects whose memory the next reads reuse.
  mutable std::vector<Object> scratch_ KX_GUARDED_BY(scratch_mu_);
  mutable DecodedCache decoded_{};
  mutable StoreFaults faults_{options_.faults};

  mutable base::Mutex mu_;
  IndexerSetRef indexers_ KX_GUARDED_BY(mu_) = IndexerSet::Empty();
  /// What `indexers_` was when every entry in the table last had its terms.
  IndexerSetRef whole_indexers_ KX_GUARDED_BY(mu_) = indexers_;
  /// Locked last. It also protects copies of both, so that threads that make entries or look
  /// something up need not wait for those that put a whole batch of entries into the table.
  mutable base::Mutex indexers_mu_;
  IndexerSetRef given_indexers_ KX_GUARDED_BY(indexers_mu_) = indexers_;
  IndexerSetRef given_whole_indexers_ KX_GUARDED_BY(indexers_mu_) = indexers_;
  EntryTable table_ KX_GUARDED_BY(mu_);
  TermIndex index_ KX_GUARDED_BY(mu_);
  std::map<std::string, std::string, std::less<>> versions_ KX_GUARDED_BY(mu_);
  /// The position in the search for entries with an older dictionary than `swept_for_`.
  std::size_t sweep_ KX_GUARDED_BY(mu_) = 0;
  std::size_t sweep_slots_ KX_GUARDED_BY(mu_) = 0;
  std::uint8_t swept_for_ KX_GUARDED_BY(mu_) = 0;
  WaitingEntries waiting_ KX_GUARDED_BY(mu_);
};

/// Whether resourceVersion `a` is older than `b`: by length, then by digits.
bool IsOlderVersion(std::string_view a, std::string_view b);

}  // namespace kubexx::cache

#endif  // KUBEXX_CACHE_INTERNAL_PACKED_PACKED_STORE_H_
