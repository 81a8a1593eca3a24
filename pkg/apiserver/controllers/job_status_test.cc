#include "kubexx/apiserver/controllers/job_status.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "kubexx/api/batch/v1/types.gen.h"
#include "kubexx/controller/conditions.h"

namespace kubexx::apiserver::controllers {
namespace {

using api::batch::v1::Job;
using apimachinery::Time;
using std::chrono::seconds;

class JobStatusTest : public ::testing::Test {
 protected:
  JobStatusTest() {
    job_.spec.completions = 3;
    job_.spec.parallelism = 2;
    job_.spec.template_.spec.restart_policy = "Never";
  }
  static Time At(std::int64_t second) { return {.seconds = second}; }
  /// Does what a reconcile does that makes and deletes all pods at once.
  void Reconcile(JobCounts counts, std::int64_t now) {
    auto end = JobEndOf(job_, counts, At(now));
    const std::int32_t wanted = WantedActivePods(job_, counts, end.has_value());
    if (counts.active > wanted) {
      counts.terminating += counts.active - wanted;
    }
    counts.active = wanted;
    if (!end) {
      end = JobSuccessOf(job_, counts, At(now));
    }
    job_.status = NextJobStatus(job_, counts, end, At(now));
  }
  std::string ReasonOf(const char* type) const {
    const auto* const found = controller::FindCondition(job_.status.conditions, type);
    return found == nullptr ? "" : found->status + " " + found->reason;
  }

