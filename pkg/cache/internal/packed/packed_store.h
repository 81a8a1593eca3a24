/// @file
/// The cache of one type: packed objects by key, and indexes over them.
#ifndef KUBEXX_CACHE_INTERNAL_PACKED_PACKED_STORE_H_
#define KUBEXX_CACHE_INTERNAL_PACKED_PACKED_STORE_H_

#include <cstddef>
#include <cstdint>
#include <deque>
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
#include "kubexx/cache/object.h"
#include "kubexx/cache/packer.h"

namespace kubexx::cache {

/// Settings of a PackedStore.
struct PackedStoreOptions {
  PackerOptions packer{};
  /// Its objects come from one source for each namespace, each with versions of its own.
  bool version_per_namespace = false;
  StoreFaults::Options faults{};
};

/// As client-go's ThreadSafeStore, with packed objects. Thread-safe, also for several writers.
/// Entries handed out stay valid on their own. Packing, unpacking and indexers run outside the
/// lock. Entries from before the current dictionary are packed again bit by bit, a few with every
/// change, so that memory does not drift as objects change.
class PackedStore {
 public:
  /// One change of many; see Apply.
  struct Change {
    /// To put; none removes the object at `key`.
    EntryRef entry{};
    apimachinery::ObjectKey key{};
    std::string resource_version{};
  };

  explicit PackedStore(PackedStoreOptions options = {}) : options_(std::move(options)) {}

  /// Adds indexes, at any time; the objects that are there have been indexed when it returns.
  /// kAlreadyExists when there is an index of one of the names, kInvalid when there are too many.
  apimachinery::Result<void> AddIndexers(Indexers indexers);
  apimachinery::Result<void> AddIndexer(TermsFunc terms);

  /// Packs an object with its index terms; does not store it. kInvalid when its key is too long.
  apimachinery::Result<EntryRef> Pack(const Object& object, std::uint64_t content_hash);
  apimachinery::Result<EntryRef> Pack(const Object& object) {
    return Pack(object, HashContent(object));
  }
  /// As Pack, for an object that has just changed and may soon change again: its bytes as they are,
  /// unless it is large. Whoever has stored the entry calls PackLater.
  apimachinery::Result<EntryRef> MakeRecent(const Object& object, std::uint64_t content_hash);
  /// Packs what is stored of the entries' objects once they have been quiet for some megabytes of
  /// other changes. Stores others.
  void PackLater(std::span<const EntryRef> entries);
  /// The object of an entry.
  apimachinery::Result<Object> Unpack(const Entry& entry) const;
  /// Calls `read` with the object of an entry, which is gone when `read` returns: a look at it
  /// allocates nothing. `read` may use the store.
  apimachinery::Result<void> Read(const Entry& entry,
                                  base::FunctionRef<void(const Object&)> read) const;

  /// Stores an entry and returns the one it replaces; the store has its version then.
  EntryRef Put(EntryRef entry);
  /// Removes an entry and returns it.
  EntryRef Remove(const apimachinery::ObjectKey& key);
  /// Does all changes in one step, in order; puts what each has replaced or removed in `entry`'s
  /// place.
  void Apply(std::vector<Change>& changes);
  /// Makes `table` the whole content, in one step, and returns what was there.
  EntryTable Swap(EntryTable table, std::string_view resource_version);
  /// The same for the objects of one namespace; `table` has no others.
  EntryTable SwapNamespace(std::string_view namespace_, EntryTable table,
                           std::string_view resource_version);
  /// `namespace_` matters only to a store with versions by namespace.
  void SetResourceVersion(std::string_view namespace_, std::string_view resource_version);

  /// None when there is no such key.
  EntryRef Find(std::string_view namespace_, std::string_view name) const;
  EntryRef Find(const apimachinery::ObjectKey& key) const { return Find(key.namespace_, key.name); }
  bool Contains(const apimachinery::ObjectKey& key) const;
  std::vector<EntryRef> Entries() const;
  /// Those of one namespace; by its index when there is one of the name kNamespaceIndex.
  std::vector<EntryRef> EntriesIn(std::string_view namespace_) const;
  std::vector<apimachinery::ObjectKey> Keys() const;

