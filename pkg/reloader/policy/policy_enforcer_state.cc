// Reports the state of a PolicyEnforcer.
#include <algorithm>

#include "kubexx/reloader/model/object_refs.h"
#include "kubexx/reloader/policy/policy_enforcer.h"

namespace kubexx::reloader {

std::vector<PolicyState> PolicyEnforcer::States() const {
  const base::WallTime now = options_.clock.Wall();
  std::vector<PolicyState> states;
  const base::MutexLock lock(mu_);
  for (const auto& [id, report] : arbiter_.Reports(now)) {
    const reloadpolicy::Policy& policy = *arbiter_.policies().Find(id);
    PolicyState& state = states.emplace_back(PolicyState{
        .id = id,
        .generation = policy.generation,
        .problems = policy.problems,
        .overruled = arbiter_.policies().Overruled(policy),
        .active = report.active,
        .failed = static_cast<int>(report.failed.size()),
        .stopped = report.stopped,
        .pending = report.pending.size(),
        .has_waves = policy.settings.waves.has_value(),
        .failed_waves = report.failed_waves.size(),
        .restores = policy.settings.waves.has_value() && policy.settings.waves->Restores(),
        .may_restore = options_.consider != nullptr});
    state.restore = LastRestoreOf(id);
    for (const auto& [source, unsettled] : unsettled_) {
      if (unsettled.first == id && policy.settings.waves && policy.settings.waves->Restores()) {
        state.no_snapshot = RefOf(source).ToString() + " can be taken: " + unsettled.second;
        break;
      }
    }
    for (const auto& [workload, pending] : report.pending) {
      if (state.listed.size() == kMaxListed) {
        break;
      }
      state.listed.push_back({workload, pending->hold, pending->since});
    }
    if (const auto& [workload, pending] = report.longest_for_others; pending != nullptr) {
      state.longest_for_others = {workload, pending->hold, *pending->for_others_since};
    }
    for (const auto& [workload, rollout] : report.failed) {
      if (state.failures.size() == kMaxFailedListed) {
        break;
      }
      state.failures.push_back({workload, rollout->uid, rollout->started});
    }
    std::size_t versions = 0;
    for (const auto* each : report.failed_waves) {
      const auto& [workload, failed] = *each;
      versions += failed.versions.size();
      if (state.failed_in_waves.size() == kMaxListed ||
          (!state.failed_in_waves.empty() && versions > kMaxVersionsListed)) {
        break;
      }
      state.failed_in_waves.push_back({workload, failed.uid, failed.versions, failed.since});
    }
  }
  return states;
}

std::optional<RestoreReport> PolicyEnforcer::LastRestoreOf(
    const reloadpolicy::PolicyId& policy) const {
  const auto is_restored = [](const RestoreReport& report) {
    return report.outcome == RestoreReport::Outcome::kRestored;
  };
  std::optional<RestoreReport> last;
  std::size_t likewise = 0;  // so many others were restored at the same time
  for (const auto& [source, restore] : restores_) {
    if (restore.policy != policy) {
      continue;
    }
    if (!last || (is_restored(*last) && (!is_restored(restore) || last->at < restore.at))) {
      last = restore;
      likewise = 0;
    } else if (is_restored(*last) && last->at == restore.at) {
      ++likewise;
    }
  }
  if (likewise > 0) {
    last->message += ", and so were those of " + std::to_string(likewise) +
                     (likewise == 1 ? " more source" : " more sources");
  }
  return last;
}

PolicyEnforcer::Totals PolicyEnforcer::TotalsNow() const {
  const base::WallTime now = options_.clock.Wall();
  Totals totals;
  const base::MutexLock lock(mu_);
  for (const auto& [workload, pending] : arbiter_.pending()) {
    ++totals.held[pending.hold.reason];
  }
  const reloadpolicy::PolicyReport all = arbiter_.ReportFor(reloadpolicy::Policy(), now);
  totals.active = all.active;
  totals.failed = static_cast<int>(all.failed.size());
  totals.failed_waves = static_cast<int>(std::ranges::count_if(
      arbiter_.failed_data(), [](const auto& each) { return !each.second.is_past; }));
  for (const auto& [id, report] : arbiter_.Reports(now)) {
    ++totals.policies;
    totals.invalid += arbiter_.policies().Find(id)->problems.empty() ? 0 : 1;
    totals.stopped += report.stopped ? 1 : 0;
  }
  return totals;
}

std::vector<reloadpolicy::PolicyId> PolicyEnforcer::Governing(
    const reloadpolicy::ObjectRef& workload) const {
  std::vector<reloadpolicy::PolicyId> ids;
  const base::MutexLock lock(mu_);
  for (const reloadpolicy::Policy* policy : arbiter_.policies().Governing(workload)) {
    ids.push_back(policy->id);
  }
  return ids;
}

reloadpolicy::Arbiter PolicyEnforcer::Snapshot() const {
  const base::MutexLock lock(mu_);
  return arbiter_;
}

}  // namespace kubexx::reloader
