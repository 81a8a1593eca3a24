// Counts the places that are taken, and wakes workloads when a place is free.
#include <algorithm>
#include <utility>

#include "kubexx/reloadpolicy/arbiter.h"

namespace kubexx::reloadpolicy {

Arbiter::Place Arbiter::PlaceOf(const Rollout& rollout, base::WallTime now) {
  if (rollout.IsHealthyForOthers(now) || rollout.HasFailedForOthers(now) || rollout.IsLeft(now) ||
      rollout.IsUntold(now) || rollout.phase == Phase::kPaused) {
    return Place::kNone;  // a failed rollout has no place
  }
  return rollout.phase == Phase::kUpdating || rollout.phase == Phase::kWaiting ? Place::kUpdating
                                                                               : Place::kUnhealthy;
}

Arbiter::Place Arbiter::PlaceOf(const ObjectRef& workload, base::WallTime now) const {
  const auto own = rollouts_.find(workload);
  const Place place = own == rollouts_.end() ? Place::kNone : PlaceOf(own->second, now);
  return woken_.contains(workload) ? Place::kUpdating : place;
}

Arbiter::Loads::Loads() = default;

void Arbiter::Loads::Add(const ObjectRef& workload, Place place) {
  if (place == Place::kNone) {
    return;
  }
  for (Taken* taken : {&cluster, &namespaces[workload.key.namespace_]}) {
    ++(place == Place::kUpdating ? taken->updating : taken->unhealthy);
  }
  if (place == Place::kUnhealthy) {
    another_unhealthy = std::exchange(unhealthy, &workload);
  }
}

const Arbiter::Loads& Arbiter::LoadsIn(Scan& scan) const {
  if (!scan.loads) {
    scan.loads.emplace();
    for (const auto& [workload, rollout] : rollouts_) {
      scan.loads->Add(workload, PlaceOf(workload, scan.now));
    }
    for (const ObjectRef& workload : woken_) {
      if (!rollouts_.contains(workload)) {
        scan.loads->Add(workload, Place::kUpdating);
      }
    }
  }
  return *scan.loads;
}

Arbiter::Load Arbiter::LoadFor(const ObjectRef& workload, bool healthy_only, Scan& scan) const {
  const Loads& loads = LoadsIn(scan);
  // The workload's next rollout takes the place of its last one.
  const Place place = PlaceOf(workload, scan.now);
  const auto count = [&](const Loads::Taken& taken) {
    return taken.updating - (place == Place::kUpdating ? 1 : 0) +
           (healthy_only ? taken.unhealthy - (place == Place::kUnhealthy ? 1 : 0) : 0);
  };
  Load load{.in_cluster = count(loads.cluster)};
  if (const auto found = loads.namespaces.find(workload.key.namespace_);
      found != loads.namespaces.end()) {
    load.in_namespace = count(found->second);
  }
  if (healthy_only && loads.unhealthy != nullptr) {
    load.unhealthy = *loads.unhealthy == workload ? loads.another_unhealthy : loads.unhealthy;
  }
  return load;
}

Arbiter::Reached Arbiter::ReachedLimit(const ObjectRef& workload, const Effective& effective,
                                       Scan& scan) const {
  const bool healthy = effective.health_gate && effective.health_gate->value;
  const auto& in_namespace = effective.max_in_namespace;
  const auto& in_cluster = effective.max_in_cluster;
  const bool by_health_gate_alone = healthy && !in_namespace && !in_cluster;
  if (!by_health_gate_alone && !in_namespace && !in_cluster) {
    return {};
  }
  const Load load = LoadFor(workload, healthy, scan);
  using Limit = Reached::Limit;
  if (by_health_gate_alone && load.in_namespace >= 1) {
    return {Limit::kHealthGateAlone, load.unhealthy};
  }
  if (in_namespace && load.in_namespace >= in_namespace->value) {
    return {Limit::kInNamespace, load.unhealthy};
  }
  if (in_cluster && load.in_cluster >= in_cluster->value) {
    return {Limit::kInCluster, load.unhealthy};
  }
  return {};
}

std::optional<Arbiter::Full> Arbiter::FullLimit(const ObjectRef& workload,
                                                const Effective& effective, Scan& scan) const {
  const Reached reached = ReachedLimit(workload, effective, scan);
  switch (reached.limit) {
    case Reached::Limit::kNone:
      break;
    case Reached::Limit::kHealthGateAlone:
      return Full{{1, effective.health_gate->origin, effective.health_gate->policy},
                  "in the namespace",
                  reached.unhealthy};
    case Reached::Limit::kInNamespace:
      return Full{*effective.max_in_namespace, "in the namespace", reached.unhealthy};
    case Reached::Limit::kInCluster:
      return Full{*effective.max_in_cluster, "in the cluster", reached.unhealthy};
  }
  return std::nullopt;
}

const std::vector<ObjectRef>& Arbiter::FailuresUnder(const std::optional<PolicyId>& policy,
                                                     Scan& scan) const {
  const auto [at, is_new] = scan.failures.try_emplace(policy);
  if (is_new) {
    const Policy* governing = policy ? policies_.Find(*policy) : nullptr;
    for (const auto& [workload, rollout] : rollouts_) {
      if (rollout.MayCountAsFailed(scan.now) &&
          (governing == nullptr || governing->Governs(workload))) {
        at->second.push_back(workload);
      }
    }
  }
  return at->second;
}

const Setting<int>* Arbiter::ReachedStop(const ObjectRef& workload, const Effective& effective,
                                         Scan& scan) const {
  if (effective.stop_after_failures.empty()) {
    return nullptr;
  }
  if (const auto own = rollouts_.find(workload);
      own != rollouts_.end() && own->second.MayHaveFailed(scan.now)) {
    return nullptr;  // the change may be the one that repairs it
  }
  for (const Setting<int>& limit : effective.stop_after_failures) {
    if (FailuresUnder(limit.policy, scan).size() >= static_cast<std::size_t>(limit.value)) {
      return &limit;
    }
  }
  return nullptr;
}

bool Arbiter::MayGoOn(const ObjectRef& workload, const Pending& pending, Scan& scan) const {
  const Hold& hold = pending.hold;
  switch (hold.reason) {
    case HoldReason::kLimit:
    case HoldReason::kUnhealthy:
      return ReachedLimit(workload, pending.effective, scan).limit == Reached::Limit::kNone;
    case HoldReason::kStopped:
      return ReachedStop(workload, pending.effective, scan) == nullptr;
    // Others may wait long for one that is neither followed nor waits, such as one that cannot be
    // written: they do not ask at each event of all other workloads.
    case HoldReason::kOrder:
    case HoldReason::kWave:
      return scan.moved.contains(*hold.waits_for) && !IsHeldUp(hold);
    default:
      return false;  // it ends at a certain time, or with a change of a policy or an annotation
  }
}

bool Arbiter::HasBeenStopped(const ObjectRef& workload, const Pending& pending, Scan& scan) const {
  const HoldReason reason = pending.hold.reason;
  return (reason == HoldReason::kLimit || reason == HoldReason::kUnhealthy) &&
         ReachedStop(workload, pending.effective, scan) != nullptr;
}

void Arbiter::WakeGoverned(const Policy& policy) {
  for (const auto& [workload, pending] : pending_) {
    if (policy.Governs(workload) || pending.hold.policy == policy.id) {
      changed_.insert(workload);
    }
  }
}

void Arbiter::WakeThoseAfter(const ObjectRef& workload) {
  if (const auto found = waiting_for_.find(workload); found != waiting_for_.end()) {
    changed_.insert(found->second.begin(), found->second.end());
  }
}

void Arbiter::NoteMoved(const ObjectRef& workload) {
  if (waiting_for_.contains(workload)) {
    moved_.insert(workload);
    wake_some_ = true;
  }
}

void Arbiter::KeepNoPlaces() {
  wake_some_ = wake_some_ || !woken_.empty();
  woken_.clear();
  asked_anew_.clear();
}

std::vector<ObjectRef> Arbiter::TakeWakes(base::WallTime now) {
  const std::set<ObjectRef> changed = std::exchange(changed_, {});
  const bool some_places = std::exchange(wake_some_, false);
  std::vector<ObjectRef> result;
  if (changed.empty() && !some_places) {
    return result;
  }
  // One scan counts the loads for all workloads. A workload that may not start now may not start
  // either after others have been given places, so only a few are put into the queue.
  Scan scan{.now = now, .moved = std::exchange(moved_, {})};
  struct Candidate {
    std::uint64_t sequence = 0;
    const ObjectRef* workload = nullptr;
    const Pending* pending = nullptr;
    bool is_anew = false;  ///< its settings may be others now, or a stop has been reached
  };
  std::vector<Candidate> line;
  for (const auto& [workload, pending] : pending_) {
    if (woken_.contains(workload)) {
      continue;
    }
    const bool is_changed = changed.contains(workload);
    if (some_places && !is_changed && HasBeenStopped(workload, pending, scan)) {
      if (asked_anew_.insert(workload).second) {
        line.push_back({pending.sequence, &workload, &pending, true});
      }
    } else if (is_changed || (some_places && MayGoOn(workload, pending, scan))) {
      line.push_back({pending.sequence, &workload, &pending, is_changed});
    }
  }
  std::ranges::sort(line, {}, &Candidate::sequence);
  for (const Candidate& next : line) {
    if (next.is_anew) {
      result.push_back(*next.workload);
    } else if (MayGoOn(*next.workload, *next.pending, scan)) {
      const HoldReason reason = next.pending->hold.reason;
      if (reason == HoldReason::kLimit || reason == HoldReason::kUnhealthy) {
        // Keeps the place, so that one workload is woken for each free place.
        (void)LoadsIn(scan);  // computes the loads without it
        const bool takes_another = PlaceOf(*next.workload, now) == Place::kNone;
        woken_.insert(*next.workload);
        if (takes_another) {
          scan.loads->Add(*next.workload, Place::kUpdating);
        }
      }
      result.push_back(*next.workload);
    }
  }
  return result;
}

}  // namespace kubexx::reloadpolicy
