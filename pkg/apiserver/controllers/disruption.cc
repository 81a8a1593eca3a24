// PodDisruptionBudgets: computes how many of their pods may be evicted now, as the `disruption`
// controller of kube-controller-manager does.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "kubexx/api/apps/v1/resources.gen.h"
#include "kubexx/api/apps/v1/types.gen.h"
#include "kubexx/api/policy/v1/resources.gen.h"
#include "kubexx/api/policy/v1/types.gen.h"
#include "kubexx/apiserver/controllers/claims.h"
#include "kubexx/apiserver/controllers/expected_errors.h"
#include "kubexx/apiserver/controllers/pods.h"
#include "kubexx/apiserver/controllers/rollout.h"
#include "kubexx/apiserver/controllers/setup.h"
#include "kubexx/controller/builder.h"
#include "kubexx/controller/conditions.h"
#include "kubexx/controller/object_helpers.h"

namespace kubexx::apiserver::controllers {
namespace {

using api::apps::v1::Deployment;
using api::apps::v1::ReplicaSet;
using api::apps::v1::StatefulSet;
using api::policy::v1::PodDisruptionBudget;
using api::policy::v1::PodDisruptionBudgetStatus;
using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;
using apimachinery::Time;
using controller::Action;

// An evicted pod that is still there after this long was not deleted, and counts again.
constexpr std::chrono::minutes kEvictionTimeout{2};

/// Sets the condition DisruptionAllowed.
void SetAllowed(PodDisruptionBudgetStatus& status, bool allowed, const char* reason,
                std::string message, const Time& now) {
  api::meta::v1::Condition condition;
  condition.type = "DisruptionAllowed";
  condition.status = allowed ? "True" : "False";
  condition.reason = reason;
  condition.message = std::move(message);
  condition.observed_generation = status.observed_generation;
  controller::SetCondition(status.conditions, std::move(condition), now);
}

class DisruptionReconciler final : public controller::Reconciler {
 public:
  Result<Action> Reconcile(const controller::Request& request,
                           controller::Context& context) override {
    const auto found = context.client.Get<PodDisruptionBudget>(request.object);
    if (!found) {
      return controller::IgnoreNotFound(found.error());
    }
    const PodDisruptionBudget& budget = **found;
    KX_ASSIGN_OR_RETURN(const std::vector<PodRef> pods, PodsOf(context.client, budget));
    const Time now = Time::From(context.clock.Wall());
    PodDisruptionBudgetStatus status = budget.status;
    status.observed_generation = budget.metadata.generation;
    const auto again = CountHealthy(pods, now, status);
    if (const auto expected = Expect(context.client, budget, pods, status); !expected) {
      status.disruptions_allowed = 0;
      SetAllowed(status, false, "SyncFailed", expected.error().message, now);
    } else {
      const std::int32_t spare = status.current_healthy - status.desired_healthy;
      status.disruptions_allowed = status.expected_pods > 0 ? std::max(0, spare) : 0;
      const bool allowed = status.disruptions_allowed > 0;
      SetAllowed(status, allowed, allowed ? "SufficientPods" : "InsufficientPods", "", now);
    }
    if (status != budget.status) {
      PodDisruptionBudget changed = budget;
      changed.status = std::move(status);
      KX_RETURN_IF_ERROR(context.client.UpdateStatus(changed));
    }
    return again ? Action::RequeueAfter(*again) : Action::Done();
  }

 private:
  static Result<std::vector<PodRef>> PodsOf(const controller::Client& client,
                                            const PodDisruptionBudget& budget) {
    KX_ASSIGN_OR_RETURN(std::vector<PodRef> pods, client.List<Pod>(budget.metadata.namespace_));
    const WorkloadSelector selector = SelectorOf(budget);
    std::erase_if(
        pods, [&selector](const PodRef& pod) { return !selector.Matches(pod->metadata.labels); });
    return pods;
  }

  /// Counts the ready pods that nobody evicts, and keeps the evicted ones among the disrupted pods.
  /// Returns when the first of these counts again.
  static std::optional<base::Duration> CountHealthy(const std::vector<PodRef>& pods,
                                                    const Time& now,
                                                    PodDisruptionBudgetStatus& status) {
    const std::map<std::string, Time> disrupted = std::exchange(status.disrupted_pods, {});
    std::optional<base::Duration> first;
    status.current_healthy = 0;
    for (const PodRef& pod : pods) {
      if (controller::IsBeingDeleted(*pod)) {
        continue;
      }
      const auto evicted = disrupted.find(pod->metadata.name);
      if (evicted != disrupted.end()) {
        const base::Duration left =
            std::chrono::seconds(evicted->second.seconds - now.seconds) + kEvictionTimeout;
        if (left > base::Duration(0)) {
          status.disrupted_pods.insert(*evicted);
          first = first ? std::min(*first, left) : left;
          continue;
        }
      }
      status.current_healthy += IsReady(*pod) ? 1 : 0;
    }
    return first;
  }

