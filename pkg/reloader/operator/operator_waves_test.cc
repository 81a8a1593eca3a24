// The operator under a policy with waves.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "kubexx/base/testing/await.h"
#include "kubexx/reloader/policy/policy_enforcer.h"
#include "kubexx/reloader/testing/operator_fixture.h"
#include "kubexx/reloadpolicy/rolled_data.h"

namespace kubexx::reloader {
namespace {

namespace apps = api::apps::v1;
using reloadpolicy::HoldReason;
using testing::HasSubstr;

/// Six Deployments that use the ConfigMap "config" and one that does not, under waves of 2, and an
/// operator. The test plays the API server and the controllers.
class WavesTest : public OperatorTest {
 protected:
  static constexpr int kApps = 6;

  WavesTest() {
    gate_ = &enforcer_;
    enforcer_.SetPolicy(
        {.id = {"ns", "careful"},
         .settings = {.waves = reloadpolicy::Waves{.sizes = {{.count = 2}},
                                                   .healthy_for = std::chrono::seconds(30),
                                                   .timeout = std::chrono::minutes(1)}}});
    PutConfigMap("config", "old");
    apps::Deployment deaf = Web({WorkloadKind::kDeployment, {"ns", "a-deaf"}});
    deaf.metadata.annotations.clear();
    Put(*deployments_, deaf);
    for (int i = 0; i < kApps; ++i) {
      PutApp(i);
    }
    StartOperator();
  }
  ~WavesTest() override { operator_.reset(); }

  static std::string NameOf(int i) { return "app-" + std::to_string(i); }
  apps::Deployment Healthy(int i) {
    apps::Deployment app = Web({WorkloadKind::kDeployment, {"ns", NameOf(i)}});
    app.status.replicas = app.status.updated_replicas = app.status.available_replicas = 1;
    return app;
  }
  void PutApp(int i) { Put(*deployments_, Healthy(i)); }
  void Change(const std::string& value) {
    PutConfigMap("config", value);
    AwaitEvents("configmaps", "update", ++updates_);
    Settle();
  }
  /// The names of those that have been written with this value.
  std::set<std::string> RolledFor(const std::string& value) {
    std::set<std::string> names;
    for (const FakeWriter::Call& call : writer_.calls()) {
      if (call.patch.contains(DigestText(value))) {
        names.insert(call.workload.key.name);
      }
    }
    return names;
  }
  /// The workload as the write for `value` has left it, by now with its pods available or not.
  void BecomeRolled(int i, const std::string& value, bool is_available) {
    apps::Deployment app = WithVariable(Healthy(i), "STAKATER_CONFIG_CONFIGMAP", DigestText(value));
    app.status.available_replicas = is_available ? 1 : 0;
    app.metadata.annotations["reloader.kubexx.io/last-rollout"] =
        apimachinery::Time::From(clock_.Wall()).ToString();
    app.metadata.annotations["reloader.kubexx.io/rollout-state"] = "started uid-" + NameOf(i);
    app.metadata.annotations["reloader.kubexx.io/rolled-data"] =
        "rolled uid-" + NameOf(i) + " ConfigMap/config=" + DigestText(value);
    Put(*deployments_, app);
  }
  int Held(HoldReason reason) { return enforcer_.TotalsNow().held[reason]; }

  PolicyEnforcer enforcer_{PolicyEnforcer::Options{.clock = clock_}};
  double updates_ = 0;
};

TEST_F(WavesTest, TheCanariesAreRolledFirstAndAllOthersOnceTheyAreHealthy) {
  Change("new");
  KX_AWAIT_EQ(Held(HoldReason::kWave), kApps - 2);
  EXPECT_EQ(RolledFor("new"), (std::set<std::string>{"app-0", "app-1"}))
      << "who is not concerned is of no wave";
  EXPECT_THAT(writer_.calls()[0].patch, HasSubstr("ConfigMap/config=" + DigestText("new")));
  BecomeRolled(0, "new", true);
  BecomeRolled(1, "new", true);
  KX_UNTIL(RolledFor("new").size() == kApps) {
    clock_.Advance(std::chrono::seconds(1));
  }
}

TEST_F(WavesTest, AfterAFailedCanaryTheOthersKeepTheOldData) {
  Change("bad");
  KX_AWAIT_EQ(Held(HoldReason::kWave), kApps - 2);
  BecomeRolled(0, "bad", true);
  BecomeRolled(1, "bad", false);
  KX_UNTIL(Held(HoldReason::kWaveFailed) == kApps - 2) {
    clock_.Advance(std::chrono::seconds(1));
  }
  EXPECT_EQ(RolledFor("bad").size(), 2U);
  const auto states = enforcer_.States();
  ASSERT_EQ(states[0].failed_in_waves.size(), 1U);
  EXPECT_EQ(states[0].failed_in_waves[0].workload.key.name, "app-1");
  EXPECT_TRUE(states[0].has_waves);
  EXPECT_EQ(enforcer_.TotalsNow().failed_waves, 1);
  KX_UNTIL(writer_.AwaitRecords(1).back().patch.contains("failed uid-app-1 ConfigMap/config=")) {
    clock_.Advance(std::chrono::seconds(1));
  }

  Change("mended");
  KX_AWAIT(RolledFor("mended").size() == 2);
  KX_AWAIT_EQ(Held(HoldReason::kWave), kApps - 2);
  EXPECT_EQ(RolledFor("mended"), (std::set<std::string>{"app-0", "app-1"}));
  BecomeRolled(0, "mended", true);
  BecomeRolled(1, "mended", true);
  KX_UNTIL(RolledFor("mended").size() == kApps) {
    clock_.Advance(std::chrono::seconds(1));
  }
  EXPECT_EQ(RolledFor("bad").size(), 2U);
  EXPECT_EQ(enforcer_.TotalsNow().failed_waves, 0);
}

}  // namespace
}  // namespace kubexx::reloader
