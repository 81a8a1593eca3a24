// Job: pods until enough have succeeded or too many have failed. Indexes, policies and deadlines do
// not count.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "kubexx/api/batch/v1/resources.gen.h"
#include "kubexx/api/batch/v1/types.gen.h"
#include "kubexx/apiserver/controllers/expected_errors.h"
#include "kubexx/apiserver/controllers/pods.h"
#include "kubexx/apiserver/controllers/refusals.h"
#include "kubexx/apiserver/controllers/setup.h"
#include "kubexx/controller/builder.h"
#include "kubexx/controller/conditions.h"
#include "kubexx/controller/owned_objects.h"

namespace kubexx::apiserver::controllers {
namespace {

using api::batch::v1::Job;
using api::batch::v1::JobCondition;
using api::batch::v1::JobStatus;
using apimachinery::Result;
using controller::Action;
using controller::OwnedObjects;

bool IsFinished(const Job& job) {
  return controller::IsConditionTrue(job.status.conditions, "Complete") ||
         controller::IsConditionTrue(job.status.conditions, "Failed");
}

/// The condition that says what will be, and the one that says that it is.
void Finish(JobStatus& status, bool complete, const apimachinery::Time& now) {
  JobCondition condition;
  condition.type = complete ? "SuccessCriteriaMet" : "FailureTarget";
  condition.status = "True";
  condition.reason = complete ? "CompletionsReached" : "BackoffLimitExceeded";
  condition.last_probe_time = now;
  controller::SetCondition(status.conditions, condition, now);
  condition.type = complete ? "Complete" : "Failed";
  controller::SetCondition(status.conditions, std::move(condition), now);
}

class JobReconciler final : public controller::Reconciler {
 public:
  explicit JobReconciler(const Setup& setup)
      : pods_(setup.manager), refusals_(setup, "job-controller") {}

  Result<Action> Reconcile(const controller::Request& request,
                           controller::Context& context) override {
    const auto found = context.client.Get<Job>(request.object);
    if (!found) {
      return controller::IgnoreNotFound(found.error());
    }
    const Job& job = **found;
    if (controller::IsBeingDeleted(job) || IsFinished(job)) {
      return Action::Done();
    }
    KX_ASSIGN_OR_RETURN(std::vector<PodRef> pods, pods_.Of(job.metadata));
    deletions_.Filter(job.metadata.uid, pods);
    JobStatus status = Counted(job, pods, apimachinery::Time::From(context.clock.Wall()));
    const bool goes_on = status.conditions.size() == job.status.conditions.size();
    const Result<void> scaled = goes_on ? Scale(context, job, pods, status) : Result<void>();
    return AfterReport(scaled, ReportStatus(context, job, std::move(status)));
  }

 private:
  static JobStatus Counted(const Job& job, const std::vector<PodRef>& pods,
                           const apimachinery::Time& now) {
    JobStatus status = job.status;
    status.active = status.succeeded = status.failed = 0;
    status.ready = 0;
    status.terminating = 0;
    for (const PodRef& pod : pods) {
      status.succeeded += pod->status.phase == "Succeeded" ? 1 : 0;
      status.failed += pod->status.phase == "Failed" ? 1 : 0;
      status.active += IsActive(*pod) ? 1 : 0;
      *status.ready += IsActive(*pod) && IsReady(*pod) ? 1 : 0;
    }
    if (!status.start_time && !job.spec.suspend.value_or(false)) {
      status.start_time = now;
    }
    // Without a number of completions one success is enough, once all others have ended.
    const bool enough = job.spec.completions ? status.succeeded >= *job.spec.completions
                                             : status.succeeded > 0 && status.active == 0;
    if (enough) {
      Finish(status, true, now);
      status.completion_time = now;
    } else if (status.failed > job.spec.backoff_limit.value_or(6)) {
      Finish(status, false, now);
    }
    return status;
  }

  static Result<Action> ReportStatus(const controller::Context& context, const Job& job,
                                     JobStatus status) {
    if (status != job.status) {
      Job changed = job;
      changed.status = std::move(status);
      KX_RETURN_IF_ERROR(context.client.UpdateStatus(changed));
    }
    return Action::Done();
  }

  /// Makes and deletes pods, and counts them in `status.active`.
  Result<void> Scale(const controller::Context& context, const Job& job, std::vector<PodRef>& pods,
                     JobStatus& status) {
    std::int32_t wanted = job.spec.parallelism.value_or(1);
    if (job.spec.completions) {
      wanted = std::min(wanted, *job.spec.completions - status.succeeded);
    } else if (status.succeeded > 0) {
      wanted = status.active;
    }
    if (job.spec.suspend.value_or(false)) {
      wanted = 0;
    }
    // The events of those that are made bring the next turn; meanwhile other Jobs have theirs.
    const std::int64_t most = std::int64_t{status.active} + kMostPodsAtOnce;
    for (; status.active < std::min<std::int64_t>(wanted, most); ++status.active) {
      Pod pod = PodOf(job.spec.template_, job.metadata.namespace_);
      pod.metadata.generate_name = job.metadata.name + "-";
      for (const char* const prefix : {"", "batch.kubernetes.io/"}) {
        pod.metadata.labels[prefix + std::string("job-name")] = job.metadata.name;
        pod.metadata.labels[prefix + std::string("controller-uid")] = job.metadata.uid;
      }
      KX_RETURN_IF_ERROR(controller::SetControllerReference(job, pod));
      KX_RETURN_IF_ERROR(refusals_.OfCreate(context, job, context.client.Create(pod)));
    }
    std::erase_if(pods, [](const PodRef& pod) { return !IsActive(*pod); });
    SortForDeletion(pods);
    for (auto pod = pods.begin(); status.active > wanted; ++pod, --status.active) {
      KX_RETURN_IF_ERROR(refusals_.OfDelete(
          context, job, deletions_.Delete(context.client, job.metadata.uid, **pod)));
    }
    return {};
  }

  OwnedObjects<Pod> pods_;
  Deletions deletions_;
  Refusals refusals_;
};

}  // namespace

Result<void> AddJobController(const Setup& setup) {
  KX_RETURN_IF_ERROR(controller::ControllerBuilder<Job>(setup.manager)
                         .Owns<Pod>()
                         .Complete(WithExpectedErrors(std::make_shared<JobReconciler>(setup))));
  return {};
}

}  // namespace kubexx::apiserver::controllers
