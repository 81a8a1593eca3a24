// Job: makes pods until enough of them have succeeded, too many have failed, or the time is over.
// Indexes and policies are not supported. job_status.h decides the status; this file reads and
// writes.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "kubexx/api/batch/v1/resources.gen.h"
#include "kubexx/api/batch/v1/types.gen.h"
#include "kubexx/apiserver/controllers/expected_errors.h"
#include "kubexx/apiserver/controllers/job_status.h"
#include "kubexx/apiserver/controllers/pods.h"
#include "kubexx/apiserver/controllers/refusals.h"
#include "kubexx/apiserver/controllers/setup.h"
#include "kubexx/controller/builder.h"
#include "kubexx/controller/owned_objects.h"
#include "kubexx/kubernetes/options.h"

namespace kubexx::apiserver::controllers {
namespace {

using api::batch::v1::Job;
using api::batch::v1::JobStatus;
using apimachinery::Result;
using apimachinery::Time;
using controller::Action;
using controller::OwnedObjects;

class JobReconciler final : public controller::Reconciler {
 public:
  explicit JobReconciler(const Setup& setup)
      : pods_(setup.manager), refusals_(setup, "job-controller") {}

  Result<Action> Reconcile(const controller::Request& request,
                           controller::Context& context) override {
    const auto found = context.client.Get<Job>(request.object);
    if (!found) {
      deletions_.Forget(request.object);
      return controller::IgnoreNotFound(found.error());
    }
    const Job& job = **found;
    const Time now = Time::From(context.clock.Wall());
    if (controller::IsBeingDeleted(job)) {
      return Action::Done();
    }
    if (IsJobFinished(job)) {
      return CleanUp(context.client, job, now);
    }
    if (IsManagedElsewhere(job)) {
      return Action::Done();
    }
    KX_ASSIGN_OR_RETURN(std::vector<PodRef> pods, pods_.Of(job.metadata));
    const std::size_t deleted = deletions_.Filter(request.object, pods).size();
    JobCounts counts = CountJobPods(pods);
    counts.terminating += static_cast<std::int32_t>(deleted);
    auto end = JobEndOf(job, counts, now);
    const Result<void> scaled =
        Scale(context, job, pods, WantedActivePods(job, counts, end.has_value()), counts);
    if (!end) {
      end = JobSuccessOf(job, counts, now);
    }
    return AfterReport(scaled, ReportStatus(context, job, NextJobStatus(job, counts, end, now)));
  }

 private:
  /// Deletes a finished Job when its time is over.
  static Result<Action> CleanUp(const controller::Client& client, const Job& job, const Time& now) {
    const auto left = JobTimeToLive(job, now);
    if (!left) {
      return Action::Done();
    }
    if (*left > base::Duration(0)) {
      return Action::RequeueAfter(*left);
    }
    // Deletes it only in the version that was looked at, because somebody may have given it more
    // time.
    const auto deleted = client.Delete<Job>(KeyOf(job.metadata),
                                            {.propagation = kubernetes::Propagation::kForeground,
                                             .uid = job.metadata.uid,
                                             .resource_version = job.metadata.resource_version});
    return deleted ? Action::Done() : controller::IgnoreNotFound(deleted.error());
  }

  static Result<Action> ReportStatus(const controller::Context& context, const Job& job,
                                     const JobStatus& status) {
    if (status != job.status) {
      Job changed = job;
      changed.status = status;
      KX_RETURN_IF_ERROR(context.client.UpdateStatus(changed));
      if (IsJobFinished(changed)) {
        return Action::Done();  // its own event leads to the clean-up
      }
    }
    const auto left = JobTimeLeft(job, status, Time::From(context.clock.Wall()));
    return left && *left > base::Duration(0) ? Action::RequeueAfter(*left) : Action::Done();
  }

  /// Makes and deletes pods, and counts them in `counts`.
  Result<void> Scale(const controller::Context& context, const Job& job, std::vector<PodRef>& pods,
                     std::int32_t wanted, JobCounts& counts) {
    // The events of the new pods lead to the next step. Other Jobs are handled meanwhile.
    const std::int64_t most = std::int64_t{counts.active} + kMostPodsAtOnce;
    for (; counts.active < std::min<std::int64_t>(wanted, most); ++counts.active) {
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
    for (auto pod = pods.begin(); counts.active > wanted && pod != pods.end(); ++pod) {
      KX_RETURN_IF_ERROR(refusals_.OfDelete(
          context, job, deletions_.Delete(context.client, KeyOf(job.metadata), **pod)));
      --counts.active;
      ++counts.terminating;
      counts.ready -= IsReady(**pod) ? 1 : 0;
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
