// DaemonSet: makes one pod on each node that it selects.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "kubexx/apiserver/controllers/claims.h"
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
using api::core::v1::PodSpec;
using apimachinery::Result;
using controller::Action;
using controller::OwnedObjects;

/// Adds the tolerations that kube-controller-manager gives to the pods of a DaemonSet: a node that
/// is cordoned or has a problem keeps them.
void AddTolerations(PodSpec& spec) {
  const auto add = [&spec](const char* taint, const char* effect) {
    api::core::v1::Toleration toleration;
    toleration.key = taint;
    toleration.operator_ = "Exists";
    toleration.effect = effect;
    if (std::ranges::find(spec.tolerations, toleration) == spec.tolerations.end()) {
      spec.tolerations.push_back(std::move(toleration));
    }
  };
  add("node.kubernetes.io/not-ready", "NoExecute");
  add("node.kubernetes.io/unreachable", "NoExecute");
  add("node.kubernetes.io/disk-pressure", "NoSchedule");
  add("node.kubernetes.io/memory-pressure", "NoSchedule");
  add("node.kubernetes.io/pid-pressure", "NoSchedule");
  add("node.kubernetes.io/unschedulable", "NoSchedule");
  if (spec.host_network) {
    add("node.kubernetes.io/network-unavailable", "NoSchedule");
  }
}

/// A node that has to have a pod, and its pods.
struct Place {
  PodRef pod{};         ///< the oldest one; null when there is none
  bool ending = false;  ///< a pod that is being deleted: the next one is made when it is gone
};

/// One DaemonSet with its pods, and what a reconcile does about them.
struct DaemonPods {
  const DaemonSet& set;
  std::string hash;  ///< of its template
  apimachinery::Time now;
  std::map<std::string, Place> places{};  ///< by the node's name
  std::vector<PodRef> misplaced{};        ///< ended, too many, or on other nodes
  std::int32_t misplaced_nodes = 0;       ///< that have a pod and are not to have one

  bool IsOfTemplate(const Pod& pod) const {
    const auto found = pod.metadata.labels.find(kRevisionLabel);
    return found != pod.metadata.labels.end() && found->second == hash;
  }
  bool Serves(const Pod& pod) const { return IsAvailable(pod, set.spec.min_ready_seconds, now); }

  /// Sorts `pods` by node. A pod in `deleted`, which this controller has deleted, counts as ending,
  /// whatever the cache says.
  void Sort(std::vector<PodRef> pods, const std::vector<PodRef>& deleted,
            const std::set<std::string>& other_nodes) {
    std::ranges::sort(pods, {}, [](const PodRef& pod) {
      return std::tuple(pod->metadata.creation_timestamp, pod->metadata.name);
    });
    std::set<std::string> wrong;
    const auto ends = [&](const Pod& pod) {
      const auto place = places.find(pod.spec.node_name);
      if (place != places.end()) {
        place->second.ending = true;
      }
    };
    for (PodRef& pod : pods) {
      const auto place = places.find(pod->spec.node_name);
      if (other_nodes.contains(pod->spec.node_name)) {
        wrong.insert(pod->spec.node_name);
      }
      if (IsTerminating(*pod)) {
        ends(*pod);
      } else if (IsActive(*pod) && place != places.end() && place->second.pod == nullptr) {
        place->second.pod = std::move(pod);
      } else if (!controller::IsBeingDeleted(*pod)) {
        misplaced.push_back(std::move(pod));
      }
    }
    for (const PodRef& pod : deleted) {
      ends(*pod);
    }
    misplaced_nodes = static_cast<std::int32_t>(wrong.size());
  }
};

class DaemonSetReconciler final : public controller::Reconciler {
 public:
  explicit DaemonSetReconciler(const Setup& setup)
      : pods_(setup.manager), revisions_(setup.manager), refusals_(setup, "daemonset-controller") {}

  Result<Action> Reconcile(const controller::Request& request,
                           controller::Context& context) override {
    const auto found = context.client.Get<DaemonSet>(request.object);
    if (!found) {
      deletions_.Forget(request.object);
      return controller::IgnoreNotFound(found.error());
    }
    const DaemonSet& set = **found;
    if (controller::IsBeingDeleted(set)) {
      return Action::Done();
    }
    KX_ASSIGN_OR_RETURN(std::vector<PodRef> pods, Claim<Pod>(context.client, pods_, set));
    KX_ASSIGN_OR_RETURN(const auto revisions,
                        Claim<ControllerRevision>(context.client, revisions_, set));
    KX_ASSIGN_OR_RETURN(std::string hash,
                        WriteRevisions(context.client, revisions, set, RevisionsOfPods(pods)));
    hash.erase(0, set.metadata.name.size() + 1);
    KX_ASSIGN_OR_RETURN(const auto nodes, context.client.List<Node>());
    DaemonPods all{
        .set = set, .hash = std::move(hash), .now = apimachinery::Time::From(context.clock.Wall())};
    std::set<std::string> other_nodes;
    for (const cache::Ref<Node>& node : nodes) {
      // A cordoned node gets a pod, too, because the pods tolerate that.
      if (std::ranges::includes(node->metadata.labels, set.spec.template_.spec.node_selector)) {
        all.places.try_emplace(node->metadata.name);
      } else {
        other_nodes.insert(node->metadata.name);
      }
    }
    const std::vector<PodRef> deleted = deletions_.Filter(request.object, pods);
    all.Sort(std::move(pods), deleted, other_nodes);
    const Result<void> worked = Work(context, all);
    return AfterReport(worked, ReportStatus(context, all));
  }

