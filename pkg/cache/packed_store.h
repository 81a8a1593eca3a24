/// @file
/// The cache of one type: packed objects by key, and indexes over them.
#ifndef KUBEXX_CACHE_PACKED_STORE_H_
#define KUBEXX_CACHE_PACKED_STORE_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "kubexx/apimachinery/object_key.h"
#include "kubexx/apimachinery/status.h"
#include "kubexx/base/mutex.h"
#include "kubexx/cache/decoded_cache.h"
#include "kubexx/cache/entry.h"
#include "kubexx/cache/entry_table.h"
#include "kubexx/cache/object.h"
#include "kubexx/cache/packer.h"

namespace kubexx::cache {

/// Gives an object's index terms.
using Indexer = std::function<IndexTerms(const Object&)>;

/// As client-go's ThreadSafeStore, with packed objects. Readers may be many; changes come from one
/// thread at a time. Entries handed out stay valid on their own. Packing and unpacking happen
/// outside the lock.
class PackedStore {
 public:
  explicit PackedStore(PackerOptions options = {}) : packer_(options) {}

  /// Before the first object only.
  void AddIndexer(Indexer indexer) { indexers_.push_back(std::move(indexer)); }

  /// Packs an object with its index terms; does not store it. An indexer that throws gives no
  /// terms. kInvalid when its key is too long.
  apimachinery::Result<EntryRef> Pack(const Object& object, std::uint64_t content_hash);
  apimachinery::Result<EntryRef> Pack(const Object& object) {
    return Pack(object, HashContent(object));
  }
  /// As Pack, for an object that has just changed and may soon change again: it is packed once it
  /// has been quiet for some megabytes of other changes. Stores others; one thread at a time.
  apimachinery::Result<EntryRef> PackLater(const Object& object, std::uint64_t content_hash);
  /// The object of an entry. Thread-safe.
  apimachinery::Result<Object> Unpack(const Entry& entry) const;

  /// Stores an entry and returns the one it replaces.
  EntryRef Put(EntryRef entry);
  /// Removes an entry and returns it.
  EntryRef Remove(const apimachinery::ObjectKey& key);
  /// Makes `table` the whole content, in one step, and returns what was there.
  EntryTable Swap(EntryTable table, std::string_view resource_version);
  void SetResourceVersion(std::string_view resource_version);

  /// None when there is no such key.
  EntryRef Find(const apimachinery::ObjectKey& key) const;
  std::vector<EntryRef> Entries() const;
  std::vector<apimachinery::ObjectKey> Keys() const;
  std::vector<apimachinery::ObjectKey> KeysByIndex(std::string_view index,
                                                   std::string_view value) const;
  std::size_t size() const;
  /// Bytes that entries and slots take; indexes and dictionaries are not counted.
  std::size_t bytes() const;
  std::string resource_version() const;

  static std::uint64_t HashContent(const Object& object);

  /// What handlers had decoded lately.
  DecodedCache& decoded() const { return decoded_; }

 private:
  using Term = std::pair<std::string, std::string>;

  IndexTerms TermsOf(const Object& object) const;
  apimachinery::Result<EntryRef> NewEntry(const Object& object, std::uint64_t content_hash,
                                          const Packed& packed) const;
  void PackNow(const EntryRef& old);
  void IndexLocked(const EntryRef& entry) KX_REQUIRES(mu_);
  void UnindexLocked(const EntryRef& entry) KX_REQUIRES(mu_);
  void RepackEarly();
  void RepackEarly(EntryTable& table);

  Packer packer_;
  mutable DecodedCache decoded_{};
  std::vector<Indexer> indexers_{};
  /// The entries from before the first dictionary have been packed again. Of the writing thread.
  bool repacked_ = false;

  mutable base::Mutex mu_;
  EntryTable table_ KX_GUARDED_BY(mu_);
  std::map<Term, std::unordered_set<const Entry*>> index_ KX_GUARDED_BY(mu_);
  std::string resource_version_ KX_GUARDED_BY(mu_);
  /// States that are not packed yet, the oldest in front, and how many bytes they take.
  std::deque<EntryRef> recent_ KX_GUARDED_BY(mu_);
  std::size_t recent_bytes_ KX_GUARDED_BY(mu_) = 0;
};

}  // namespace kubexx::cache

#endif  // KUBEXX_CACHE_PACKED_STORE_H_
