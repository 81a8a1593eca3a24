#include "kubexx/reloader/operator/operator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <limits>
#include <optional>

#include "kubexx/apimachinery/time.h"
#include "kubexx/base/testing/await.h"
#include "kubexx/logging/testing/capture.h"
#include "kubexx/reloader/model/projection.h"
#include "kubexx/reloader/policy/policy_enforcer.h"
#include "kubexx/reloader/testing/operator_fixture.h"

namespace kubexx::reloader {
namespace {

namespace core = api::core::v1;
namespace apps = api::apps::v1;
using apimachinery::Reason;
using apimachinery::Result;
using apimachinery::Status;
using std::chrono::milliseconds;
using testing::HasSubstr;

TEST_F(OperatorTest, AnEditRollsTheWorkloadWithTheExactVariable) {
  PutConfigMap("config", "old");
  PutSecret("password", "old");
  Put(*deployments_, Web());
  StartOperator();
  PutConfigMap("config", "new");
  AwaitEvents("configmaps", "update", 1);
  Settle();
  const auto calls = writer_.Await(1);
  EXPECT_EQ(calls[0].workload, kWeb);
  EXPECT_EQ(
      calls[0].patch,
      R"({"spec":{"template":{"spec":{"containers":[{"name":"app","env":[{"name":"STAKATER_CONFIG_CONFIGMAP",)"
      R"("value":")" +
          DigestText("new") + R"(","valueFrom":null}]}]}}}})");
  AwaitReconciles("success", 1);
  EXPECT_EQ(Count("reloader_reload_executed_total", {{"success", "true"}}), 1);
  EXPECT_EQ(
      Count("reloader_action_total", {{"workload_kind", "Deployment"}, {"result", "success"}}), 1);
}

TEST_F(OperatorTest, ADryRunCountsWhatItWouldDoAsThatAndNothingElse) {
  dry_run_.emplace(&registry_);
  PutConfigMap("config", "old");
  PutSecret("password", "old");
  Put(*deployments_, Web());
  StartOperator();
  PutConfigMap("config", "new");
  AwaitEvents("configmaps", "update", 1);
  Settle();
  AwaitCount("kubexx_reloader_dry_run_rollouts_total", {{"kind", "Deployment"}}, 1);
  operator_->Stop();
  EXPECT_EQ(Count("reloader_reload_executed_total", {{"success", "true"}}), 0);
  EXPECT_EQ(Count("reloader_reconcile_total", {{"result", "success"}}), 0);
}

TEST_F(OperatorTest, WhatIsPausedInANamespaceThatIsIgnoredIsLeftAlone) {
  base::Mutex mu;
  std::vector<std::string> asked;
  pause_query_ = [&](const WorkloadId& id, const std::stop_token&) -> Result<PauseState> {
    const base::MutexLock lock(mu);
    asked.push_back(id.key.namespace_);
    return PauseState();
  };
  for (const char* ns : {"ignored", "ns"}) {
    apps::Deployment web = Web({WorkloadKind::kDeployment, {ns, "web"}});
    web.metadata.annotations[AnnotationKeys().pause_period] = "1s";
    web.metadata.annotations[AnnotationKeys().paused_at] = "2000-01-01T00:00:00Z";
    Put(*deployments_, web);
  }
  StartOperator();
  const auto count = [&] {
    const base::MutexLock lock(mu);
    return asked.size();
  };
  KX_AWAIT_NE(count(), 0);
  operator_->Stop();
  EXPECT_THAT(asked, testing::Each("ns"));
}

// As in a container at its pids limit.
TEST_F(OperatorTest, AnExecutorWithOneThreadIsEnough) {
  executor_ =
      std::make_shared<base::Executor>(base::ExecutorOptions{.threads = 1, .max_threads = 1});
  PutConfigMap("config", "old");
  Put(*deployments_, Web());
  StartOperator();
  PutConfigMap("config", "new");
  AwaitEvents("configmaps", "update", 1);
  Settle();
  writer_.Await(1);
}

