// Tests what the operator records on workloads, and how it uses such records.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "kubexx/api/batch/v1/schema.gen.h"
#include "kubexx/api/batch/v1/types.gen.h"
#include "kubexx/api/core/v1/types.gen.h"
#include "kubexx/apimachinery/time.h"
#include "kubexx/base/testing/await.h"
#include "kubexx/logging/testing/capture.h"
#include "kubexx/reloader/plan/set_backs.h"
#include "kubexx/reloader/testing/operator_fixture.h"

namespace kubexx::reloader {
namespace {

namespace apps = api::apps::v1;
using apimachinery::Reason;
using apimachinery::Status;
using std::chrono::milliseconds;
using testing::HasSubstr;
using testing::StartsWith;

TEST_F(OperatorTest, AFirstLookIsRecordedWithoutARollout) {
  recording_ = BaselineRecording::kAlways;
  PutConfigMap("config", "x");
  Put(*deployments_, Web());
  StartOperator();
  Settle();
  const auto records = writer_.AwaitRecords(1);
  EXPECT_EQ(records[0].workload, kWeb);
  EXPECT_EQ(records[0].baseline, "v1 uid-web configmap/config=" + DigestText("x"));
  AwaitCount("kubexx_reloader_baselines_total", {{"kind", "Deployment"}, {"result", "success"}}, 1);
  operator_->Stop();
  EXPECT_EQ(writer_.calls().size(), 0U);
}

/// Tests a workload that somebody releases or only scales, and a source that is written afterwards.
class RenewedBaselineTest : public OperatorTest {
 protected:
  /// Puts a workload that "ci" has written at this second, with the image of the second `image`.
  void PutWritten(apps::Deployment web, std::int64_t at, std::int64_t image) {
    web.metadata.generation = at;
    web.status.observed_generation = at;
    web.status.replicas = 1;
    web.status.updated_replicas = 1;
    web.status.available_replicas = 1;
    web.metadata.managed_fields.push_back(
        {.manager = "ci",
         .operation = "Update",
         .time = apimachinery::Time{.seconds = at},
         .fields_v1 = apimachinery::FieldsV1{R"({"f:spec":{"f:template":{}}})"}});
    web.spec.template_.spec.containers[0].image = "app:" + std::to_string(image);
    Put(*deployments_, web);
  }
  void AwaitAll(const std::function<bool()>& done) {
    KX_UNTIL(done()) {
      if (clock_.Sleepers() > 0) {
        clock_.Advance(milliseconds(100));
      }
    }
  }
  /// Otherwise a process that starts later would doubt the first baseline; see MakePlan. `writes`
  /// is the number of writes that the watch of ConfigMaps has told of since; here each source
  /// counts its versions for itself. `time` is that of the template in the renewed baseline.
  void ExpectRenewedWithImageOf(std::int64_t image, int writes = 2,
                                const std::string& time = "200") {
    recording_ = BaselineRecording::kAlways;
    PutConfigMap("config", "x");
    PutWritten(Web(), 100, 100);
    StartOperator();
    AwaitAll([this] { return writer_.AwaitRecords(0).size() == 1; });
    const std::string first = writer_.AwaitRecords(1)[0].baseline;
    EXPECT_THAT(first, StartsWith("v2 uid-web 100 configmap/config=" + DigestText("x") + "@"));
    AwaitReconciles("skipped", 1);
    PutWritten(WithBaseline(Web(), first), 100, 100);
    AwaitAll([this] { return Count("reloader_reconcile_total", {{"result", "skipped"}}) >= 2; });
    PutWritten(WithBaseline(Web(), first), 200, image);
    AwaitAll([this] { return Count("reloader_reconcile_total", {{"result", "skipped"}}) >= 3; });
    EXPECT_EQ(writer_.AwaitRecords(0).size(), 1U) << "the watch has not told of the time since";
    for (int i = 0; i < writes; ++i) {
      PutConfigMap("another", std::to_string(i));
    }
    api::core::v1::ConfigMap touched;
    touched.metadata.namespace_ = "ns";
    touched.metadata.name = "config";
    touched.metadata.labels["touched"] = "true";
    touched.data["key"] = "x";
    Put(*config_maps_, touched);
    AwaitAll([this] { return writer_.AwaitRecords(0).size() == 2; });
    EXPECT_THAT(writer_.AwaitRecords(2)[1].baseline,
                StartsWith("v2 uid-web " + time + " configmap/config="));
    operator_->Stop();
    EXPECT_TRUE(writer_.calls().empty());
  }
};

TEST_F(RenewedBaselineTest, ASourceThatIsWrittenAfterAReleaseHasTheBaselineWrittenAnew) {
  ExpectRenewedWithImageOf(200);
}

// When the owner of the template scales the workload, the time at which the template was written
// changes.
TEST_F(RenewedBaselineTest, ASourceThatIsWrittenAfterAChangeOfScaleHasTheBaselineWrittenAnew) {
  ExpectRenewedWithImageOf(100);
}

// The source may have had other data while the pods of the release began.
TEST_F(RenewedBaselineTest, AWatchThatIsBehindTheReleaseLeavesItsTimeOutOfTheBaseline) {
  ExpectRenewedWithImageOf(200, 0, "100");
}

// As after `kubectl apply` of a ConfigMap and its workload: no event tells that the watch of
// ConfigMaps has come past the workload, since only a bookmark or an object of others tells that.
TEST_F(RenewedBaselineTest, AFirstBaselineGetsItsTimeThoughNoEventIsAboutTheWorkload) {
  recording_ = BaselineRecording::kAlways;
  PutConfigMap("config", "x");
  for (int i = 0; i < 3; ++i) {
    PutWritten(Web(), 100, 100);
  }
  StartOperator();
  AwaitAll([this] { return writer_.AwaitRecords(0).size() == 1; });
  const std::string first = writer_.AwaitRecords(1)[0].baseline;
  EXPECT_THAT(first, StartsWith("v2 uid-web 0 configmap/config=" + DigestText("x") + "@"));
  AwaitReconciles("skipped", 1);
  PutWritten(WithBaseline(Web(), first), 100, 100);
  AwaitAll([this] { return Count("reloader_reconcile_total", {{"result", "skipped"}}) >= 2; });
  EXPECT_EQ(writer_.AwaitRecords(0).size(), 1U);
  for (int i = 0; i < 4; ++i) {
    PutConfigMap("another", std::to_string(i));
  }
  AwaitAll([this] { return writer_.AwaitRecords(0).size() == 2; });
  EXPECT_THAT(writer_.AwaitRecords(2)[1].baseline, StartsWith("v2 uid-web 100 configmap/config="));
  operator_->Stop();
  EXPECT_TRUE(writer_.calls().empty());
}

TEST_F(RenewedBaselineTest, AReleaseThatTheWatchesHaveSeenIsInTheBaselineSoonAfterIt) {
  recording_ = BaselineRecording::kAlways;
  for (int i = 0; i < 5; ++i) {
    PutConfigMap("config", "x");
  }
  PutWritten(Web(), 100, 100);
  StartOperator();
  AwaitAll([this] { return writer_.AwaitRecords(0).size() == 1; });
  const std::string first = writer_.AwaitRecords(1)[0].baseline;
  EXPECT_THAT(first, StartsWith("v2 uid-web 100 configmap/config="));
  PutWritten(WithBaseline(Web(), first), 200, 200);
  AwaitAll([this] { return writer_.AwaitRecords(0).size() == 2; });
  EXPECT_THAT(writer_.AwaitRecords(2)[1].baseline, StartsWith("v2 uid-web 200 configmap/config="));
  operator_->Stop();
  EXPECT_TRUE(writer_.calls().empty());
}

TEST_F(OperatorTest, NothingIsRecordedWhereNothingCanRoll) {
  recording_ = BaselineRecording::kAlways;
  rules_.auto_reload_all = true;
  PutConfigMap("config", "x");
  PutConfigMap("config", "x", "ignored");
  apps::Deployment opted_out = Web({WorkloadKind::kDeployment, {"ns", "opted-out"}});
  opted_out.metadata.annotations["reloader.stakater.com/auto"] = "false";
  Put(*deployments_, opted_out);
  apps::Deployment without = Web({WorkloadKind::kDeployment, {"ns", "without-source"}});
  without.spec.template_.spec.containers[0].env_from.clear();
  Put(*deployments_, without);
  Put(*deployments_, Web({WorkloadKind::kDeployment, {"ignored", "web"}}));
  Put(*deployments_, Web());
  StartOperator();
  Settle();
  AwaitCount("kubexx_reloader_baselines_total", {{"kind", "Deployment"}, {"result", "success"}}, 1);
  operator_->Stop();
  const auto records = writer_.AwaitRecords(1);
  EXPECT_EQ(records.size(), 1U);
  EXPECT_EQ(records[0].workload, kWeb);
}

TEST_F(OperatorTest, ARuleAgainstTheBaselineKeepsNoRolloutBack) {
  PutConfigMap("config", "old");
  Put(*deployments_, Web());
  writer_.FailBaselines(Status(Reason::kForbidden, "ValidatingAdmissionPolicy denied", 403));
  StartOperator();
  PutConfigMap("config", "new");
  AwaitEvents("configmaps", "update", 1);
  Settle();
  const auto calls = writer_.Await(2);
  EXPECT_FALSE(calls[1].names_baseline);
  EXPECT_THAT(calls[1].patch, HasSubstr(DigestText("new")));
  AwaitReconciles("success", 1);
}

// Nobody knows the UID of the Job that is made in its place.
TEST_F(OperatorTest, WhatAJobIsMadeAnewWithNamesTheOldJob) {
  recording_ = BaselineRecording::kAlways;
  PutConfigMap("config", "new");
  const auto jobs = std::make_shared<cache::testing::FakeSource>();
  late_kinds_[WorkloadKind::kJob] = {jobs, {}};
  const apps::Deployment web =
      WithBaseline(Web(), "v1 uid-web configmap/config=" + DigestText("old"));
  api::batch::v1::Job job;
  job.metadata = web.metadata;
  job.spec.template_ = web.spec.template_;
  Put(*jobs, job);
  StartOperator();
  Settle();
  EXPECT_EQ(writer_.Await(1)[0].baseline, "v1 >uid-web configmap/config=" + DigestText("new"));
}

// There is no event for a CronJob whose Job was made and that may not be patched for a while.
TEST_F(OperatorTest, WhatARolloutCouldNotRecordIsRecordedLater) {
  recording_ = BaselineRecording::kAlways;
  PutConfigMap("config", "old");
  Put(*deployments_, WithBaseline(Web(), "v1 uid-web configmap/config=" + DigestText("old")));
  writer_.LeaveUnrecorded();
  StartOperator();
  PutConfigMap("config", "new");
  AwaitEvents("configmaps", "update", 1);
  Settle();
  writer_.Await(1);
  AwaitReconciles("success", 1);
  clock_.AwaitSleepers(1);
  clock_.Advance(std::chrono::minutes(10));
  const auto records = writer_.AwaitRecords(1);
  EXPECT_EQ(records[0].baseline, "v1 uid-web configmap/config=" + DigestText("new"));
}

TEST_F(OperatorTest, AWorkloadMayRefuseItsBaseline) {
  recording_ = BaselineRecording::kAlways;
  PutConfigMap("config", "old");
  apps::Deployment web = WithBaseline(Web(), "v1 uid-web configmap/config=" + DigestText("old"));
  web.metadata.annotations["reloader.kubexx.io/record-baseline"] = "false";
  Put(*deployments_, web);
  StartOperator();
  Settle();
  AwaitReconciles("skipped", 1);
  PutConfigMap("config", "new");
  AwaitEvents("configmaps", "update", 1);
  Settle();
  EXPECT_EQ(writer_.Await(1)[0].baseline, "") << "the old one must not be believed later";
  EXPECT_TRUE(writer_.Await(1)[0].names_baseline);
  operator_->Stop();
  const auto records = writer_.AwaitRecords(0);
  ASSERT_EQ(records.size(), 1U) << "and nobody keeps it true until then";
  EXPECT_TRUE(records[0].names_baseline && records[0].baseline.empty());
}

TEST_F(OperatorTest, WithoutRecordingNoBaselineIsWritten) {
  recording_ = BaselineRecording::kNever;
  PutConfigMap("config", "old");
  Put(*deployments_, Web());
  StartOperator();
  PutConfigMap("config", "new");
  AwaitEvents("configmaps", "update", 1);
  Settle();
  EXPECT_FALSE(writer_.Await(1)[0].names_baseline);
  operator_->Stop();
  EXPECT_TRUE(writer_.AwaitRecords(0).empty());
}

// The FakeWriter's writes change nothing, as if somebody removed each baseline at once.
TEST_F(OperatorTest, WhoTakesTheBaselineAwayIsNotFoughtAndThatIsToldOnce) {
  NoticeObserver observer;
  observers_ = {&observer};
  recording_ = BaselineRecording::kAlways;
  PutConfigMap("config", "x");
  Put(*deployments_, Web());
  StartOperator();
  Settle();
  std::size_t records = writer_.AwaitRecords(1).size();
  AwaitReconciles("skipped", 1);
  for (int look = 1; look <= 50; ++look) {
    clock_.Advance(std::chrono::minutes(10));
    const double looks = Count("reloader_reconcile_total", {{"result", "skipped"}});
    operator_->Reconsider([](const std::string&) { return true; });
    clock_.Advance(milliseconds(100));
    AwaitReconciles("skipped", looks + 1);
  }
  operator_->Stop();
  records = writer_.AwaitRecords(records).size();
  EXPECT_GE(records, 3U);
  EXPECT_LE(records, 12U) << "doubling from a minute";
  EXPECT_EQ(observer.reasons(), std::vector<std::string>{"BaselineRemoved web"});
}

TEST_F(OperatorTest, ABaselineWithoutRoomForAllSourcesIsToldOnce) {
  NoticeObserver observer;
  observers_ = {&observer};
  apps::Deployment web = Web();
  web.metadata.annotations = {{"configmap.reloader.stakater.com/reload", "config-.*"}};
  for (int i = 0; i < 600; ++i) {
    PutConfigMap("config-" + std::to_string(i), "x");
  }
  Put(*deployments_, web);
  StartOperator();
  Settle();
  AwaitReconciles("skipped", 1);
  operator_->Reconsider([](const std::string&) { return true; });
  clock_.Advance(milliseconds(100));
  AwaitReconciles("skipped", 2);
  EXPECT_EQ(observer.reasons(), std::vector<std::string>{"BaselineFull web"});
  EXPECT_EQ(registry_.Gauge("kubexx_reloader_baselines_full", "").Value(), 1);
  deployments_->Delete(kWeb.key);
  KX_UNTIL(registry_.Gauge("kubexx_reloader_baselines_full", "").Value() == 0) {
    if (clock_.Sleepers() > 0) {
      clock_.Advance(milliseconds(100));
    }
  }
  operator_->Stop();
}

TEST_F(OperatorTest, AValueThatCannotBeMeantIsToldOnce) {
  apps::Deployment web = Web();
  web.metadata.annotations["reloader.stakater.com/auto"] = "yes";
  PutConfigMap("config", "x");
  Put(*deployments_, web);
  const logging::testing::Capture log;
  StartOperator();
  Settle();
  AwaitReconciles("skipped", 1);
  operator_->Reconsider([](const std::string&) { return true; });
  clock_.Advance(milliseconds(100));
  AwaitReconciles("skipped", 2);
  operator_->Stop();
  EXPECT_EQ(log.Count("An annotation has an invalid value"), 1U)
      << testing::PrintToString(log.lines());
}

TEST_F(OperatorTest, AReplicaCountsNoBaselinesOfWhatItDoesNotWorkOn) {
  HeldShards shards(1, clock_);
  held_shards_ = &shards;
  shards.Open(0);
  apps::Deployment web = Web();
  web.metadata.annotations = {{"configmap.reloader.stakater.com/reload", "config-.*"}};
  for (int i = 0; i < 600; ++i) {
    PutConfigMap("config-" + std::to_string(i), "x");
  }
  Put(*deployments_, web);
  StartOperator();
  Settle();
  AwaitReconciles("skipped", 1);
  const auto full = registry_.Gauge("kubexx_reloader_baselines_full", "");
  EXPECT_EQ(full.Value(), 1);
  shards.Close(0, base::Duration(0));
  EXPECT_EQ(full.Value(), 0) << "another replica does now";
  shards.Open(0);
  operator_->Reconsider([](const std::string&) { return true; });
  clock_.Advance(milliseconds(100));
  AwaitReconciles("skipped", 2);
  EXPECT_EQ(full.Value(), 1);
  operator_->Stop();
  shards.Close(0, base::Duration(0));
  operator_.reset();
}

TEST_F(OperatorTest, TheBaselineTellsOfAChangeMadeWhileDown) {
  PutConfigMap("config", "new");
  Put(*deployments_, WithBaseline(Web(), "v1 uid-web configmap/config=" + DigestText("old")));
  StartOperator();
  Settle();
  const auto calls = writer_.Await(1);
  EXPECT_THAT(calls[0].patch, HasSubstr(DigestText("new")));
  EXPECT_EQ(calls[0].baseline, "v1 uid-web configmap/config=" + DigestText("new"));
}

TEST_F(OperatorTest, ABaselineThatIsUpToDateRollsNothing) {
  PutConfigMap("config", "x");
  Put(*deployments_, WithBaseline(Web(), "v1 uid-web configmap/config=" + DigestText("x")));
  StartOperator();
  Settle();
  AwaitReconciles("skipped", 1);
  operator_->Stop();
  EXPECT_EQ(writer_.calls().size(), 0U);
}

TEST_F(OperatorTest, WhereRecordingIsForbiddenTheRestGoesOn) {
  recording_ = BaselineRecording::kAlways;
  PutConfigMap("config", "old");
  Put(*deployments_, Web());
  writer_.Fail(kWeb, Status(Reason::kForbidden, "no", 403));
  StartOperator();
  Settle();
  EXPECT_EQ(writer_.AwaitRecords(1).size(), 1U);
  AwaitReconciles("skipped", 1);
  writer_.Heal();
  PutConfigMap("config", "new");
  AwaitEvents("configmaps", "update", 1);
  clock_.Advance(milliseconds(100));
  EXPECT_EQ(writer_.Await(1).size(), 1U);
  EXPECT_EQ(Count("kubexx_reloader_baselines_total", {{"kind", "Deployment"}, {"result", "error"}}),
            1);
}

}  // namespace
}  // namespace kubexx::reloader