  /// Finds out how many pods are expected, and how many of them have to be healthy.
  static Result<void> Expect(const controller::Client& client, const PodDisruptionBudget& budget,
                             const std::vector<PodRef>& pods, PodDisruptionBudgetStatus& status) {
    const auto& spec = budget.spec;
    if (spec.min_available && std::holds_alternative<std::int32_t>(spec.min_available->value)) {
      status.expected_pods = static_cast<std::int32_t>(pods.size());
      status.desired_healthy = Resolve(*spec.min_available, 0, true);
      return {};
    }
    if (!spec.min_available && !spec.max_unavailable) {
      status.expected_pods = status.desired_healthy = 0;
      return {};
    }
    KX_ASSIGN_OR_RETURN(status.expected_pods, ScaleOf(client, pods));
    if (spec.max_unavailable) {
      const std::int32_t may = Resolve(*spec.max_unavailable, status.expected_pods, true);
      status.desired_healthy = std::max(0, status.expected_pods - may);
    } else {
      status.desired_healthy = Resolve(*spec.min_available, status.expected_pods, true);
    }
    return {};
  }

  /// Returns the sum of the pods that the controllers of these pods want.
  static Result<std::int32_t> ScaleOf(const controller::Client& client,
                                      const std::vector<PodRef>& pods) {
    std::map<std::string, std::int32_t> wanted;  // by the controller's uid
    for (const PodRef& pod : pods) {
      const auto* const owner = controller::ControllerOf(pod->metadata);
      if (owner != nullptr && !wanted.contains(owner->uid)) {
        KX_RETURN_IF_ERROR(AddScale(client, *pod, *owner, wanted));
      }
    }
    std::int64_t sum = 0;
    for (const auto& [uid, replicas] : wanted) {
      sum += replicas;
    }
    return static_cast<std::int32_t>(
        std::min<std::int64_t>(sum, std::numeric_limits<std::int32_t>::max()));
  }

  static Result<void> AddScale(const controller::Client& client, const Pod& pod,
                               const api::meta::v1::OwnerReference& owner,
                               std::map<std::string, std::int32_t>& wanted) {
    const apimachinery::ObjectKey key{pod.metadata.namespace_, owner.name};
    if (owner.kind == "StatefulSet") {
      KX_ASSIGN_OR_RETURN(const auto set, client.Get<StatefulSet>(key));
      wanted[owner.uid] = set->spec.replicas.value_or(1);
      return {};
    }
    if (owner.kind != "ReplicaSet") {
      return Fail(Reason::kInvalid, "the pod " + pod.metadata.name + " is controlled by the " +
                                        owner.kind + " " + owner.name + ", which has no scale");
    }
    KX_ASSIGN_OR_RETURN(const auto set, client.Get<ReplicaSet>(key));
    const auto* const above = controller::ControllerOf(set->metadata);
    wanted[owner.uid] = 0;
    if (above == nullptr || above->kind != "Deployment") {
      wanted[owner.uid] = set->spec.replicas.value_or(1);
    } else {
      KX_ASSIGN_OR_RETURN(const auto deployment,
                          client.Get<Deployment>({pod.metadata.namespace_, above->name}));
      wanted[above->uid] = deployment->spec.replicas.value_or(1);
    }
    return {};
  }
};

}  // namespace

Result<void> AddDisruptionController(const Setup& setup) {
  // All budgets of the namespace are looked at, because a budget that selected the pod before may
  // not select it now.
  const auto budgets =
      [informer = setup.manager.InformerFor<PodDisruptionBudget>()](const std::string& namespace_) {
        std::vector<controller::Request> requests;
        for (const auto& key : informer->Keys()) {
          if (key.namespace_ == namespace_) {
            requests.emplace_back().object = key;
          }
        }
        return requests;
      };
  const auto of = [budgets](const auto& object) { return budgets(object.metadata.namespace_); };
  KX_RETURN_IF_ERROR(controller::ControllerBuilder<PodDisruptionBudget>(setup.manager)
                         .Watches<Pod>(of)
                         .Watches<ReplicaSet>(of)
                         .Watches<StatefulSet>(of)
                         .Watches<Deployment>(of)
                         .Complete(WithExpectedErrors(std::make_shared<DisruptionReconciler>())));
  return {};
}

}  // namespace kubexx::apiserver::controllers
