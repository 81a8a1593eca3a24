// StatefulSet: makes and replaces pods with numbers, one after the other. It does not make claims
// for volumes.
#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <ranges>
#include <set>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "kubexx/apiserver/controllers/claims.h"
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

/// Returns the number in the name of a pod of this set, or nothing when the name has another form.
std::optional<int> OrdinalOf(const StatefulSet& set, const std::string& pod) {
  const std::string& name = set.metadata.name;
  if (!pod.starts_with(name) || pod.size() < name.size() + 2 || pod[name.size()] != '-') {
    return {};
  }
  int number = -1;
  const char* const end = pod.data() + pod.size();
  const auto read = std::from_chars(pod.data() + name.size() + 1, end, number);
  return read.ec == std::errc() && read.ptr == end && number >= 0 ? std::optional(number)
                                                                  : std::nullopt;
}

/// A revision of a StatefulSet: its name, and the template of its pods.
struct SetRevision {
  std::string name{};
  PodTemplateSpec pod_template{};
};

/// The revision of the pods below the partition: the one that the status names, or the newest one
/// when there is none.
Result<SetRevision> CurrentRevision(const StatefulSet& set,
                                    const std::vector<cache::Ref<ControllerRevision>>& known,
                                    const SetRevision& newest) {
  const std::string& name = set.status.current_revision;
  const auto found = std::ranges::find_if(
      known, [&name](const auto& each) { return each->metadata.name == name; });
  if (found == known.end() || name == newest.name) {
    return newest;
  }
  KX_ASSIGN_OR_RETURN(PodTemplateSpec pod_template, TemplateOf(**found));
  return SetRevision{.name = name, .pod_template = std::move(pod_template)};
}

/// One StatefulSet with its pods, and what a reconcile does about them.
class Ordinals {
 public:
  Ordinals(const controller::Context& context, const Refusals& refusals, const StatefulSet& set,
           SetRevision current, SetRevision newest, std::vector<PodRef> pods)
      : context_(context),
        refusals_(refusals),
        set_(set),
        current_(std::move(current)),
        newest_(std::move(newest)),
        now_(apimachinery::Time::From(context.clock.Wall())) {
    for (PodRef& pod : pods) {
      if (const auto number = OrdinalOf(set, pod->metadata.name)) {
        pods_[*number] = std::move(pod);
      }
    }
    first_ = set.spec.ordinals ? set.spec.ordinals->start : 0;
    end_ = static_cast<int>(
        std::min<std::int64_t>(std::int64_t{first_} + std::max(0, set.spec.replicas.value_or(1)),
                               std::numeric_limits<int>::max()));
    const auto& rolling = set.spec.update_strategy.rolling_update;
    partition_ = std::int64_t{first_} + (rolling ? rolling->partition.value_or(0) : 0);
  }

  /// Does the next step that is allowed. With Parallel it makes all missing pods and deletes all
  /// surplus pods.
  Result<void> Step() {
    const bool parallel = set_.spec.pod_management_policy == "Parallel";
    std::int64_t made = 0;
    for (int i = first_; i < end_; ++i) {
      const auto found = pods_.find(i);
      if (found == pods_.end()) {
        // The events of the new pods lead to the next step.
        if (++made > kMostPodsAtOnce) {
          return {};
        }
        KX_RETURN_IF_ERROR(Make(i));
      } else if (!IsActive(*found->second) && !controller::IsBeingDeleted(*found->second)) {
        KX_RETURN_IF_ERROR(Delete(*found->second));
      }
      // A pod may report that it is ready until it is gone, so the next pod waits for its
      // successor.
      if (!parallel && (found == pods_.end() || !Serves(*found->second))) {
        return {};
      }
    }
    KX_ASSIGN_OR_RETURN(const bool all_gone, DeleteSurplus(parallel));
    return all_gone ? Replace() : Result<void>();
  }

  StatefulSetStatus Status() const {
    StatefulSetStatus status = set_.status;
    status.observed_generation = set_.metadata.generation;
    status.current_revision = current_.name;
    status.update_revision = newest_.name;
    status.collision_count = set_.status.collision_count.value_or(0);
    status.replicas = status.ready_replicas = status.available_replicas = 0;
    status.current_replicas = status.updated_replicas = 0;
    for (const auto& [number, pod] : pods_) {
      const bool ready = pod->status.phase == "Running" && IsReady(*pod);
      ++status.replicas;
      status.ready_replicas += ready ? 1 : 0;
      status.available_replicas +=
          ready && IsAvailable(*pod, set_.spec.min_ready_seconds, now_) ? 1 : 0;
      if (!controller::IsBeingDeleted(*pod)) {
        const std::string revision = RevisionOfPod(*pod);
        status.current_replicas += revision == current_.name ? 1 : 0;
        status.updated_replicas += revision == newest_.name ? 1 : 0;
      }
    }
    const std::int32_t wanted = end_ - first_;
    if (!ReplacesByHand() && status.updated_replicas == wanted && status.replicas == wanted &&
        status.ready_replicas == wanted) {
      status.current_revision = status.update_revision;
      status.current_replicas = status.updated_replicas;
    }
    return status;
  }

