/// @file
/// The properties of a resource that the server needs.
#ifndef KUBEXX_APISERVER_OBJECT_RESOURCE_TYPE_H_
#define KUBEXX_APISERVER_OBJECT_RESOURCE_TYPE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "kubexx/apimachinery/object_key.h"
#include "kubexx/apiserver/object/column.h"
#include "kubexx/apiserver/object/subresource.h"
#include "kubexx/apiserver/object/verbs.h"
#include "kubexx/apiserver/schema/custom_version.h"
#include "kubexx/codec/json_tree.h"
#include "kubexx/codec/schema.h"

namespace kubexx::apiserver {

/// Which metadata that clients set stays unchanged when a client writes the status. It is about
/// labels, annotations, finalizers and owner references.
enum class StatusMetadata : std::uint8_t { kWritten, kLabelsKept, kOwnersKept, kKept };

/// What the server itself does by the objects of a type, so that it looks at them as soon as a
/// client has written one.
enum class ServerDuty : std::uint8_t { kNone, kServeCustomTypes, kCallWebhooks, kEmptyNamespaces };

/// The rules by which kube-apiserver's strategies treat objects of one type differently from those
/// of most types.
struct TypeRules {
  /// The server increments metadata.generation when anything but metadata and status changes.
  bool has_generation = false;
  /// It increments metadata.generation also when annotations change, because the controller of
  /// Deployments copies them.
  bool counts_annotations = false;
  /// A PUT creates the object when it does not exist (AllowCreateOnUpdate).
  bool created_by_update = false;
  /// An update must have a resourceVersion (AllowUnconditionalUpdate is false).
  bool needs_version = false;
  /// A create stores the status that the client sends. For example, the creator of a Node also
  /// states its capacity.
  bool keeps_new_status = false;
  /// The answer to a deletion is the object instead of a Status.
  bool answers_with_deleted = false;
  /// When a deletion has no propagationPolicy, the objects that this one owns are orphaned.
  bool orphans_by_default = false;
  /// The garbage collector ignores objects of this type, so a deletion must not wait for it.
  bool uncollected = false;
  /// A deletion leaves the object for its grace period, in which a kubelet ends it: a Pod.
  bool deleted_gracefully = false;
  /// Other objects are in one of this type, and are deleted before it is: a Namespace. It has
  /// finalizers also in its spec.
  bool holds_objects = false;
  ServerDuty duty = ServerDuty::kNone;
  StatusMetadata status_metadata = StatusMetadata::kWritten;

  bool operator==(const TypeRules&) const = default;
};

/// One resource of one group version, with everything that discovery and the handlers need to know
/// about it. Immutable once it is served. BuiltinTypes has those of the built-in types.
struct ResourceType {
  std::string group{};  ///< "" for the core group
  std::string version{};
  std::string kind{};
  std::string list_kind{};  ///< "" for the kind with "List" behind it
  std::string plural{};
  std::string singular{};
  bool namespaced = true;
  /// Clients can only create such objects, and the server answers without storing them: TokenReview
  /// and similar types.
  bool is_review = false;
  /// Clients can only read such objects, and the server makes them for each read: ComponentStatus.
  bool is_made_up = false;
  Verbs verbs = kAllVerbs;
  /// The subresources in the order of discovery.
  std::vector<Subresource> subresources{};
  TypeRules rules{};
  /// The columns of a built-in type; null when they are only name and age. A custom resource has
  /// the columns of its definition.
  const ColumnTable* columns = nullptr;
  /// The fields of a built-in type that a field selector may name, besides name and namespace.
  std::vector<std::string_view> selectable{};
  std::vector<std::string> short_names{};
  std::vector<std::string> categories{};
  /// The prefix of the keys in the storage, such as "/registry/pods/". It is the same as in
  /// kube-apiserver's etcd.
  std::string prefix{};
  const codec::TypeSchema* schema = nullptr;  ///< null for a custom resource
  /// When a built-in type is served in several versions and stored in another one than this: the
  /// type of the stored version, which has the same prefix. Otherwise null.
  std::shared_ptr<const ResourceType> stored_as{};
  /// When a built-in type is served in several versions: converts an object of any of them to
  /// `api_version`. Otherwise null.
  codec::JsonTree (*convert)(const codec::JsonTree& object, std::string_view api_version) = nullptr;
  schema::CustomVersionRef custom{};  ///< the version of the definition, for a custom resource
  std::string definition_uid{};       ///< the uid of that definition
  /// The warning that clients get when the version is deprecated; "" when it is not.
  std::string deprecation{};
  /// The warning for clients that write an object which the server stores but does not act on; ""
  /// when there is none.
  std::string_view no_effect{};
  /// The "group/version" of which discovery's storageVersionHash is the hash. Set only for types
  /// that kube-apiserver stores in another version than this server; otherwise "".
  std::string_view hashed_version{};

  bool operator==(const ResourceType&) const = default;

  /// "v1" or "apps/v1".
  std::string ApiVersion() const { return group.empty() ? version : group + "/" + version; }
  /// "pods" or "deployments.apps", as errors name resources.
  std::string QualifiedPlural() const { return group.empty() ? plural : plural + "." + group; }
  /// The kind of lists of such objects.
  std::string ListKind() const { return list_kind.empty() ? kind + "List" : list_kind; }
  /// Whether this is that resource, in any version.
  bool Is(std::string_view of_group, std::string_view of_plural) const {
    return plural == of_plural && group == of_group;
  }
  /// The subresource of that name; null when there is none.
  const Subresource* FindSubresource(std::string_view name) const;
  bool Has(Subresource::Is subresource) const;
  /// Whether the status is a subresource, so that writes of the object do not change it.
  bool has_status() const { return Has(Subresource::Is::kStatus); }
  bool has_scale() const { return Has(Subresource::Is::kScale); }
  /// The key of an object in the storage.
  std::string StorageKey(const apimachinery::ObjectKey& key) const {
    return prefix + key.ToString();
  }
  /// The inverse of StorageKey.
  apimachinery::ObjectKey KeyOf(std::string_view storage_key) const;
};

/// A shared reference to a type. Running requests may hold it after the type is no longer served.
using ResourceTypeRef = std::shared_ptr<const ResourceType>;

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_OBJECT_RESOURCE_TYPE_H_
