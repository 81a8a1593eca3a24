// ReplicaSet: keeps as many pods as it specifies.
#include <algorithm>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "kubexx/api/apps/v1/resources.gen.h"
#include "kubexx/api/apps/v1/types.gen.h"
#include "kubexx/apiserver/controllers/claims.h"
#include "kubexx/apiserver/controllers/expected_errors.h"
#include "kubexx/apiserver/controllers/pods.h"
#include "kubexx/apiserver/controllers/refusals.h"
#include "kubexx/apiserver/controllers/setup.h"
#include "kubexx/controller/builder.h"
#include "kubexx/controller/conditions.h"
#include "kubexx/controller/owned_objects.h"

namespace kubexx::apiserver::controllers {
namespace {

using api::apps::v1::ReplicaSet;
using api::apps::v1::ReplicaSetCondition;
using api::apps::v1::ReplicaSetStatus;
using apimachinery::Result;
using controller::Action;
using controller::OwnedObjects;

std::size_t WantedPods(const ReplicaSet& set) {
  return static_cast<std::size_t>(std::max(0, set.spec.replicas.value_or(1)));
}

/// As in kube-controller-manager, the condition ReplicaFailure exists from the first error until
/// there is no error any more, with the message of the first error.
void SetFailure(const Result<void>& scaled, bool too_few, const apimachinery::Time& now,
                ReplicaSetStatus& status) {
  constexpr const char* kFailure = "ReplicaFailure";
  if (scaled || IsOfEndingNamespace(scaled.error())) {
    controller::RemoveCondition(status.conditions, kFailure);
    return;
  }
  if (controller::FindCondition(status.conditions, kFailure) == nullptr) {
    ReplicaSetCondition failure;
    failure.type = kFailure;
    failure.status = "True";
    failure.reason = too_few ? "FailedCreate" : "FailedDelete";
    failure.message = scaled.error().message;
    controller::SetCondition(status.conditions, std::move(failure), now);
  }
}

class ReplicaSetReconciler final : public controller::Reconciler {
 public:
  explicit ReplicaSetReconciler(const Setup& setup)
      : pods_(setup.manager), refusals_(setup, "replicaset-controller") {}

  Result<Action> Reconcile(const controller::Request& request,
                           controller::Context& context) override {
    const auto found = context.client.Get<ReplicaSet>(request.object);
    if (!found) {
      deletions_.Forget(request.object);
      return controller::IgnoreNotFound(found.error());
    }
    const ReplicaSet& set = **found;
    // As in kube-controller-manager, nobody adopts pods that have ended.
    KX_ASSIGN_OR_RETURN(std::vector<PodRef> pods,
                        Claim<Pod>(context.client, pods_, set, {}, IsActive));
    std::size_t terminating = deletions_.Filter(request.object, pods).size();
    terminating += std::erase_if(pods, [](const PodRef& pod) { return IsTerminating(*pod); });
    std::erase_if(pods, [](const PodRef& pod) { return !IsActive(*pod); });
    const std::size_t before = pods.size();
    const Result<void> scaled =
        controller::IsBeingDeleted(set) ? Result<void>() : Scale(context, set, pods);
    terminating += before - pods.size();
    return AfterReport(scaled, ReportStatus(context, set, pods, terminating, scaled));
  }

 private:
  /// Makes and deletes pods. Deleted pods are removed from `pods`.
  Result<void> Scale(const controller::Context& context, const ReplicaSet& set,
                     std::vector<PodRef>& pods) {
    // The events of the new pods lead to the next step.
    const std::size_t wanted = std::min(WantedPods(set), pods.size() + kMostPodsAtOnce);
    for (std::size_t have = pods.size(); have < wanted; ++have) {
      Pod pod = PodOf(set.spec.template_, set.metadata.namespace_);
      pod.metadata.generate_name = set.metadata.name + "-";
      KX_RETURN_IF_ERROR(controller::SetControllerReference(set, pod));
      KX_RETURN_IF_ERROR(refusals_.OfCreate(context, set, context.client.Create(pod)));
    }
    Result<void> deleted;
    if (pods.size() > wanted) {
      SortForDeletion(pods);
      const auto end = pods.begin() + static_cast<std::ptrdiff_t>(pods.size() - wanted);
      auto pod = pods.begin();
      for (; pod != end && deleted; pod += deleted ? 1 : 0) {
        deleted = refusals_.OfDelete(context, set,
                                     deletions_.Delete(context.client, KeyOf(set.metadata), **pod));
      }
      pods.erase(pods.begin(), pod);
    }
    return deleted;
  }

  static Result<Action> ReportStatus(const controller::Context& context, const ReplicaSet& set,
                                     const std::vector<PodRef>& pods, std::size_t terminating,
                                     const Result<void>& scaled) {
    const auto now = apimachinery::Time::From(context.clock.Wall());
    ReplicaSetStatus status = set.status;
    SetFailure(scaled, pods.size() < WantedPods(set), now, status);
    status.replicas = static_cast<std::int32_t>(pods.size());
    status.terminating_replicas = static_cast<std::int32_t>(terminating);
    status.observed_generation = set.metadata.generation;
    status.ready_replicas = 0;
    status.available_replicas = 0;
    status.fully_labeled_replicas = 0;
    for (const PodRef& pod : pods) {
      const auto& labels = set.spec.template_.metadata.labels;
      status.fully_labeled_replicas += std::ranges::includes(pod->metadata.labels, labels) ? 1 : 0;
      status.ready_replicas += IsReady(*pod) ? 1 : 0;
      status.available_replicas += IsAvailable(*pod, set.spec.min_ready_seconds, now) ? 1 : 0;
    }
    if (status != set.status) {
      ReplicaSet changed = set;
      changed.status = status;
      KX_RETURN_IF_ERROR(context.client.UpdateStatus(changed));
    }
    return status.available_replicas < status.ready_replicas
               ? Action::RequeueAfter(std::chrono::seconds(1))
               : Action::Done();
  }

  OwnedObjects<Pod> pods_;
  Deletions deletions_;
  Refusals refusals_;
};

}  // namespace

Result<void> AddReplicaSetController(const Setup& setup) {
  KX_RETURN_IF_ERROR(
      controller::ControllerBuilder<ReplicaSet>(setup.manager)
          .Owns<Pod>()
          .Watches<Pod>(AdoptersOf<ReplicaSet, Pod>(setup.manager))
          .Complete(WithExpectedErrors(std::make_shared<ReplicaSetReconciler>(setup))));
  return {};
}

}  // namespace kubexx::apiserver::controllers
