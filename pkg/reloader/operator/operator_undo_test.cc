// Tests rollouts that are undone or set back.
#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

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

class OperatorUndoTest : public OperatorTest {};

// docs/reloader/behaviour.md promises these lines of the log.
TEST_F(OperatorUndoTest, ARolloutThatGoesBackBeforeItIsThroughIsTold) {
  const auto put = [this](apps::Deployment web, std::int64_t generation, std::int64_t seen) {
    web.metadata.generation = generation;
    web.status.observed_generation = seen;
    web.status.replicas = 1;
    web.status.updated_replicas = 1;
    web.status.available_replicas = 1;
    Put(*deployments_, web);
  };
  PutConfigMap("config", "old");
  PutSecret("password", "old");
  put(Web(), 1, 1);
  StartOperator();
  PutConfigMap("config", "new");
  AwaitEvents("configmaps", "update", 1);
  Settle();
  const std::string recorded = writer_.Await(1)[0].baseline;
  AwaitReconciles("success", 1);
  const logging::testing::Capture log;
  const auto await = [&](const char* line) {
    KX_AWAIT_NE(log.Count(line), 0);
    EXPECT_EQ(log.Count("kind=Deployment namespace=ns workload=web"), 1U)
        << testing::PrintToString(log.lines());
  };
  const apps::Deployment rolled =
      WithBaseline(WithVariable(Web(), "STAKATER_CONFIG_CONFIGMAP", DigestText("new")), recorded);
  put(rolled, 2, 1);
  apps::Deployment undone = WithBaseline(Web(), recorded);
  undone.metadata.managed_fields.push_back(
      {.manager = "kubectl",
       .operation = "Update",
       .time = apimachinery::Time{.seconds = 100},
       .fields_v1 = apimachinery::FieldsV1{
           R"({"f:metadata":{"f:annotations":{"f:reloader.kubexx.io/baseline":{}}}})"}});
  put(undone, 3, 1);
  await("undid a rollout before it had ended");
  operator_->Stop();
  EXPECT_EQ(writer_.calls().size(), 1U) << "its pods are left alone";
}

// Seed 161 of the simulation. A write of the source that does not change its data makes its version
// later than that of its data.
TEST_F(OperatorUndoTest, PodsThatBeginAfterASourceWasMadeAnewAreNotRolledForIt) {
  const auto put_others = [](cache::testing::FakeSource& source, const auto& object) {
    for (int i = 0; i < 10; ++i) {  // each source counts separately
      Put(source, object);
    }
  };
  PutConfigMap("config", "old");
  PutSecret("password", "old");
  apps::Deployment plain;
  plain.metadata.namespace_ = "other";
  plain.metadata.name = "plain";
  put_others(*deployments_, plain);
  apps::Deployment web = Web();
  web.metadata.generation = 1;
  web.status.observed_generation = 1;
  web.status.replicas = 1;
  web.status.updated_replicas = 1;
  web.status.available_replicas = 1;
  Put(*deployments_, web);
  StartOperator();
  Settle();
  AwaitReconciles("skipped", 1);
  const auto await_looks = [this](double looks) {
    KX_UNTIL(Count("reloader_reconcile_total", {{"result", "skipped"}}) >= looks ||
             !writer_.calls().empty()) {
      if (clock_.Sleepers() > 0) {
        clock_.Advance(std::chrono::milliseconds(100));
      }
    }
  };
  web.metadata.generation = 2;
  web.spec.template_.spec.containers[0].image = "app:2";
  Put(*deployments_, web);
  await_looks(2);
  config_maps_->Delete({"ns", "config"});  // a late watch sends this event after the release
  AwaitEvents("configmaps", "delete", 1);
  PutConfigMap("config", "new");
  AwaitEvents("configmaps", "add", 2);
  api::core::v1::ConfigMap other;
  other.metadata.namespace_ = "other";
  other.metadata.name = "other";
  put_others(*config_maps_, other);
  put_others(*config_maps_, other);
  api::core::v1::ConfigMap touched;
  touched.metadata.namespace_ = "ns";
  touched.metadata.name = "config";
  touched.metadata.labels["touched"] = "true";
  touched.data["key"] = "new";
  Put(*config_maps_, touched);
  AwaitEvents("configmaps", "update", 20);
  await_looks(3);
  operator_->Stop();
  EXPECT_TRUE(writer_.calls().empty());
}

// A tool with self-heal would otherwise set it back for ever.
TEST_F(OperatorUndoTest, ARolloutThatIsSetBackAgainAndAgainIsMadeAgainEverMoreRarely) {
  NoticeObserver observer;
  observers_ = {&observer};
  std::int64_t generation = 1;
  const auto put = [&](apps::Deployment web) {
    web.metadata.generation = generation++;
    web.status.observed_generation = 1;
    web.status.replicas = 1;
    web.status.updated_replicas = 1;
    web.status.available_replicas = 1;
    Put(*deployments_, web);
  };
  PutConfigMap("config", "old");
  PutSecret("password", "old");
  put(Web());
  StartOperator();
  PutConfigMap("config", "new");
  AwaitEvents("configmaps", "update", 1);
  Settle();
  std::vector<base::Duration> waits;
  for (std::size_t rollouts = 1; rollouts <= 4; ++rollouts) {
    const std::string recorded = writer_.Await(rollouts).back().baseline;
    AwaitReconciles("success", static_cast<double>(rollouts));
    const base::TimePoint at = clock_.Now();
    put(WithBaseline(WithVariable(Web(), "STAKATER_CONFIG_CONFIGMAP", DigestText("new")),
                     recorded));
    put(Web());
    KX_UNTIL(writer_.calls().size() != rollouts) {
      if (clock_.Sleepers() > 0) {
        clock_.Advance(std::chrono::seconds(1));
      }
    }
    waits.push_back(clock_.Now() - at);
  }
  operator_->Stop();
  EXPECT_GE(waits[1], SetBacks::kFirst);
  EXPECT_GE(waits[2], 2 * SetBacks::kFirst);
  EXPECT_GE(waits[3], 4 * SetBacks::kFirst);
  EXPECT_EQ(observer.reasons(), std::vector<std::string>{"RolloutSetBack web"});
}

// The variable already has the right value, so only the process's knowledge of the pods asks for
// the rollout.
TEST_F(OperatorUndoTest, ARolloutAfterAnUndoThatIsRefusedIsNotForgotten) {
  recording_ = BaselineRecording::kNever;
  PutConfigMap("config", "good");
  PutSecret("password", "old");
  Put(*deployments_, Web());
  StartOperator();
  PutConfigMap("config", "bad");
  AwaitEvents("configmaps", "update", 1);
  Settle();
  writer_.Await(1);
  AwaitReconciles("success", 1);
  Put(*deployments_, WithVariable(Web(), "STAKATER_CONFIG_CONFIGMAP", DigestText("good")));
  Settle();
  AwaitReconciles("skipped", 1);
  writer_.Fail(kWeb, Status(Reason::kForbidden, "admission webhook \"w\" denied the request", 403));
  PutConfigMap("config", "good");
  AwaitEvents("configmaps", "update", 2);
  Settle();
  writer_.Await(2);
  AwaitReconciles("error", 1);
  writer_.Heal();
  KX_UNTIL(writer_.calls().size() != 2 ||
           Count("reloader_reconcile_total", {{"result", "skipped"}}) >= 2) {
    if (clock_.Sleepers() > 0) {
      clock_.Advance(std::chrono::seconds(1));
    }
  }
  operator_->Stop();
  EXPECT_EQ(writer_.calls().size(), 3U);
}

}  // namespace
}  // namespace kubexx::reloader