TEST_F(OperatorTest, TwoSourcesEditedTogetherAreOneRollout) {
  PutConfigMap("config", "old");
  PutSecret("password", "old");
  Put(*deployments_, Web());
  StartOperator();
  PutConfigMap("config", "new");
  PutSecret("password", "new");
  AwaitEvents("configmaps", "update", 1);
  AwaitEvents("secrets", "update", 1);
  Settle();
  const auto calls = writer_.Await(1);
  EXPECT_THAT(calls[0].patch, HasSubstr("STAKATER_CONFIG_CONFIGMAP"));
  EXPECT_THAT(calls[0].patch, HasSubstr("STAKATER_PASSWORD_SECRET"));
  operator_->Stop();
  EXPECT_EQ(writer_.calls().size(), 1U);
}

TEST_F(OperatorTest, ABurstIsOneRolloutAtItsTrailingEdge) {
  PutConfigMap("config", "old");
  Put(*deployments_, Web());
  StartOperator();
  for (int i = 1; i <= 5; ++i) {
    PutConfigMap("config", "new" + std::to_string(i));
    AwaitEvents("configmaps", "update", i);
    clock_.AwaitSleepers(1);
    clock_.Advance(milliseconds(60));
    EXPECT_EQ(writer_.calls().size(), 0U) << "written inside the window";
  }
  Settle();
  EXPECT_THAT(writer_.Await(1)[0].patch, HasSubstr(DigestText("new5")));
  operator_->Stop();
  EXPECT_EQ(writer_.calls().size(), 1U);
}

TEST_F(OperatorTest, AStartRollsNothing) {
  PutConfigMap("config", "x");
  PutSecret("password", "y");
  PutConfigMap("other", "z");
  Put(*deployments_, Web());
  Put(*deployments_, WithVariable(Web(kApi), "STAKATER_CONFIG_CONFIGMAP", DigestText("x")));
  StartOperator();
  Settle();
  AwaitReconciles("skipped", 1);
  operator_->Stop();
  EXPECT_EQ(writer_.calls().size(), 0U);
}

TEST_F(OperatorTest, AChangeMadeWhileDownRollsOnce) {
  PutConfigMap("config", "new");
  Put(*deployments_, WithVariable(Web(), "STAKATER_CONFIG_CONFIGMAP", DigestText("old")));
  StartOperator();
  Settle();
  EXPECT_THAT(writer_.Await(1)[0].patch, HasSubstr(DigestText("new")));
  AwaitReconciles("success", 1);
  // The event that the server sends after the write leads to a look, and not to a second write.
  Put(*deployments_, WithVariable(Web(), "STAKATER_CONFIG_CONFIGMAP", DigestText("new")));
  Settle();
  AwaitReconciles("skipped", 1);
  // There is no second write either when somebody sets the variable back, as `kubectl rollout undo`
  // does, because the data did not change.
  Put(*deployments_, WithVariable(Web(), "STAKATER_CONFIG_CONFIGMAP", DigestText("old")));
  Settle();
  AwaitReconciles("skipped", 2);
  EXPECT_EQ(writer_.calls().size(), 1U);
}

TEST_F(OperatorTest, WhatACacheHasNotHeardOfIsNotDoneAgain) {
  PutConfigMap("config", "new");
  Put(*deployments_, WithBaseline(Web(), "v1 uid-web configmap/config=" + DigestText("old")));
  std::atomic<int> reads = 0;
  StartOperator(
      ReloadStrategy::kAnnotations,
      [&](const WorkloadId& id, const std::stop_token&) -> Result<std::optional<Workload>> {
        ++reads;
        Workload workload{.id = id, .uid = "uid-web"};
        workload.annotations = {
            {"reloader.stakater.com/auto", "true"},
            {std::string(kBaselineAnnotation), "v1 uid-web configmap/config=" + DigestText("new")}};
        workload.containers = {{.name = "app", .references = {{SourceType::kConfigMap, "config"}}}};
        return workload;
      });
  Settle();
  AwaitReconciles("skipped", 1);
  EXPECT_EQ(reads, 1);
  EXPECT_EQ(writer_.calls().size(), 0U) << "the leader before has rolled it";
  PutConfigMap("config", "newer");
  AwaitEvents("configmaps", "update", 1);
  Settle();
  EXPECT_THAT(writer_.Await(1)[0].patch, HasSubstr(DigestText("newer")));
  EXPECT_EQ(reads, 1) << "once in a tenure";
}

