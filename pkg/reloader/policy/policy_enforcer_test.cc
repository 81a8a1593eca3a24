#include "kubexx/reloader/policy/policy_enforcer.h"

#include <gmock/gmock.h>

#include <chrono>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "kubexx/base/testing/fake_clock.h"
#include "kubexx/reloader/policy/policy_status.h"
#include "kubexx/reloader/watch/caches.h"

namespace kubexx::reloader {
namespace {

using namespace std::chrono_literals;
using reloadpolicy::Phase;
using reloadpolicy::Policy;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Optional;
using testing::SizeIs;

const SourceId kGovernedConfig{SourceType::kConfigMap, {"shop", "config"}};
const SourceId kGovernedPassword{SourceType::kSecret, {"shop", "password"}};

Workload GovernedWeb(const std::string& name) {
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

class PolicyEnforcerTest : public testing::Test {
 protected:
  PolicyEnforcerTest()
      : enforcer_({.clock = clock_,
                   .notify = [this](const PolicyNotice& notice) { notices_.push_back(notice); }}),
        attached_(enforcer_.Attach(
            {.caches = caches_,
             .wake = [this](const WorkloadId& id,
                            base::Duration after) { wakes_[id.key.name].push_back(after); },
             .needs_rollout = [](const Workload&, const SourceId&) { return false; }})) {}

  void Set(reloadpolicy::Settings settings) {
    enforcer_.SetPolicy({.id = {"shop", "p"}, .generation = 2, .settings = std::move(settings)});
  }
  bool Admit(const Workload& workload) {
    std::vector<Change> changes = ChangesBy({kGovernedConfig});
    return enforcer_.Admit(workload, changes, written_);
  }

  base::testing::FakeClock clock_;
  DecisionRules rules_;
  Caches caches_{{}, rules_};
  std::vector<PolicyNotice> notices_;
  std::map<std::string, std::vector<base::Duration>> wakes_;
  AnnotationEdits written_;
  PolicyEnforcer enforcer_;
  base::Subscription attached_;
};

TEST_F(PolicyEnforcerTest, KnowsWhichPoliciesGovernAWorkload) {
  enforcer_.SetPolicy({.id = {"", "all"}});
  enforcer_.SetPolicy({.id = {"shop", "jobs"}, .kinds = {"Job"}});
  enforcer_.SetPolicy({.id = {"shop", "careful"}, .names = {"web*"}});
  enforcer_.SetPolicy({.id = {"bank", "careful"}});
  EXPECT_THAT(
      enforcer_.Governing({"Deployment", {"shop", "web"}}),
      ElementsAre(reloadpolicy::PolicyId{"shop", "careful"}, reloadpolicy::PolicyId{"", "all"}));
  EXPECT_THAT(enforcer_.Governing({"Deployment", {"shop", "api"}}),
              ElementsAre(reloadpolicy::PolicyId{"", "all"}));
  enforcer_.RemovePolicy({"", "all"});
  EXPECT_THAT(enforcer_.Governing({"Deployment", {"shop", "api"}}), IsEmpty());
}

TEST_F(PolicyEnforcerTest, NewerDataOfPodsThatAreBeingReloadedNeedNoFurtherInterval) {
  Set({.min_interval = 10min});
  const Workload web = GovernedWeb("web");
  ASSERT_TRUE(Admit(web));
  ASSERT_FALSE(Admit(web));
  std::vector<Change> changes = ChangesBy({kGovernedConfig});
  EXPECT_TRUE(enforcer_.AdmitNewer(web, changes, written_));
  Set({.paused = true});
  EXPECT_FALSE(enforcer_.AdmitNewer(web, changes, written_));
}

TEST_F(PolicyEnforcerTest, KnowsTheKeysThatCount) {
  EXPECT_EQ(enforcer_.KeysOf(kGovernedConfig, ""), "");
  enforcer_.SetPolicy(
      {.id = {"shop", "p"}, .sources = {{.kind = "ConfigMap", .name = "config", .keys = "a,b"}}});
  EXPECT_EQ(enforcer_.KeysOf(kGovernedConfig, ""), "a,b");
  EXPECT_EQ(enforcer_.KeysOf({SourceType::kSecret, {"shop", "config"}}, ""), "");
  EXPECT_EQ(enforcer_.KeysOf({SourceType::kConfigMap, {"other", "config"}}, ""), "");
  enforcer_.SetPolicy(
      {.id = {"", "p"}, .sources = {{.kind = "ConfigMap", .name = "config", .keys = "c"}}});
  EXPECT_EQ(enforcer_.KeysOf(kGovernedConfig, ""), "a,b") << "the namespace's own comes first";
  const SourceId foreign = ForeignId(SourceType::kConfigMap, {"shop", "config"}, "bank");
  EXPECT_EQ(enforcer_.KeysOf(foreign, ""), "a,b") << "the policies of its own namespace count";
  enforcer_.RemovePolicy({"shop", "p"});
  EXPECT_EQ(enforcer_.KeysOf(kGovernedConfig, ""), "c");
}

TEST_F(PolicyEnforcerTest, EnforcedKeysComeBeforeTheSourcesOwn) {
  reloadpolicy::Policy policy{.id = {"", "p"},
                              .sources = {{.kind = "ConfigMap", .name = "config", .keys = "c"}}};
  enforcer_.SetPolicy(policy);
  EXPECT_EQ(enforcer_.KeysOf(kGovernedConfig, "own"), "own");
  policy.enforced = true;
  enforcer_.SetPolicy(policy);
  EXPECT_EQ(enforcer_.KeysOf(kGovernedConfig, "own"), "c");
}

TEST_F(PolicyEnforcerTest, KnowsForWhomOnlyUsedKeysCount) {
  Workload web = GovernedWeb("a");
  EXPECT_FALSE(enforcer_.CountsUsedKeysOnly(web));
  web.annotations["reloader.kubexx.io/keys"] = "Referenced";
  EXPECT_TRUE(enforcer_.CountsUsedKeysOnly(web)) << "by its annotation alone";
  web.annotations.erase("reloader.kubexx.io/keys");
  enforcer_.SetPolicy({.id = {"shop", "p"},
                       .names = {"a"},
                       .settings = {.keys = reloadpolicy::KeyScope::kReferenced}});
  EXPECT_TRUE(enforcer_.CountsUsedKeysOnly(web));
  EXPECT_FALSE(enforcer_.CountsUsedKeysOnly(GovernedWeb("b")));
  enforcer_.RemovePolicy({"shop", "p"});
  EXPECT_FALSE(enforcer_.CountsUsedKeysOnly(web));
}

TEST_F(PolicyEnforcerTest, TellsOnceOfWhatAnEnforcedPolicyDoesNotAllow) {
  enforcer_.SetPolicy({.id = {"", "platform"}, .enforced = true, .settings = {.paused = true}});
  Workload web = GovernedWeb("a");
  web.annotations["reloader.kubexx.io/paused"] = "false";
  EXPECT_FALSE(Admit(web));
  EXPECT_FALSE(Admit(web));
  std::vector<std::string> told;
  for (const PolicyNotice& notice : notices_) {
    if (notice.reason == "PolicyEnforced") {
      told.push_back(notice.message);
    }
  }
  EXPECT_THAT(told, ElementsAre("annotation reloader.kubexx.io/paused asks for paused false; "
                                "ClusterReloadPolicy platform, enforced: true"));
}

TEST_F(PolicyEnforcerTest, WithoutPoliciesWritesStayAsTheyAre) {
  EXPECT_TRUE(Admit(GovernedWeb("a")));
  EXPECT_THAT(written_, IsEmpty());
  EXPECT_THAT(wakes_, IsEmpty());
}

TEST_F(PolicyEnforcerTest, WhatMustBeFollowedCarriesItsTime) {
  Set({.max_in_namespace = 1});
  EXPECT_TRUE(Admit(GovernedWeb("a")));
  EXPECT_TRUE(written_.contains("reloader.kubexx.io/last-rollout"));
}

TEST_F(PolicyEnforcerTest, TheNextIsWokenWhenThePlaceIsFree) {
  Set({.max_in_namespace = 1});
  ASSERT_TRUE(Admit(GovernedWeb("a")));
  EXPECT_FALSE(Admit(GovernedWeb("b")));
  EXPECT_THAT(wakes_["b"], ElementsAre(base::Duration(10min))) << "another one wakes it";
  Workload rolled = GovernedWeb("a");
  rolled.annotations["reloader.kubexx.io/last-rollout"] =
      *written_["reloader.kubexx.io/last-rollout"];
  rolled.phase = Phase::kUpdating;
  enforcer_.OnWorkload(rolled.id, &rolled);
  EXPECT_THAT(wakes_["b"], SizeIs(1));
  rolled.phase = Phase::kComplete;
  enforcer_.OnWorkload(rolled.id, &rolled);
  EXPECT_THAT(wakes_["b"], ElementsAre(base::Duration(10min), base::Duration(0)));
  EXPECT_TRUE(Admit(GovernedWeb("b")));
}

TEST_F(PolicyEnforcerTest, AFailedWriteWakesTheNext) {
  Set({.max_in_namespace = 1});
  ASSERT_TRUE(Admit(GovernedWeb("a")));
  EXPECT_FALSE(Admit(GovernedWeb("b")));
  enforcer_.OnWritten(GovernedWeb("a").id, WriteEnd::kNotRolled, 0);
  EXPECT_THAT(wakes_["b"], SizeIs(2));
}

TEST_F(PolicyEnforcerTest, AnIntervalWakesWhenItIsOver) {
  Set({.min_interval = 10min});
  ASSERT_TRUE(Admit(GovernedWeb("a")));
  wakes_.clear();
  EXPECT_FALSE(Admit(GovernedWeb("a")));
  ASSERT_THAT(wakes_["a"], SizeIs(1));
  EXPECT_GE(wakes_["a"][0], base::Duration(10min));
  EXPECT_LE(wakes_["a"][0], base::Duration(10min + 1s));
}

TEST_F(PolicyEnforcerTest, AReasonIsToldOnce) {
  Set({.paused = true});
  EXPECT_FALSE(Admit(GovernedWeb("a")));
  EXPECT_FALSE(Admit(GovernedWeb("a")));
  ASSERT_THAT(notices_, SizeIs(1));
  EXPECT_EQ(notices_[0].workload, GovernedWeb("a").id);
  EXPECT_EQ(notices_[0].uid, "uid-a");
  EXPECT_EQ(notices_[0].reason, "ReloadPending");
  EXPECT_THAT(notices_[0].message, HasSubstr("Paused: no rollout begins (ReloadPolicy shop/p)"));
  enforcer_.RemovePolicy({"shop", "p"});
  EXPECT_THAT(wakes_["a"], testing::Contains(base::Duration(0)));
  EXPECT_TRUE(Admit(GovernedWeb("a")));
}

TEST_F(PolicyEnforcerTest, APausedSourceHoldsItsOwnChangesOnly) {
  Policy policy{.id = {"shop", "p"}, .generation = 1};
  policy.sources = {{.kind = "Secret", .name = "password", .paused = true}};
  enforcer_.SetPolicy(policy);
  std::vector<Change> changes = ChangesBy({kGovernedConfig, kGovernedPassword});
  EXPECT_TRUE(enforcer_.Admit(GovernedWeb("a"), changes, written_));
  EXPECT_EQ(changes, ChangesBy({kGovernedConfig}));
  changes = ChangesBy({kGovernedPassword});
  EXPECT_FALSE(enforcer_.Admit(GovernedWeb("a"), changes, written_));
  ASSERT_THAT(notices_, SizeIs(1));
  EXPECT_THAT(notices_[0].message, HasSubstr("SourcePaused: Secret/shop/password is paused"));
}

TEST_F(PolicyEnforcerTest, WhatIsPausedIsAskedForRarelySinceAnEventTellsOfTheEnd) {
  Set({.paused = true});
  EXPECT_FALSE(Admit(GovernedWeb("a")));
  EXPECT_THAT(wakes_["a"], ElementsAre(base::Duration(10min)));
  Set({.paused = false});
  EXPECT_THAT(wakes_["a"], ElementsAre(base::Duration(10min), base::Duration(0)));
}

TEST_F(PolicyEnforcerTest, WhatAPolicyPausesOfTheSourcesIsAskedForSoon) {
  Policy policy{.id = {"shop", "p"}, .generation = 1};
  policy.sources = {{.kind = "Secret", .name = "password", .paused = true}};
  enforcer_.SetPolicy(policy);
  std::vector<Change> changes = ChangesBy({kGovernedPassword});
  EXPECT_FALSE(enforcer_.Admit(GovernedWeb("a"), changes, written_));
  EXPECT_THAT(wakes_["a"], ElementsAre(base::Duration(30s)));
}

TEST_F(PolicyEnforcerTest, ABadAnnotationIsToldOnceAndHasNoEffect) {
  Workload workload = GovernedWeb("a");
  workload.annotations["reloader.kubexx.io/settle-window"] = "often";
  EXPECT_TRUE(Admit(workload));
  EXPECT_TRUE(Admit(workload));
  ASSERT_THAT(notices_, SizeIs(1));
  EXPECT_TRUE(notices_[0].warning);
  EXPECT_EQ(notices_[0].reason, "InvalidAnnotation");
  EXPECT_THAT(notices_[0].message, HasSubstr("reloader.kubexx.io/settle-window: \"often\""));
}

TEST_F(PolicyEnforcerTest, ABrakeThatCannotBeReadHoldsAndSaysWhatToWrite) {
  Workload workload = GovernedWeb("a");
  workload.annotations["reloader.kubexx.io/paused"] = "yes";
  EXPECT_FALSE(Admit(workload));
  EXPECT_FALSE(Admit(workload));
  ASSERT_THAT(notices_, SizeIs(2));
  EXPECT_TRUE(notices_[0].warning);
  EXPECT_EQ(notices_[0].reason, "InvalidAnnotation");
  EXPECT_THAT(notices_[0].message, HasSubstr("write \"true\" or \"false\""));
  EXPECT_TRUE(notices_[1].warning);
  EXPECT_EQ(notices_[1].reason, "ReloadPending");
  workload.annotations["reloader.kubexx.io/paused"] = "false";
  EXPECT_TRUE(Admit(workload));
}

// Otherwise, anybody who may set a long pause-period could block all other workloads for that long.
TEST_F(PolicyEnforcerTest, ADeploymentThatTheOperatorPausesTakesNoPlaceMeanwhile) {
  Set({.max_in_namespace = 1});
  ASSERT_TRUE(Admit(GovernedWeb("a")));
  Workload rolled = GovernedWeb("a");
  rolled.annotations = {
      {"deployment.reloader.stakater.com/paused-at", "2026-01-01T00:00:00Z"},
      {"reloader.kubexx.io/rollout-state", "started uid-a"},
      {"reloader.kubexx.io/last-rollout", *written_["reloader.kubexx.io/last-rollout"]}};
  rolled.phase = Phase::kPaused;
  enforcer_.OnWritten(rolled.id, WriteEnd::kRolled, 0);
  enforcer_.OnWorkload(rolled.id, &rolled);
  ASSERT_TRUE(Admit(GovernedWeb("b")));
  enforcer_.OnWritten(GovernedWeb("b").id, WriteEnd::kRolled, 0);
  rolled.annotations.erase("deployment.reloader.stakater.com/paused-at");
  rolled.phase = Phase::kUpdating;
  enforcer_.OnWorkload(rolled.id, &rolled);
  EXPECT_FALSE(Admit(GovernedWeb("c"))) << "both have places now";
}

TEST_F(PolicyEnforcerTest, AnOperatorThatHasStoppedKeepsNoPlace) {
  Set({.max_in_namespace = 1});
  ASSERT_TRUE(Admit(GovernedWeb("a")));
  enforcer_.OnWritten(GovernedWeb("a").id, WriteEnd::kOvertaken, 0);
  EXPECT_FALSE(Admit(GovernedWeb("b"))) << "it asks again at once";
  attached_.Reset();
  EXPECT_TRUE(Admit(GovernedWeb("b")));
}

TEST_F(PolicyEnforcerTest, AFailureIsToldOfItsWorkloadAndWrittenOnIt) {
  Set({.health_timeout = 5min, .stop_after_failures = 1});
  ASSERT_TRUE(Admit(GovernedWeb("a")));
  EXPECT_EQ(written_["reloader.kubexx.io/rollout-state"], "started uid-a");
  Workload rolled = GovernedWeb("a");
  rolled.annotations = {
      {"reloader.kubexx.io/rollout-state", "started uid-a"},
      {"reloader.kubexx.io/last-rollout", *written_["reloader.kubexx.io/last-rollout"]}};
  rolled.phase = Phase::kUpdating;
  enforcer_.OnWorkload(rolled.id, &rolled);
  EXPECT_THAT(enforcer_.Marks(rolled), IsEmpty());
  wakes_.clear();
  rolled.phase = Phase::kFailed;
  enforcer_.OnWorkload(rolled.id, &rolled);
  EXPECT_THAT(wakes_["a"], testing::Contains(base::Duration(0))) << "to be marked";
  const AnnotationEdits marks = enforcer_.Marks(rolled);
  EXPECT_EQ(marks, (AnnotationEdits{{"reloader.kubexx.io/rollout-state", "failed uid-a"}}));
  ASSERT_THAT(notices_, SizeIs(1));
  EXPECT_EQ(notices_[0].workload, rolled.id);
  EXPECT_EQ(notices_[0].reason, "RolloutFailed");
  EXPECT_TRUE(notices_[0].warning);
  EXPECT_FALSE(Admit(GovernedWeb("b")));
  EXPECT_THAT(notices_[1].message, HasSubstr("1 rollout has failed: Deployment/shop/a"));
  EXPECT_EQ(enforcer_.Marks(rolled), marks) << "until it stands there";
  EXPECT_THAT(notices_, SizeIs(2)) << "but it is not told again";
}

// Otherwise a workload that has been broken for months would count as one that its rollout has
// broken.
TEST_F(PolicyEnforcerTest, RightAfterAStartItIsNotKnownWhetherABrokenWorkloadIsSoByItsRollout) {
  Set({.health_gate = true, .stop_after_failures = 1});
  Workload broken = GovernedWeb("a");
  broken.phase = Phase::kUnavailable;
  Workload mends = GovernedWeb("b");
  mends.phase = Phase::kUnavailable;
  enforcer_.OnWorkload(broken.id, &broken);  // it is in the first list
  enforcer_.OnWorkload(mends.id, &mends);
  enforcer_.OnSynced();
  EXPECT_FALSE(Admit(broken));
  EXPECT_FALSE(Admit(mends));
  ASSERT_THAT(notices_, SizeIs(2));
  EXPECT_THAT(notices_[0].message, HasSubstr("HealthUnknown: the workload is unavailable"));
  EXPECT_THAT(enforcer_.States()[0].listed, SizeIs(2)) << "the status tells of it";
  EXPECT_THAT(wakes_["a"], testing::Contains(10s + 1ms));
  clock_.Advance(5s);
  EXPECT_FALSE(Admit(broken));
  mends.phase = Phase::kComplete;  // it was about to be complete
  enforcer_.OnWorkload(mends.id, &mends);
  EXPECT_TRUE(Admit(mends));
  EXPECT_EQ(written_["reloader.kubexx.io/rollout-state"], "started uid-b");
  enforcer_.OnWritten(mends.id, WriteEnd::kNotRolled, 0);
  clock_.Advance(5s);
  EXPECT_TRUE(Admit(broken));
  EXPECT_EQ(written_["reloader.kubexx.io/rollout-state"], "started-broken uid-a");
}

TEST_F(PolicyEnforcerTest, WhatBreaksLaterOrUnderNoHealthGateIsNotHeldAsUnknown) {
  Workload broken = GovernedWeb("a");
  broken.phase = Phase::kUnavailable;
  enforcer_.OnWorkload(broken.id, &broken);
  Set({.max_in_namespace = 1});
  EXPECT_TRUE(Admit(broken)) << "nothing depends on who is to blame";
  enforcer_.OnWritten(broken.id, WriteEnd::kNotRolled, 0);
  enforcer_.OnSynced();
  Set({.health_gate = true, .stop_after_failures = 1});
  Workload later = GovernedWeb("b");
  enforcer_.OnWorkload(later.id, &later);
  later.phase = Phase::kUnavailable;
  enforcer_.OnWorkload(later.id, &later);
  EXPECT_TRUE(Admit(later)) << "since when it is so is known";
}

TEST_F(PolicyEnforcerTest, WhatAStatusSaysFailedIsRememberedByTheNextProcess) {
  Set({.health_timeout = 5min, .stop_after_failures = 1});
  ASSERT_TRUE(Admit(GovernedWeb("a")));
  Workload rolled = GovernedWeb("a");
  rolled.annotations["reloader.kubexx.io/last-rollout"] =
      *written_["reloader.kubexx.io/last-rollout"];
  rolled.phase = Phase::kFailed;
  enforcer_.OnWorkload(rolled.id, &rolled);
  const auto status = PolicyStatusFor(enforcer_.States()[0],
                                      reloadpolicy::v1alpha1::ReloadPolicyStatus(), clock_.Wall());
  ASSERT_THAT(status.failed_rollouts, Optional(SizeIs(1)));
  EXPECT_EQ((*status.failed_rollouts)[0].workload, "Deployment/a");
  EXPECT_EQ((*status.failed_rollouts)[0].uid, "uid-a");
  const auto failures = FailuresIn(status, "shop");
  EXPECT_THAT(failures, SizeIs(1));
  auto written_by_hand = status;
  (*written_by_hand.failed_rollouts)[0].rolled_at =
      apimachinery::Time{253'402'300'799};  // in the year 9999
  EXPECT_THAT(FailuresIn(written_by_hand, "shop"), testing::IsEmpty());

  PolicyEnforcer next({.clock = clock_});
  next.SetPolicy({.id = {"shop", "p"}, .settings = {.stop_after_failures = 1}}, failures);
  std::vector<Change> changes = ChangesBy({kGovernedConfig});
  EXPECT_FALSE(next.Admit(GovernedWeb("b"), changes, written_));
  const Workload undone = GovernedWeb("a");  // kubectl rollout undo restores the annotations, too
  next.OnWorkload(undone.id, &undone);
  EXPECT_FALSE(next.Admit(GovernedWeb("b"), changes, written_));
  clock_.Advance(10s);
  EXPECT_TRUE(next.Admit(GovernedWeb("b"), changes, written_)) << "healthy for ten seconds";
}

TEST_F(PolicyEnforcerTest, AStatusSaysThatNothingWaitsOrHasFailed) {
  enforcer_.SetPolicy({.id = {"shop", "p"}});
  const auto status = PolicyStatusFor(enforcer_.States()[0],
                                      reloadpolicy::v1alpha1::ReloadPolicyStatus(), clock_.Wall());
  EXPECT_THAT(status.pending_rollouts, Optional(IsEmpty())) << "the list is written over another";
  EXPECT_THAT(status.failed_rollouts, Optional(IsEmpty()));
  EXPECT_THAT(status.conditions, Optional(SizeIs(3)));
}

// The annotations may be gone by then, and a stop by flags has no status of its own.
TEST_F(PolicyEnforcerTest, AStopByFlagsGoesByTheStatusOfAPolicyThatSaysNothing) {
  PolicyEnforcer first({.flags = {.stop_after_failures = 1}, .clock = clock_});
  first.SetPolicy({.id = {"", "all"}});
  std::vector<Change> changes = ChangesBy({kGovernedConfig});
  Workload broken = GovernedWeb("a");
  ASSERT_TRUE(first.Admit(broken, changes, written_));
  broken.annotations["reloader.kubexx.io/last-rollout"] =
      *written_["reloader.kubexx.io/last-rollout"];
  broken.phase = Phase::kFailed;
  first.OnWorkload(broken.id, &broken);
  const auto status = PolicyStatusFor(
      first.States()[0], reloadpolicy::v1alpha1::ClusterReloadPolicyStatus(), clock_.Wall());

  broken.annotations.clear();
  broken.phase = Phase::kUnavailable;
  for (const bool has_policy : {true, false}) {
    PolicyEnforcer next({.flags = {.stop_after_failures = 1}, .clock = clock_});
    if (has_policy) {
      next.SetPolicy({.id = {"", "all"}}, FailuresIn(status, ""));
    }
    next.OnWorkload(broken.id, &broken);
    EXPECT_EQ(next.Admit(GovernedWeb("b"), changes, written_), !has_policy)
        << "as policies.md says";
  }
}

TEST_F(PolicyEnforcerTest, WhatAStatusSaysFailedAndIsNoLongerThereIsForgotten) {
  enforcer_.SetPolicy({.id = {"shop", "p"}, .settings = {.stop_after_failures = 1}},
                      {{.workload = {"Deployment", {"shop", "gone"}}, .uid = "u"}});
  EXPECT_FALSE(Admit(GovernedWeb("b")));
  enforcer_.OnSynced();
  EXPECT_TRUE(Admit(GovernedWeb("b")));
}

TEST_F(PolicyEnforcerTest, WhatALatePolicySaysFailedAndIsNoLongerThereIsForgotten) {
  enforcer_.OnSynced();
  enforcer_.SetPolicy({.id = {"shop", "p"}, .settings = {.stop_after_failures = 1}},
                      {{.workload = {"Deployment", {"shop", "gone"}}, .uid = "u"}});
  EXPECT_TRUE(Admit(GovernedWeb("b"))) << "the policies could not be read before";
  const base::Subscription next = enforcer_.Attach(
      {.caches = caches_, .wake = [](const WorkloadId&, base::Duration) {}, .needs_rollout = {}});
  enforcer_.SetPolicy({.id = {"shop", "q"}, .settings = {.stop_after_failures = 1}},
                      {{.workload = {"Deployment", {"shop", "gone"}}, .uid = "u"}});
  EXPECT_FALSE(Admit(GovernedWeb("b"))) << "the caches of the next operator are empty yet";
  enforcer_.OnSynced();
  EXPECT_TRUE(Admit(GovernedWeb("b")));
}

TEST_F(PolicyEnforcerTest, ManyBadAnnotationsAreToldOnceEach) {
  const auto ask_all = [this] {
    for (int i = 0; i < 1500; ++i) {
      Workload workload = GovernedWeb("w" + std::to_string(i));
      workload.annotations["reloader.kubexx.io/settle-window"] = "often";
      EXPECT_TRUE(Admit(workload));
    }
  };
  ask_all();
  EXPECT_THAT(notices_, SizeIs(1500));
  ask_all();
  EXPECT_THAT(notices_, SizeIs(1500));
}

TEST_F(PolicyEnforcerTest, ABadAnnotationThatComesBackIsToldAgain) {
  Workload bad = GovernedWeb("a");
  bad.annotations["reloader.kubexx.io/settle-window"] = "often";
  Admit(bad);
  Admit(GovernedWeb("a"));
  Admit(bad);
  EXPECT_THAT(notices_, SizeIs(2)) << "it was mended in between";
  enforcer_.OnWorkload(bad.id, nullptr);
  Admit(bad);
  EXPECT_THAT(notices_, SizeIs(3)) << "it was deleted in between";
}

TEST_F(PolicyEnforcerTest, TurnsOfUpdatingAndSoakingAreNoNews) {
  Set({.health_gate = true});
  ASSERT_TRUE(Admit(GovernedWeb("a")));
  Workload rolled = GovernedWeb("a");
  rolled.annotations["reloader.kubexx.io/last-rollout"] =
      *written_["reloader.kubexx.io/last-rollout"];
  for (const Phase phase :
       {Phase::kUpdating, Phase::kUnavailable, Phase::kUpdating, Phase::kComplete}) {
    rolled.phase = phase;
    enforcer_.OnWorkload(rolled.id, &rolled);
    EXPECT_FALSE(Admit(GovernedWeb("b")));
  }
  EXPECT_THAT(notices_, SizeIs(1));
}

TEST_F(PolicyEnforcerTest, ALongWaitIsLookedAtNowAndThen) {
  Set({.min_interval = 48h});
  ASSERT_TRUE(Admit(GovernedWeb("a")));
  wakes_.clear();
  EXPECT_FALSE(Admit(GovernedWeb("a")));
  EXPECT_THAT(wakes_["a"], ElementsAre(base::Duration(1h))) << "the wall clock may be set";
}

TEST_F(PolicyEnforcerTest, TimeInWhichSomebodyWantsItToWaitIsNoWaitForOthers) {
  const auto longest = [this] { return enforcer_.States()[0].longest_for_others; };
  Set({.paused = true, .max_in_namespace = 1});
  for (int i = 0; i < 30; ++i) {
    EXPECT_FALSE(Admit(GovernedWeb("w" + std::to_string(i))));
  }
  EXPECT_FALSE(longest());
  clock_.Advance(10h);
  const base::WallTime opens = clock_.Wall();
  Set({.max_in_namespace = 1});
  EXPECT_TRUE(Admit(GovernedWeb("a")));
  EXPECT_FALSE(Admit(GovernedWeb("w29")));
  clock_.Advance(1min);
  EXPECT_FALSE(Admit(GovernedWeb("w29")));
  EXPECT_FALSE(Admit(GovernedWeb("w3")));
  ASSERT_TRUE(longest());
  EXPECT_EQ(longest()->workload.key.name, "w29") << "not among the first twenty";
  EXPECT_EQ(longest()->since, opens);
}

TEST_F(PolicyEnforcerTest, StatesListTheFirstOfThoseThatWait) {
  Set({.paused = true});
  for (int i = 0; i < 30; ++i) {
    EXPECT_FALSE(Admit(GovernedWeb("w" + std::to_string(i))));
  }
  const std::vector<PolicyState> states = enforcer_.States();
  ASSERT_THAT(states, SizeIs(1));
  EXPECT_EQ(states[0].generation, 2);
  EXPECT_EQ(states[0].pending, 30U);
  ASSERT_THAT(states[0].listed, SizeIs(PolicyEnforcer::kMaxListed));
  EXPECT_EQ(states[0].listed[0].workload.key.name, "w0");
  EXPECT_EQ(states[0].listed[19].workload.key.name, "w19");
}

TEST_F(PolicyEnforcerTest, NothingIsWokenAfterTheEnd) {
  Set({.paused = true});
  EXPECT_FALSE(Admit(GovernedWeb("a")));
  attached_.Reset();
  EXPECT_FALSE(enforcer_.attached());
  enforcer_.RemovePolicy({"shop", "p"});
  EXPECT_THAT(wakes_["a"], SizeIs(1));
}

}  // namespace
}  // namespace kubexx::reloader
