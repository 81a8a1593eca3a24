/// @file
/// Takes over objects that have no controller, and lets go of those that are no longer selected.
#ifndef KUBEXX_APISERVER_CONTROLLERS_CLAIMS_H_
#define KUBEXX_APISERVER_CONTROLLERS_CLAIMS_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kubexx/api/meta/v1/types.gen.h"
#include "kubexx/apimachinery/labels.h"
#include "kubexx/apimachinery/status.h"
#include "kubexx/cache/decode.h"
#include "kubexx/cache/lister.h"
#include "kubexx/controller/client.h"
#include "kubexx/controller/manager.h"
#include "kubexx/controller/object_helpers.h"
#include "kubexx/controller/owned_objects.h"
#include "kubexx/controller/reconciler.h"

namespace kubexx::apiserver::controllers {

/// The label selector of a workload. A value.
class WorkloadSelector {
 public:
  /// Null, or one with an invalid expression, selects nothing; an empty one selects everything.
  explicit WorkloadSelector(const api::meta::v1::LabelSelector* selector);

  bool Matches(const apimachinery::LabelMap& labels) const;

 private:
  std::optional<std::vector<apimachinery::LabelRequirement>> requirements_;
};

/// The selector of a Deployment, ReplicaSet, StatefulSet, DaemonSet or PodDisruptionBudget.
template <class Owner>
WorkloadSelector SelectorOf(const Owner& owner) {
  return WorkloadSelector(owner.spec.selector ? &*owner.spec.selector : nullptr);
}

/// Returns the objects that `owner` controls, after it has taken over those without a controller
/// that its selector and `is_member` match, and has let go of its own that they do not match. So
/// `kubectl delete --cascade=orphan` and a new workload of the same name go on with the pods that
/// are there, and a pod whose labels somebody changes leaves its workload. Objects for which
/// `is_considered` is false are neither taken nor let go: its own are returned as they are. An
/// owner that is being deleted neither takes nor lets go. Returns errors of the cache and of
/// writes; kConflict means that the cache was behind. Semantics: kube-controller-manager's
/// ControllerRefManager.
template <class T, class Owner>
apimachinery::Result<std::vector<cache::Ref<T>>> Claim(
    const controller::Client& client, const controller::OwnedObjects<T>& objects,
    const Owner& owner, const std::function<bool(const T&)>& is_member = {},
    const std::function<bool(const T&)>& is_considered = {}) {
  KX_ASSIGN_OR_RETURN(std::vector<cache::Ref<T>> owned, objects.Of(owner.metadata));
  if (controller::IsBeingDeleted(owner)) {
    return owned;
  }
  const WorkloadSelector selector = SelectorOf(owner);
  const auto matches = [&](const T& object) {
    return selector.Matches(object.metadata.labels) && (!is_member || is_member(object));
  };
  const auto considers = [&](const T& object) { return !is_considered || is_considered(object); };
  // That it is gone meanwhile is as good.
  const auto update = [&client](const T& changed) -> apimachinery::Result<cache::Ref<T>> {
    auto updated = client.Update(changed);
    if (updated) {
      return std::make_shared<const T>(std::move(*updated));
    }
    return updated.error().reason == apimachinery::Reason::kNotFound
               ? apimachinery::Result<cache::Ref<T>>(cache::Ref<T>())
               : apimachinery::Fail(updated.error());
  };
  std::vector<cache::Ref<T>> claimed;
  for (cache::Ref<T>& object : owned) {
    if (!considers(*object) || matches(*object)) {
      claimed.push_back(std::move(object));
    } else {
      T released = *object;
      controller::RemoveOwnerReference(owner, released);
      KX_RETURN_IF_ERROR(update(released));
    }
  }
  KX_ASSIGN_OR_RETURN(const std::vector<cache::Ref<T>> orphans,
                      objects.Orphans(owner.metadata.namespace_));
  bool may_adopt = false;
  for (const cache::Ref<T>& orphan : orphans) {
    if (controller::IsBeingDeleted(*orphan) || !considers(*orphan) || !matches(*orphan)) {
      continue;
    }
    if (!may_adopt) {  // The cache may not know yet that the owner is being deleted or another one.
      KX_ASSIGN_OR_RETURN(const Owner live, client.template GetLive<Owner>(
                                                {owner.metadata.namespace_, owner.metadata.name}));
      if (live.metadata.uid != owner.metadata.uid || controller::IsBeingDeleted(live)) {
        return claimed;
      }
      may_adopt = true;
    }
    T adopted = *orphan;
    KX_RETURN_IF_ERROR(controller::SetControllerReference(owner, adopted));
    KX_ASSIGN_OR_RETURN(cache::Ref<T> mine, update(adopted));
    if (mine != nullptr) {
      claimed.push_back(std::move(mine));
    }
  }
  return claimed;
}

/// For ControllerBuilder::Watches: the Owners that may take over an object of type T that has no
/// controller.
template <class Owner, class T>
std::function<std::vector<controller::Request>(const T&)> AdoptersOf(controller::Manager& manager) {
  return [informer = manager.InformerFor<Owner>()](const T& object) {
    std::vector<controller::Request> requests;
    if (controller::HasControllerReference(object) || controller::IsBeingDeleted(object)) {
      return requests;
    }
    const auto owners = cache::Lister<Owner>(informer).List(
        cache::Selection{.namespace_ = object.metadata.namespace_});
    if (owners) {  // otherwise they are reconciled when the cache has them
      for (const auto& owner : *owners) {
        if (SelectorOf(*owner).Matches(object.metadata.labels)) {
          requests.emplace_back().object = {owner->metadata.namespace_, owner->metadata.name};
        }
      }
    }
    return requests;
  };
}

}  // namespace kubexx::apiserver::controllers

#endif  // KUBEXX_APISERVER_CONTROLLERS_CLAIMS_H_
