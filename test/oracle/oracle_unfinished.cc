// What an Oracle tells who plays the controllers of workloads.
#include <algorithm>
#include <stop_token>
#include <vector>

#include "kubexx/base/clock.h"
#include "kubexx/base/mutex.h"
#include "oracle/oracle.h"
#include "oracle/pod_template.h"

namespace kubexx::oracle {
namespace {

/// Whether somebody has to write its status again.
bool IsUnfinished(const ObservedWorkload& workload) {
  return workload.observed < workload.generation || workload.is_crashing;
}

}  // namespace

std::vector<Oracle::Unfinished> Oracle::UnfinishedWorkloads() {
  const base::MutexLock lock(mu_);
  std::vector<Unfinished> unfinished;
  for (const auto& [key, workload] : workloads_) {
    if (IsUnfinished(workload)) {
      const std::size_t begin = key.find('/') + 1;
      const std::size_t end = key.find('/', begin);
      unfinished.push_back(
          {.plural = key.substr(0, begin - 1),
           .space = key.substr(begin, end - begin),
           .name = key.substr(end + 1),
           .generation = workload.generation - workload.base_generation,
           .base_generation = workload.base_generation,
           .replicas = workload.replicas,
           .crashes = std::ranges::any_of(
               workload.read, [](const auto& each) { return each.second && IsBad(*each.second); }),
           .is_crashing = workload.observed >= workload.generation});
    }
  }
  return unfinished;
}

bool Oracle::AwaitUnfinished(const std::stop_token& stop) {
  const base::MutexLock lock(mu_);
  while (std::ranges::none_of(workloads_,
                              [](const auto& each) { return IsUnfinished(each.second); })) {
    if (base::Clock::Real().WaitUntil(mu_, changed_, stop, base::TimePoint::max()) ==
        base::Wake::kStopped) {
      return false;
    }
  }
  return true;
}

}  // namespace kubexx::oracle