TEST_F(OperatorTest, APausedSourceIsMadeUpForOnceWhenThatEnds) {
  PolicyEnforcer enforcer({.clock = clock_});
  gate_ = &enforcer;
  PutConfigMap("config", "old");
  Put(*deployments_, Web());
  StartOperator();
  core::ConfigMap config_map;
  config_map.metadata.namespace_ = "ns";
  config_map.metadata.name = "config";
  config_map.metadata.annotations[std::string(kSourcePaused)] = "true";
  config_map.data["key"] = "new";
  Put(*config_maps_, config_map);
  AwaitEvents("configmaps", "update", 1);
  Settle();
  AwaitReconciles("skipped", 1);
  EXPECT_EQ(writer_.calls().size(), 0U);
  config_map.metadata.annotations.clear();
  Put(*config_maps_, config_map);
  AwaitEvents("configmaps", "update", 2);
  Settle();
  EXPECT_THAT(writer_.Await(1)[0].patch, HasSubstr(DigestText("new")));
  operator_.reset();
  EXPECT_EQ(writer_.calls().size(), 1U);
}

TEST_F(OperatorTest, ARolloutThatFailedWhileNobodyWatchedIsWrittenOnItsWorkload) {
  PolicyEnforcer enforcer({.clock = clock_});
  gate_ = &enforcer;
  enforcer.SetPolicy(
      {.id = {"ns", "p"},
       .settings = {.health_timeout = std::chrono::minutes(1), .stop_after_failures = 1}},
      {{.workload = {"Deployment", {"ns", "gone"}}, .uid = "u"}});
  apps::Deployment web = Web();
  web.metadata.annotations["reloader.kubexx.io/last-rollout"] = "1970-01-01T00:00:00Z";
  web.metadata.annotations["reloader.kubexx.io/rollout-state"] = "started uid-web";
  PutConfigMap("config", "x");
  Put(*deployments_, web);
  StartOperator();
  Settle();
  EXPECT_THAT(writer_.AwaitRecords(1)[0].patch,
              HasSubstr(R"("reloader.kubexx.io/rollout-state":"failed uid-web")"));
  const auto states = enforcer.States();
  ASSERT_EQ(states[0].failures.size(), 1U) << "what is gone has been forgotten";
  EXPECT_EQ(states[0].failures[0].workload.key.name, "web");
  operator_.reset();
}

// Only the last workload has an order, and there is no policy.
TEST_F(OperatorTest, WhatHasNoOrderIsWaitedFor) {
  PolicyEnforcer enforcer({.clock = clock_});
  gate_ = &enforcer;
  apps::Deployment web = Web();
  web.metadata.annotations["reloader.kubexx.io/order"] = "1";
  PutConfigMap("config", "old");
  Put(*deployments_, web);
  Put(*deployments_, Web(kApi));
  StartOperator();
  PutConfigMap("config", "new");
  AwaitEvents("configmaps", "update", 1);
  Settle();
  EXPECT_EQ(writer_.Await(1)[0].workload, kApi);
  KX_AWAIT_EQ(enforcer.TotalsNow().held[reloadpolicy::HoldReason::kOrder], 1);
  apps::Deployment api = WithVariable(Web(kApi), "STAKATER_CONFIG_CONFIGMAP", DigestText("new"));
  api.metadata.annotations["reloader.kubexx.io/last-rollout"] =
      apimachinery::Time::From(clock_.Wall()).ToString();
  api.metadata.annotations["reloader.kubexx.io/rollout-state"] = "started uid-api";
  api.status.replicas = 1;
  api.status.updated_replicas = 1;
  api.status.available_replicas = 1;
  Put(*deployments_, api);
  EXPECT_EQ(writer_.Await(2)[1].workload, kWeb);
  operator_.reset();
}

TEST_F(OperatorTest, ACreationRollsWhatWaitedForIt) {
  rules_.reload_on_create = true;
  Put(*deployments_, Web());
  StartOperator();
  Settle();
  AwaitReconciles("skipped", 1);
  PutConfigMap("config", "new");
  AwaitEvents("configmaps", "add", 1);
  Settle();
  EXPECT_THAT(writer_.Await(1)[0].patch, HasSubstr(DigestText("new")));
}

