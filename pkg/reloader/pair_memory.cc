#include "kubexx/reloader/pair_memory.h"

namespace kubexx::reloader {

using Kind = PairState::Kind;

void PairMemory::RecordChange(const WorkloadId& workload, const SourceId& source,
                              const Digest& before) {
  const base::MutexLock lock(mu_);
  states_[workload].try_emplace(source, PairState{Kind::kObserved, before});
}

PairStates PairMemory::Get(const WorkloadId& workload) const {
  const base::MutexLock lock(mu_);
  const auto found = states_.find(workload);
  return found == states_.end() ? PairStates{} : found->second;
}

void PairMemory::Apply(const WorkloadId& workload, const Plan& plan) {
  if (plan.confirmed.empty() && plan.dropped.empty()) {
    return;
  }
  const base::MutexLock lock(mu_);
  PairStates& states = states_[workload];
  for (const auto& [source, digest] : plan.confirmed) {
    states[source] = {Kind::kConfirmed, digest};
  }
  for (const SourceId& source : plan.dropped) {
    states.erase(source);
  }
  if (states.empty()) {
    states_.erase(workload);
  }
}

void PairMemory::BeginWrite(const WorkloadId& workload, const std::vector<Change>& changes) {
  const base::MutexLock lock(mu_);
  const auto found = states_.find(workload);
  if (found == states_.end()) {
    return;
  }
  for (const Change& change : changes) {
    for (const auto& [source, digest] : change.sources) {
      const auto state = found->second.find(source);
      if (state != found->second.end() && state->second.kind == Kind::kConfirmed) {
        state->second.kind = Kind::kUncertain;
      }
    }
  }
}

void PairMemory::Confirm(const WorkloadId& workload, const std::vector<Change>& changes) {
  const base::MutexLock lock(mu_);
  PairStates& states = states_[workload];
  for (const Change& change : changes) {
    for (const auto& [source, digest] : change.sources) {
      states[source] = {Kind::kConfirmed, digest};
    }
  }
}

void PairMemory::Forget(const WorkloadId& workload) {
  const base::MutexLock lock(mu_);
  states_.erase(workload);
}

std::size_t PairMemory::size() const {
  const base::MutexLock lock(mu_);
  std::size_t pairs = 0;
  for (const auto& [workload, states] : states_) {
    pairs += states.size();
  }
  return pairs;
}

}  // namespace kubexx::reloader
