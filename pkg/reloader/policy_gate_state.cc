// What a PolicyGate tells of itself.
#include "kubexx/reloader/policy_gate.h"

namespace kubexx::reloader {

std::vector<PolicyState> PolicyGate::States() const {
  const base::WallTime now = options_.clock.Wall();
  std::vector<PolicyState> states;
  const base::MutexLock lock(mu_);
  for (const auto& [id, policy] : gate_.policies().all()) {
    const reloadpolicy::PolicyReport report = gate_.ReportFor(policy, now);
    PolicyState& state = states.emplace_back(PolicyState{.id = id,
                                                         .generation = policy.generation,
                                                         .problems = policy.problems,
                                                         .active = report.active,
                                                         .failed = report.failed,
                                                         .stopped = report.stopped,
                                                         .pending = report.pending.size()});
    for (const auto& [workload, pending] : report.pending) {
      if (state.listed.size() == kMaxListed) {
        break;
      }
      state.listed.push_back({workload, pending->hold, pending->since});
    }
  }
  return states;
}

PolicyGate::Totals PolicyGate::TotalsNow() const {
  const base::WallTime now = options_.clock.Wall();
  Totals totals;
  const base::MutexLock lock(mu_);
  for (const auto& [workload, pending] : gate_.pending()) {
    ++totals.held[pending.hold.reason];
  }
  const reloadpolicy::PolicyReport all = gate_.ReportFor(reloadpolicy::Policy(), now);
  totals.active = all.active;
  totals.failed = all.failed;
  for (const auto& [id, policy] : gate_.policies().all()) {
    ++totals.policies;
    totals.invalid += policy.problems.empty() ? 0 : 1;
    totals.stopped += gate_.ReportFor(policy, now).stopped ? 1 : 0;
  }
  return totals;
}

reloadpolicy::Gate PolicyGate::Snapshot() const {
  const base::MutexLock lock(mu_);
  return gate_;
}

}  // namespace kubexx::reloader
