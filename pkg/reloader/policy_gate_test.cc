#include "kubexx/reloader/policy_gate.h"

#include <gmock/gmock.h>

#include <chrono>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "kubexx/base/testing/fake_clock.h"
#include "kubexx/reloader/caches.h"

namespace kubexx::reloader {
namespace {

using namespace std::chrono_literals;
using reloadpolicy::Phase;
using reloadpolicy::Policy;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

const SourceId kConfig{SourceType::kConfigMap, {"shop", "config"}};
const SourceId kPassword{SourceType::kSecret, {"shop", "password"}};

Workload Web(const std::string& name) {
  return {.id = {WorkloadKind::kDeployment, {"shop", name}}, .uid = "uid-" + name};
}

std::vector<Change> ChangesBy(std::vector<SourceId> causes) {
  std::vector<Change> changes;
  for (SourceId& cause : causes) {
    Change change;
    change.container = "app";
    change.variable = cause.key.name;
    change.causes.push_back(std::move(cause));
    changes.push_back(std::move(change));
  }
  return changes;
}

class PolicyGateTest : public testing::Test {
 protected:
  PolicyGateTest()
      : gate_({.clock = clock_,
               .notify = [this](const PolicyNotice& notice) { notices_.push_back(notice); }}),
        attached_(gate_.Attach(
            {.caches = caches_,
             .wake = [this](const WorkloadId& id,
                            base::Duration after) { wakes_[id.key.name].push_back(after); },
             .needs_rollout = [](const Workload&, const SourceId&) { return false; }})) {}

  void Set(reloadpolicy::Settings settings) {
    gate_.SetPolicy({.id = {"shop", "p"}, .generation = 2, .settings = std::move(settings)});
  }
  bool Admit(const Workload& workload) {
    std::vector<Change> changes = ChangesBy({kConfig});
    return gate_.Admit(workload, changes, written_);
  }

