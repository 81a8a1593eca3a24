#include "kubexx/reloader/notify/failing_writes.h"

#include <chrono>
#include <cstddef>

#include "kubexx/reloader/permissions/denial.h"

namespace kubexx::reloader {
namespace {

constexpr base::Duration kFailsForGood = std::chrono::seconds(30);
constexpr std::size_t kMaxFailing = 10'000;

}  // namespace

bool FailingWrites::IsNews(const WriteReport& report) {
  const base::TimePoint now = clock_.Now();
  const base::MutexLock lock(mu_);
  if (report.outcome) {
    failing_.erase(report.workload);
    return false;
  }
  if (failing_.size() >= kMaxFailing && !failing_.contains(report.workload)) {
    failing_.clear();
  }
  Failing& failing = failing_.try_emplace(report.workload, Failing{.since = now}).first->second;
  if (failing.is_told ||
      (!IsDenied(report.outcome.error()) && now - failing.since < kFailsForGood)) {
    return false;
  }
  failing.is_told = true;
  return true;
}

}  // namespace kubexx::reloader
