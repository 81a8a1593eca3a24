// StatefulSet: pods with numbers, made and replaced one after the other. Claims of volumes are not
// made.
#include <algorithm>
#include <charconv>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "kubexx/apiserver/controllers/expected_errors.h"
#include "kubexx/apiserver/controllers/pods.h"
#include "kubexx/apiserver/controllers/refusals.h"
#include "kubexx/apiserver/controllers/revisions.h"
#include "kubexx/apiserver/controllers/setup.h"
#include "kubexx/controller/builder.h"
#include "kubexx/controller/owned_objects.h"

namespace kubexx::apiserver::controllers {
namespace {

using api::apps::v1::StatefulSet;
using api::apps::v1::StatefulSetStatus;
using apimachinery::Result;
using controller::Action;
using controller::OwnedObjects;

std::string RevisionOfPod(const Pod& pod) {
  const auto found = pod.metadata.labels.find(kRevisionLabel);
  return found == pod.metadata.labels.end() ? std::string() : found->second;
}

/// One StatefulSet, its pods, and what a reconcile does about them.
class Ordinals {
 public:
  Ordinals(const controller::Context& context, const Refusals& refusals, const StatefulSet& set,
           std::string revision, std::vector<PodRef> pods)
      : context_(context), refusals_(refusals), set_(set), revision_(std::move(revision)) {
    for (PodRef& pod : pods) {
      const std::string& name = pod->metadata.name;
      int number = -1;
      const std::size_t dash = name.rfind('-');
      const auto read = std::from_chars(name.data() + dash + 1, name.data() + name.size(), number);
      if (read.ec == std::errc() && number >= 0) {
        pods_[number] = std::move(pod);
      }
    }
    first_ = set.spec.ordinals ? set.spec.ordinals->start : 0;
    end_ = static_cast<int>(
        std::min<std::int64_t>(std::int64_t{first_} + std::max(0, set.spec.replicas.value_or(1)),
                               std::numeric_limits<int>::max()));
  }

  /// The next thing that may be done; with Parallel all that is missing or too much.
  Result<void> Step() {
    const bool parallel = set_.spec.pod_management_policy == "Parallel";
    std::int64_t made = 0;
    for (int i = first_; i < end_; ++i) {
      const auto found = pods_.find(i);
      if (found == pods_.end()) {
        // The events of those that are made bring the next turn.
        if (++made > kMostPodsAtOnce) {
          return {};
        }
        KX_RETURN_IF_ERROR(Make(i));
      } else if (!IsActive(*found->second) && !controller::IsBeingDeleted(*found->second)) {
        KX_RETURN_IF_ERROR(Delete(*found->second));
      }
      // A pod may say that it is ready until it is gone; the next one waits for its successor.
      if (!parallel && (found == pods_.end() || !IsReady(*found->second) ||
                        controller::IsBeingDeleted(*found->second))) {
        return {};
      }
    }
    for (auto pod = pods_.rbegin(); pod != pods_.rend(); ++pod) {
      if (pod->first < end_ && pod->first >= first_) {
        continue;
      }
      if (!controller::IsBeingDeleted(*pod->second)) {
        KX_RETURN_IF_ERROR(Delete(*pod->second));
      }
      if (!parallel) {
        return {};
      }
    }
    return Replace();
  }

  StatefulSetStatus Status() const {
    StatefulSetStatus status = set_.status;
    status.observed_generation = set_.metadata.generation;
    status.update_revision = set_.metadata.name + "-" + revision_;
    status.replicas = status.ready_replicas = status.available_replicas = 0;
    status.updated_replicas = 0;
    for (const auto& [number, pod] : pods_) {
      if (IsActive(*pod)) {
        ++status.replicas;
        status.ready_replicas += IsReady(*pod) ? 1 : 0;
        status.available_replicas += IsReady(*pod) ? 1 : 0;
        status.updated_replicas += RevisionOfPod(*pod) == revision_ ? 1 : 0;
      }
    }
    const bool done = status.updated_replicas == end_ - first_ &&
                      status.replicas == end_ - first_ && status.ready_replicas == end_ - first_;
    if (done || status.current_revision.empty()) {
      status.current_revision = status.update_revision;
    }
    status.current_replicas = status.current_revision == status.update_revision
                                  ? status.updated_replicas
                                  : status.replicas - status.updated_replicas;
    return status;
  }

