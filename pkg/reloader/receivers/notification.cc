#include "kubexx/reloader/receivers/notification.h"

#include <algorithm>
#include <string_view>

#include "kubexx/base/utf8.h"
#include "kubexx/reloader/model/object_refs.h"

namespace kubexx::reloader {
namespace {

Notification AboutWorkload(const WorkloadId& workload, Severity severity, std::string reason,
                           std::string_view text) {
  return {.severity = severity,
          .reason = std::move(reason),
          .namespace_ = workload.key.namespace_,
          .workload = RefOf(workload),
          .text = base::CutUtf8(text, Notification::kMaxText)};
}

}  // namespace

Notification NotificationOf(const WriteReport& report) {
  Notification notification =
      report.outcome ? AboutWorkload(report.workload, Severity::kInfo, kReloadedReason, "")
                     : AboutWorkload(report.workload, Severity::kError, kReloadFailReason,
                                     report.outcome.error().message);
  // A source may be the cause of changes of several containers.
  std::vector<SourceId> causes = report.causes;
  std::ranges::sort(causes);
  const auto rest = std::ranges::unique(causes);
  causes.erase(rest.begin(), rest.end());
  for (const SourceId& cause : causes) {
    if (notification.sources.size() == Notification::kMaxSources) {
      notification.more_sources = causes.size() - Notification::kMaxSources;
      break;
    }
    notification.sources.push_back(ObjectRefOf(cause));
  }
  notification.action = report.in_place;
  notification.job = report.job;
  notification.paused = report.paused && report.in_place.empty();
  return notification;
}

Notification NotificationOf(const WorkloadNotice& notice) {
  return AboutWorkload(notice.workload, Severity::kWarning, notice.reason, notice.message);
}

Notification NotificationOf(const RolloutTrouble& trouble) {
  Notification notification{.severity = trouble.is_bad ? Severity::kError : Severity::kWarning,
                            .reason = trouble.reason,
                            .is_in_place = trouble.is_in_place,
                            .text = base::CutUtf8(trouble.plain, Notification::kMaxText)};
  if (trouble.workload) {
    notification.workload = RefOf(*trouble.workload);
    notification.namespace_ = trouble.workload->key.namespace_;
  }
  if (trouble.policy) {
    notification.policies.push_back(*trouble.policy);
    notification.is_of_policy = true;
    if (!trouble.workload) {
      notification.namespace_ = trouble.policy->namespace_;
    }
  }
  return notification;
}

std::string PolicyRef(const reloadpolicy::PolicyId& policy) {
  return (policy.namespace_.empty() ? "ClusterReloadPolicy/" : "ReloadPolicy/") + policy.ToString();
}

std::string SubjectOf(const Notification& notification) {
  return notification.is_of_policy || !notification.workload
             ? notification.policies.empty() ? "" : PolicyRef(notification.policies.front())
             : notification.workload->ToString();
}

}  // namespace kubexx::reloader
