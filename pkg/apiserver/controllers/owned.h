/// @file
/// Finds the objects that another object, or nobody, controls.
#ifndef KUBEXX_APISERVER_CONTROLLERS_OWNED_H_
#define KUBEXX_APISERVER_CONTROLLERS_OWNED_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "kubexx/api/meta/v1/types.gen.h"
#include "kubexx/apimachinery/status.h"
#include "kubexx/cache/lister.h"
#include "kubexx/cache/shared_informer.h"
#include "kubexx/controller/manager.h"
#include "kubexx/controller/object_helpers.h"

namespace kubexx::apiserver::controllers {

/// Finds the objects of type T that one object controls, or nobody, through an index of the cache,
/// without decoding other objects. It considers the controller's namespace only, so that a user of
/// another namespace cannot give objects to a controller in this one. A value; as fresh as the
/// cache. Thread-safe.
template <class T>
class OwnedObjects {
 public:
  /// Adds the index to the manager's cache of T unless another controller has added it.
  explicit OwnedObjects(controller::Manager& manager)
      : informer_(manager.template InformerFor<T>()) {
    // That it is there already is what is wanted.
    (void)informer_->AddIndexers({{kIndex, UidsOf}});
  }

  /// Returns the objects of `namespace_` that nobody controls, in no particular order. Returns the
  /// errors of cache::Lister.
  apimachinery::Result<std::vector<cache::Ref<T>>> Orphans(const std::string& namespace_) const {
    return cache::Lister<T>(informer_).ByIndex({{kIndex, TermOf(namespace_, "")}});
  }

  /// Returns the objects that `owner` controls, in no particular order. Returns the errors of
  /// cache::Lister.
  apimachinery::Result<std::vector<cache::Ref<T>>> Of(
      const api::meta::v1::ObjectMeta& owner) const {
    return cache::Lister<T>(informer_).ByIndex({{kIndex, TermOf(owner.namespace_, owner.uid)}});
  }

 private:
  static constexpr const char* kIndex = "controller-uid";

  static std::string TermOf(const std::string& namespace_, const std::string& uid) {
    return namespace_ + "/" + uid;
  }
  static std::vector<std::string> UidsOf(const cache::Object& raw) {
    const auto object = cache::DecodeShared<T>(raw);
    if (!object) {
      return {};  // whoever reads it is told
    }
    const auto* const owner = controller::ControllerOf((*object)->metadata);
    return {TermOf((*object)->metadata.namespace_, owner == nullptr ? "" : owner->uid)};
  }

  std::shared_ptr<cache::SharedInformer<T>> informer_;
};

}  // namespace kubexx::apiserver::controllers

#endif  // KUBEXX_APISERVER_CONTROLLERS_OWNED_H_