  base::testing::FakeClock clock_;
  DecisionRules rules_;
  Caches caches_{{}, rules_};
  std::vector<PolicyNotice> notices_;
  std::map<std::string, std::vector<base::Duration>> wakes_;
  AnnotationEdits written_;
  PolicyGate gate_;
  base::Subscription attached_;
};

TEST_F(PolicyGateTest, KnowsTheKeysThatCount) {
  EXPECT_EQ(gate_.KeysOf(kConfig), "");
  gate_.SetPolicy(
      {.id = {"shop", "p"}, .sources = {{.kind = "ConfigMap", .name = "config", .keys = "a,b"}}});
  EXPECT_EQ(gate_.KeysOf(kConfig), "a,b");
  EXPECT_EQ(gate_.KeysOf({SourceType::kSecret, {"shop", "config"}}), "");
  EXPECT_EQ(gate_.KeysOf({SourceType::kConfigMap, {"other", "config"}}), "");
  gate_.SetPolicy(
      {.id = {"", "p"}, .sources = {{.kind = "ConfigMap", .name = "config", .keys = "c"}}});
  EXPECT_EQ(gate_.KeysOf(kConfig), "a,b") << "the namespace's own comes first";
  gate_.RemovePolicy({"shop", "p"});
  EXPECT_EQ(gate_.KeysOf(kConfig), "c");
}

TEST_F(PolicyGateTest, WithoutPoliciesWritesStayAsTheyAre) {
  EXPECT_TRUE(Admit(Web("a")));
  EXPECT_THAT(written_, IsEmpty());
  EXPECT_THAT(wakes_, IsEmpty());
}

TEST_F(PolicyGateTest, WhatMustBeFollowedCarriesItsTime) {
  Set({.max_in_namespace = 1});
  EXPECT_TRUE(Admit(Web("a")));
  EXPECT_TRUE(written_.contains("reloader.kubexx.io/last-rollout"));
}

TEST_F(PolicyGateTest, TheNextIsWokenWhenThePlaceIsFree) {
  Set({.max_in_namespace = 1});
  ASSERT_TRUE(Admit(Web("a")));
  EXPECT_FALSE(Admit(Web("b")));
  EXPECT_THAT(wakes_["b"], ElementsAre(base::Duration(30s))) << "for what no event tells";
  Workload rolled = Web("a");
  rolled.annotations["reloader.kubexx.io/last-rollout"] =
      *written_["reloader.kubexx.io/last-rollout"];
  rolled.phase = Phase::kUpdating;
  gate_.OnWorkload(rolled.id, &rolled, false);
  EXPECT_THAT(wakes_["b"], SizeIs(1));
  rolled.phase = Phase::kComplete;
  gate_.OnWorkload(rolled.id, &rolled, false);
  EXPECT_THAT(wakes_["b"], ElementsAre(base::Duration(30s), base::Duration(0)));
  EXPECT_TRUE(Admit(Web("b")));
}

TEST_F(PolicyGateTest, AFailedWriteWakesTheNext) {
  Set({.max_in_namespace = 1});
  ASSERT_TRUE(Admit(Web("a")));
  EXPECT_FALSE(Admit(Web("b")));
  gate_.OnWritten(Web("a").id, false);
  EXPECT_THAT(wakes_["b"], SizeIs(2));
}

TEST_F(PolicyGateTest, AnIntervalWakesWhenItIsOver) {
  Set({.min_interval = 10min});
  ASSERT_TRUE(Admit(Web("a")));
  EXPECT_FALSE(Admit(Web("a")));
  ASSERT_THAT(wakes_["a"], SizeIs(1));
  EXPECT_GE(wakes_["a"][0], base::Duration(10min));
  EXPECT_LE(wakes_["a"][0], base::Duration(10min + 1s));
}

TEST_F(PolicyGateTest, AReasonIsToldOnce) {
  Set({.paused = true});
  EXPECT_FALSE(Admit(Web("a")));
  EXPECT_FALSE(Admit(Web("a")));
  ASSERT_THAT(notices_, SizeIs(1));
  EXPECT_EQ(notices_[0].workload, Web("a").id);
  EXPECT_EQ(notices_[0].uid, "uid-a");
  EXPECT_EQ(notices_[0].reason, "ReloadPending");
  EXPECT_THAT(notices_[0].message, HasSubstr("Paused: paused (ReloadPolicy shop/p)"));
  gate_.RemovePolicy({"shop", "p"});
  EXPECT_THAT(wakes_["a"], testing::Contains(base::Duration(0)));
  EXPECT_TRUE(Admit(Web("a")));
}

TEST_F(PolicyGateTest, APausedSourceHoldsItsOwnChangesOnly) {
  Policy policy{.id = {"shop", "p"}, .generation = 1};
  policy.sources = {{.kind = "Secret", .name = "password", .paused = true}};
  gate_.SetPolicy(policy);
  std::vector<Change> changes = ChangesBy({kConfig, kPassword});
  EXPECT_TRUE(gate_.Admit(Web("a"), changes, written_));
  EXPECT_EQ(changes, ChangesBy({kConfig}));
  changes = ChangesBy({kPassword});
  EXPECT_FALSE(gate_.Admit(Web("a"), changes, written_));
  ASSERT_THAT(notices_, SizeIs(1));
  EXPECT_THAT(notices_[0].message, HasSubstr("SourcePaused: Secret/shop/password is paused"));
}

TEST_F(PolicyGateTest, ABadAnnotationIsToldOnceAndHasNoEffect) {
  Workload workload = Web("a");
  workload.annotations["reloader.kubexx.io/min-interval"] = "often";
  EXPECT_TRUE(Admit(workload));
  EXPECT_TRUE(Admit(workload));
  ASSERT_THAT(notices_, SizeIs(1));
  EXPECT_TRUE(notices_[0].warning);
  EXPECT_EQ(notices_[0].reason, "InvalidAnnotation");
  EXPECT_THAT(notices_[0].message, HasSubstr("reloader.kubexx.io/min-interval: \"often\""));
}

TEST_F(PolicyGateTest, StatesListTheFirstOfThoseThatWait) {
  Set({.paused = true});
  for (int i = 0; i < 30; ++i) {
    EXPECT_FALSE(Admit(Web("w" + std::to_string(i))));
  }
  const std::vector<PolicyState> states = gate_.States();
  ASSERT_THAT(states, SizeIs(1));
  EXPECT_EQ(states[0].generation, 2);
  EXPECT_EQ(states[0].pending, 30U);
  ASSERT_THAT(states[0].listed, SizeIs(PolicyGate::kMaxListed));
  EXPECT_EQ(states[0].listed[0].workload.key.name, "w0");
  EXPECT_EQ(states[0].listed[19].workload.key.name, "w19");
}

TEST_F(PolicyGateTest, NothingIsWokenAfterTheEnd) {
  Set({.paused = true});
  EXPECT_FALSE(Admit(Web("a")));
  attached_.Reset();
  EXPECT_FALSE(gate_.attached());
  gate_.RemovePolicy({"shop", "p"});
  EXPECT_THAT(wakes_["a"], SizeIs(1));
}

}  // namespace
}  // namespace kubexx::reloader
