/// @file
/// The resources that the server serves.
#ifndef KUBEXX_APISERVER_OBJECT_RESOURCE_TYPE_H_
#define KUBEXX_APISERVER_OBJECT_RESOURCE_TYPE_H_

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "kubexx/apimachinery/object_key.h"
#include "kubexx/apiserver/schema/custom_version.h"
#include "kubexx/codec/json_tree.h"
#include "kubexx/codec/schema.h"

namespace kubexx::apiserver {

/// One resource of one group version: what discovery says of it, and what the handlers need to
/// know. Immutable once it is served.
struct ResourceType {
  std::string group{};  ///< "" for core
  std::string version{};
  std::string kind{};
  std::string plural{};
  std::string singular{};
  bool namespaced = true;
  bool has_status = false;  ///< a subresource of its own, which writes of the object leave alone
  bool has_scale = false;
  /// metadata.generation counts the changes of what is neither metadata nor status.
  bool has_generation = false;
  /// Only created, answered and forgotten: TokenReview and the like.
  bool is_review = false;
  /// Only read, and made when it is: ComponentStatus.
  bool is_made_up = false;
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

  bool operator==(const ResourceType&) const = default;

  /// "v1" or "apps/v1".
  std::string ApiVersion() const { return group.empty() ? version : group + "/" + version; }
  /// "pods" or "deployments.apps", as errors name resources.
  std::string QualifiedPlural() const { return group.empty() ? plural : plural + "." + group; }
  std::string ListKind() const { return kind + "List"; }
  /// Where the object is in the storage.
  std::string StorageKey(const apimachinery::ObjectKey& key) const {
    return prefix + key.ToString();
  }
  /// The inverse.
  apimachinery::ObjectKey KeyOf(std::string_view storage_key) const;
};

/// A type that is shared with requests that still run when it is no longer served.
using ResourceTypeRef = std::shared_ptr<const ResourceType>;

/// The built-in resources that kube-apiserver 1.36 serves by default and that objects of are kept
/// of, and the reviews: no bindings, no alpha and beta versions.
std::vector<ResourceTypeRef> BuiltinTypes();

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_OBJECT_RESOURCE_TYPE_H_
