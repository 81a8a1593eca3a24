#include "kubexx/apiserver/controllers/job_status.h"

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

#include "kubexx/controller/conditions.h"

namespace kubexx::apiserver::controllers {
namespace {

using api::batch::v1::Job;
using api::batch::v1::JobCondition;
using api::batch::v1::JobStatus;
using apimachinery::Time;

constexpr const char* kSuccessTarget = "SuccessCriteriaMet";
constexpr const char* kFailureTarget = "FailureTarget";
constexpr const char* kJobComplete = "Complete";
constexpr const char* kJobFailed = "Failed";
constexpr const char* kJobSuspended = "Suspended";
constexpr std::int32_t kDefaultBackoffLimit = 6;
/// It is practically for ever, but it can still be added to a time.
constexpr std::chrono::seconds kLongestTime = std::chrono::years(10);

JobCondition MakeJobCondition(const char* type, const char* reason, const char* message,
                              const Time& now) {
  JobCondition condition;
  condition.type = type;
  condition.status = "True";
  condition.reason = reason;
  condition.message = message;
  condition.last_probe_time = now;
  condition.last_transition_time = now;
  return condition;
}

bool IsJobSuspended(const Job& job) { return job.spec.suspend.value_or(false); }

/// Containers that are restarted again and again in one pod count as failures, too.
bool HasFailedTooOften(const Job& job, const JobCounts& counts) {
  const std::int32_t limit = job.spec.backoff_limit.value_or(kDefaultBackoffLimit);
  if (counts.failed > limit) {
    return true;
  }
  return job.spec.template_.spec.restart_policy == "OnFailure" &&
         counts.restarts >= std::max(1, limit);
}

/// Returns how many of `allowed` seconds are left at `now` when they began at `from`. Users write
/// all of these, so they may have any value.
base::Duration SecondsLeft(std::int64_t allowed, const Time& from, const Time& now) {
  const auto bounded = [](std::int64_t seconds) {
    return std::clamp(std::chrono::seconds(seconds), -kLongestTime, kLongestTime);
  };
  return bounded(allowed) - bounded(now.seconds - from.seconds);
}

/// Sets the condition Suspended, and the time from which the deadline counts.
void SetSuspended(const Job& job, const Time& now, JobStatus& status) {
  const bool was = controller::IsConditionTrue(status.conditions, kJobSuspended);
  if (was == IsJobSuspended(job)) {
    return;
  }
  JobCondition condition =
      was ? MakeJobCondition(kJobSuspended, "JobResumed", "Job resumed", now)
          : MakeJobCondition(kJobSuspended, "JobSuspended", "Job suspended", now);
  condition.status = was ? "False" : "True";
  controller::SetCondition(status.conditions, std::move(condition), now);
  status.start_time = was ? std::optional<Time>(now) : std::nullopt;
}

}  // namespace

JobCounts CountJobPods(const std::vector<PodRef>& pods) {
  JobCounts counts;
  for (const PodRef& pod : pods) {
    counts.succeeded += pod->status.phase == "Succeeded" ? 1 : 0;
    counts.failed += pod->status.phase == "Failed" ? 1 : 0;
    counts.active += IsActive(*pod) ? 1 : 0;
    counts.ready += IsActive(*pod) && IsReady(*pod) ? 1 : 0;
    counts.terminating += IsTerminating(*pod) ? 1 : 0;
    if (IsActive(*pod) || IsTerminating(*pod)) {
      for (const auto* const list :
           {&pod->status.init_container_statuses, &pod->status.container_statuses}) {
        for (const auto& container : *list) {
          counts.restarts += container.restart_count;
        }
      }
    }
  }
  return counts;
}

bool IsJobFinished(const Job& job) {
  return controller::IsConditionTrue(job.status.conditions, kJobComplete) ||
         controller::IsConditionTrue(job.status.conditions, kJobFailed);
}

bool IsManagedElsewhere(const Job& job) {
  return job.spec.managed_by && *job.spec.managed_by != "kubernetes.io/job-controller";
}

std::optional<JobCondition> JobEndOf(const Job& job, const JobCounts& counts, const Time& now) {
  for (const char* const type : {kSuccessTarget, kFailureTarget}) {
    const auto* const found = controller::FindCondition(job.status.conditions, type);
    if (found != nullptr && found->status == "True") {
      return *found;
    }
  }
  if (HasFailedTooOften(job, counts)) {
    return MakeJobCondition(kFailureTarget, "BackoffLimitExceeded",
                            "Job has reached the specified backoff limit", now);
  }
  const auto left = JobTimeLeft(job, job.status, now);
  if (left && *left <= base::Duration(0)) {
    return MakeJobCondition(kFailureTarget, "DeadlineExceeded",
                            "Job was active longer than specified deadline", now);
  }
  return {};
}

std::optional<JobCondition> JobSuccessOf(const Job& job, const JobCounts& counts, const Time& now) {
  // Without a number of completions one success is enough, once all others have ended.
  const std::int32_t wanted = job.spec.completions.value_or(1);
  if (counts.succeeded < wanted || counts.active > 0) {
    return {};
  }
  return MakeJobCondition(kSuccessTarget, "CompletionsReached",
                          "Reached expected number of succeeded pods", now);
}

std::int32_t WantedActivePods(const Job& job, const JobCounts& counts, bool over) {
  if (over || IsJobSuspended(job)) {
    return 0;
  }
  std::int32_t wanted = job.spec.parallelism.value_or(1);
  if (job.spec.completions) {
    wanted = std::max(0, std::min(wanted, *job.spec.completions - counts.succeeded));
  } else if (counts.succeeded > 0) {
    wanted = counts.active;
  }
  // Nobody knows that a pod has failed until it has really ended.
  const bool waits = job.spec.pod_replacement_policy == "Failed";
  return waits ? std::max(std::min(wanted, counts.active), wanted - counts.terminating) : wanted;
}

JobStatus NextJobStatus(const Job& job, const JobCounts& counts,
                        const std::optional<JobCondition>& end, const Time& now) {
  JobStatus status = job.status;
  status.active = counts.active;
  status.ready = counts.ready;
  status.terminating = counts.terminating;
  status.succeeded = counts.succeeded;
  status.failed = counts.failed;
  if (!status.start_time && !IsJobSuspended(job)) {
    status.start_time = now;
  }
  if (!end) {
    SetSuspended(job, now, status);
    return status;
  }
  controller::SetCondition(status.conditions, *end, now);
  if (end->type ==
      kFailureTarget) {  // Pods that were ended for that have failed, too, even if they are gone.
    status.failed = std::max(job.status.failed, counts.failed + counts.terminating);
  }
  if (counts.active == 0 && counts.terminating == 0) {
    const bool complete = end->type == kSuccessTarget;
    controller::SetCondition(status.conditions,
                             MakeJobCondition(complete ? kJobComplete : kJobFailed,
                                              end->reason.c_str(), end->message.c_str(), now),
                             now);
    if (complete) {
      status.completion_time = now;
    }
  }
  return status;
}

std::optional<base::Duration> JobTimeLeft(const Job& job, const JobStatus& status,
                                          const Time& now) {
  if (!job.spec.active_deadline_seconds || !status.start_time || IsJobSuspended(job)) {
    return {};
  }
  return SecondsLeft(*job.spec.active_deadline_seconds, *status.start_time, now);
}

std::optional<base::Duration> JobTimeToLive(const Job& job, const Time& now) {
  if (!job.spec.ttl_seconds_after_finished) {
    return {};
  }
  for (const JobCondition& condition : job.status.conditions) {
    if ((condition.type == kJobComplete || condition.type == kJobFailed) &&
        condition.status == "True") {
      return SecondsLeft(*job.spec.ttl_seconds_after_finished, condition.last_transition_time, now);
    }
  }
  return {};
}

}  // namespace kubexx::apiserver::controllers
