/// @file
/// Keeps an OwnerGraph of everything that is in a storage.
#ifndef KUBEXX_APISERVER_CONTROLLERS_STORE_GRAPH_H_
#define KUBEXX_APISERVER_CONTROLLERS_STORE_GRAPH_H_

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>

#include "kubexx/apimachinery/status.h"
#include "kubexx/apiserver/controllers/owner_graph.h"
#include "kubexx/apiserver/object/resource_type.h"
#include "kubexx/apiserver/storage/storage.h"
#include "kubexx/base/clock.h"
#include "kubexx/base/mutex.h"

namespace kubexx::apiserver::controllers {

/// One list and one watch of the whole storage, instead of one of each resource: events come in the
/// order of revisions, so that an owner is always known before what it owns. Events (the resource)
/// are left out. Thread-safe.
class StoreGraph {
 public:
  /// Called with the uid of an object about which to decide (again); not under a lock.
  using Visit = std::function<void(const std::string& uid)>;

  /// Both must outlive it.
  StoreGraph(storage::Storage& storage, base::Clock& clock);

  /// Lists and watches until `stop`, and again when that breaks.
  void Follow(const Visit& visit, const std::stop_token& stop);
  /// Blocks until the first list is known; false when `stop` was requested first.
  bool WaitForSync(const std::stop_token& stop);

  /// See OwnerGraph.
  GraphAction Decide(const std::string& uid) const;
  /// Nothing when it is gone. An error when the version in which a custom resource is served cannot
  /// be told now.
  apimachinery::Result<std::optional<GraphNode>> Find(const std::string& uid) const;
  /// Where objects of a kind are.
  enum class Scope : std::uint8_t {
    kNone,  ///< there are none: the kind is neither built in, nor is a definition of it there
    kCluster,
    kNamespace
  };
  /// Errors of the storage.
  apimachinery::Result<Scope> ScopeOf(const std::string& api_version,
                                      const std::string& kind) const;

 private:
  apimachinery::Result<void> ListAndWatch(const Visit& visit, const std::stop_token& stop);
  std::vector<std::string> Apply(const storage::Event& event);
  /// The uid and the node of what a key holds; an empty uid for what cannot be read.
  static std::pair<std::string, GraphNode> NodeOf(const ResourceType& type, const std::string& key,
                                                  const std::string& value);
  void TellUnknown() KX_REQUIRES(mu_);
  /// Null for what does not count.
  ResourceTypeRef Counted(const std::string& key) const;
  ResourceTypeRef TypeOf(const std::string& key) const;
  /// A version in which a custom resource is served, which is not always that of the stored object;
  /// "" when it is not defined any more.
  apimachinery::Result<std::string> ServedVersionOf(
      const apimachinery::GroupVersionResource& resource) const;

  storage::Storage& storage_;
  base::Clock& clock_;
  std::map<std::string, ResourceTypeRef> types_{};  ///< by prefix; set in the constructor
  mutable base::Mutex mu_;
  base::CondVar changed_;
  OwnerGraph graph_ KX_GUARDED_BY(mu_);
  /// Keys of what cannot be read, with the uid that it had, if that is known.
  std::map<std::string, std::string> unreadable_ KX_GUARDED_BY(mu_);
  bool synced_ KX_GUARDED_BY(mu_) = false;
};

}  // namespace kubexx::apiserver::controllers

#endif  // KUBEXX_APISERVER_CONTROLLERS_STORE_GRAPH_H_
