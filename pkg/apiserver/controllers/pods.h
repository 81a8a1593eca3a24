/// @file
/// How the controllers of workloads inspect, create and delete pods.
#ifndef KUBEXX_APISERVER_CONTROLLERS_PODS_H_
#define KUBEXX_APISERVER_CONTROLLERS_PODS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "kubexx/api/core/v1/resources.gen.h"
#include "kubexx/api/core/v1/types.gen.h"
#include "kubexx/api/meta/v1/types.gen.h"
#include "kubexx/apimachinery/object_key.h"
#include "kubexx/apimachinery/status.h"
#include "kubexx/apimachinery/time.h"
#include "kubexx/base/clock.h"
#include "kubexx/base/mutex.h"
#include "kubexx/cache/decode.h"

namespace kubexx::controller {
class Client;
}  // namespace kubexx::controller

namespace kubexx::apiserver::controllers {

using api::core::v1::Pod;
using api::core::v1::PodTemplateSpec;
/// A pod in a cache.
using PodRef = cache::Ref<Pod>;

/// A reconcile creates at most this many pods, as in kube-controller-manager. So one workload does
/// not block others, and failures of the first pods show before all are created.
inline constexpr std::int32_t kMostPodsAtOnce = 500;

/// Whether the pod has neither ended nor is being deleted.
bool IsActive(const Pod& pod);

/// Whether the pod is being deleted and has not ended yet.
bool IsTerminating(const Pod& pod);

/// The status of the pod's condition of that type; "" when it has none.
std::string_view ConditionOf(const Pod& pod, std::string_view type);

/// Whether the pod's condition Ready is true.
bool IsReady(const Pod& pod);

/// Whether the pod has been ready for at least `min_ready_seconds` at `now`.
bool IsAvailable(const Pod& pod, std::int32_t min_ready_seconds, const apimachinery::Time& now);

/// Makes a pod from `pod_template`, in `namespace_`, without a name.
Pod PodOf(const PodTemplateSpec& pod_template, const std::string& namespace_);

/// Sorts the pods that should be deleted first to the front: those that are not scheduled, then not
/// running, then not ready, then those with the lowest number in the annotation
/// controller.kubernetes.io/pod-deletion-cost (0 without one), then the youngest.
void SortForDeletion(std::vector<PodRef>& pods);

/// A hash of a template for the label pod-template-hash and for names. Each number of `collisions`
/// gives a different hash.
std::string TemplateHash(const PodTemplateSpec& pod_template,
                         const std::optional<std::int32_t>& collisions = {});

/// The key of the object that has this metadata.
inline apimachinery::ObjectKey KeyOf(const api::meta::v1::ObjectMeta& metadata) {
  return {metadata.namespace_, metadata.name};
}

/// Remembers the deleted pods that the cache still has as alive, so that a controller does not
/// delete others in their place. It forgets a pod at the owner's next reconcile after the cache
/// knows. Thread-safe.
class Deletions {
 public:
  /// Removes the deleted pods from `pods`, the pods of an owner that the cache has, and returns
  /// them.
  std::vector<PodRef> Filter(const apimachinery::ObjectKey& owner, std::vector<PodRef>& pods);

  /// Deletes a pod. Succeeds when it is already gone.
  apimachinery::Result<void> Delete(const controller::Client& client,
                                    const apimachinery::ObjectKey& owner, const Pod& pod);
  /// Remembers that the pod with this uid was deleted.
  void Note(const apimachinery::ObjectKey& owner, const std::string& pod_uid);

  /// Must be called when the owner is gone: it has no next reconcile.
  void Forget(const apimachinery::ObjectKey& owner);

 private:
  base::Mutex mu_;
  /// The uids of the pods, by owner.
  std::map<apimachinery::ObjectKey, std::set<std::string>> deleted_ KX_GUARDED_BY(mu_);
};

}  // namespace kubexx::apiserver::controllers

#endif  // KUBEXX_APISERVER_CONTROLLERS_PODS_H_
