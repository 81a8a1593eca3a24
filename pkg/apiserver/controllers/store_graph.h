/// @file
/// Keeps an OwnerGraph of all objects in a storage.
#ifndef KUBEXX_APISERVER_CONTROLLERS_STORE_GRAPH_H_
#define KUBEXX_APISERVER_CONTROLLERS_STORE_GRAPH_H_

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>

#include "kubexx/apimachinery/status.h"
#include "kubexx/apiserver/controllers/owner_graph.h"
#include "kubexx/apiserver/object/resource_type.h"
#include "kubexx/apiserver/storage/storage.h"
#include "kubexx/base/clock.h"
#include "kubexx/base/mutex.h"

namespace kubexx::apiserver::controllers {

/// Lists and watches the whole storage at once, instead of each resource: so the changes arrive in
/// the order of their revisions, and an owner is always known before the objects that it owns.
/// Leaves out objects of the resource Event. Thread-safe.
class StoreGraph {
 public:
  /// A function that is called with the uid of an object for which Decide has to be called (again).
  /// No lock is held during the call.
  using Visit = std::function<void(const std::string& uid)>;

  /// A group, "" for the core group, and a kind in it.
  using GroupKind = std::pair<std::string, std::string>;
  /// `api_version` is as in an object: "v1" or "apps/v1".
  static GroupKind GroupKindOf(std::string_view api_version, std::string_view kind);

  /// Both must outlive it.
  StoreGraph(storage::Storage& storage, base::Clock& clock);

  /// Lists and watches until `stop` is requested. Starts again after an error.
  void Follow(const Visit& visit, const std::stop_token& stop);
  /// Blocks until the first list is in the graph. Returns false when `stop` was requested before.
  bool WaitForSync(const std::stop_token& stop);

  /// As OwnerGraph::Decide.
  GraphAction Decide(const std::string& uid) const;
  /// Returns the object, or std::nullopt when it is gone. Returns an error when it is a custom
  /// resource and the version in which it is served cannot be determined now.
  apimachinery::Result<std::optional<GraphNode>> Find(const std::string& uid) const;
  /// Whether a kind exists, and whether its objects are in namespaces.
  enum class Scope : std::uint8_t {
    kNone,  ///< this server does not serve the kind: it is not one of its own, and no definition's
    kCluster,
    kNamespace
  };
  /// The scopes of kinds, for each of them. It reads the definitions at most once. The version of a
  /// kind does not matter. Returns errors of the storage.
  apimachinery::Result<std::map<GroupKind, Scope>> ScopesOf(const std::set<GroupKind>& kinds,
                                                            const std::stop_token& stop) const;

 private:
  apimachinery::Result<void> ListAndWatch(const Visit& visit, const std::stop_token& stop);
  std::vector<std::string> Apply(const storage::Event& event);
  /// The uid and the node of a stored object; the uid is empty when the object cannot be read.
  static std::pair<std::string, GraphNode> NodeOf(const ResourceType& type, const std::string& key,
                                                  const std::string& value);
  void TellUnknown() KX_REQUIRES(mu_);
  /// The type of the object at a key; null when the graph leaves it out.
  ResourceTypeRef Counted(const std::string& key) const;
  ResourceTypeRef TypeOf(const std::string& key) const;
  /// A version in which a custom resource is served, which can differ from the version of the
  /// stored object. "" when its definition is gone.
  apimachinery::Result<std::string> ServedVersionOf(
      const apimachinery::GroupVersionResource& resource) const;

  storage::Storage& storage_;
  base::Clock& clock_;
  std::map<std::string, ResourceTypeRef> types_{};  ///< by prefix; set in the constructor
  /// The kinds that are built into the server; set in the constructor.
  std::map<GroupKind, Scope> served_{};
  mutable base::Mutex mu_;
  base::CondVar changed_;
  OwnerGraph graph_ KX_GUARDED_BY(mu_);
  /// The keys of objects that cannot be read, with the uid that the object had, if that is known.
  std::map<std::string, std::string> unreadable_ KX_GUARDED_BY(mu_);
  bool synced_ KX_GUARDED_BY(mu_) = false;
};

}  // namespace kubexx::apiserver::controllers

#endif  // KUBEXX_APISERVER_CONTROLLERS_STORE_GRAPH_H_
