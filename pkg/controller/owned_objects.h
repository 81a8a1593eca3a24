/// @file
/// OwnedObjects: finds the objects that another object controls.
#ifndef KUBEXX_CONTROLLER_OWNED_OBJECTS_H_
#define KUBEXX_CONTROLLER_OWNED_OBJECTS_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "kubexx/api/meta/v1/types.gen.h"
#include "kubexx/apimachinery/fields.h"
#include "kubexx/apimachinery/selection.h"
#include "kubexx/apimachinery/status.h"
#include "kubexx/cache/indexer_set.h"
#include "kubexx/cache/lister.h"
#include "kubexx/cache/shared_informer.h"
#include "kubexx/controller/manager.h"
#include "kubexx/controller/object_helpers.h"
#include "kubexx/informers/complete_type.h"

namespace kubexx::controller {

/// The name of the index by which OwnedObjects selects: an object's value is the UID of its
/// controller or, when it has no controller, "/" and its namespace.
inline constexpr const char* kControllerUidIndex = "metadata.ownerReferences.controller";

/// Finds the objects of type T that one object controls (see SetControllerReference), through an
/// index of the informer's store, and decodes no other objects. Make one when the controller is
/// made, and keep it as long: the first one for an informer adds the index, which is made of every
/// object that the store has. T needs a member `metadata`. A value that shares ownership of its
/// informer; thread-safe.
///
/// It finds what client-go's programs find by metav1.GetControllerOf and an index of their own, as
/// kube-controller-manager does by its index of pods by their controller's UID, and the Kubebuilder
/// book by the index ".metadata.controller". It adopts no orphans and releases nothing.
template <class T>
class OwnedObjects {
 public:
  /// In the manager's informer of T.
  explicit OwnedObjects(Manager& manager) : OwnedObjects(manager.template InformerFor<T>()) {}
  /// In any informer, such as MetadataInformerFor with T = PartialObjectMetadata.
  explicit OwnedObjects(std::shared_ptr<cache::SharedInformer<T>> informer)
      : informer_(std::move(informer)) {
    // An error that says that the index exists already is not a failure, and Of returns any other
    // error.
    if constexpr (informers::CheckComplete<T>()) {
      (void)informer_->AddIndexers(cache::IndexField<T>(kControllerUidIndex, UidsOf));
    }
  }

  /// Returns the objects that `owner` controls, in no particular order, as fresh as the store.
  /// `owner` is the metadata of the object that controls them. An owner in a namespace has objects
  /// of that namespace only, so that users of another one cannot give it theirs; one without has
  /// objects of all namespaces. kInvalid when `owner` has no UID, because it was not read from the
  /// API server. kBadRequest when the informer has too many indexes to take one more. Other errors
  /// are those of cache::Lister::List; an error is never an incomplete list.
  apimachinery::Result<std::vector<cache::Ref<T>>> Of(const ObjectMeta& owner) const {
    if (owner.uid.empty()) {
      return apimachinery::Fail(apimachinery::Reason::kInvalid,
                                "cannot look for what " + owner.name +
                                    " controls: it has no uid, so it was not read from the API "
                                    "server; read it first");
    }
    return Select(owner.namespace_, owner.uid);
  }

  /// Returns the objects of `namespace_` that have no controller, in no particular order, as fresh
  /// as the store; of a cluster-scoped type with an empty `namespace_`. A controller that adopts
  /// some of them selects by labels first. Errors are those of Of, except for the one about an
  /// owner without UID. An object of another namespace that cannot be read causes no error.
  apimachinery::Result<std::vector<cache::Ref<T>>> Orphans(const std::string& namespace_) const {
    KX_ASSIGN_OR_RETURN(std::vector<cache::Ref<T>> orphans,
                        Select(namespace_, WithoutController(namespace_)));
    // Users may write any text as the UID of an owner, also one that equals the index's value for
    // objects without a controller.
    std::erase_if(
        orphans, [](const cache::Ref<T>& each) { return ControllerOf(each->metadata) != nullptr; });
    return orphans;
  }

 private:
  apimachinery::Result<std::vector<cache::Ref<T>>> Select(const std::string& namespace_,
                                                          const std::string& value) const {
    if constexpr (informers::CheckComplete<T>()) {
      return cache::Lister<T>(informer_).List(apimachinery::Selection{
          .namespace_ = namespace_,
          .fields = apimachinery::FieldSelector::FromMap({{kControllerUidIndex, value}})});
    } else {
      std::unreachable();  // one error is enough
    }
  }
  static std::string WithoutController(const std::string& namespace_) { return "/" + namespace_; }
  static std::vector<std::string> UidsOf(const T& object) {
    const OwnerReference* const controller = ControllerOf(object.metadata);
    return {controller == nullptr ? WithoutController(object.metadata.namespace_)
                                  : controller->uid};
  }

  std::shared_ptr<cache::SharedInformer<T>> informer_;
};

}  // namespace kubexx::controller

#endif  // KUBEXX_CONTROLLER_OWNED_OBJECTS_H_
