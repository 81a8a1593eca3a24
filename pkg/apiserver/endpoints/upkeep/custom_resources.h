/// @file
/// Keeps what is served in step with the definitions of custom resources.
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

/// Serves what the stored definitions say, and ends those that are being deleted: their objects go
/// first, those with finalizers when these are done, and then the definition. As kube-apiserver's
/// controllers for CustomResourceDefinitions: the two are apart, since the objects may be many and
/// other definitions do not wait for them. Thread-safe.
class CustomResources {
 public:
  /// All must outlive it. `shared`: other servers write definitions to the same storage.
  CustomResources(TypeRegistry& types, ObjectStore& objects, Webhooks& webhooks, bool shared)
      : types_(types), objects_(objects), webhooks_(webhooks), shared_(shared) {}

  /// Returns when every write of a definition that was done before the call has come into effect.
  /// What fails is tried again in Tick. kCancelled and errors of the storage.
  apimachinery::Result<void> Sync(const std::stop_token& stop);
  /// Ends the definitions that are being deleted and have few objects. Does not wait for others.
  void ReapFew(const std::stop_token& stop);

  /// To be called about once a second.
  void Tick(const std::stop_token& stop);
  /// Goes on with what is being deleted, some objects of each definition. Whether to call it again
  /// at once; else in about a second. May be long at it.
  bool Reap(const std::stop_token& stop);

 private:
  /// What a stored definition comes to.
  struct Known {
    std::vector<ResourceTypeRef> types{};
    bool deleting = false;
    std::string uid{};                                  // where reapable is
    std::shared_ptr<const codec::JsonTree> reapable{};  // the definition, where its objects go
  };
  Known Learn(codec::JsonTree definition);

  /// Serves what is stored now.
  apimachinery::Result<void> Serve(const std::stop_token& stop);
  /// Deletes objects of a definition that is being deleted, and lets that go when none is left.
  /// Whether it has gone.
  apimachinery::Result<bool> ReapOne(const codec::JsonTree& definition, ReapBudget& budget,
                                     const std::stop_token& stop);
  /// The same of all that are being deleted, as the last Serve has found them; whether any has
  /// gone.
  bool ReapAll(bool patient, bool& more, const std::stop_token& stop);

  /// Notes whether the cache of definitions has other ones than at the last call.
  void NoticeOthers();

  TypeRegistry& types_;
  ObjectStore& objects_;
  Webhooks& webhooks_;
  const bool shared_;
  DefinitionCache<Known> definitions_{
      [this](codec::JsonTree definition) { return Learn(std::move(definition)); }};
  base::Mutex mu_;
  base::CondVar free_;
  /// One thread at a time has the turn: a round that began earlier would bring back what it has
  /// read.
  bool taken_ KX_GUARDED_BY(mu_) = false;
  std::uint64_t asked_ KX_GUARDED_BY(mu_) = 0;
  std::uint64_t done_ KX_GUARDED_BY(mu_) = 0;  // of asked_
  bool again_ KX_GUARDED_BY(mu_) = false;      // Tick has something to do
  std::optional<std::vector<CachedObjectRef>> seen_ KX_GUARDED_BY(mu_);
  /// Definitions that are being deleted, by their UIDs, and those that a thread is at.
  std::map<std::string, std::shared_ptr<const codec::JsonTree>> ending_ KX_GUARDED_BY(mu_);
  std::set<std::string> active_ KX_GUARDED_BY(mu_);
};

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_UPKEEP_CUSTOM_RESOURCES_H_
