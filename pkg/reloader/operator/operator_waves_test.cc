// The operator under a policy with waves.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "kubexx/base/testing/await.h"
#include "kubexx/reloader/model/object_refs.h"
#include "kubexx/reloader/model/restored_mark.h"
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
  static constexpr std::chrono::seconds kHealthyFor{30};

  WavesTest() {
    gate_ = &enforcer_;
    enforcer_.SetPolicy(
        {.id = {"ns", "careful"},
         .settings = {.waves = reloadpolicy::Waves{.sizes = {{.count = 2}},
                                                   .healthy_for = kHealthyFor,
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
  bool HasRecord(const std::string& text) {
    return std::ranges::any_of(writer_.AwaitRecords(0), [&](const FakeWriter::Call& call) {
      return call.patch.contains(text);
    });
  }
  /// The workload as the write for `value` has left it, by now with its pods available or not.
  void BecomeRolled(int i, const std::string& value, bool is_available) {
    apps::Deployment app = WithVariable(Healthy(i), "STAKATER_CONFIG_CONFIGMAP", DigestText(value));
    app.status.available_replicas = is_available ? 1 : 0;
    BecomeStarted(app);
    app.metadata.annotations["reloader.kubexx.io/rolled-data"] =
        "rolled uid-" + NameOf(i) + " ConfigMap/config=" + DigestText(value);
    Put(*deployments_, app);
    AwaitView();
  }
  void BecomeStarted(apps::Deployment& app) {
    app.metadata.annotations["reloader.kubexx.io/last-rollout"] =
        apimachinery::Time::From(clock_.Wall()).ToString();
    app.metadata.annotations["reloader.kubexx.io/rollout-state"] = "started " + app.metadata.uid;
  }
  /// Waits until the operator has seen all Deployments as they are now, so that the clock may move
  /// on: it sees them in their order, and this adds one last, which uses nothing.
  void AwaitView() {
    const WorkloadId last{WorkloadKind::kDeployment, {"ns", "last-" + std::to_string(++views_)}};
    apps::Deployment deployment = Web(last);
    deployment.metadata.annotations.clear();
    BecomeStarted(deployment);
    Put(*deployments_, deployment);
    KX_AWAIT(enforcer_.Snapshot().IsFollowed(RefOf(last)));
  }
  int Held(HoldReason reason) { return enforcer_.TotalsNow().held[reason]; }

  /// From now on there are waves of one, and the operator may put data back.
  void SetRestoringPolicy() {
    enforcer_.SetPolicy({.id = {"ns", "careful"},
                         .settings = {.waves = reloadpolicy::Waves{
                                          .sizes = {{.count = 1}, {.count = 1}},
                                          .healthy_for = kHealthyFor,
                                          .timeout = std::chrono::minutes(1),
                                          .on_failure = reloadpolicy::OnWaveFailure::kRestore}}});
  }
  /// An operator puts these data back in place of others.
  void PutBack(const std::string& good, const std::string& bad) {
    api::core::v1::ConfigMap config_map;
    config_map.metadata.namespace_ = "ns";
    config_map.metadata.name = "config";
    config_map.metadata.uid = "u";
    config_map.metadata.annotations[kRestoredAnnotation] =
        RestoredMark{.uid = "u",
                     .good = DigestOf("key=" + good),
                     .bad = DigestOf("key=" + bad),
                     .at = apimachinery::Time::From(clock_.Wall())}
            .ToString();
    config_map.data["key"] = good;
    Put(*config_maps_, config_map);
    AwaitEvents("configmaps", "update", ++updates_);
    Settle();
  }

  std::atomic<bool> is_considered_ = false;
  std::atomic<bool> is_snapshot_gone_ = false;  ///< of "config"
  PolicyEnforcer enforcer_{PolicyEnforcer::Options{
      .clock = clock_,
      .consider =
          [this](const std::vector<SourceId>& sources) {
            if (enforcer_.StandingOf(sources.front(), std::nullopt).failure) {
              is_considered_ = true;
            }
          },
      .snapshot_gone =
          [this](const SourceId& source) {
            is_snapshot_gone_ = source.key.name == "config" && source.key.namespace_ == "ns";
          }}};
  double updates_ = 0;
  int views_ = 0;
};

TEST_F(WavesTest, TheCanariesAreRolledFirstAndAllOthersOnceTheyAreHealthy) {
  Change("new");
  KX_AWAIT_EQ(Held(HoldReason::kWave), kApps - 2);
  KX_AWAIT(RolledFor("new").size() == 2);
  EXPECT_EQ(RolledFor("new"), (std::set<std::string>{"app-0", "app-1"}))
      << "who is not concerned is of no wave";
  EXPECT_THAT(writer_.calls()[0].patch, HasSubstr("ConfigMap/config=" + DigestText("new")));
  BecomeRolled(0, "new", true);
  BecomeRolled(1, "new", true);
  // No further: the second wave would fail, because its pods never become available.
  clock_.Advance(kHealthyFor);
  KX_AWAIT(RolledFor("new").size() == kApps);
}

// Somebody takes the annotations away before an event has told of the rollout.
TEST_F(WavesTest, CanariesWithoutAnnotationsAreKnownByTheVersionThatTheyHaveGot) {
  writer_.AnswerWith(VersionNumber(deployments_->resource_version()) + 1);
  Change("new");
  KX_AWAIT_EQ(Held(HoldReason::kWave), kApps - 2);
  KX_AWAIT(RolledFor("new").size() == 2);
  for (int i = 0; i < 2; ++i) {
    Put(*deployments_, WithVariable(Healthy(i), "STAKATER_CONFIG_CONFIGMAP", DigestText("new")));
  }
  AwaitView();
  KX_UNTIL(RolledFor("new").size() == kApps) {
    clock_.Advance(std::chrono::seconds(1));
  }
}

// Seed 269 of ten minutes: the watch of a new leader was half-open, so that nothing told it of the
// mark that the leader before it had set on a canary.
TEST_F(WavesTest, WhoBeginsToLeadAsksHowTheEarlierWavesAreBeforeTheNextOne) {
  operator_.reset();
  HeldShards shards(1, clock_);
  held_shards_ = &shards;
  shards.Open(0);
  std::atomic<bool> is_down = true;
  std::atomic<int> reads = 0;
  std::atomic<int> answers = 0;
  StartOperator(ReloadStrategy::kEnvVars,
                [&](const WorkloadId& id,
                    const std::stop_token&) -> apimachinery::Result<std::optional<Workload>> {
                  ++reads;
                  if (is_down) {
                    return apimachinery::Fail(apimachinery::Reason::kServiceUnavailable, "down");
                  }
                  ++answers;
                  return Workload{.id = id};
                });
  updates_ = 0;
  Change("new");
  KX_AWAIT_EQ(Held(HoldReason::kWave), kApps - 2);
  KX_AWAIT(RolledFor("new").size() == 2);
  EXPECT_EQ(reads, 0) << "who is of the first wave follows nobody";
  BecomeRolled(0, "new", true);
  BecomeRolled(1, "new", true);
  clock_.Advance(kHealthyFor);
  KX_AWAIT(reads > 0);
  EXPECT_EQ(RolledFor("new").size(), 2U);
  is_down = false;
  clock_.Advance(std::chrono::seconds(6));
  KX_AWAIT(RolledFor("new").size() == kApps);
  EXPECT_EQ(answers, 2) << "once each, and of the earlier wave only";
  operator_->Stop();
  shards.Close(0, base::Duration(0));
  operator_.reset();
}

TEST_F(WavesTest, AfterAFailedCanaryTheOthersKeepTheOldData) {
  Change("bad");
  KX_AWAIT_EQ(Held(HoldReason::kWave), kApps - 2);
  KX_AWAIT(RolledFor("bad").size() == 2);
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
  KX_UNTIL(HasRecord("failed uid-app-1 ConfigMap/config=")) {
    clock_.Advance(std::chrono::seconds(1));
  }

  Change("mended");
  KX_AWAIT(RolledFor("mended").size() == 2);
  KX_AWAIT_EQ(Held(HoldReason::kWave), kApps - 2);
  EXPECT_EQ(RolledFor("mended"), (std::set<std::string>{"app-0", "app-1"}));
  BecomeRolled(0, "mended", true);
  BecomeRolled(1, "mended", true);
  // No further: the second wave would fail, because its pods never become available.
  clock_.Advance(kHealthyFor);
  KX_AWAIT(RolledFor("mended").size() == kApps);
  EXPECT_EQ(RolledFor("bad").size(), 2U);
  EXPECT_EQ(enforcer_.TotalsNow().failed_waves, 0);
}

TEST_F(WavesTest, ASnapshotThatIsDeletedIsHeardOf) {
  const std::string name = "config-good-6f1c0a2b93d4e5f6";
  PutConfigMap(name, "old");
  config_maps_->Delete({"ns", name});
  KX_AWAIT(is_snapshot_gone_.load());
}

TEST_F(WavesTest, DataThatArePutBackAfterAFailureReachThoseThatHaveOthersAtOnce) {
  SetRestoringPolicy();
  Change("bad");
  KX_AWAIT(RolledFor("bad").size() == 1);
  BecomeRolled(0, "bad", true);
  clock_.Advance(kHealthyFor);
  KX_AWAIT(RolledFor("bad").size() == 2);
  BecomeRolled(1, "bad", false);
  KX_UNTIL(is_considered_.load()) {
    clock_.Advance(std::chrono::seconds(1));
  }
  const RestoreStanding standing =
      enforcer_.StandingOf({SourceType::kConfigMap, {"ns", "config"}}, std::nullopt);
  ASSERT_TRUE(standing.failure);
  EXPECT_EQ(standing.failure->workload.key.name, "app-1");
  EXPECT_EQ(standing.failure->sources.at(0).bad, DigestOf("key=bad"));
  PutBack("old", "bad");
  KX_AWAIT(RolledFor("old").size() == 2);
  EXPECT_EQ(RolledFor("old"), (std::set<std::string>{"app-0", "app-1"}))
      << "the others have these data still";
  EXPECT_EQ(RolledFor("bad").size(), 2U);
}

}  // namespace
}  // namespace kubexx::reloader
