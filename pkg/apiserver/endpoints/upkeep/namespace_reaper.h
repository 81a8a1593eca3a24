/// @file
/// Ends namespaces: what the namespace controller does in a cluster.
#ifndef KUBEXX_APISERVER_ENDPOINTS_UPKEEP_NAMESPACE_REAPER_H_
#define KUBEXX_APISERVER_ENDPOINTS_UPKEEP_NAMESPACE_REAPER_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <vector>

#include "kubexx/apimachinery/status.h"
#include "kubexx/apiserver/cacher/cached_object.h"
#include "kubexx/apiserver/endpoints/registry/type_registry.h"
#include "kubexx/apiserver/endpoints/store/object_store.h"
#include "kubexx/apiserver/endpoints/store/reap_budget.h"
#include "kubexx/apiserver/endpoints/upkeep/namespace_conditions.h"
#include "kubexx/apiserver/storage/storage.h"
#include "kubexx/base/mutex.h"

namespace kubexx::apiserver {

/// Deletes the objects of namespaces that are being deleted, pods before all others, and takes the
/// finalizer "kubernetes" of such a namespace when nothing is left in it: at once where there is
/// little in it and no finalizer holds an object back, and by and by elsewhere. Meanwhile the
/// conditions of the namespace say what it waits for. It knows of those whose deletion was asked
/// for here, and finds those of other servers and of requests that had no answer. Thread-safe.
class NamespaceReaper {
 public:
  /// Both must outlive it.
  NamespaceReaper(TypeRegistry& types, ObjectStore& objects) : types_(types), objects_(objects) {}

  /// Finds the namespaces whose deletion was begun before this process.
  apimachinery::Result<void> Load(const std::stop_token& stop);
  /// `name` may be being deleted: what is little in it goes. Does not wait for others.
  void Add(const std::string& name, const std::stop_token& stop);
  /// Goes on where something is left, some for each namespace. Whether to call it again at once;
  /// else in about a second. May be long at it.
  bool Tick(const std::stop_token& stop);

 private:
  /// What is in the cache of namespaces, and is being deleted.
  void Notice();
  void NotePending(const std::set<std::string>& names);
  /// Notes `name` until nothing is left to do for it.
  void Reap(const std::string& name, ReapBudget& budget, const std::stop_token& stop);
  /// Whether nothing is left to do for it.
  apimachinery::Result<bool> Proceed(const std::string& name, ReapBudget& budget,
                                     const std::stop_token& stop);
  /// A namespace that is being deleted, as it was at a revision.
  struct Ending {
    codec::JsonTree namespace_{};
    storage::Revision revision = 0;
  };
  /// Nothing when it is there no more.
  apimachinery::Result<std::optional<Ending>> Look(const std::string& name,
                                                   const std::stop_token& stop);
  /// Whether every create that may not have seen that the namespace is being deleted has ended:
  /// whoever begins one after Look sees it. Waits for that when the budget is patient, and looks
  /// again; false also when the namespace is not the same any more.
  apimachinery::Result<bool> Settle(Ending& ending, const ReapBudget& budget,
                                    const std::stop_token& stop);
  apimachinery::Result<NamespaceContent> EmptyAll(const Ending& ending, ReapBudget& budget,
                                                  const std::stop_token& stop);
  /// Deletes what was made before the namespace was looked at: what is newer may be in one that was
  /// made anew meanwhile, because another server, or somebody by the subresource finalize, has
  /// ended this one.
  apimachinery::Result<void> Empty(const ResourceType& type, const Ending& ending,
                                   NamespaceContent& content, ReapBudget& budget,
                                   const std::stop_token& stop);
  /// Whether `change` of a namespace that is still the same has been written; not when it has gone.
  apimachinery::Result<bool> Write(const codec::JsonTree& namespace_, ObjectStore::Change change,
                                   const std::stop_token& stop);

  TypeRegistry& types_;
  ObjectStore& objects_;
  base::Mutex mu_;
  /// One thread at a time for each: more would get into each other's way.
  std::set<std::string> active_ KX_GUARDED_BY(mu_);
  /// Those that may be being deleted, each with the number of the last time that somebody said so.
  std::map<std::string, std::uint64_t> pending_ KX_GUARDED_BY(mu_);
  std::uint64_t noted_ KX_GUARDED_BY(mu_) = 0;
  std::vector<CachedObjectRef> seen_ KX_GUARDED_BY(mu_);  // namespaces that were not being deleted
};

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_UPKEEP_NAMESPACE_REAPER_H_
