#include "kubexx/apiserver/controllers/pod_life.h"

#include <algorithm>
#include <utility>

#include "kubexx/apiserver/controllers/pods.h"
#include "kubexx/controller/conditions.h"
#include "kubexx/controller/object_helpers.h"

namespace kubexx::apiserver::controllers {
namespace {

using api::core::v1::ContainerStatus;
using api::core::v1::Node;
using api::core::v1::NodeAddress;
using api::core::v1::NodeCondition;
using api::core::v1::PodCondition;
using api::core::v1::PodStatus;
using apimachinery::Quantity;
using apimachinery::Time;

/// Replaces the condition of the same type. Its time stays when its status does.
void Set(PodStatus& status, const char* type, const char* value, const char* reason,
         const Time& now) {
  const auto* const before = controller::FindCondition(status.conditions, type);
  PodCondition condition = before == nullptr ? PodCondition() : *before;
  condition.type = type;
  condition.status = value;
  condition.reason = reason;
  controller::SetCondition(status.conditions, std::move(condition), now);
}

constexpr const char* kGatesNotReady = "ReadinessGatesNotReady";
constexpr std::string_view kSchedulerName = "default-scheduler";

bool GatesAllow(const Pod& pod) {
  return std::ranges::all_of(pod.spec.readiness_gates, [&pod](const auto& gate) {
    return ConditionOf(pod, gate.condition_type) == "True";
  });
}

Quantity QuantityOf(const char* text) {
  auto quantity = Quantity::Parse(text);
  return quantity ? *quantity : Quantity();
}

}  // namespace

Node SimulatedNode(const Time& now) {
  Node node;
  node.metadata.name = kNodeName;
  node.metadata.labels = {{"kubernetes.io/hostname", kNodeName},
                          {"kubernetes.io/os", "linux"},
                          {"kubernetes.io/arch", "amd64"}};
  node.status.capacity = {{"cpu", QuantityOf("1000")},
                          {"memory", QuantityOf("1Ti")},
                          {"ephemeral-storage", QuantityOf("1Ti")},
                          {"pods", QuantityOf("1000")}};
  node.status.allocatable = node.status.capacity;
  NodeCondition ready;
  ready.type = "Ready";
  ready.status = "True";
  ready.reason = "KubeletReady";
  ready.message = "simulated by kubexx-apiserver";
  ready.last_heartbeat_time = ready.last_transition_time = now;
  node.status.conditions.push_back(std::move(ready));
  NodeAddress address;
  address.type = "InternalIP";
  address.address = kNodeAddress;
  node.status.addresses.push_back(std::move(address));
  node.status.node_info.kubelet_version = "v1.36.0+kubexx";
  node.status.node_info.operating_system = "linux";
  node.status.node_info.architecture = "amd64";
  return node;
}

PodStatus UnschedulableStatus(const Pod& pod, const Time& now) {
  PodStatus status = pod.status;
  Set(status, "PodScheduled", "False", "Unschedulable", now);
  return status;
}

PodStatus RunningStatus(const Pod& pod, const std::string& address, const Time& now) {
  PodStatus status = pod.status;
  status.phase = "Running";
  status.host_ip = kNodeAddress;
  status.host_ips.assign(1, {});
  status.host_ips.front().ip = kNodeAddress;
  status.pod_ip = address;
  status.pod_ips.assign(1, {});
  status.pod_ips.front().ip = address;
  status.start_time = now;
  status.observed_generation = pod.metadata.generation;
  for (const char* const type :
       {"PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady", "PodScheduled"}) {
    Set(status, type, "True", "", now);
  }
  if (!GatesAllow(pod)) {
    Set(status, "Ready", "False", kGatesNotReady, now);
  }
  status.container_statuses.clear();
  for (const auto& container : pod.spec.containers) {
    ContainerStatus one;
    one.name = container.name;
    one.image = container.image;
    one.image_id = container.image;
    one.container_id = "simulated://" + pod.metadata.uid + "/" + container.name;
    one.ready = true;
    one.started = true;
    one.state.running.emplace().started_at = now;
    status.container_statuses.push_back(std::move(one));
  }
  return status;
}

PodStatus GatedStatus(const Pod& pod, const Time& now) {
  PodStatus status = pod.status;
  const bool ready = GatesAllow(pod);
  Set(status, "Ready", ready ? "True" : "False", ready ? "" : kGatesNotReady, now);
  return status;
}

PodStatus SucceededStatus(const Pod& pod, const Time& now) {
  PodStatus status = pod.status;
  status.phase = "Succeeded";
  Set(status, "Ready", "False", "PodCompleted", now);
  Set(status, "ContainersReady", "False", "PodCompleted", now);
  for (ContainerStatus& container : status.container_statuses) {
    container.ready = false;
    container.started = false;
    auto& ended = container.state.terminated.emplace();
    ended.reason = "Completed";
    ended.started_at = container.state.running ? container.state.running->started_at : now;
    ended.finished_at = now;
    ended.container_id = container.container_id;
    container.state.running.reset();
  }
  return status;
}

PodLives::Next PodLives::Of(const Pod& pod, base::TimePoint now) {
  const bool elsewhere = !pod.spec.node_name.empty() && pod.spec.node_name != kNodeName;
  if (controller::IsBeingDeleted(pod)) {
    if (elsewhere) {
      return {.step = PodStep::kOrphan};
    }
    // The containers end even if a finalizer keeps the object, so that its workload can go on.
    const bool is_kept = pod.status.phase == "Running" && !pod.metadata.finalizers.empty();
    return {.step = is_kept ? PodStep::kSucceed : PodStep::kRemove};
  }
  if (elsewhere) {
    return {};
  }
  if (pod.status.phase == "Succeeded" || pod.status.phase == "Failed") {
    return {};
  }
  // A pod with scheduling gates waits until somebody removes them.
  if (pod.spec.node_name.empty()) {
    const bool ours = pod.spec.scheduler_name.empty() || pod.spec.scheduler_name == kSchedulerName;
    return {.step =
                ours && pod.spec.scheduling_gates.empty() ? PodStep::kSchedule : PodStep::kNothing};
  }
  const bool runs = pod.status.phase == "Running";
  // Without readiness gates, a client that writes that a pod is not ready is believed, because
  // tests do that.
  if (runs && !pod.spec.readiness_gates.empty() && ConditionOf(pod, "ContainersReady") == "True" &&
      GatesAllow(pod) != IsReady(pod)) {
    return {.step = PodStep::kGate};
  }
  if (runs && pod.spec.restart_policy != "Never" && pod.spec.restart_policy != "OnFailure") {
    return {};
  }
  const base::MutexLock lock(mu_);
  Waiting& entry = waiting_[KeyOf(pod.metadata)];
  if (entry.uid != pod.metadata.uid) {
    entry = {.uid = pod.metadata.uid, .since = now};
  }
  const base::TimePoint due = entry.since + delay_;
  return due > now ? Next{.step = PodStep::kWait, .wait = due - now}
                   : Next{.step = runs ? PodStep::kSucceed : PodStep::kRun};
}

void PodLives::Forget(const apimachinery::ObjectKey& pod) {
  const base::MutexLock lock(mu_);
  waiting_.erase(pod);
}

std::size_t PodLives::waiting() const {
  const base::MutexLock lock(mu_);
  return waiting_.size();
}

}  // namespace kubexx::apiserver::controllers