 private:
  std::string Failed(const Pod& pod) const {
    return "Pod " + pod.metadata.name + " in StatefulSet " + set_.metadata.name + " failed error: ";
  }

  bool ReplacesByHand() const { return set_.spec.update_strategy.type == "OnDelete"; }

  bool Serves(const Pod& pod) const {
    return pod.status.phase == "Running" && !controller::IsBeingDeleted(pod) &&
           IsAvailable(pod, set_.spec.min_ready_seconds, now_);
  }

  Result<void> Make(int number) const {
    // Below the partition, a pod comes back with its former revision.
    const bool stays = !ReplacesByHand() && number < partition_;
    const SetRevision& revision = stays ? current_ : newest_;
    Pod pod = PodOf(revision.pod_template, set_.metadata.namespace_);
    pod.metadata.name = set_.metadata.name + "-" + std::to_string(number);
    pod.metadata.labels[kRevisionLabel] = revision.name;
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

  /// Deletes the pods whose numbers are too high or too low, the highest first. With OrderedReady
  /// it deletes one after the other, and while several pods are not available, it may only delete
  /// the lowest of these. Returns whether the other pods may be replaced now.
  Result<bool> DeleteSurplus(bool parallel) {
    std::vector<const Pod*> surplus;
    for (const auto& [number, pod] : pods_) {
      if (number < first_ || number >= end_) {
        surplus.push_back(pod.get());
      }
    }
    const auto broken =
        std::ranges::find_if(surplus, [this](const Pod* pod) { return !Serves(*pod); });
    const Pod* const lowest_broken = broken == surplus.end() ? nullptr : *broken;
    for (const Pod* const pod : surplus | std::views::reverse) {
      const bool being_deleted = controller::IsBeingDeleted(*pod);
      if (!being_deleted && (parallel || Serves(*pod) || pod == lowest_broken)) {
        KX_RETURN_IF_ERROR(Delete(*pod));
      }
      if (!parallel) {
        return false;
      }
    }
    return true;
  }

  /// Deletes the pod with the highest number that has another revision, when all pods above it are
  /// available.
  Result<void> Replace() const {
    if (ReplacesByHand()) {
      return {};
    }
    for (std::int64_t i = end_ - std::int64_t{1}; i >= partition_; --i) {
      const auto found = pods_.find(static_cast<int>(i));
      if (found == pods_.end() || controller::IsBeingDeleted(*found->second)) {
        return {};
      }
      if (RevisionOfPod(*found->second) != newest_.name) {
        return Delete(*found->second);
      }
      if (!Serves(*found->second)) {
        return {};
      }
    }
    return {};
  }

  const controller::Context& context_;
  const Refusals& refusals_;
  const StatefulSet& set_;
  const SetRevision current_;
  const SetRevision newest_;
  const apimachinery::Time now_;
  std::map<int, PodRef> pods_{};
  int first_ = 0;
  int end_ = 0;
  std::int64_t partition_ = 0;  ///< the first number that has the newest revision
};

Result<Action> WriteStatus(const controller::Client& client, const StatefulSet& set,
                           const StatefulSetStatus& status) {
  if (status != set.status) {
    StatefulSet changed = set;
    changed.status = status;
    KX_RETURN_IF_ERROR(client.UpdateStatus(changed));
  }
  return status.available_replicas < status.ready_replicas
             ? Action::RequeueAfter(std::chrono::seconds(1))
             : Action::Done();
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
    KX_ASSIGN_OR_RETURN(const auto known,
                        Claim<ControllerRevision>(context.client, revisions, set));
    KX_ASSIGN_OR_RETURN(std::vector<PodRef> owned,
                        Claim<Pod>(context.client, pods, set, [&set](const Pod& pod) {
                          return OrdinalOf(set, pod.metadata.name).has_value();
                        }));
    std::set<std::string> live = RevisionsOfPods(owned);
    live.insert(set.status.current_revision);
    KX_ASSIGN_OR_RETURN(std::string name, WriteRevisions(context.client, known, set, live));
    SetRevision newest{.name = std::move(name), .pod_template = set.spec.template_};
    KX_ASSIGN_OR_RETURN(SetRevision current, CurrentRevision(set, known, newest));
    Ordinals ordinals(context, refusals, set, std::move(current), std::move(newest),
                      std::move(owned));
    const Result<void> stepped = ordinals.Step();
    return AfterReport(stepped, WriteStatus(context.client, set, ordinals.Status()));
  };
  KX_RETURN_IF_ERROR(controller::ControllerBuilder<StatefulSet>(setup.manager)
                         .Owns<Pod>()
                         .Owns<ControllerRevision>()
                         .Watches<Pod>(AdoptersOf<StatefulSet, Pod>(setup.manager))
                         .Complete(WithExpectedErrors(std::move(reconcile))));
  return {};
}

}  // namespace kubexx::apiserver::controllers
