#include "kubexx/reloader/write/fresh_reads.h"

#include "kubexx/reloader/permissions/denial.h"

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
  return read_ && !LastReadIn(workload.id, tenure);
}

apimachinery::Result<std::optional<Workload>> FreshReads::Read(const WorkloadId& id,
                                                               std::uint64_t tenure,
                                                               const std::stop_token& stop) {
  KX_ASSIGN_OR_RETURN(std::optional<Workload> workload, read_(id, stop));
  if (workload) {
    const base::MutexLock lock(mu_);
    reads_[id] = {.tenure = tenure, .version = VersionNumber(workload->resource_version)};
  }
  return workload;
}

bool FreshReads::IsCurrent(const Workload& cached, std::uint64_t tenure,
                           const std::stop_token& stop) {
  if (!read_) {
    return true;
  }
  auto last = LastReadIn(cached.id, tenure);
  if (!last) {
    const auto read = Read(cached.id, tenure, stop);
    if (!read && !IsDenied(read.error()) &&
        read.error().reason != apimachinery::Reason::kMalformed) {
      return false;  // it may be read soon
    }
    last = {.tenure = tenure,
            .version = read && *read ? VersionNumber((*read)->resource_version) : 0};
    const base::MutexLock lock(mu_);
    reads_[cached.id] = *last;  // also where the cache is all there is
  }
  return VersionNumber(cached.resource_version) >= last->version;
}

std::optional<FreshReads::LastRead> FreshReads::LastReadIn(const WorkloadId& id,
                                                           std::uint64_t tenure) const {
  const base::MutexLock lock(mu_);
  const auto found = reads_.find(id);
  return found == reads_.end() || found->second.tenure != tenure ? std::nullopt
                                                                 : std::optional(found->second);
}

void FreshReads::Forget(const WorkloadId& id) {
  const base::MutexLock lock(mu_);
  reads_.erase(id);
}

}  // namespace kubexx::reloader