  /// The entries that have all of `terms`; none when `terms` is empty. Nothing is unpacked.
  std::vector<EntryRef> EntriesByIndex(const IndexTerms& terms) const {
    return EntriesByIndex(terms, nullptr);
  }
  /// The same. `unread` gets the entries that might be among them: a function that gives some of
  /// their terms threw.
  std::vector<EntryRef> EntriesByIndex(const IndexTerms& terms,
                                       std::vector<EntryRef>* unread) const;
  std::vector<apimachinery::ObjectKey> KeysByIndex(const IndexTerms& terms) const;
  std::vector<apimachinery::ObjectKey> KeysByIndex(std::string_view index,
                                                   std::string_view value) const;
  std::size_t CountByIndex(std::string_view index, std::string_view value) const;
  /// The values under which `index` has objects.
  std::vector<std::string> IndexValues(std::string_view index) const;

  std::size_t size() const;
  /// Bytes that entries and slots take; indexes and dictionaries are not counted.
  std::size_t bytes() const;
  /// Every change up to it is in the store; with versions by namespace the lowest of those that are
  /// known. Empty when none is.
  std::string resource_version() const;
  std::string resource_version(std::string_view namespace_) const;

  static std::uint64_t HashContent(const Object& object);

  /// What handlers had decoded lately.
  DecodedCache& decoded() const { return decoded_; }
  /// What its readers must be told.
  StoreFaults& faults() const { return faults_; }
  /// Which of the scopes of faults() a namespace belongs to.
  std::string_view ScopeOf(std::string_view namespace_) const {
    return options_.version_per_namespace ? namespace_ : std::string_view();
  }

 private:
  using IndexerSetRef = std::shared_ptr<const IndexerSet>;
  using Extend = base::FunctionRef<apimachinery::Result<IndexerSetRef>(const IndexerSet& current)>;

  /// The bytes of an object as an entry has them; see Packed.
  struct PackedView {
    bool compressed = false;
    std::uint8_t dictionary = 0;
    std::string_view bytes;
  };
  /// A term that is asked for.
  struct Wanted {
    std::string term;    ///< empty when no object has had its index
    std::string unread;  ///< what an entry has instead when its function threw; or empty
  };
  apimachinery::Result<EntryRef> NewEntry(const Object& object, std::uint64_t content_hash,
                                          const PackedView& packed) const;
  void PackNow(const EntryRef& old);
  IndexerSetRef indexers() const;
  apimachinery::Result<void> ExtendIndexers(Extend extend);
  /// The entry itself, or one with the terms that `indexers` gives it.
  EntryRef Indexed(EntryRef entry, const IndexerSet& indexers) const;
  void IndexAll(EntryTable& table, const IndexerSet& indexers) const;
  EntryRef Repacked(const Entry& entry);
  void RepackEarly(EntryTable& table);
  void RepackSome();
  void ReplaceIfSame(const std::vector<std::pair<EntryRef, EntryRef>>& replacements);

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
  /// Objects whose memory the next reads use.
  mutable std::vector<Object> scratch_ KX_GUARDED_BY(scratch_mu_);
  mutable DecodedCache decoded_{};
  mutable StoreFaults faults_{options_.faults};

  mutable base::Mutex mu_;
  IndexerSetRef indexers_ KX_GUARDED_BY(mu_) = IndexerSet::Empty();
  /// Locked last. With it alone the same set is had: whoever makes entries need not wait for those
  /// who put a whole batch of them into the table.
  mutable base::Mutex indexers_mu_;
  IndexerSetRef given_indexers_ KX_GUARDED_BY(indexers_mu_) = indexers_;
  EntryTable table_ KX_GUARDED_BY(mu_);
  TermIndex index_ KX_GUARDED_BY(mu_);
  std::map<std::string, std::string, std::less<>> versions_ KX_GUARDED_BY(mu_);
  /// The walk over the slots for entries with an older dictionary than `swept_for_`.
  std::size_t sweep_ KX_GUARDED_BY(mu_) = 0;
  std::size_t sweep_slots_ KX_GUARDED_BY(mu_) = 0;
  std::uint8_t swept_for_ KX_GUARDED_BY(mu_) = 0;
  /// States that are not packed yet, the oldest in front, and how many bytes they take.
  std::deque<EntryRef> recent_ KX_GUARDED_BY(mu_);
  std::size_t recent_bytes_ KX_GUARDED_BY(mu_) = 0;
};

/// Whether resourceVersion `a` is older than `b`: by length, then by digits.
bool IsOlderVersion(std::string_view a, std::string_view b);

}  // namespace kubexx::cache

#endif  // KUBEXX_CACHE_INTERNAL_PACKED_PACKED_STORE_H_