 private:
  /// Makes and deletes pods until the first error. Deleted pods are removed from `all`.
  Result<void> Work(const controller::Context& context, DaemonPods& all) {
    for (const PodRef& pod : all.misplaced) {
      KX_RETURN_IF_ERROR(Delete(context, all.set, *pod));
    }
    KX_RETURN_IF_ERROR(Replace(context, all));
    return Fill(context, all);
  }

  Result<void> Delete(const controller::Context& context, const DaemonSet& set, const Pod& pod) {
    return refusals_.OfDelete(context, set,
                              deletions_.Delete(context.client, KeyOf(set.metadata), pod));
  }

  /// Deletes pods of other revisions, as many at a time as may be unavailable.
  Result<void> Replace(const controller::Context& context, DaemonPods& all) {
    const auto& strategy = all.set.spec.update_strategy;
    if (strategy.type == "OnDelete") {
      return {};
    }
    const auto limit = strategy.rolling_update
                           ? strategy.rolling_update->max_unavailable.value_or(1)
                           : apimachinery::IntOrString(1);
    std::int64_t budget =
        std::max(1, Resolve(limit, static_cast<std::int32_t>(all.places.size()), true));
    for (const auto& [node, place] : all.places) {
      budget -= place.pod == nullptr || !all.Serves(*place.pod) ? 1 : 0;
    }
    for (auto& [node, place] : all.places) {
      if (place.pod == nullptr || all.IsOfTemplate(*place.pod) ||
          (all.Serves(*place.pod) && budget-- <= 0)) {
        continue;
      }
      KX_RETURN_IF_ERROR(Delete(context, all.set, *place.pod));
      place = {.pod = nullptr, .ending = true};
    }
    return {};
  }

  Result<void> Fill(const controller::Context& context, const DaemonPods& all) const {
    const DaemonSet& set = all.set;
    for (const auto& [node, place] : all.places) {
      if (place.pod == nullptr && !place.ending) {
        Pod pod = PodOf(set.spec.template_, set.metadata.namespace_);
        pod.metadata.generate_name = set.metadata.name + "-";
        pod.metadata.labels[kRevisionLabel] = all.hash;
        pod.spec.node_name = node;
        AddTolerations(pod.spec);
        KX_RETURN_IF_ERROR(controller::SetControllerReference(set, pod));
        KX_RETURN_IF_ERROR(refusals_.OfCreate(context, set, context.client.Create(pod)));
      }
    }
    return {};
  }

  static Result<Action> ReportStatus(const controller::Context& context, const DaemonPods& all) {
    const DaemonSet& set = all.set;
    DaemonSetStatus status;
    status.conditions = set.status.conditions;
    status.collision_count = set.status.collision_count;
    status.observed_generation = set.metadata.generation;
    status.desired_number_scheduled = static_cast<std::int32_t>(all.places.size());
    status.number_misscheduled = all.misplaced_nodes;
    for (const auto& [node, place] : all.places) {
      status.current_number_scheduled += place.pod != nullptr || place.ending ? 1 : 0;
      if (place.pod != nullptr) {
        status.updated_number_scheduled += all.IsOfTemplate(*place.pod) ? 1 : 0;
        status.number_ready += IsReady(*place.pod) ? 1 : 0;
        status.number_available += all.Serves(*place.pod) ? 1 : 0;
      }
    }
    status.number_unavailable = status.desired_number_scheduled - status.number_available;
    if (status != set.status) {
      DaemonSet changed = set;
      changed.status = status;
      KX_RETURN_IF_ERROR(context.client.UpdateStatus(changed));
    }
    return status.number_available < status.number_ready
               ? Action::RequeueAfter(std::chrono::seconds(1))
               : Action::Done();
  }

  OwnedObjects<Pod> pods_;
  OwnedObjects<ControllerRevision> revisions_;
  Deletions deletions_;
  Refusals refusals_;
};

}  // namespace

Result<void> AddDaemonSetController(const Setup& setup) {
  // A node that comes or goes concerns all DaemonSets.
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
          .Watches<Pod>(AdoptersOf<DaemonSet, Pod>(setup.manager))
          .Watches<Node>(all)
          .Complete(WithExpectedErrors(std::make_shared<DaemonSetReconciler>(setup))));
  return {};
}

}  // namespace kubexx::apiserver::controllers
