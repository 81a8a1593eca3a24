/// @file
/// Completes the deletion of namespaces, as the namespace controller of a cluster does.
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

/// Deletes the objects of namespaces that are being deleted, pods first, and removes the finalizer
/// "kubernetes" of a namespace when nothing is left in it. That happens at once when the namespace
/// has few objects and none waits for a finalizer, otherwise in several turns. Meanwhile the
/// conditions of the namespace say what it waits for. It handles the namespaces whose deletion this
/// server was asked for, and finds those that other servers or interrupted requests have marked.
/// Thread-safe.
class NamespaceReaper {
 public:
  /// Both must outlive it.
  NamespaceReaper(TypeRegistry& types, ObjectStore& objects) : types_(types), objects_(objects) {}

  /// Finds the namespaces that were marked for deletion before this process started.
  apimachinery::Result<void> Load(const std::stop_token& stop);
  /// Notes that the namespace `name` may be being deleted, and deletes its objects if they are few.
  /// Does not wait for other threads.
  void Add(const std::string& name, const std::stop_token& stop);
  /// Continues the deletions, some objects of each namespace. Returns true when it should be called
  /// again at once; otherwise it should be called in about a second. May take long.
  bool Tick(const std::stop_token& stop);

 private:
  /// Finds namespaces in the cache that are being deleted.
  void Notice();
  void NotePending(const std::set<std::string>& names);
  /// Works on `name`, and keeps it noted until nothing is left to do for it.
  void Reap(const std::string& name, ReapBudget& budget, const std::stop_token& stop);
  /// Works on `name`. Returns whether nothing is left to do for it.
  apimachinery::Result<bool> Proceed(const std::string& name, ReapBudget& budget,
                                     const std::stop_token& stop);
  /// A namespace that is being deleted, as it was at a revision.
  struct Ending {
    codec::JsonTree namespace_{};
    storage::Revision revision = 0;
  };
  /// Reads a namespace that is being deleted; std::nullopt when it does not exist any more.
  apimachinery::Result<std::optional<Ending>> Look(const std::string& name,
                                                   const std::stop_token& stop);
  /// Whether all creates have ended that may not have seen that the namespace is being deleted; a
  /// create that begins after Look sees it. When the budget is patient, it waits for them and reads
  /// the namespace again. Returns false also when the namespace is not the same any more.
  apimachinery::Result<bool> Settle(Ending& ending, const ReapBudget& budget,
                                    const std::stop_token& stop);
  apimachinery::Result<NamespaceContent> EmptyAll(const Ending& ending, ReapBudget& budget,
                                                  const std::stop_token& stop);
  /// Deletes the objects that are older than the read of the namespace. Newer ones may belong to a
  /// new namespace of the same name, when another server, or a user of the subresource finalize,
  /// has completed the deletion meanwhile.
  apimachinery::Result<void> Empty(const ResourceType& type, const Ending& ending,
                                   NamespaceContent& content, ReapBudget& budget,
                                   const std::stop_token& stop);
  /// Writes `change` of a namespace if it is still the same one. Returns whether it was written;
  /// false when the namespace is gone.
  apimachinery::Result<bool> Write(const codec::JsonTree& namespace_, ObjectStore::Change change,
                                   const std::stop_token& stop);

  TypeRegistry& types_;
  ObjectStore& objects_;
  base::Mutex mu_;
  /// The namespaces that a thread works on. Only one thread at a time works on each.
  std::set<std::string> active_ KX_GUARDED_BY(mu_);
  /// Namespaces that may be being deleted, each with the number of the last note about it.
  std::map<std::string, std::uint64_t> pending_ KX_GUARDED_BY(mu_);
  std::uint64_t noted_ KX_GUARDED_BY(mu_) = 0;
  std::vector<CachedObjectRef> seen_ KX_GUARDED_BY(mu_);  // namespaces that were not being deleted
};

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_UPKEEP_NAMESPACE_REAPER_H_
