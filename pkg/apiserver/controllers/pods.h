/// @file
/// What the controllers of workloads ask of pods, and how they make them.
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
/// A pod of the cache.
using PodRef = cache::Ref<Pod>;

/// So many pods are made in one turn at most, as by kube-controller-manager: other workloads have
/// theirs, too, and it is seen what becomes of the first ones.
inline constexpr std::int32_t kMostPodsAtOnce = 500;

/// Neither ended nor on its way out.
bool IsActive(const Pod& pod);

/// The status of a pod's condition; "" when there is none.
std::string_view ConditionOf(const Pod& pod, std::string_view type);

/// Its condition Ready is true.
bool IsReady(const Pod& pod);

/// Ready for `min_ready_seconds` at `now`.
bool IsAvailable(const Pod& pod, std::int32_t min_ready_seconds, const apimachinery::Time& now);

/// A pod as `pod_template` says, in `namespace_`, without a name.
Pod PodOf(const PodTemplateSpec& pod_template, const std::string& namespace_);

/// Those that are missed least first: not scheduled, not running, not ready, young.
void SortForDeletion(std::vector<PodRef>& pods);

/// A short name for what a template says, for pod-template-hash and names; another one for each
/// number of `collisions`.
std::string TemplateHash(const PodTemplateSpec& pod_template,
                         const std::optional<std::int32_t>& collisions = {});

/// Remembers which pods were deleted until the cache knows, so that no others are deleted in their
/// place. Thread-safe; small: it forgets at the owner's next reconcile.
class Deletions {
 public:
  /// Takes the deleted ones out of what the cache has of an owner's pods.
  void Filter(const std::string& owner_uid, std::vector<PodRef>& pods);

  /// Deletes a pod; that it has gone already is no error.
  apimachinery::Result<void> Delete(const controller::Client& client, const std::string& owner_uid,
                                    const Pod& pod);

 private:
  base::Mutex mu_;
  std::map<std::string, std::set<std::string>> deleted_ KX_GUARDED_BY(mu_);
};

}  // namespace kubexx::apiserver::controllers

#endif  // KUBEXX_APISERVER_CONTROLLERS_PODS_H_
