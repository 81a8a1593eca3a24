#include "kubexx/reloader/operator/awaited_templates.h"

#include <algorithm>
#include <optional>
#include <string>

#include "kubexx/reloader/model/annotations.h"
#include "kubexx/reloader/model/stamps.h"
#include "kubexx/reloader/plan/baseline.h"
#include "kubexx/reloader/plan/strategy.h"

namespace kubexx::reloader {
namespace {

/// Whether a baseline that the operator wrote says that the pods have other data of a source than
/// those for which the plan would roll. Then no event is needed to find that out.
bool IsRecordedOtherwise(const Workload& workload, const Plan& plan) {
  const auto baseline = HasOwnRecord(workload) ? OwnBaselineOf(workload) : std::nullopt;
  if (!baseline) {
    return false;
  }
  return std::ranges::any_of(plan.changes, [&](const Change& change) {
    return std::ranges::any_of(change.sources, [&](const auto& source) {
      const auto recorded = baseline->digests.find(source.first);
      return recorded != baseline->digests.end() && recorded->second != source.second;
    });
  });
}

/// The template of a CronJob says nothing about its Jobs, and the events of a Deployment's template
/// are not events of the Rollout that uses it.
bool TellsItsTemplate(const Workload& workload) {
  return workload.id.kind != WorkloadKind::kCronJob && !IsOfDeployment(workload);
}

}  // namespace

bool AwaitedTemplates::Await(const Workload& workload, const Workload& cached, const Plan& plan,
                             const WorkloadWrite& write) {
  const std::string& known = cached.template_version.digest;
  // A restart makes new pods, whatever the template says.
  const bool is_in_place = !write.restart_at && AttemptOf(workload, write).is_in_place;
  const bool begins = is_in_place && TellsItsTemplate(workload) && workload.uid == cached.uid &&
                      workload.template_version.digest != known &&
                      !IsRecordedOtherwise(workload, plan);
  const base::TimePoint now = clock_.Now();
  const base::MutexLock lock(mu_);
  auto found = entries_.find(workload.id);
  if (found != entries_.end() && now >= found->second.until + kPause) {
    entries_.erase(found);
    found = entries_.end();
  }
  if (found == entries_.end()) {
    if (begins) {
      entries_[workload.id] = {.token = write.token, .template_ = known, .until = now + kMost};
    }
    return begins;
  }
  Entry& entry = found->second;
  if (begins) {
    entry.token = write.token;
    entry.template_ = known;
  }
  return now < entry.until && entry.token == write.token && entry.template_ == known;
}

void AwaitedTemplates::Leave(base::FunctionRef<bool(const std::string& namespace_)> left) {
  const base::MutexLock lock(mu_);
  std::erase_if(entries_, [&](const auto& entry) { return left(entry.first.key.namespace_); });
}

void AwaitedTemplates::Forget(const WorkloadId& workload) {
  const base::MutexLock lock(mu_);
  entries_.erase(workload);
}

}  // namespace kubexx::reloader