  Job job_;
};

TEST_F(JobStatusTest, AJobThatFailsEndsItsPodsFirst) {
  job_.spec.backoff_limit = 1;
  Reconcile({}, 0);
  EXPECT_EQ(job_.status.active, 2);
  Reconcile({.active = 1, .failed = 1}, 1);
  EXPECT_EQ(job_.status.active, 2);
  EXPECT_TRUE(job_.status.conditions.empty());
  Reconcile({.active = 1, .failed = 2}, 2);
  EXPECT_EQ(job_.status.active, 0);
  EXPECT_EQ(job_.status.terminating, 1);
  EXPECT_EQ(job_.status.failed, 3) << "also the one that was ended";
  EXPECT_EQ(ReasonOf("FailureTarget"), "True BackoffLimitExceeded");
  EXPECT_FALSE(IsJobFinished(job_)) << "one still ends";
  Reconcile({.failed = 2}, 3);
  EXPECT_EQ(ReasonOf("Failed"), "True BackoffLimitExceeded");
  EXPECT_EQ(job_.status.failed, 3);
  EXPECT_FALSE(job_.status.completion_time.has_value());
}

TEST_F(JobStatusTest, RestartsInAPodCountAsFailures) {
  job_.spec.backoff_limit = 2;
  EXPECT_FALSE(JobEndOf(job_, {.active = 1, .restarts = 5}, At(0))) << "restartPolicy Never";
  job_.spec.template_.spec.restart_policy = "OnFailure";
  EXPECT_FALSE(JobEndOf(job_, {.active = 1, .restarts = 1}, At(0)));
  EXPECT_TRUE(JobEndOf(job_, {.active = 1, .restarts = 2}, At(0)));
  job_.spec.backoff_limit = 0;
  EXPECT_FALSE(JobEndOf(job_, {.active = 1}, At(0)));
  EXPECT_TRUE(JobEndOf(job_, {.active = 1, .restarts = 1}, At(0)));
}

TEST_F(JobStatusTest, AJobFailsAtItsDeadline) {
  job_.spec.active_deadline_seconds = 10;
  Reconcile({}, 100);
  EXPECT_EQ(JobTimeLeft(job_, job_.status, At(103)), seconds(7));
  Reconcile({.active = 2}, 109);
  EXPECT_EQ(ReasonOf("FailureTarget"), "");
  Reconcile({.active = 2}, 110);
  EXPECT_EQ(ReasonOf("FailureTarget"), "True DeadlineExceeded");
  EXPECT_EQ(job_.status.active, 0);
  Reconcile({}, 111);
  EXPECT_EQ(ReasonOf("Failed"), "True DeadlineExceeded");
}

TEST_F(JobStatusTest, AJobThatIsResumedStartsAnew) {
  job_.spec.active_deadline_seconds = 10;
  Reconcile({}, 0);
  job_.spec.suspend = true;
  Reconcile({.active = 2}, 5);
  EXPECT_EQ(job_.status.active, 0);
  EXPECT_EQ(ReasonOf("Suspended"), "True JobSuspended");
  EXPECT_FALSE(job_.status.start_time.has_value());
  Reconcile({}, 1000);
  EXPECT_FALSE(JobTimeLeft(job_, job_.status, At(1000)).has_value());
  job_.spec.suspend = false;
  Reconcile({}, 2000);
  EXPECT_EQ(ReasonOf("Suspended"), "False JobResumed");
  EXPECT_EQ(job_.status.start_time, At(2000));
  EXPECT_EQ(job_.status.active, 2);
  Reconcile({.active = 2}, 2009);
  EXPECT_EQ(ReasonOf("FailureTarget"), "");
}

TEST_F(JobStatusTest, AJobIsCompleteWhenNoPodIsLeft) {
  Reconcile({}, 0);
  Reconcile({.active = 1, .succeeded = 2}, 1);
  EXPECT_EQ(job_.status.active, 1) << "no more than are needed";
  Reconcile({.terminating = 1, .succeeded = 3}, 2);
  EXPECT_EQ(ReasonOf("SuccessCriteriaMet"), "True CompletionsReached");
  EXPECT_EQ(ReasonOf("Complete"), "");
  Reconcile({.succeeded = 3}, 3);
  EXPECT_EQ(ReasonOf("Complete"), "True CompletionsReached");
  EXPECT_EQ(job_.status.completion_time, At(3));
  EXPECT_EQ(controller::FindCondition(job_.status.conditions, "Complete")->message,
            "Reached expected number of succeeded pods");
}

TEST_F(JobStatusTest, AFinishedJobGoesAfterItsTime) {
  Reconcile({.succeeded = 3}, 50);
  ASSERT_TRUE(IsJobFinished(job_));
  EXPECT_FALSE(JobTimeToLive(job_, At(60)).has_value());
  job_.spec.ttl_seconds_after_finished = 30;
  EXPECT_EQ(JobTimeToLive(job_, At(60)), seconds(20));
  EXPECT_EQ(JobTimeToLive(job_, At(80)), seconds(0));
}

TEST_F(JobStatusTest, PodsThatEndAreNotReplacedBeforeTheyHaveFailedWhenTheJobSaysSo) {
  EXPECT_EQ(WantedActivePods(job_, {.active = 1, .terminating = 1}, false), 2);
  job_.spec.pod_replacement_policy = "Failed";
  EXPECT_EQ(WantedActivePods(job_, {.active = 1, .terminating = 1}, false), 1);
  EXPECT_EQ(WantedActivePods(job_, {.active = 2, .terminating = 1}, false), 2);
  EXPECT_EQ(WantedActivePods(job_, {.active = 1}, false), 2);
}

// Users may write any values.
TEST_F(JobStatusTest, TheLargestNumbersAreNoOverflow) {
  job_.spec.active_deadline_seconds = std::numeric_limits<std::int64_t>::max();
  job_.status.start_time = Time();
  EXPECT_GT(JobTimeLeft(job_, job_.status, At(0)), base::Duration(-1));
  job_.spec.active_deadline_seconds = 1;
  EXPECT_LT(JobTimeLeft(job_, job_.status, At(0)), base::Duration(0));
}

TEST(CountJobPodsTest, ByState) {
  const auto make = [](const char* phase, bool deleted, int restarts) {
    Pod pod;
    pod.status.phase = phase;
    pod.status.container_statuses.resize(1);
    pod.status.container_statuses[0].restart_count = restarts;
    if (deleted) {
      pod.metadata.deletion_timestamp = Time();
    }
    return std::make_shared<const Pod>(std::move(pod));
  };
  const std::vector<PodRef> pods = {make("Running", false, 2), make("Running", true, 1),
                                    make("Failed", false, 7), make("Succeeded", true, 7)};
  EXPECT_EQ(CountJobPods(pods),
            (JobCounts{.active = 1, .terminating = 1, .succeeded = 1, .failed = 1, .restarts = 3}));
}

}  // namespace
}  // namespace kubexx::apiserver::controllers
