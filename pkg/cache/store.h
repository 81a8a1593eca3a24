/// @file
/// Stores that programs can use directly: by key, with indexes, and with a time to live.
#ifndef KUBEXX_CACHE_STORE_H_
#define KUBEXX_CACHE_STORE_H_

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "kubexx/apimachinery/object_key.h"
#include "kubexx/apimachinery/status.h"
#include "kubexx/base/clock.h"
#include "kubexx/cache/indexer_set.h"
#include "kubexx/cache/object.h"
#include "kubexx/cache/packer.h"
#include "kubexx/cache/reflector_store.h"

namespace kubexx::cache {

/// Stores objects by key, as client-go's `tools/cache` Store. It is a ReflectorStore, so that a
/// Reflector can keep it equal to a source; a program can also write into it itself. Thread-safe
/// unless a class says otherwise. Its methods take and return encoded objects; typed_object.h
/// converts them.
class Store : public ReflectorStore {
 public:
  /// Returns the object; kNotFound when there is none at `key`.
  virtual apimachinery::Result<Object> Get(const apimachinery::ObjectKey& key) const = 0;
  /// Returns all objects, in no particular order.
  virtual std::vector<Object> List() const = 0;
  virtual std::vector<apimachinery::ObjectKey> Keys() const = 0;
  virtual std::size_t Size() const = 0;
  /// The resourceVersion up to which the store has every change: that of the last written or
  /// deleted object, of a Replace, or of a bookmark. Empty before the first of these. As
  /// LastStoreSyncResourceVersion.
  virtual std::string ResourceVersion() const = 0;

  /// Makes `objects` the store's whole content in one step.
  apimachinery::Result<void> Replace(std::vector<Object> objects,
                                     std::string_view resource_version);
  /// Removes the object at `key`, if there is one. The store's resourceVersion does not change.
  apimachinery::Result<void> DeleteKey(const apimachinery::ObjectKey& key);

  /// Does nothing, because a store has no handlers.
  apimachinery::Result<void> Resync() override { return {}; }
};

/// A Store with indexes, as client-go's Indexer.
class Indexer : public Store {
 public:
  /// Adds indexes, at any time. When it returns, the existing objects have been indexed; until then
  /// a query by a new index finds nothing. kAlreadyExists when there is an index of one of the
  /// names; that one is whole then, too.
  virtual apimachinery::Result<void> AddIndexers(Indexers indexers) = 0;
  /// Returns the objects that have all of `terms`, for example {{"namespace", "default"}, {"node",
  /// "n1"}}; none when `terms` is empty.
  virtual std::vector<Object> ByIndex(const IndexTerms& terms) const = 0;
  /// Returns the keys of these objects without reading the objects.
  virtual std::vector<apimachinery::ObjectKey> KeysByIndex(const IndexTerms& terms) const = 0;
  /// The values under which `index` has objects.
  virtual std::vector<std::string> IndexValues(std::string_view index) const = 0;
};

/// Makes a store that keeps objects packed, as informers do: see PackedStore.
std::unique_ptr<Indexer> NewIndexer(Indexers indexers = {}, PackerOptions packer = {});

/// Settings of NewTtlStore.
struct TtlStoreOptions {
  /// An object expires when this long has passed since it was last written.
  base::Duration ttl = std::chrono::minutes(10);
  base::Clock& clock = base::Clock::Real();
};

/// Makes a store whose objects expire, as client-go's TTLStore. Reads never return an expired
/// object. The store frees the memory of all expired objects at the next call.
std::unique_ptr<Store> NewTtlStore(TtlStoreOptions options);

}  // namespace kubexx::cache

#endif  // KUBEXX_CACHE_STORE_H_
