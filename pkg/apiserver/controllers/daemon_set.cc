// DaemonSet: one pod on each node that it selects.
#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "kubexx/apiserver/controllers/expected_errors.h"
#include "kubexx/apiserver/controllers/pods.h"
#include "kubexx/apiserver/controllers/refusals.h"
#include "kubexx/apiserver/controllers/revisions.h"
#include "kubexx/apiserver/controllers/rollout.h"
#include "kubexx/apiserver/controllers/setup.h"
#include "kubexx/controller/builder.h"
#include "kubexx/controller/owned_objects.h"

namespace kubexx::apiserver::controllers {
namespace {

using api::apps::v1::DaemonSet;
using api::apps::v1::DaemonSetStatus;
using api::core::v1::Node;
using apimachinery::Result;
using controller::Action;
using controller::OwnedObjects;

class DaemonSetReconciler final : public controller::Reconciler {
 public:
  explicit DaemonSetReconciler(const Setup& setup)
      : pods_(setup.manager), revisions_(setup.manager), refusals_(setup, "daemonset-controller") {}

  Result<Action> Reconcile(const controller::Request& request,
                           controller::Context& context) override {
    const auto found = context.client.Get<DaemonSet>(request.object);
    if (!found) {
      return controller::IgnoreNotFound(found.error());
    }
    const DaemonSet& set = **found;
    if (controller::IsBeingDeleted(set)) {
      return Action::Done();
    }
    KX_ASSIGN_OR_RETURN(std::string hash, WriteRevisions(context.client, revisions_, set));
    hash.erase(0, set.metadata.name.size() + 1);
    KX_ASSIGN_OR_RETURN(const auto nodes, context.client.List<Node>());
    Places by_node;
    for (const cache::Ref<Node>& node : nodes) {
      const auto& selector = set.spec.template_.spec.node_selector;
      if (!node->spec.unschedulable && std::ranges::includes(node->metadata.labels, selector)) {
        by_node[node->metadata.name] = nullptr;
      }
    }
    KX_ASSIGN_OR_RETURN(std::vector<PodRef> pods, pods_.Of(set.metadata));
    deletions_.Filter(set.metadata.uid, pods);
    std::vector<PodRef> misplaced;
    for (PodRef& pod : pods) {
      const auto place = by_node.find(pod->spec.node_name);
      if (IsActive(*pod) && place != by_node.end() && place->second == nullptr) {
        place->second = std::move(pod);
      } else if (!controller::IsBeingDeleted(*pod)) {
        misplaced.push_back(std::move(pod));
      }
    }
    const Result<void> worked = Work(context, set, hash, misplaced, by_node);
    return AfterReport(worked, ReportStatus(context, set, hash, by_node));
  }

 private:
  using Places = std::map<std::string, PodRef>;

  static bool IsOf(const Pod& pod, const std::string& hash) {
    const auto found = pod.metadata.labels.find(kRevisionLabel);
    return found != pod.metadata.labels.end() && found->second == hash;
  }

  /// Makes and deletes pods until the first error; the deleted ones leave `places`.
  Result<void> Work(const controller::Context& context, const DaemonSet& set,
                    const std::string& hash, const std::vector<PodRef>& misplaced, Places& places) {
    for (const PodRef& pod : misplaced) {
      KX_RETURN_IF_ERROR(Delete(context, set, *pod));
    }
    KX_RETURN_IF_ERROR(Replace(context, set, hash, places));
    return Fill(context, set, hash, places);
  }

  Result<void> Delete(const controller::Context& context, const DaemonSet& set, const Pod& pod) {
    return refusals_.OfDelete(context, set,
                              deletions_.Delete(context.client, set.metadata.uid, pod));
  }

  /// Deletes pods of other revisions, as many at a time as may be unavailable.
  Result<void> Replace(const controller::Context& context, const DaemonSet& set,
                       const std::string& hash, Places& places) {
    if (set.spec.update_strategy.type == "OnDelete") {
      return {};
    }
    const auto& rolling = set.spec.update_strategy.rolling_update;
    const auto limit =
        rolling ? rolling->max_unavailable.value_or(1) : apimachinery::IntOrString(1);
    auto budget = std::max(1, Resolve(limit, static_cast<std::int32_t>(places.size()), true));
    for (const auto& [node, pod] : places) {
      budget -= pod == nullptr || !IsReady(*pod) ? 1 : 0;
    }
    for (auto& [node, pod] : places) {
      if (pod == nullptr || IsOf(*pod, hash) || (IsReady(*pod) && budget-- <= 0)) {
        continue;
      }
      KX_RETURN_IF_ERROR(Delete(context, set, *pod));
      pod = nullptr;
    }
    return {};
  }

  Result<void> Fill(const controller::Context& context, const DaemonSet& set,
                    const std::string& hash, const Places& places) const {
    for (const auto& [node, there] : places) {
      if (there == nullptr) {
        Pod pod = PodOf(set.spec.template_, set.metadata.namespace_);
        pod.metadata.generate_name = set.metadata.name + "-";
        pod.metadata.labels[kRevisionLabel] = hash;
        pod.spec.node_name = node;
        KX_RETURN_IF_ERROR(controller::SetControllerReference(set, pod));
        KX_RETURN_IF_ERROR(refusals_.OfCreate(context, set, context.client.Create(pod)));
      }
    }
    return {};
  }

  static Result<Action> ReportStatus(const controller::Context& context, const DaemonSet& set,
                                     const std::string& hash, const Places& places) {
    DaemonSetStatus status;
    status.conditions = set.status.conditions;
    status.collision_count = set.status.collision_count;
    status.observed_generation = set.metadata.generation;
    status.desired_number_scheduled = static_cast<std::int32_t>(places.size());
    for (const auto& [node, pod] : places) {
      if (pod != nullptr) {
        ++status.current_number_scheduled;
        status.updated_number_scheduled += IsOf(*pod, hash) ? 1 : 0;
        status.number_ready += IsReady(*pod) ? 1 : 0;
      }
    }
    status.number_available = status.number_ready;
    status.number_unavailable = status.desired_number_scheduled - status.number_available;
    if (status != set.status) {
      DaemonSet changed = set;
      changed.status = status;
      KX_RETURN_IF_ERROR(context.client.UpdateStatus(changed));
    }
    return Action::Done();
  }

  OwnedObjects<Pod> pods_;
  OwnedObjects<ControllerRevision> revisions_;
  Deletions deletions_;
  Refusals refusals_;
};

}  // namespace

Result<void> AddDaemonSetController(const Setup& setup) {
  // A node that comes or goes concerns all of them.
  const auto all = [informer = setup.manager.InformerFor<DaemonSet>()](const Node&) {
    std::vector<controller::Request> requests;
    for (const auto& key : informer->Keys()) {
      requests.emplace_back().object = key;
    }
    return requests;
  };
  KX_RETURN_IF_ERROR(
      controller::ControllerBuilder<DaemonSet>(setup.manager)
          .Owns<Pod>()
          .Owns<ControllerRevision>()
          .Watches<Node>(all)
          .Complete(WithExpectedErrors(std::make_shared<DaemonSetReconciler>(setup))));
  return {};
}

}  // namespace kubexx::apiserver::controllers
