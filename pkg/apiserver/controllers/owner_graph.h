/// @file
/// Which object owns which, and what has to happen when owners go: the garbage collector's
/// decisions, without any I/O. Semantics: the API's ownerReferences and finalizers
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

/// Holds an object until what it owns has gone.
inline constexpr std::string_view kForegroundFinalizer = "foregroundDeletion";
/// Holds an object until what it owns has been told that it is on its own.
inline constexpr std::string_view kOrphanFinalizer = "orphan";

/// An object as the graph knows it.
struct GraphNode {
  apimachinery::GroupVersionResource resource{};
  apimachinery::ObjectKey key{};
  /// The uids of its owners; true for those whose foreground deletion waits for it.
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
    kDelete,           ///< the object, with `propagation`
    kForgetOwners,     ///< take `owners` out of its ownerReferences
    kRemoveFinalizer,  ///< `finalizer`
    kVisit,            ///< decide about `dependents` first, which lets it go later
    kRelease           ///< take it out of the ownerReferences of `dependents`, then `finalizer` off
  };
  Type type = Type::kNothing;
  kubernetes::Propagation propagation = kubernetes::Propagation::kBackground;
  /// Of kDelete: first none of its owners is to wait for it, as it waits for one of them.
  bool unblock = false;
  std::set<std::string> owners{};
  std::string finalizer{};
  std::vector<std::string> dependents{};
  bool operator==(const GraphAction&) const = default;
};

/// Objects by uid. An object is owned by objects of its own namespace and of the cluster only, as
/// kube-controller-manager has it: an owner in another namespace counts as one that is not there.
/// An object of the cluster that names an owner in a namespace stays whatever becomes of that
/// owner. Not thread-safe.
class OwnerGraph {
 public:
  /// Takes the object in or notes what it is now. Returns the uids to decide about again.
  std::vector<std::string> Put(const std::string& uid, GraphNode node);
  /// The same for an object that is gone.
  std::vector<std::string> Remove(const std::string& uid);

  /// What has to happen to the object; nothing when it is not there.
  GraphAction Decide(const std::string& uid) const;

  /// Null when it is not there; valid until the graph changes.
  const GraphNode* Find(const std::string& uid) const;
  /// The uids of all objects to decide about when nothing is known of what happened before: those
  /// that have owners, and those that wait for the garbage collector.
  std::vector<std::string> Due() const;
  std::size_t size() const { return nodes_.size(); }
  /// In these namespaces ("": of the cluster) are objects that nobody can read. An owner that is
  /// not known may be one of them, and nothing goes there for the lack of it.
  void SetUnknown(std::set<std::string> namespaces) { unknown_ = std::move(namespaces); }

 private:
  GraphAction DecideOwner(const std::string& uid, const GraphNode& node) const;
  /// Those that the object can own, see the class.
  std::vector<std::string> DependentsOf(const std::string& uid, const GraphNode& node) const;

  std::map<std::string, GraphNode> nodes_{};
  /// Those that name an owner, by its uid.
  std::map<std::string, std::set<std::string>> dependents_{};
  bool MayBeUnknown(const GraphNode& owned) const;

  std::set<std::string> unknown_{};
};

}  // namespace kubexx::apiserver::controllers

#endif  // KUBEXX_APISERVER_CONTROLLERS_OWNER_GRAPH_H_