TEST_F(OperatorTest, ADeletionRollsWhatUsedIt) {
  rules_.reload_on_delete = true;
  PutConfigMap("config", "x");
  Put(*deployments_, WithVariable(Web(), "STAKATER_CONFIG_CONFIGMAP", DigestText("x")));
  StartOperator();
  Settle();
  AwaitReconciles("skipped", 1);
  config_maps_->Delete({"ns", "config"});
  AwaitEvents("configmaps", "delete", 1);
  Settle();
  EXPECT_THAT(writer_.Await(1)[0].patch,
              HasSubstr(R"({"name":"STAKATER_CONFIG_CONFIGMAP","$patch":"delete"})"));
}

// This holds with the default flags, and when it happens before the first look, too.
TEST_F(OperatorTest, ASourceThatIsMadeAnewWithOtherDataIsAChange) {
  PutConfigMap("config", "old");
  Put(*deployments_, Web());
  StartOperator();
  config_maps_->Delete({"ns", "config"});
  AwaitEvents("configmaps", "delete", 1);
  PutConfigMap("config", "new");
  AwaitEvents("configmaps", "add", 2);
  Settle();
  EXPECT_THAT(writer_.Await(1)[0].patch, HasSubstr(DigestText("new")));
}

// A list shows that the source is gone, but not since when.
TEST_F(OperatorTest, ASourceThatIsGoneFromAListAndMadeAnewIsAChange) {
  PutConfigMap("config", "old");
  StartOperator();
  for (int i = 0; i < 5; ++i) {
    Put(*deployments_, Web(kApi));  // the Deployment is younger than the objects in the list
  }
  Put(*deployments_, Web());
  KX_UNTIL(Count("reloader_reconcile_total", {{"result", "skipped"}}) >= 2) {
    clock_.Advance(milliseconds(100));  // the events come one after the other
  }
  config_maps_->FailLists(Status(Reason::kUnavailable, "down"), 1000);
  config_maps_->FailWatches(Status(Reason::kUnavailable, "down"), 1000);
  config_maps_->DropWatches();
  config_maps_->Delete({"ns", "config"});
  config_maps_->Compact();
  config_maps_->FailLists(Status(Reason::kUnavailable, "down"), 0);
  config_maps_->FailWatches(Status(Reason::kUnavailable, "down"), 0);
  AwaitEvents("configmaps", "delete", 1);
  for (int i = 0; i < 8; ++i) {
    // The source that is made anew is younger than the Deployment.
    PutConfigMap("other", std::to_string(i));
  }
  PutConfigMap("config", "new");
  AwaitEvents("configmaps", "add", 3);
  Settle();
  EXPECT_THAT(writer_.Await(2)[0].patch, HasSubstr(DigestText("new")));
}

// The watches are not in step: the workload ran with the source that is gone.
TEST_F(OperatorTest, AWorkloadThatIsToldOfAfterItsSourceWasMadeAnewMissesNothing) {
  PutConfigMap("config", "old");
  StartOperator();
  config_maps_->Delete({"ns", "config"});
  AwaitEvents("configmaps", "delete", 1);
  PutConfigMap("config", "new");
  AwaitEvents("configmaps", "add", 2);
  Put(*deployments_, Web());
  Settle();
  EXPECT_THAT(writer_.Await(1)[0].patch, HasSubstr(DigestText("new")));
}

// The watches are not in step: the event of the change comes first, but the workload is older.
TEST_F(OperatorTest, AWorkloadThatIsToldOfAfterAChangeThatIsYoungerMissesNothing) {
  PutConfigMap("config", "old");
  StartOperator();
  for (const char* value : {"older", "old", "older", "old", "new"}) {
    PutConfigMap("config", value);  // the last write has a later version than the Deployment
  }
  AwaitEvents("configmaps", "update", 5);
  Put(*deployments_, Web());
  Settle();
  EXPECT_THAT(writer_.Await(1)[0].patch, HasSubstr(DigestText("new")));
}

