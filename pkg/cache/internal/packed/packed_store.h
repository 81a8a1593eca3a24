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
  /// Whether each namespace has a source of its own, and therefore resourceVersions of its own.
  bool version_per_namespace = false;
  StoreFaults::Options faults{};
};

/// The counterpart of client-go's ThreadSafeStore, with packed objects. Thread-safe, even with
/// several writers. The entries that it returns stay valid when the store is gone. It packs,
/// unpacks and calls indexers without its lock. With every change it packs again a few entries that
/// still use an older dictionary, so that memory does not grow as objects change.
class PackedStore {
 public:
  /// One of the changes that Apply makes.
  struct Change {
    /// The entry to put; null removes the object at `key`.
    EntryRef entry{};
    apimachinery::ObjectKey key{};
    std::string resource_version{};
  };

  explicit PackedStore(PackedStoreOptions options = {}) : options_(std::move(options)) {}

  /// Adds indexes, at any time and on several threads at once. When it returns, the existing
  /// objects have been indexed. Readers do not see the index before that, so nobody takes some of
  /// the objects for all of them. Returns kAlreadyExists when there is an index of one of the
  /// names; that index is complete then, too. Returns kInvalid when there are too many indexes.
  apimachinery::Result<void> AddIndexers(Indexers indexers);
  apimachinery::Result<void> AddIndexer(TermsFunc terms);

  /// Packs an object with its index terms; does not store it. kInvalid when its key is too long.
  apimachinery::Result<EntryRef> Pack(const Object& object, std::uint64_t content_hash);
  apimachinery::Result<EntryRef> Pack(const Object& object) {
    return Pack(object, HashContent(object));
  }
  /// Does as Pack for an object that has just changed and may soon change again: unless the object
  /// is large, its entry has its bytes unpacked. The caller has to call PackOverdue after it has
  /// stored the entry.
  apimachinery::Result<EntryRef> MakeRecent(const Object& object, std::uint64_t content_hash);
  /// Packs the stored objects that have not changed for the longest time, when the unpacked objects
  /// take too many bytes; see WaitingEntries. It replaces their entries in the store.
  void PackOverdue();
  /// Returns the object of an entry.
  apimachinery::Result<Object> Unpack(const Entry& entry) const;
  /// Calls `read` with the object of an entry. The object is valid only during the call, and no
  /// memory is allocated for it. `read` may use the store.
  apimachinery::Result<void> Read(const Entry& entry,
                                  base::FunctionRef<void(const Object&)> read) const;

  /// Stores an entry and returns the one that it replaces. The store's resourceVersion becomes the
  /// entry's.
  EntryRef Put(EntryRef entry);
  /// Removes an entry and returns it.
  EntryRef Remove(const apimachinery::ObjectKey& key);
  /// Applies all changes in one step, in order. Afterwards each change's `entry` is the entry that
  /// the change replaced or removed.
  void Apply(std::vector<Change>& changes);
  /// Makes `table` the whole content of the store in one step, and returns the former content.
  EntryTable Swap(EntryTable table, std::string_view resource_version);
  /// Does as Swap for the objects of one namespace. `table` must not have objects of other
  /// namespaces.
  EntryTable SwapNamespace(std::string_view namespace_, EntryTable table,
                           std::string_view resource_version);
  /// Sets the resourceVersion. Only a store with a version per namespace uses `namespace_`.
  void SetResourceVersion(std::string_view namespace_, std::string_view resource_version);

  /// Returns null when there is no such key.
  EntryRef Find(std::string_view namespace_, std::string_view name) const;
  EntryRef Find(const apimachinery::ObjectKey& key) const { return Find(key.namespace_, key.name); }
  bool Contains(const apimachinery::ObjectKey& key) const;
  std::vector<EntryRef> Entries() const;
  /// The entries of one namespace. Uses the index kNamespaceIndex if that index exists and is
  /// complete.
  std::vector<EntryRef> EntriesIn(std::string_view namespace_) const;
  std::vector<apimachinery::ObjectKey> Keys() const;

  /// The entries that have all of `terms`, and none when `terms` is empty. Nothing is unpacked.
  std::vector<EntryRef> EntriesByIndex(const IndexTerms& terms) const {
    return EntriesByIndex(terms, nullptr);
  }
  /// Does as the function above. `unread` gets the entries that might also have the terms, because
  /// the function of one of the indexes threw for them.
  std::vector<EntryRef> EntriesByIndex(const IndexTerms& terms,
                                       std::vector<EntryRef>* unread) const;
  /// The entries that have all terms of at least one of `alternatives`, or that might have them
  /// because the function of one of the indexes threw for them. Each entry is there once, and all
  /// are from the same moment.
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
  /// The store has every change up to this resourceVersion. With a version per namespace it is the
  /// lowest known one. It is empty when none is known.
  std::string resource_version() const;
  std::string resource_version(std::string_view namespace_) const;

