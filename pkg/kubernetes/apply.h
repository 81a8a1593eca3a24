/// @file
/// ApplyObject: an object for server-side apply. ExtractOwned: the part of a stored object that one
/// field manager has applied.
#ifndef KUBEXX_KUBERNETES_APPLY_H_
#define KUBEXX_KUBERNETES_APPLY_H_

#include <string>
#include <string_view>
#include <utility>

#include "kubexx/apimachinery/status.h"
#include "kubexx/codec/codec.h"
#include "kubexx/codec/json_tree.h"
#include "kubexx/codec/schema.h"
#include "kubexx/kubernetes/sparse.h"

namespace kubexx::kubernetes {

namespace internal {

/// Returns {apiVersion, kind, metadata: {name, namespace}} of a root kind.
codec::JsonTree ApplyIdentity(const codec::TypeSchema& schema, std::string_view name,
                              std::string_view namespace_);
std::string_view MetadataText(const codec::JsonTree& tree, std::string_view field);

/// Returns the fields of the object in `json` that `manager` has applied through `subresource`,
/// with the object's identity.
apimachinery::Result<codec::JsonTree> ExtractApplied(const codec::TypeSchema& schema,
                                                     std::string_view json,
                                                     std::string_view manager,
                                                     std::string_view subresource);

}  // namespace internal

/// The fields of an object that one field manager wants to set, with the object's identity.
///
///     ApplyObject<apps::v1::Deployment> web("web", "shop");
///     web.Set(&Deployment::spec, &DeploymentSpec::replicas, 0);
///     auto pod = web.In(&Deployment::spec, &DeploymentSpec::template_, &PodTemplateSpec::spec);
///     pod.Append(&PodSpec::containers).Set(&Container::name, "web").Set(&Container::image, "i:1");
///     deployments.Apply(web, {.field_manager = "shop-controller"});
///
/// When an earlier apply of the same manager had a field that this one lacks, the manager gives the
/// field up, and the server removes it if nobody else owns it. As client-go's apply configurations.
/// A value type.
template <class T>
class ApplyObject : public Sparse<T> {
 public:
  /// `namespace_` is empty for cluster-scoped types.
  explicit ApplyObject(std::string_view name, std::string_view namespace_ = {})
      : Sparse<T>(internal::ApplyIdentity(codec::SchemaOf<T>(), name, namespace_)) {}
  /// Makes one from a whole object, for example one that was read from a file.
  static ApplyObject FromTree(codec::JsonTree tree) { return ApplyObject(Tree{std::move(tree)}); }

  std::string_view name() const { return internal::MetadataText(this->tree(), "name"); }
  std::string_view namespace_() const { return internal::MetadataText(this->tree(), "namespace"); }

 private:
  struct Tree {
    codec::JsonTree tree;
  };
  explicit ApplyObject(Tree tree) : Sparse<T>(std::move(tree.tree)) {}
};

/// Returns the part of `object` that `field_manager` has applied, according to its managedFields.
/// Use it as the starting point when some of these fields shall change and the others stay. It has
/// only name and namespace when the manager has applied nothing. `subresource` is "" or, for
/// example, "status". As client-go's Extract functions. kMalformed when the managed fields cannot
/// be read.
template <class T>
apimachinery::Result<ApplyObject<T>> ExtractOwned(const T& object, std::string_view field_manager,
                                                  std::string_view subresource = {}) {
  KX_ASSIGN_OR_RETURN(codec::JsonTree tree,
                      internal::ExtractApplied(codec::SchemaOf<T>(), codec::EncodeJson(object),
                                               field_manager, subresource));
  return ApplyObject<T>::FromTree(std::move(tree));
}

}  // namespace kubexx::kubernetes

#endif  // KUBEXX_KUBERNETES_APPLY_H_