// Helm writes a ConfigMap first, and then perhaps the workload.
TEST_F(OperatorTest, AReleaseHasTimeToChangeItsWorkloadsAfterItsSources) {
  release_window_ = std::chrono::seconds(3);
  const auto release = [](auto object, const char* name) {
    object.metadata.annotations["meta.helm.sh/release-name"] = name;
    object.metadata.annotations["meta.helm.sh/release-namespace"] = "ns";
    return object;
  };
  const auto put = [&](const std::string& value) {
    core::ConfigMap config_map;
    config_map.metadata.namespace_ = "ns";
    config_map.metadata.name = "config";
    config_map.data["key"] = value;
    Put(*config_maps_, release(config_map, "shop"));
  };
  put("old");
  Put(*deployments_, release(Web(kApi), "shop"));
  Put(*deployments_, release(Web(kWeb), "another"));
  StartOperator();
  put("new");
  AwaitEvents("configmaps", "update", 1);
  Settle();
  ASSERT_EQ(writer_.Await(1)[0].workload, kWeb);
  clock_.AwaitSleepers(1);
  clock_.Advance(milliseconds(2900));
  EXPECT_EQ(writer_.Await(2)[1].workload, kApi);
}

TEST_F(OperatorTest, AFailingWorkloadIsRetriedAndBlocksNobody) {
  PutConfigMap("config", "old");
  Put(*deployments_, Web(kWeb));
  Put(*deployments_, Web(kApi));
  writer_.Fail(kApi, Status(Reason::kForbidden, R"(is forbidden: User "u" cannot patch)", 403));
  StartOperator();
  PutConfigMap("config", "new");
  AwaitEvents("configmaps", "update", 1);
  Settle();
  AwaitReconciles("success", 1);
  AwaitReconciles("error", 1);
  EXPECT_EQ(Count("reloader_action_total", {{"workload_kind", "Deployment"}, {"result", "error"}}),
            1);
  writer_.Heal();
  clock_.AwaitSleepers(1);  // the queue's delay
  clock_.Advance(std::chrono::seconds(1));
  const auto calls = writer_.Await(3);
  EXPECT_EQ(calls[2].workload, kApi);
  EXPECT_THAT(calls[2].patch, HasSubstr(DigestText("new")));
}

TEST_F(OperatorTest, AWorkloadThatIsGoneIsDropped) {
  PutConfigMap("config", "old");
  Put(*deployments_, Web());
  Status gone(Reason::kNotFound, "gone", 404);
  gone.details.name = "web";
  writer_.Fail(kWeb, std::move(gone));
  StartOperator();
  PutConfigMap("config", "new");
  AwaitEvents("configmaps", "update", 1);
  Settle();
  AwaitReconciles("skipped", 1);
  EXPECT_EQ(Count("reloader_retries_total", {}), 0);
}

TEST_F(OperatorTest, AnAnswerThatNamesNoObjectDropsNoRollout) {
  PutConfigMap("config", "old");
  Put(*deployments_, Web());
  // A proxy answers like this.
  writer_.Fail(kWeb, Status(Reason::kNotFound, "404 page not found", 404));
  StartOperator();
  PutConfigMap("config", "new");
  AwaitEvents("configmaps", "update", 1);
  Settle();
  AwaitReconciles("error", 1);
  writer_.Heal();
  clock_.AwaitSleepers(1);  // the queue's delay
  clock_.Advance(std::chrono::seconds(1));
  EXPECT_THAT(writer_.Await(2)[1].patch, HasSubstr(DigestText("new")));
}

TEST_F(OperatorTest, WithoutAReferenceARuleOrANewDigestNothingIsQueued) {
  PutConfigMap("config", "old");
  PutConfigMap("other", "old");
  PutConfigMap("config", "old", "ignored");
  apps::Deployment quiet = Web(kApi);
  quiet.metadata.annotations.clear();
  Put(*deployments_, quiet);
  StartOperator();
  PutConfigMap("other", "new");
  PutConfigMap("config", "new");
  PutConfigMap("config", "new", "ignored");
  PutConfigMap("config", "new");  // it has a new version and the same data
  PutConfigMap("late", "new");    // it is created
  AwaitEvents("configmaps", "update", 3);
  AwaitEvents("configmaps", "add", 4);
  operator_->Stop();
  EXPECT_EQ(Count("reloader_workqueue_adds_total", {}), 0);
  EXPECT_EQ(Count("reloader_skipped_total", {{"reason", "no_data_change"}}) +
                Count("reloader_skipped_total", {{"reason", "ignored_or_not_selected"}}),
            3);
}

