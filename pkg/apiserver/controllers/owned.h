/// @file
/// Objects by their controller.
#ifndef KUBEXX_APISERVER_CONTROLLERS_OWNED_H_
#define KUBEXX_APISERVER_CONTROLLERS_OWNED_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "kubexx/apimachinery/status.h"
#include "kubexx/cache/lister.h"
#include "kubexx/cache/shared_informer.h"
#include "kubexx/controller/manager.h"
#include "kubexx/controller/object_helpers.h"

namespace kubexx::apiserver::controllers {

/// Finds the objects of type T that one object controls, without decoding others. A value; as fresh
/// as the cache. Thread-safe.
template <class T>
class OwnedObjects {
 public:
  /// Makes the index in the manager's cache of T unless another controller has made it.
  explicit OwnedObjects(controller::Manager& manager)
      : informer_(manager.template InformerFor<T>()) {
    // That it is there already is what is wanted.
    (void)informer_->AddIndexers({{kIndex, UidsOf}});
  }

  /// In no particular order. Errors as Lister's.
  apimachinery::Result<std::vector<cache::Ref<T>>> Of(const std::string& uid) const {
    return cache::Lister<T>(informer_).ByIndex({{kIndex, uid}});
  }

 private:
  static constexpr const char* kIndex = "controller-uid";

  static std::vector<std::string> UidsOf(const cache::Object& raw) {
    const auto object = cache::DecodeShared<T>(raw);
    if (!object) {
      return {};  // whoever reads it is told
    }
    const auto* const owner = controller::ControllerOf((*object)->metadata);
    return owner == nullptr ? std::vector<std::string>() : std::vector<std::string>{owner->uid};
  }

  std::shared_ptr<cache::SharedInformer<T>> informer_;
};

}  // namespace kubexx::apiserver::controllers

#endif  // KUBEXX_APISERVER_CONTROLLERS_OWNED_H_