 private:
  std::string Failed(const Pod& pod) const {
    return "Pod " + pod.metadata.name + " in StatefulSet " + set_.metadata.name + " failed error: ";
  }

  Result<void> Make(int number) const {
    Pod pod = PodOf(set_.spec.template_, set_.metadata.namespace_);
    pod.metadata.name = set_.metadata.name + "-" + std::to_string(number);
    pod.metadata.labels[kRevisionLabel] = revision_;
    pod.metadata.labels["statefulset.kubernetes.io/pod-name"] = pod.metadata.name;
    pod.metadata.labels["apps.kubernetes.io/pod-index"] = std::to_string(number);
    pod.spec.hostname = pod.metadata.name;
    pod.spec.subdomain = set_.spec.service_name;
    KX_RETURN_IF_ERROR(controller::SetControllerReference(set_, pod));
    return refusals_.Of(context_, set_, "FailedCreate", "create " + Failed(pod),
                        context_.client.Create(pod));
  }

  Result<void> Delete(const Pod& pod) const {
    const auto deleted = context_.client.Delete<Pod>({pod.metadata.namespace_, pod.metadata.name},
                                                     {.uid = pod.metadata.uid});
    if (deleted || deleted.error().reason == apimachinery::Reason::kNotFound) {
      return {};
    }
    return refusals_.Of(context_, set_, "FailedDelete", "delete " + Failed(pod), deleted);
  }

  /// Deletes the pod with the highest number that is of another revision, once all after it are
  /// ready.
  Result<void> Replace() const {
    if (set_.spec.update_strategy.type == "OnDelete") {
      return {};
    }
    const auto& rolling = set_.spec.update_strategy.rolling_update;
    const int from = rolling ? rolling->partition.value_or(0) : 0;
    for (int i = end_ - 1; i >= std::max(first_, from); --i) {
      const auto found = pods_.find(i);
      if (found == pods_.end() || controller::IsBeingDeleted(*found->second)) {
        return {};
      }
      if (RevisionOfPod(*found->second) != revision_) {
        return Delete(*found->second);
      }
      if (!IsReady(*found->second)) {
        return {};
      }
    }
    return {};
  }

  const controller::Context& context_;
  const Refusals& refusals_;
  const StatefulSet& set_;
  const std::string revision_;  ///< the hash only
  std::map<int, PodRef> pods_{};
  int first_ = 0;
  int end_ = 0;
};

Result<Action> WriteStatus(const controller::Client& client, const StatefulSet& set,
                           StatefulSetStatus status) {
  if (status != set.status) {
    StatefulSet changed = set;
    changed.status = std::move(status);
    KX_RETURN_IF_ERROR(client.UpdateStatus(changed));
  }
  return Action::Done();
}

}  // namespace

Result<void> AddStatefulSetController(const Setup& setup) {
  auto reconcile = [pods = OwnedObjects<Pod>(setup.manager),
                    revisions = OwnedObjects<ControllerRevision>(setup.manager),
                    refusals = Refusals(setup, "statefulset-controller")](
                       const controller::Request& request,
                       controller::Context& context) -> Result<Action> {
    const auto found = context.client.Get<StatefulSet>(request.object);
    if (!found) {
      return controller::IgnoreNotFound(found.error());
    }
    const StatefulSet& set = **found;
    if (controller::IsBeingDeleted(set)) {
      return Action::Done();
    }
    KX_ASSIGN_OR_RETURN(const std::string revision, WriteRevisions(context.client, revisions, set));
    KX_ASSIGN_OR_RETURN(auto owned, pods.Of(set.metadata));
    Ordinals ordinals(context, refusals, set, revision.substr(set.metadata.name.size() + 1),
                      std::move(owned));
    const Result<void> stepped = ordinals.Step();
    return AfterReport(stepped, WriteStatus(context.client, set, ordinals.Status()));
  };
  KX_RETURN_IF_ERROR(controller::ControllerBuilder<StatefulSet>(setup.manager)
                         .Owns<Pod>()
                         .Owns<ControllerRevision>()
                         .Complete(WithExpectedErrors(std::move(reconcile))));
  return {};
}

}  // namespace kubexx::apiserver::controllers
