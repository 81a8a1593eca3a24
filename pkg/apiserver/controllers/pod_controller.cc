// Plays the scheduler, and the kubelet of a node that does not exist.
#include <algorithm>
#include <atomic>
#include <memory>
#include <string>
#include <utility>

#include "kubexx/api/core/v1/resources.gen.h"
#include "kubexx/api/core/v1/types.gen.h"
#include "kubexx/apiserver/controllers/pod_life.h"
#include "kubexx/apiserver/controllers/pods.h"
#include "kubexx/apiserver/controllers/setup.h"
#include "kubexx/controller/builder.h"
#include "kubexx/kubernetes/core_v1.gen.h"

namespace kubexx::apiserver::controllers {
namespace {

using api::core::v1::Node;
using api::core::v1::PodStatus;
using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;
using apimachinery::Time;
using controller::Action;

/// A pod that no node is fit for is looked at again after this long.
constexpr std::chrono::seconds kRetry{1};
/// The interval for checking the node of a pod that somebody else has to remove.
constexpr std::chrono::seconds kOrphanRetry{10};

class PodReconciler final : public controller::Reconciler {
 public:
  explicit PodReconciler(base::Duration delay) : lives_(delay) {}

  Result<Action> Reconcile(const controller::Request& request,
                           controller::Context& context) override {
    const auto found = context.client.Get<Pod>(request.object);
    if (!found) {
      lives_.Forget(request.object);  // it may have been waiting
      return controller::IgnoreNotFound(found.error());
    }
    const Pod& pod = **found;
    const auto now = Time::From(context.clock.Wall());
    const PodLives::Next next = lives_.Of(pod, context.clock.Now());
    switch (next.step) {
      case PodStep::kNothing:
        return Action::Done();
      case PodStep::kWait:
        return Action::RequeueAfter(next.wait);
      case PodStep::kSchedule:
        return Schedule(context.client, pod, now);
      case PodStep::kRun:
        return Write(context.client, pod, RunningStatus(pod, NextAddress(), now));
      case PodStep::kGate:
        return Write(context.client, pod, GatedStatus(pod, now));
      case PodStep::kSucceed:
        return Write(context.client, pod, SucceededStatus(pod, now));
      case PodStep::kRemove:
        return Remove(context.client, pod);
      case PodStep::kOrphan:
        return RemoveWithoutNode(context.client, pod);
    }
    return Action::Done();
  }

 private:
  static Result<Action> Schedule(const controller::Client& client, const Pod& pod,
                                 const Time& now) {
    const auto node = client.Get<Node>({.name = kNodeName});
    if (node && !(*node)->spec.unschedulable &&
        std::ranges::includes((*node)->metadata.labels, pod.spec.node_selector)) {
      api::core::v1::Binding binding;
      binding.metadata.name = pod.metadata.name;
      binding.metadata.uid = pod.metadata.uid;
      binding.target.kind = "Node";
      binding.target.name = kNodeName;
      const kubernetes::CoreV1Client core(client.rest());
      const auto bound = core.Pods(pod.metadata.namespace_).Bind(binding, {}, client.stop());
      return bound ? Action::Done() : controller::IgnoreNotFound(bound.error());
    }
    if (ConditionOf(pod, "PodScheduled") != "False") {
      Pod changed = pod;
      changed.status = UnschedulableStatus(pod, now);
      KX_RETURN_IF_ERROR(client.UpdateStatus(changed));
    }
    return Action::RequeueAfter(kRetry);
  }

  Result<Action> Write(const controller::Client& client, const Pod& pod, PodStatus status) {
    Pod changed = pod;
    changed.status = std::move(status);
    const auto written = client.UpdateStatus(changed);
    if (!written) {
      return controller::IgnoreNotFound(written.error());
    }
    lives_.Forget(KeyOf(pod.metadata));
    return Action::Done();
  }

  Result<Action> Remove(const controller::Client& client, const Pod& pod) {
    lives_.Forget(KeyOf(pod.metadata));
    const auto deleted = client.Delete<Pod>({pod.metadata.namespace_, pod.metadata.name},
                                            {.grace_period_seconds = 0, .uid = pod.metadata.uid});
    return deleted ? Action::Done() : controller::IgnoreNotFound(deleted.error());
  }

  /// Does what the pod garbage collector does, because nobody else would report that the containers
  /// are gone.
  Result<Action> RemoveWithoutNode(const controller::Client& client, const Pod& pod) {
    const auto node = client.GetLive<Node>({.name = pod.spec.node_name});
    if (node) {
      return Action::RequeueAfter(kOrphanRetry);
    }
    return node.error().reason == Reason::kNotFound ? Remove(client, pod) : Fail(node.error());
  }

  /// Returns the next address of 10.244.0.0/16.
  std::string NextAddress() {
    const unsigned number = 2 + addresses_.fetch_add(1) % 65000;
    return "10.244." + std::to_string(number / 256) + "." + std::to_string(number % 256);
  }

  PodLives lives_;
  std::atomic<unsigned> addresses_{0};
};

Result<void> MakeNode(const controller::Client& client, const base::Clock& clock) {
  const Node wanted = SimulatedNode(Time::From(clock.Wall()));
  auto node = client.Create(wanted);
  if (!node && node.error().reason == Reason::kAlreadyExists) {
    node = client.GetLive<Node>({.name = kNodeName});
  }
  KX_RETURN_IF_ERROR(node);
  node->status = wanted.status;
  KX_RETURN_IF_ERROR(client.UpdateStatus(*node));
  return {};
}

}  // namespace

Result<void> AddPodController(const Setup& setup) {
  KX_RETURN_IF_ERROR(setup.manager.Add(
      kNodeName, controller::Stage::kOther,
      [&manager = setup.manager](const std::stop_token& stop) -> Result<void> {
        if (const auto made = MakeNode(manager.NewClient(stop), manager.clock()); !made) {
          return Fail(made.error().WithContext("make the node " + std::string(kNodeName)));
        }
        return {};
      }));
  // This makes the cache exist before the first pod does.
  (void)setup.manager.InformerFor<Node>();
  KX_RETURN_IF_ERROR(controller::ControllerBuilder<Pod>(setup.manager)
                         .MaxConcurrentReconciles(2)
                         .Complete(std::make_shared<PodReconciler>(setup.options.pod_start_delay)));
  return {};
}

}  // namespace kubexx::apiserver::controllers
