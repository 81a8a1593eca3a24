#include "kubexx/reloader/pair_memory.h"

namespace kubexx::reloader {

using Kind = PairState::Kind;

void PairMemory::RecordChange(const WorkloadId& workload, const SourceId& source,
                              const Digest& before) {
  const base::MutexLock lock(mu_);
  states_[workload].pairs.try_emplace(source, PairState{Kind::kObserved, before});
}

void PairMemory::MarkNew(const WorkloadId& workload) {
  const base::MutexLock lock(mu_);
  states_[workload].is_new = true;
}

Knowledge PairMemory::Get(const WorkloadId& workload) const {
  const base::MutexLock lock(mu_);
  const auto found = states_.find(workload);
  return found == states_.end() ? Knowledge{} : found->second;
}

void PairMemory::Apply(const WorkloadId& workload, const Plan& plan) {
  const base::MutexLock lock(mu_);
  const auto found = states_.try_emplace(workload).first;
  Knowledge& known = found->second;
  for (const auto& [source, state] : plan.learnt) {
    known.pairs[source] = state;
  }
  for (const SourceId& source : plan.dropped) {
    known.pairs.erase(source);
  }
  // What is to be written because the workload is new stays so until that has succeeded.
  known.is_new = known.is_new && !plan.changes.empty();
  if (known == Knowledge{}) {
    states_.erase(found);
  }
}

void PairMemory::BeginWrite(const WorkloadId& workload, const std::vector<Change>& changes) {
  const base::MutexLock lock(mu_);
  const auto found = states_.find(workload);
  if (found == states_.end()) {
    return;
  }
  PairStates& pairs = found->second.pairs;
  for (const Change& change : changes) {
    for (const auto& [source, digest] : change.sources) {
      const auto state = pairs.find(source);
      if (state != pairs.end() && state->second.kind == Kind::kConfirmed) {
        state->second.kind = Kind::kUncertain;
      }
    }
  }
}

void PairMemory::Confirm(const WorkloadId& workload, const std::vector<Change>& changes) {
  const base::MutexLock lock(mu_);
  Knowledge& known = states_[workload];
  known.is_new = false;
  for (const Change& change : changes) {
    for (const auto& [source, digest] : change.sources) {
      const auto keys = change.keys.find(source);
      known.pairs[source] = {Kind::kConfirmed, digest,
                             keys == change.keys.end() ? std::string() : keys->second};
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
  for (const auto& [workload, known] : states_) {
    pairs += known.pairs.size();
  }
  return pairs;
}

}  // namespace kubexx::reloader
