// Computes the numbers that an Arbiter reports for its policies, and says how single rollouts are.
#include <algorithm>
#include <utility>

#include "kubexx/reloadpolicy/arbiter.h"

namespace kubexx::reloadpolicy {
namespace {

void AddRollout(PolicyReport& report, const ObjectRef& workload, const Rollout& rollout,
                base::WallTime now) {
  if (rollout.CountsAsFailed(now)) {
    report.failed.emplace_back(workload, &rollout);
  } else {
    ++report.active;
  }
}

void AddPending(PolicyReport& report, const ObjectRef& workload, const Pending& pending) {
  report.pending.emplace_back(workload, &pending);
  auto& longest = report.longest_for_others;
  if (pending.for_others_since && (longest.second == nullptr ||
                                   *pending.for_others_since < *longest.second->for_others_since)) {
    longest = {workload, &pending};
  }
}

void Finish(PolicyReport& report, const Policy& policy, const FailedDataMap& failed) {
  for (const auto& each : failed) {
    if (policy.settings.waves && !each.second.is_past && policy.Governs(each.first)) {
      report.failed_waves.push_back(&each);
    }
  }
  std::ranges::sort(report.pending, {}, [](const auto& each) { return each.second->sequence; });
  const auto& limit = policy.settings.stop_after_failures;
  report.stopped = limit && report.failed.size() >= static_cast<std::size_t>(*limit);
}

}  // namespace

PolicyReport Arbiter::ReportFor(const Policy& policy, base::WallTime now) const {
  PolicyReport report;
  for (const auto& [workload, rollout] : rollouts_) {
    if (policy.Governs(workload) && !rollout.IsHealthy(now) && !rollout.IsLeft(now)) {
      AddRollout(report, workload, rollout, now);
    }
  }
  for (const auto& [workload, pending] : pending_) {
    if (pending.hold.policy == policy.id) {
      AddPending(report, workload, pending);
    }
  }
  Finish(report, policy, failed_data_);
  return report;
}

std::map<PolicyId, PolicyReport> Arbiter::Reports(base::WallTime now) const {
  std::map<PolicyId, PolicyReport> reports;
  for (const auto& [id, policy] : policies_.all()) {
    reports.try_emplace(reports.end(), id);
  }
  for (const auto& [workload, rollout] : rollouts_) {
    if (rollout.IsHealthy(now) || rollout.IsLeft(now)) {
      continue;
    }
    for (const Policy* policy : policies_.Governing(workload)) {
      AddRollout(reports.at(policy->id), workload, rollout, now);
    }
  }
  for (const auto& [workload, pending] : pending_) {
    if (!pending.hold.policy) {
      continue;
    }
    if (const auto of = reports.find(*pending.hold.policy); of != reports.end()) {
      AddPending(of->second, workload, pending);
    }
  }
  for (auto& [id, report] : reports) {
    Finish(report, *policies_.Find(id), failed_data_);
  }
  return reports;
}

bool Arbiter::IsActive(const ObjectRef& workload) const {
  const auto found = rollouts_.find(workload);
  return found != rollouts_.end() && found->second.phase != Phase::kPaused;
}

bool Arbiter::IsHeldUp(const Hold& hold) const {
  // One that is paused holds up later waves, and nobody by its order.
  return pending_.contains(*hold.waits_for) ||
         (hold.reason == HoldReason::kOrder ? IsActive(*hold.waits_for)
                                            : IsFollowed(*hold.waits_for));
}

bool Arbiter::IsUntold(const ObjectRef& workload) const {
  const auto found = rollouts_.find(workload);
  return found != rollouts_.end() && !found->second.observed;
}

std::optional<std::string> Arbiter::FailureOf(const ObjectRef& workload, base::WallTime now) const {
  const auto found = rollouts_.find(workload);
  return found != rollouts_.end() && found->second.HasFailed(now)
             ? std::optional(found->second.WhyFailed())
             : std::nullopt;
}

}  // namespace kubexx::reloadpolicy
