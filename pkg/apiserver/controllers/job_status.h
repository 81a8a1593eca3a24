/// @file
/// Decides when a Job is over, and computes its status. No I/O. Semantics:
/// kube-controller-manager's job and ttl-after-finished controllers, without indexes and policies.
#ifndef KUBEXX_APISERVER_CONTROLLERS_JOB_STATUS_H_
#define KUBEXX_APISERVER_CONTROLLERS_JOB_STATUS_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "kubexx/api/batch/v1/types.gen.h"
#include "kubexx/apimachinery/time.h"
#include "kubexx/apiserver/controllers/pods.h"
#include "kubexx/base/clock.h"

namespace kubexx::apiserver::controllers {

/// How many pods of a Job are in which state.
struct JobCounts {
  std::int32_t active = 0;       ///< neither ended nor being deleted
  std::int32_t ready = 0;        ///< of the active ones
  std::int32_t terminating = 0;  ///< being deleted, and not ended
  std::int32_t succeeded = 0;
  std::int32_t failed = 0;
  std::int64_t restarts = 0;  ///< of the containers of pods that have not ended
  bool operator==(const JobCounts&) const = default;
};
JobCounts CountJobPods(const std::vector<PodRef>& pods);

/// Whether the Job has the condition Complete or Failed.
bool IsJobFinished(const api::batch::v1::Job& job);

/// Whether another controller runs the Job (spec.managedBy).
bool IsManagedElsewhere(const api::batch::v1::Job& job);

/// Why the Job is to end: its condition SuccessCriteriaMet or FailureTarget or, when it has neither
/// yet, the condition FailureTarget of a Job whose pods have failed too often (backoffLimit) or
/// that was active for too long (activeDeadlineSeconds). None while it goes on.
std::optional<api::batch::v1::JobCondition> JobEndOf(const api::batch::v1::Job& job,
                                                     const JobCounts& counts,
                                                     const apimachinery::Time& now);

/// The condition SuccessCriteriaMet of a Job of which enough pods have succeeded and none is
/// active; none of another.
std::optional<api::batch::v1::JobCondition> JobSuccessOf(const api::batch::v1::Job& job,
                                                         const JobCounts& counts,
                                                         const apimachinery::Time& now);

/// How many pods of the Job are to be active. `over` is true for a Job that is to end.
std::int32_t WantedActivePods(const api::batch::v1::Job& job, const JobCounts& counts, bool over);

/// The status that follows `job.status`. A Job with an `end` is Complete or Failed once no pod is
/// active or terminating. A Job without one gets the condition Suspended when it is suspended, and
/// starts anew when it is resumed.
api::batch::v1::JobStatus NextJobStatus(const api::batch::v1::Job& job, const JobCounts& counts,
                                        const std::optional<api::batch::v1::JobCondition>& end,
                                        const apimachinery::Time& now);

/// How long the Job with the status `status` may still be active; none without a deadline.
std::optional<base::Duration> JobTimeLeft(const api::batch::v1::Job& job,
                                          const api::batch::v1::JobStatus& status,
                                          const apimachinery::Time& now);

/// After how long a finished Job is to be deleted (ttlSecondsAfterFinished), 0 or less when it is
/// due; none when it stays.
std::optional<base::Duration> JobTimeToLive(const api::batch::v1::Job& job,
                                            const apimachinery::Time& now);

}  // namespace kubexx::apiserver::controllers

#endif  // KUBEXX_APISERVER_CONTROLLERS_JOB_STATUS_H_