  static std::uint64_t HashContent(const Object& object);

  /// The indexers for readers: every stored entry has the terms of these.
  std::shared_ptr<const IndexerSet> whole_indexers() const;

  /// The objects that were recently decoded for handlers.
  DecodedCache& decoded() const { return decoded_; }
  /// The faults of stored objects that the store's readers have to be told of.
  StoreFaults& faults() const { return faults_; }
  /// The scope of faults() to which a namespace belongs.
  std::string_view ScopeOf(std::string_view namespace_) const {
    return options_.version_per_namespace ? namespace_ : std::string_view();
  }

 private:
  using IndexerSetRef = std::shared_ptr<const IndexerSet>;
  using Extend = base::FunctionRef<apimachinery::Result<IndexerSetRef>(const IndexerSet& current)>;

  /// One term of a query.
  struct Wanted {
    std::string term;    ///< empty when no object has had its index
    std::string unread;  ///< the term of entries for which the function threw; or empty
  };
  /// The terms of a query and their encoded forms. A term has no encoded form when no object has
  /// had a term of its index.
  struct Query {
    std::vector<Wanted> wanted{};
    std::vector<std::string> encoded{};
  };
  static Query QueryOf(const IndexTerms& terms, const IndexerSet& indexers);
  std::vector<EntryRef> FoundLocked(const Query& query) const KX_REQUIRES(mu_);
  apimachinery::Result<EntryRef> NewEntry(const Object& object, std::uint64_t content_hash,
                                          const PackedView& packed, bool waits) const;
  /// Returns the same entry with its object packed.
  EntryRef PackedNow(const Entry& entry);
  /// The indexers with which entries are made now.
  IndexerSetRef indexers() const;
  apimachinery::Result<void> ExtendIndexers(Extend extend);
  /// Whether every stored entry has the terms of the current indexers.
  bool AllIndexed() const;
  /// Gives the stored entries the terms of the current indexers. It has to be called again when the
  /// indexers have changed meanwhile.
  void IndexExisting();
  /// Returns `entry` itself, or an entry with the terms that `indexers` compute for the object.
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
  /// Objects whose memory is used again for the next reads.
  mutable std::vector<Object> scratch_ KX_GUARDED_BY(scratch_mu_);
  mutable DecodedCache decoded_{};
  mutable StoreFaults faults_{options_.faults};

  mutable base::Mutex mu_;
  IndexerSetRef indexers_ KX_GUARDED_BY(mu_) = IndexerSet::Empty();
  /// The value that `indexers_` had when every entry in the table last had its terms.
  IndexerSetRef whole_indexers_ KX_GUARDED_BY(mu_) = indexers_;
  /// Is locked last. It protects the copies of these two sets of indexers, so that a thread that
  /// makes entries or looks something up need not wait for a thread that puts a whole batch of
  /// entries into the table.
  mutable base::Mutex indexers_mu_;
  IndexerSetRef given_indexers_ KX_GUARDED_BY(indexers_mu_) = indexers_;
  IndexerSetRef given_whole_indexers_ KX_GUARDED_BY(indexers_mu_) = indexers_;
  EntryTable table_ KX_GUARDED_BY(mu_);
  TermIndex index_ KX_GUARDED_BY(mu_);
  std::map<std::string, std::string, std::less<>> versions_ KX_GUARDED_BY(mu_);
  /// The next slot to look at in the search for entries with an older dictionary than `swept_for_`.
  std::size_t sweep_ KX_GUARDED_BY(mu_) = 0;
  std::size_t sweep_slots_ KX_GUARDED_BY(mu_) = 0;
  std::uint8_t swept_for_ KX_GUARDED_BY(mu_) = 0;
  WaitingEntries waiting_ KX_GUARDED_BY(mu_);
};

/// Whether resourceVersion `a` is older than `b`. Compares the lengths first and then the digits.
bool IsOlderVersion(std::string_view a, std::string_view b);

}  // namespace kubexx::cache

#endif  // KUBEXX_CACHE_INTERNAL_PACKED_PACKED_STORE_H_
