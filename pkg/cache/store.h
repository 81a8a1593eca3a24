/// @file
/// Stores for users: of objects by key, with indexes, with a time to live.
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

/// Objects by key, as client-go's `tools/cache` Store. It is a ReflectorStore, so that a Reflector
/// can keep it equal to a source; or a program writes it itself. Thread-safe unless a class says
/// otherwise. Objects come and go encoded; typed_object.h converts.
class Store : public ReflectorStore {
 public:
  /// The object; kNotFound when there is none at `key`.
  virtual apimachinery::Result<Object> Get(const apimachinery::ObjectKey& key) const = 0;
  /// All objects, in no particular order.
  virtual std::vector<Object> List() const = 0;
  virtual std::vector<apimachinery::ObjectKey> Keys() const = 0;
  virtual std::size_t Size() const = 0;
  /// Of the last object written or deleted, of a Replace or of a bookmark: the store has every
  /// change up to it. Empty before the first. As LastStoreSyncResourceVersion.
  virtual std::string ResourceVersion() const = 0;

  /// Makes `objects` the whole content in one step.
  apimachinery::Result<void> Replace(std::vector<Object> objects,
                                     std::string_view resource_version);
  /// Removes the object at `key`, if there is one; the store's version stays.
  apimachinery::Result<void> DeleteKey(const apimachinery::ObjectKey& key);

  /// Does nothing: a store has nobody to tell.
  apimachinery::Result<void> Resync() override { return {}; }
};

/// A Store with indexes, as client-go's Indexer.
class Indexer : public Store {
 public:
  /// Adds indexes, at any time; the objects that are there have been indexed when it returns.
  /// kAlreadyExists when there is one of a name already.
  virtual apimachinery::Result<void> AddIndexers(Indexers indexers) = 0;
  /// The objects that have all of `terms`, for example {{"namespace", "default"}, {"node", "n1"}};
  /// none when `terms` is empty.
  virtual std::vector<Object> ByIndex(const IndexTerms& terms) const = 0;
  /// Their keys; reads no object.
  virtual std::vector<apimachinery::ObjectKey> KeysByIndex(const IndexTerms& terms) const = 0;
  /// The values under which `index` has objects.
  virtual std::vector<std::string> IndexValues(std::string_view index) const = 0;
};

/// A store that keeps objects packed, as informers do: see PackedStore.
std::unique_ptr<Indexer> NewIndexer(Indexers indexers = {}, PackerOptions packer = {});

/// Settings of NewTtlStore.
struct TtlStoreOptions {
  /// An object is gone when this long has passed since it was last written.
  base::Duration ttl = std::chrono::minutes(10);
  base::Clock& clock = base::Clock::Real();
};

/// A store whose objects expire, as client-go's TTLStore. Reads never give an expired object;
/// memory is returned with later calls, each of which lets go of all that have expired.
std::unique_ptr<Store> NewTtlStore(TtlStoreOptions options);

}  // namespace kubexx::cache

#endif  // KUBEXX_CACHE_STORE_H_
