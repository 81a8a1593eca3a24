/// @file
/// The ownership between objects, and what has to happen when owners are deleted: the decisions of
/// the garbage collector, without I/O. Semantics: the API's ownerReferences and finalizers
/// foregroundDeletion and orphan, as kube-controller-manager's garbage collector has them.
#ifndef KUBEXX_APISERVER_CONTROLLERS_OWNER_GRAPH_H_
#define KUBEXX_APISERVER_CONTROLLERS_OWNER_GRAPH_H_

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kubexx/apimachinery/group_version.h"
#include "kubexx/apimachinery/object_key.h"
#include "kubexx/kubernetes/options.h"

namespace kubexx::apiserver::controllers {

/// The finalizer that keeps an object until the objects that it owns are gone.
inline constexpr std::string_view kForegroundFinalizer = "foregroundDeletion";
/// The finalizer that keeps an object until its owner references are removed from the objects that
/// it owns.
inline constexpr std::string_view kOrphanFinalizer = "orphan";

/// An object in the graph.
struct GraphNode {
  apimachinery::GroupVersionResource resource{};
  apimachinery::ObjectKey key{};
  /// The uids of its owners. The value is true when the foreground deletion of that owner waits for
  /// this object (blockOwnerDeletion).
  std::map<std::string, bool> owners{};
  bool deleting = false;
  bool foreground = false;  ///< has kForegroundFinalizer
  bool orphan = false;      ///< has kOrphanFinalizer
  bool operator==(const GraphNode&) const = default;
};

/// What to do with one object.
struct GraphAction {
  enum class Type : std::uint8_t {
    kNothing,
    kDelete,           ///< delete the object with `propagation`
    kForgetOwners,     ///< remove `owners` from its ownerReferences
    kRemoveFinalizer,  ///< `finalizer`
    kVisit,            ///< decide about `dependents` first; the object can be deleted after them
    /// Remove the object from the ownerReferences of `dependents`, then remove `finalizer`.
    kRelease
  };
  Type type = Type::kNothing;
  kubernetes::Propagation propagation = kubernetes::Propagation::kBackground;
  /// For kDelete: before the deletion, blockOwnerDeletion has to be cleared in its ownerReferences,
  /// because an owner and this object would wait for each other.
  bool unblock = false;
  std::set<std::string> owners{};
  std::string finalizer{};
  std::vector<std::string> dependents{};
  bool operator==(const GraphAction&) const = default;
};

/// The objects by uid. As in kube-controller-manager, only objects of the same namespace and
/// cluster-scoped objects can own an object; an owner in another namespace counts as missing. A
/// cluster-scoped object that names an owner in a namespace is never deleted because of that owner.
/// Not thread-safe.
class OwnerGraph {
 public:
  /// Adds the object, or updates what is known of it. Returns the uids for which Decide has to be
  /// called again.
  std::vector<std::string> Put(const std::string& uid, GraphNode node);
  /// Removes an object that is gone. Returns the uids for which Decide has to be called again.
  std::vector<std::string> Remove(const std::string& uid);

  /// What has to happen to the object; kNothing when it is not in the graph.
  GraphAction Decide(const std::string& uid) const;

  /// The object; null when it is not in the graph. Valid until the graph changes.
  const GraphNode* Find(const std::string& uid) const;
  /// The uids of all objects for which Decide has to be called after the graph was built: those
  /// that have owners, and those that wait for the garbage collector.
  std::vector<std::string> Due() const;
  std::size_t size() const { return nodes_.size(); }
  /// Sets the namespaces (with "" for cluster-scoped objects) that have objects which cannot be
  /// read. A missing owner may be one of those objects, so no object that it could own is deleted
  /// because its owner is missing.
  void SetUnknown(std::set<std::string> namespaces) { unknown_ = std::move(namespaces); }

 private:
  GraphAction DecideOwner(const std::string& uid, const GraphNode& node) const;
  /// The objects that name this one as owner and that it can own; see the class.
  std::vector<std::string> DependentsOf(const std::string& uid, const GraphNode& node) const;

  std::map<std::string, GraphNode> nodes_{};
  /// The uids of the objects that name an owner, by the uid of the owner.
  std::map<std::string, std::set<std::string>> dependents_{};
  bool MayBeUnknown(const GraphNode& owned) const;

  std::set<std::string> unknown_{};
};

}  // namespace kubexx::apiserver::controllers

#endif  // KUBEXX_APISERVER_CONTROLLERS_OWNER_GRAPH_H_
