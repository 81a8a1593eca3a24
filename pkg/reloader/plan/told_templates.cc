#include "kubexx/reloader/plan/told_templates.h"

#include <functional>
#include <string>

namespace kubexx::reloader {
namespace {

std::size_t HashOfId(const WorkloadId& workload) {
  return std::hash<apimachinery::ObjectKey>()(workload.key) * 31 +
         static_cast<std::size_t>(workload.kind);
}

std::size_t HashOfVersion(const TemplateVersion& version) {
  return version.digest.empty()
             ? 0
             : std::hash<std::string>()(version.digest + std::to_string(version.generation));
}

}  // namespace

void ToldTemplates::Told(const WorkloadId& workload, const TemplateVersion& version) {
  const std::size_t told = HashOfVersion(version);
  const base::MutexLock lock(mu_);
  entries_[HashOfId(workload)] = {.told = told};
}

ToldTemplates::Telling ToldTemplates::LookFor(const WorkloadId& workload,
                                              const TemplateVersion& version) {
  const std::size_t wanted = HashOfVersion(version);
  if (wanted == 0) {
    return Telling::kTold;
  }
  const base::MutexLock lock(mu_);
  Entry& entry = entries_[HashOfId(workload)];
  if (entry.told == wanted) {
    entry.looks = 0;
    return Telling::kTold;
  }
  if (++entry.looks <= kMostLooks) {
    return Telling::kOnTheWay;
  }
  entry = {.told = wanted};
  return Telling::kLost;
}

void ToldTemplates::Forget(const WorkloadId& workload) {
  const base::MutexLock lock(mu_);
  entries_.erase(HashOfId(workload));
}

}  // namespace kubexx::reloader
