/// @file
/// The types that are served, and their caches.
#ifndef KUBEXX_APISERVER_ENDPOINTS_REGISTRY_TYPE_REGISTRY_H_
#define KUBEXX_APISERVER_ENDPOINTS_REGISTRY_TYPE_REGISTRY_H_

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "kubexx/apiserver/cacher/cacher.h"
#include "kubexx/apiserver/object/resource_type.h"
#include "kubexx/apiserver/storage/storage.h"
#include "kubexx/base/mutex.h"

namespace kubexx::apiserver {

/// Finds types; makes a type's cache when it is first needed, so that a server that nobody asks
/// costs little. Thread-safe.
class TypeRegistry {
 public:
  /// With the built-in types. `storage` must outlive it.
  TypeRegistry(storage::Storage& storage, CacherOptions options);
  ~TypeRegistry();
  TypeRegistry(const TypeRegistry&) = delete;
  TypeRegistry& operator=(const TypeRegistry&) = delete;

  /// Null when it is not served.
  ResourceTypeRef Find(std::string_view group, std::string_view version,
                       std::string_view plural) const;
  std::vector<ResourceTypeRef> All() const;

  /// Serves these besides the built-in types, and no others: custom resources, as their definitions
  /// have them at `revision`. Caches of types that are not there any more, or have changed, are not
  /// used from now on. Whoever watches them is told what has happened up to `revision`, as of
  /// objects that have gone with their definition, before the watch ends.
  void SetCustom(std::vector<ResourceTypeRef> types, storage::Revision revision);

  /// Makes it on the first call.
  std::shared_ptr<Cacher> CacherOf(const ResourceTypeRef& type);
  /// The same for those who can do without: null where there is none yet.
  std::shared_ptr<Cacher> CacherIfAny(const ResourceTypeRef& type) const;
  /// So many stored objects of the type have been read by a request that they were not for. Makes
  /// its cache when that has cost more than the cache: a request that comes once needs none.
  void NoteReadInVain(const ResourceTypeRef& type, std::size_t objects);
  /// Ticks all caches; forgets those that are not used any more.
  void Tick();
  /// Of all caches.
  std::size_t watchers() const;

 private:
  /// Types, and where to find them. Immutable, so that it is made and read without the lock.
  class Table;
  using TableRef = std::shared_ptr<const Table>;

  /// A cache that is not used any more, and still tells its watches what they have not heard.
  struct Leaving {
    std::shared_ptr<Cacher> cacher{};
    storage::Revision until = 0;
    base::TimePoint deadline{};  // when it ends anyway
  };

  TableRef Custom() const;
  void EndLeaving();
  std::vector<std::shared_ptr<Cacher>> Cachers() const;

  storage::Storage& storage_;
  const CacherOptions options_;
  const TableRef builtin_;
  base::Mutex turn_;  // one SetCustom at a time; taken before mu_
  mutable base::Mutex mu_;
  TableRef custom_ KX_GUARDED_BY(mu_);
  std::map<std::string, std::shared_ptr<Cacher>> cachers_ KX_GUARDED_BY(mu_);  // by NameOf
  std::vector<Leaving> leaving_ KX_GUARDED_BY(mu_);
  std::map<std::string, std::size_t> read_in_vain_ KX_GUARDED_BY(mu_);  // where there is no cache
};

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_REGISTRY_TYPE_REGISTRY_H_
