/// @file
/// Keeps the served custom resources in step with the stored CustomResourceDefinitions.
#ifndef KUBEXX_APISERVER_ENDPOINTS_UPKEEP_CUSTOM_RESOURCES_H_
#define KUBEXX_APISERVER_ENDPOINTS_UPKEEP_CUSTOM_RESOURCES_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "kubexx/apimachinery/status.h"
#include "kubexx/apiserver/cacher/cached_object.h"
#include "kubexx/apiserver/endpoints/registry/definition_cache.h"
#include "kubexx/apiserver/endpoints/registry/type_registry.h"
#include "kubexx/apiserver/endpoints/store/object_store.h"
#include "kubexx/apiserver/endpoints/store/reap_budget.h"
#include "kubexx/apiserver/endpoints/webhooks/webhooks.h"
#include "kubexx/base/mutex.h"
#include "kubexx/codec/json_tree.h"

namespace kubexx::apiserver {

/// Serves the custom resources of the stored definitions, and completes the deletion of
/// definitions: it deletes the objects first (those with finalizers go when these are removed) and
/// then the definition. As kube-apiserver's controllers for CustomResourceDefinitions. Serving and
/// deleting are separate, because there may be many objects, and other definitions must not wait
/// for them. Thread-safe.
class CustomResources {
 public:
  /// All arguments must outlive it. `shared` says that other servers write definitions to the same
  /// storage.
  CustomResources(TypeRegistry& types, ObjectStore& objects, Webhooks& webhooks, bool shared)
      : types_(types), objects_(objects), webhooks_(webhooks), shared_(shared) {}

  /// Returns when every write of a definition that happened before the call is in effect. After a
  /// failure, Tick tries again. Returns kCancelled and errors of the storage.
  apimachinery::Result<void> Sync(const std::stop_token& stop);
  /// Completes the deletion of definitions that have few objects. Does not wait for other threads.
  void ReapFew(const std::stop_token& stop);

  /// Repeats a failed Sync, and follows the definitions of other servers. To be called about once a
  /// second.
  void Tick(const std::stop_token& stop);
  /// Continues the deletion of definitions, some objects of each. Returns true when it should be
  /// called again at once; otherwise it should be called in about a second. May take long.
  bool Reap(const std::stop_token& stop);

 private:
  /// What the server needs to know of a stored definition.
  struct Known {
    std::vector<ResourceTypeRef> types{};
    bool deleting = false;
    std::string uid{};                                  // where reapable is
    std::shared_ptr<const codec::JsonTree> reapable{};  // the definition, where its objects go
  };
  Known Learn(codec::JsonTree definition);

  /// Serves the definitions that are stored now.
  apimachinery::Result<void> Serve(const std::stop_token& stop);
  /// Deletes objects of a definition that is being deleted, and removes the definition when none is
  /// left. Returns whether the definition is gone.
  apimachinery::Result<bool> ReapOne(const codec::JsonTree& definition, ReapBudget& budget,
                                     const std::stop_token& stop);
  /// The same for all definitions that are being deleted, as the last Serve has found them. Returns
  /// whether any is gone.
  bool ReapAll(bool patient, bool& more, const std::stop_token& stop);

  /// Notes whether the cache of definitions has changed since the last call.
  void NoticeOthers();

  TypeRegistry& types_;
  ObjectStore& objects_;
  Webhooks& webhooks_;
  const bool shared_;
  DefinitionCache<Known> definitions_{
      [this](codec::JsonTree definition) { return Learn(std::move(definition)); }};
  base::Mutex mu_;
  base::CondVar free_;
  /// Only one thread at a time may serve, because a round that began earlier would restore the
  /// older state that it has read.
  bool taken_ KX_GUARDED_BY(mu_) = false;
  std::uint64_t asked_ KX_GUARDED_BY(mu_) = 0;
  std::uint64_t done_ KX_GUARDED_BY(mu_) = 0;  // of asked_
  bool again_ KX_GUARDED_BY(mu_) = false;      // Tick has something to do
  std::optional<std::vector<CachedObjectRef>> seen_ KX_GUARDED_BY(mu_);
  /// Definitions that are being deleted, by their uids; `active_` has those that a thread works on.
  std::map<std::string, std::shared_ptr<const codec::JsonTree>> ending_ KX_GUARDED_BY(mu_);
  std::set<std::string> active_ KX_GUARDED_BY(mu_);
};

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_UPKEEP_CUSTOM_RESOURCES_H_
