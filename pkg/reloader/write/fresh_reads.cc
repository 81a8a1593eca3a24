#include "kubexx/reloader/write/fresh_reads.h"

namespace kubexx::reloader {

bool FreshReads::AreWanted(const Workload& workload, ReloadStrategy strategy,
                           std::uint64_t tenure) const {
  switch (workload.id.kind) {
    case WorkloadKind::kCronJob:
    case WorkloadKind::kJob:
    case WorkloadKind::kRollout:  // by spec.restartAt
      break;
    default:
      if (strategy != ReloadStrategy::kAnnotations) {
        return false;
      }
  }
  if (!read_) {
    return false;
  }
  const base::MutexLock lock(mu_);
  const auto found = read_in_.find(workload.id);
  return found == read_in_.end() || found->second != tenure;
}

apimachinery::Result<std::optional<Workload>> FreshReads::Read(const WorkloadId& id,
                                                               std::uint64_t tenure,
                                                               const std::stop_token& stop) {
  KX_ASSIGN_OR_RETURN(std::optional<Workload> workload, read_(id, stop));
  if (workload) {
    const base::MutexLock lock(mu_);
    read_in_[id] = tenure;
  }
  return workload;
}

void FreshReads::Forget(const WorkloadId& id) {
  const base::MutexLock lock(mu_);
  read_in_.erase(id);
}

}  // namespace kubexx::reloader
