/// @file
/// What a resource is to the server.
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

/// Which of the metadata that clients set a write of the status leaves as it was: labels,
/// annotations, finalizers and owners.
enum class StatusMetadata : std::uint8_t { kWritten, kLabelsKept, kOwnersKept, kKept };

/// In what kube-apiserver's strategies treat the objects of one type otherwise than those of most.
struct TypeRules {
  /// metadata.generation counts the changes of what is neither metadata nor status.
  bool has_generation = false;
  /// It counts those of the annotations, too: the controller of Deployments copies them.
  bool counts_annotations = false;
  /// A PUT makes an object when there is none (AllowCreateOnUpdate).
  bool created_by_update = false;
  /// An update has to say which version it is made from (AllowUnconditionalUpdate is false).
  bool needs_version = false;
  /// A new object has the status that is sent with it: who makes a Node says what it has.
  bool keeps_new_status = false;
  /// The answer to a deletion is the object instead of a Status.
  bool answers_with_deleted = false;
  /// What it owns stays when its deletion does not say what becomes of that.
  bool orphans_by_default = false;
  /// The garbage collector does not know such objects, so that none may wait for it.
  bool uncollected = false;
  StatusMetadata status_metadata = StatusMetadata::kWritten;

  bool operator==(const TypeRules&) const = default;
};

/// One resource of one group version: what discovery says of it, and what the handlers need to
/// know. Immutable once it is served. Those of the built-in types are one table, that of
/// BuiltinTypes.
struct ResourceType {
  std::string group{};  ///< "" for core
  std::string version{};
  std::string kind{};
  std::string plural{};
  std::string singular{};
  bool namespaced = true;
  /// Only created, answered and forgotten: TokenReview and the like.
  bool is_review = false;
  /// Only read, and made when it is: ComponentStatus.
  bool is_made_up = false;
  Verbs verbs = kAllVerbs;
  /// In the order of discovery.
  std::vector<Subresource> subresources{};
  TypeRules rules{};
  /// Of a built-in type, null for name and age only. A custom resource has those of its definition.
  const ColumnTable* columns = nullptr;
  /// Fields of a built-in type that clients may select by, besides name and namespace.
  std::vector<std::string_view> selectable{};
  std::vector<std::string> short_names{};
  std::vector<std::string> categories{};
  /// "/registry/pods/": as kube-apiserver lays its keys out in etcd.
  std::string prefix{};
  const codec::TypeSchema* schema = nullptr;  ///< null for a custom resource
  /// Of a built-in type that is served in several versions, when objects are stored in another one
  /// than this: the type of that version. It has the same prefix.
  std::shared_ptr<const ResourceType> stored_as{};
  /// Of a built-in type that is served in several versions: makes an object of any of them one of
  /// `api_version`. Null for others.
  codec::JsonTree (*convert)(const codec::JsonTree& object, std::string_view api_version) = nullptr;
  schema::CustomVersionRef custom{};  ///< of a custom resource
  /// What whoever uses the version is told: that it is deprecated. "" when it is not.
  std::string deprecation{};
  /// What whoever writes an object is told: that the server keeps it and does nothing with it. ""
  /// when it does something.
  std::string_view no_effect{};
  /// "group/version" that discovery takes the hash of for storageVersionHash, where kube-apiserver
  /// stores objects in another version than this server does. "" elsewhere.
  std::string_view hashed_version{};

  bool operator==(const ResourceType&) const = default;

  /// "v1" or "apps/v1".
  std::string ApiVersion() const { return group.empty() ? version : group + "/" + version; }
  /// "pods" or "deployments.apps", as errors name resources.
  std::string QualifiedPlural() const { return group.empty() ? plural : plural + "." + group; }
  std::string ListKind() const { return kind + "List"; }
  /// Whether it is that resource, in any version.
  bool Is(std::string_view of_group, std::string_view of_plural) const {
    return plural == of_plural && group == of_group;
  }
  /// Null when there is none of that name.
  const Subresource* FindSubresource(std::string_view name) const;
  bool Has(Subresource::Is subresource) const;
  /// Its status is a subresource, which writes of the object leave alone.
  bool has_status() const { return Has(Subresource::Is::kStatus); }
  bool has_scale() const { return Has(Subresource::Is::kScale); }
  /// Where the object is in the storage.
  std::string StorageKey(const apimachinery::ObjectKey& key) const {
    return prefix + key.ToString();
  }
  /// The inverse.
  apimachinery::ObjectKey KeyOf(std::string_view storage_key) const;
};

/// A type that is shared with requests that still run when it is no longer served.
using ResourceTypeRef = std::shared_ptr<const ResourceType>;

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_OBJECT_RESOURCE_TYPE_H_