TEST_F(OperatorTest, AnExplicitPatternRollsWithoutAReference) {
  PutConfigMap("team-a", "old");
  apps::Deployment deployment = Web();
  deployment.metadata.annotations = {{"configmap.reloader.stakater.com/reload", "team-.*"}};
  Put(*deployments_, deployment);
  StartOperator();
  PutConfigMap("team-a", "new");
  AwaitEvents("configmaps", "update", 1);
  Settle();
  EXPECT_THAT(writer_.Await(1)[0].patch, HasSubstr("STAKATER_TEAM_A_CONFIGMAP"));
}

TEST_F(OperatorTest, AChangeSeenByARelistCounts) {
  PutConfigMap("config", "old");
  Put(*deployments_, Web());
  StartOperator();
  config_maps_->FailWatches(Status(Reason::kUnavailable, "down"), 2);
  config_maps_->DropWatches();
  PutConfigMap("config", "new");
  config_maps_->Compact();
  AwaitEvents("configmaps", "update", 1);
  Settle();
  EXPECT_THAT(writer_.Await(1)[0].patch, HasSubstr(DigestText("new")));
}

TEST_F(OperatorTest, AStopWritesWhatIsDue) {
  PutConfigMap("config", "old");
  Put(*deployments_, Web());
  StartOperator();
  PutConfigMap("config", "new");
  AwaitEvents("configmaps", "update", 1);
  operator_->Stop();
  EXPECT_EQ(writer_.calls().size(), 1U);
}

// A list may fail for ever because of one object that the server cannot convert.
TEST_F(OperatorTest, AKindThatIsLateHoldsUpNoOther) {
  PutConfigMap("config", "old");
  Put(*deployments_, Web());
  const auto stateful_sets = std::make_shared<cache::testing::FakeSource>();
  const Status broken(Reason::kInternalError, "conversion webhook failed", 500);
  stateful_sets->FailLists(broken, std::numeric_limits<int>::max());
  stateful_sets->FailWatches(broken, std::numeric_limits<int>::max());
  std::stop_source late;
  late_kinds_[WorkloadKind::kStatefulSet] = {stateful_sets, late.get_token()};
  PolicyEnforcer enforcer({.clock = clock_});
  gate_ = &enforcer;
  StartOperator();
  PutConfigMap("config", "new");
  late.request_stop();
  AwaitEvents("configmaps", "update", 1);
  Settle();
  EXPECT_THAT(writer_.Await(1)[0].patch, HasSubstr(DigestText("new")));
  EXPECT_FALSE(operator_->Ready()) << "it is still missing";

  const apps::Deployment deployment =
      WithVariable(Web(kApi), "STAKATER_CONFIG_CONFIGMAP", DigestText("old"));
  apps::StatefulSet stateful_set;
  stateful_set.metadata = deployment.metadata;
  stateful_set.spec.template_ = deployment.spec.template_;
  Put(*stateful_sets, stateful_set);
  stateful_sets->FailLists(broken, 0);
  stateful_sets->FailWatches(broken, 0);
  KX_UNTIL(writer_.calls().size() >= 2) {
    clock_.Advance(milliseconds(100));
  }
  EXPECT_EQ(writer_.calls()[1].workload, (WorkloadId{WorkloadKind::kStatefulSet, kApi.key}));
  operator_->Stop();
}

TEST_F(OperatorTest, AStopBeforeTheFirstListEnds) {
  config_maps_->FailLists(Status(Reason::kUnavailable, "down"), std::numeric_limits<int>::max());
  config_maps_->FailWatches(Status(Reason::kUnavailable, "down"), std::numeric_limits<int>::max());
  InformerSet set;
  set.sources[SourceType::kConfigMap] =
      Informer(config_maps_, TransformFor(SourceType::kConfigMap, {}));
  Operator reloader({.clock = clock_}, {set}, writer_);
  reloader.Start();
  EXPECT_FALSE(reloader.Ready());
  reloader.Stop();
}

}  // namespace
}  // namespace kubexx::reloader
