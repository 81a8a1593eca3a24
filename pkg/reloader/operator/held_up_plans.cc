#include "kubexx/reloader/operator/held_up_plans.h"

namespace kubexx::reloader {

bool HeldUpPlans::Note(const WorkloadId& workload) {
  const base::TimePoint until = clock_.Now() + kMost;
  const base::MutexLock lock(mu_);
  return until_.try_emplace(workload, until).second;
}

bool HeldUpPlans::IsPatient(const WorkloadId& workload) const {
  const base::TimePoint now = clock_.Now();
  const base::MutexLock lock(mu_);
  const auto found = until_.find(workload);
  return found == until_.end() || now < found->second;
}

void HeldUpPlans::Forget(const WorkloadId& workload) {
  const base::MutexLock lock(mu_);
  until_.erase(workload);
}

void HeldUpPlans::Leave(base::FunctionRef<bool(const std::string& namespace_)> left) {
  const base::MutexLock lock(mu_);
  std::erase_if(until_, [&](const auto& each) { return left(each.first.key.namespace_); });
}

}  // namespace kubexx::reloader
