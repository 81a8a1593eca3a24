/// @file
/// The served types and their caches.
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

/// Finds types and their caches. It makes the cache of a type when it is first needed, so that an
/// idle server needs little. Thread-safe.
class TypeRegistry {
 public:
  /// The registry begins with the built-in types. `storage` must outlive it.
  TypeRegistry(storage::Storage& storage, CacherOptions options);
  ~TypeRegistry();
  TypeRegistry(const TypeRegistry&) = delete;
  TypeRegistry& operator=(const TypeRegistry&) = delete;

  /// The type; null when it is not served.
  ResourceTypeRef Find(std::string_view group, std::string_view version,
                       std::string_view plural) const;
  std::vector<ResourceTypeRef> All() const;

  /// Sets the custom resources to serve besides the built-in types, as the definitions describe
  /// them at `revision`. Caches of types that are gone or have changed are not used any more. Their
  /// watchers get the events up to `revision`, such as the deletions of objects together with their
  /// definition, before the watches end.
  void SetCustom(std::vector<ResourceTypeRef> types, storage::Revision revision);

  /// The cache of a type. Makes it at the first call.
  std::shared_ptr<Cacher> CacherOf(const ResourceTypeRef& type);
  /// The cache of a type if it exists already, otherwise null.
  std::shared_ptr<Cacher> CacherIfAny(const ResourceTypeRef& type) const;
  /// Notes that a request has read this many stored objects of the type that it did not need. Makes
  /// the cache of the type once such requests have cost more than the cache would; a single request
  /// is answered without it.
  void NoteReadInVain(const ResourceTypeRef& type, std::size_t objects);
  /// Calls Tick of all caches, and drops those that are not used any more.
  void Tick();
  /// The number of watchers of all caches.
  std::size_t watchers() const;

 private:
  /// A table of types. Immutable, so that it is made and read without the lock.
  class Table;
  using TableRef = std::shared_ptr<const Table>;

  /// A cache that is not used any more, but still has events for its watchers.
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
