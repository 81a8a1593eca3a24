// Tests how an arbiter follows rollouts through health, failures and restarts.
#include <gmock/gmock.h>

#include <chrono>
#include <optional>
#include <string>
#include <tuple>

#include "kubexx/reloadpolicy/arbiter.h"
#include "kubexx/reloadpolicy/testing/arbiter_fixture.h"

namespace kubexx::reloadpolicy {
namespace {

using namespace std::chrono_literals;
using testing::AppRef;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::kBegin;
using ::testing::Not;
using ::testing::Pair;
using ::testing::SizeIs;
using testing::Written;

class ArbiterRolloutsTest : public testing::ArbiterFixture {
 protected:
  /// Shows the arbiter a workload whose status is as it was before.
  void SeeSilence(const std::string& name, const Presumed& presumed) {
    arbiter_.Observe(AppRef(name),
                     {.uid = "u",
                      .annotations = on_workload_[name],
                      .phase = Phase::kUnseen,
                      .is_first_look = IsFirstLook(name),
                      .presumed = presumed},
                     now_);
    arbiter_.Sweep(now_);
  }
  /// Shows the arbiter "a" while, or after, its running pods are given new data.
  void SeeInPlace(Phase phase, const std::string& hash, bool is_in_place) {
    arbiter_.Observe(AppRef("a"),
                     {.uid = "u",
                      .annotations = on_workload_["a"],
                      .phase = phase,
                      .template_hash = hash,
                      .is_in_place = is_in_place},
                     now_);
    arbiter_.Sweep(now_);
  }
};

TEST_F(ArbiterRolloutsTest, AStatusThatStaysAsItWasCountsWhenTheRolloutIsOldEnough) {
  SetPolicy({.max_in_namespace = 1, .health_timeout = 8s, .stop_after_failures = 1});
  Begin("a");
  SeeSilence("a", {Phase::kComplete, 5s});
  EXPECT_THAT(arbiter_.TakeLooks(now_), ElementsAre(Pair(AppRef("a"), base::Duration(5s))));
  After(4s);
  EXPECT_EQ(Try("b"), "ConcurrencyLimit");
  After(1s);
  EXPECT_EQ(Try("b"), "go");
  After(1min);
  EXPECT_EQ(Mark("a"), RolloutState::kCompleted);
}

TEST_F(ArbiterRolloutsTest, ItIsNotJudgedBeforeThatAndNotWithARestart) {
  const Settings settings{.max_in_namespace = 1, .health_timeout = 8s, .stop_after_failures = 1};
  SetPolicy(settings);
  Begin("a");
  SeeSilence("a", {Phase::kComplete, 20s});
  After(19s);
  EXPECT_EQ(Try("b"), "ConcurrencyLimit") << "it has not failed";
  After(1min);
  on_workload_["a"] = Written(now_ - 1min, RolloutState::kStarted);
  Restart(settings);
  SeeSilence("a", {Phase::kComplete, 20s});
  EXPECT_EQ(Try("b"), "go");
  SetPolicy(settings);
  Begin("c");
  SeeSilence("c", {Phase::kFailed, 20s});
  After(20s);
  EXPECT_EQ(Try("b"), "StoppedAfterFailures") << "what the status says counts";
}

TEST_F(ArbiterRolloutsTest, AFailureOfWhichOnlySilenceTellsSaysWhatToDo) {
  SetPolicy(stop_);
  Begin("a");
  SeeSilence("a", {Phase::kComplete, std::nullopt});
  After(8s);
  EXPECT_EQ(Mark("a"), RolloutState::kFailed);
  EXPECT_THAT(failure_, HasSubstr("settledFor in --workload-kinds says when such a status counts"));
  See("a", Phase::kUpdating);
  EXPECT_THAT(*arbiter_.FailureOf(AppRef("a"), now_), Not(HasSubstr("settledFor")));
}

TEST_F(ArbiterRolloutsTest, AFailureIsWrittenAndToldOnce) {
  SetPolicy(stop_);
  EXPECT_EQ(Begin("a").record, RolloutState::kStarted);
  See("a", Phase::kUpdating);
  After(8s);
  EXPECT_THAT(arbiter_.TakeLooks(now_), ElementsAre(Pair(AppRef("a"), base::Duration(0))));
  EXPECT_EQ(Mark("a"), RolloutState::kFailed);
  EXPECT_THAT(failure_, HasSubstr("was not complete and healthy within 8s"));
  See("a", Phase::kUnavailable);
  EXPECT_EQ(Mark("a"), std::nullopt);
  EXPECT_EQ(failure_, "");
  EXPECT_THAT(*arbiter_.FailureOf(AppRef("a"), now_), HasSubstr("unavailable"));
}

TEST_F(ArbiterRolloutsTest, AnInstantOfHealthAfterARestartLiftsNothing) {
  SetPolicy(stop_);
  Begin("a");
  See("a", Phase::kUpdating);
  After(8s);
  for (const bool was_written : {false, true}) {
    if (was_written) {
      EXPECT_EQ(Mark("a"), RolloutState::kFailed);
    }
    Restart(stop_);
    See("a", Phase::kComplete);
    EXPECT_EQ(Try("b"), "StoppedAfterFailures") << was_written;
    After(1s);
    See("a", Phase::kUnavailable);
    EXPECT_EQ(Try("b"), "StoppedAfterFailures") << was_written;
  }
  EXPECT_THAT(arbiter_.ReportFor(*arbiter_.policies().Find({"shop", "p"}), now_).failed, SizeIs(1));
}

TEST_F(ArbiterRolloutsTest, AWorkloadSeenBeforeThePolicyIsJudgedByIt) {
  on_workload_["a"] = Written(now_ - 1min, RolloutState::kStarted);
  See("a", Phase::kUnavailable);
  SetPolicy(stop_);
  EXPECT_EQ(Try("b"), "go") << "an event that tells of a rollout only now may be late";
  After(8s);
  EXPECT_EQ(Try("b"), "StoppedAfterFailures");
}

TEST_F(ArbiterRolloutsTest, AFailedWorkloadThatIsScaledToZeroIsNotMended) {
  for (const bool restarts : {false, true}) {
    on_workload_.clear();
    Restart(stop_);
    Begin("a");
    See("a", Phase::kFailed);
    Mark("a");
    if (restarts) {
      Restart(stop_);
    }
    See("a", Phase::kWithoutPods);
    After(1h);
    See("a", Phase::kWithoutPods);
    EXPECT_EQ(Try("b"), "StoppedAfterFailures") << restarts;
    EXPECT_THAT(*arbiter_.FailureOf(AppRef("a"), now_), HasSubstr("without pods"));
    // The change that broke it has been repaired, and the rollout of the repair has no pods to show
    // that.
    Begin("a", Phase::kWithoutPods);
    See("a", Phase::kWithoutPods);
    After(10s);
    EXPECT_EQ(Try("b"), "go") << restarts;
  }
}

TEST_F(ArbiterRolloutsTest, AWorkloadWithoutPodsKeepsNoPlace) {
  SetPolicy(one_);
  Begin("a", Phase::kWithoutPods);
  See("a", Phase::kWithoutPods);
  After(10s);
  EXPECT_EQ(Try("b"), "go");
}

TEST_F(ArbiterRolloutsTest, MendedIsHealthyForAWhileWithAndWithoutARestart) {
  for (const bool restarts : {false, true}) {
    Restart(stop_);
    Begin("a");
    See("a", Phase::kFailed);
    Mark("a");
    if (restarts) {
      Restart(stop_);
    }
    See("a", Phase::kComplete);
    After(9s);
    See("a", Phase::kUnavailable);
    See("a", Phase::kComplete);
    After(9s);
    EXPECT_EQ(Try("b"), "StoppedAfterFailures") << restarts;
    After(1s);
    EXPECT_EQ(Try("b"), "go") << restarts;
    EXPECT_EQ(Mark("a"), RolloutState::kCompleted) << restarts;
  }
}

TEST_F(ArbiterRolloutsTest, AFailureThatIsRolledAgainCountsUntilItIsHealthy) {
  SetPolicy(stop_);
  Begin("a");
  See("a", Phase::kFailed);
  Mark("a");
  After(5s);
  EXPECT_EQ(Begin("a").record, RolloutState::kRetried);
  EXPECT_EQ(Try("b"), "StoppedAfterFailures");
  See("a", Phase::kUpdating);
  EXPECT_EQ(Try("b"), "StoppedAfterFailures");
  Restart(stop_);
  See("a", Phase::kComplete);
  EXPECT_EQ(Try("b"), "StoppedAfterFailures");
  After(10s);
  EXPECT_EQ(Try("b"), "go");
}

TEST_F(ArbiterRolloutsTest, ARetryThatCannotBeWrittenIsNoMend) {
  SetPolicy(stop_);
  Begin("a");
  See("a", Phase::kFailed);
  Begin("a");
  arbiter_.Cancel(AppRef("a"));
  EXPECT_EQ(Try("b"), "StoppedAfterFailures");
}

TEST_F(ArbiterRolloutsTest, AnUndoIsNoMendUntilItIsHealthyWithoutARestartToo) {
  SetPolicy(stop_);
  Begin("a");
  See("a", Phase::kFailed);
  on_workload_["a"] = {};
  See("a", Phase::kComplete);
  EXPECT_EQ(Try("b"), "StoppedAfterFailures");
  After(10s);
  EXPECT_EQ(Try("b"), "go");
}

TEST_F(ArbiterRolloutsTest, PodsThatCrashAtOnceDoNotOpenTheHealthGate) {
  SetPolicy(one_);
  Begin("a");
  for (int i = 0; i < 5; ++i) {
    See("a", Phase::kComplete);
    EXPECT_EQ(Try("b"), "Unhealthy");
    After(1s);
    See("a", Phase::kUnavailable);
    After(5s);
    EXPECT_EQ(Try("b"), "Unhealthy");
  }
  See("a", Phase::kComplete);
  After(9s);
  EXPECT_EQ(Try("b"), "Unhealthy");
  After(1s);
  EXPECT_EQ(Try("b"), "go");
}

TEST_F(ArbiterRolloutsTest, TheSoakTimeCanBeSet) {
  Settings settings = one_;
  settings.soak_time = 30s;
  SetPolicy(settings);
  Begin("a");
  See("a", Phase::kComplete);
  EXPECT_THAT(arbiter_.TakeLooks(now_), ElementsAre(Pair(AppRef("a"), base::Duration(30s))));
  After(29s);
  EXPECT_EQ(Try("b"), "Unhealthy");
  After(1s);
  EXPECT_EQ(Try("b"), "go");
  settings.soak_time = 0s;
  SetPolicy(settings);
  Begin("c");
  See("c", Phase::kComplete);
  EXPECT_EQ(Try("b"), "go");
}

TEST_F(ArbiterRolloutsTest, AWriteOfAnnotationsDoesNotBreakASoak) {
  SetPolicy(one_);
  Begin("a");
  See("a", Phase::kComplete);
  After(9s);
  See("a", Phase::kUnseen);
  After(1s);
  EXPECT_EQ(Try("b"), "go");
}

TEST_F(ArbiterRolloutsTest, OldTroubleIsNoFailedRollout) {
  SetPolicy(stop_);
  on_workload_["old"] = Written(now_ - 2400h, std::nullopt);
  See("old", Phase::kUnavailable);
  on_workload_["drained"] = Written(now_ - 1min, RolloutState::kCompleted);
  See("drained", Phase::kUnavailable);
  on_workload_["copy"] = Written(now_ - 1min, RolloutState::kFailed, "another");
  See("copy", Phase::kUnavailable);
  EXPECT_EQ(arbiter_.rollouts(), 0U);
  EXPECT_EQ(Try("b"), "go");
}

TEST_F(ArbiterRolloutsTest, ANodeThatIsDrainedAfterARolloutIsNoFailure) {
  SetPolicy(stop_);
  Begin("a");
  See("a", Phase::kComplete);
  After(10s);
  See("a", Phase::kUnavailable);  // its end has not been written yet
  EXPECT_EQ(arbiter_.rollouts(), 0U);
  EXPECT_EQ(Mark("a"), RolloutState::kCompleted);
  After(1h);
  See("a", Phase::kUnavailable);
  EXPECT_EQ(Try("b"), "go");
}

TEST_F(ArbiterRolloutsTest, ATemplateThatOthersChangeIsTheirs) {
  SetPolicy(stop_);
  Begin("a");
  See("a", Phase::kUpdating, "ours");
  See("a", Phase::kUpdating, "ours");
  See("a", Phase::kUpdating, "theirs");
  EXPECT_EQ(Mark("a"), RolloutState::kLeft);
  See("a", Phase::kFailed, "theirs");
  EXPECT_EQ(Try("b"), "go");
}

TEST_F(ArbiterRolloutsTest, AFailureIsNotMendedByAnotherTemplateAlone) {
  SetPolicy(stop_);
  Begin("a");
  See("a", Phase::kFailed, "ours");
  See("a", Phase::kUpdating, "theirs");
  EXPECT_EQ(Try("b"), "StoppedAfterFailures");
}

TEST_F(ArbiterRolloutsTest, WhatWasBrokenBeforeDoesNotCount) {
  SetPolicy(stop_);
  EXPECT_EQ(Begin("a", Phase::kFailed).record, RolloutState::kStartedBroken);
  See("a", Phase::kUpdating);
  After(8s);
  EXPECT_EQ(Try("b"), "go");
  EXPECT_EQ(Mark("a"), RolloutState::kLeft);
  EXPECT_EQ(Begin("c", Phase::kUpdating).record, RolloutState::kStarted)
      << "a rollout of others may go well";
}

TEST_F(ArbiterRolloutsTest, WhoTakesOverDoesNotTellAgainOfAFailure) {
  SetPolicy(stop_);
  on_workload_["a"] = Written(now_, RolloutState::kStarted);
  See("a", Phase::kUpdating);
  After(8s);
  on_workload_["a"] = Written(kBegin, RolloutState::kFailed);
  See("a", Phase::kUpdating);
  EXPECT_EQ(Mark("a"), std::nullopt);
  EXPECT_EQ(failure_, "");
  EXPECT_EQ(Try("b"), "StoppedAfterFailures");
}

TEST_F(ArbiterRolloutsTest, APersonCanLiftAStop) {
  SetPolicy(stop_);
  Begin("a");
  See("a", Phase::kFailed);
  Mark("a");
  on_workload_["a"] = Written(kBegin, RolloutState::kCompleted);
  See("a", Phase::kFailed);
  EXPECT_EQ(Try("b"), "go");
}

TEST_F(ArbiterRolloutsTest, WithoutAPolicyThatAsksARolloutIsFollowedNoMore) {
  SetPolicy(stop_);
  Begin("a");
  See("a", Phase::kFailed);
  Mark("a");
  arbiter_.RemovePolicy({"shop", "p"});
  arbiter_.Begin({AppRef("a"), on_workload_["a"], {}, "u"}, now_);
  EXPECT_EQ(Mark("a"), RolloutState::kLeft);
}

TEST_F(ArbiterRolloutsTest, ABrakeThatCannotBeReadHolds) {
  for (const auto& [key, value, words] :
       {std::tuple("paused", "yes", "write \"true\" or \"false\""),
        std::tuple("maintenance-windows", "often", "write, for instance"),
        std::tuple("maintenance-windows", "", "names no window"),
        std::tuple("maintenance-windows", "0 3 31 2 * 1h", "never comes"),
        std::tuple("min-interval", "often", "write, for instance, \"15m\""),
        std::tuple("min-interval", "-1s", "is not a duration between"),
        std::tuple("order", "last", "\"last\" is not a number between 0 and 1000"),
        std::tuple("order", "-1", "write, for instance, \"10\""),
        std::tuple("maintenance-windows", "0 3 * * * 1h Mars/Base", "Mars/Base")}) {
    const Request request{AppRef("a"), {{std::string(kAnnotationPrefix) + key, value}}};
    const Decision decision = arbiter_.Ask(request, now_);
    ASSERT_TRUE(decision.hold) << key << "=" << value;
    EXPECT_EQ(decision.hold->reason, HoldReason::kInvalidAnnotation);
    EXPECT_THAT(decision.hold->message, HasSubstr(words));
  }
}

TEST_F(ArbiterRolloutsTest, AReloadInPlaceThatFailsIsNoRolloutUnlessOneFollows) {
  for (const bool is_followed : {false, true}) {
    Restart(stop_);
    ASSERT_FALSE(Begin("a").hold);
    SeeInPlace(Phase::kUpdating, "1", true);
    After(std::chrono::seconds(8));
    SeeInPlace(Phase::kUpdating, is_followed ? "2" : "1", false);
    (void)Mark("a");
    EXPECT_THAT(failure_, ::testing::StartsWith(is_followed ? "the rollout begun at"
                                                            : "the reload in place begun at"));
    now_ += std::chrono::hours(1);
  }
}

// It counted as somebody else's, and another workload began beside it.
TEST_F(ArbiterRolloutsTest, TheRolloutThatFollowsAFailedReloadInPlaceKeepsItsPlace) {
  Restart(one_);
  ASSERT_FALSE(Begin("a").hold);
  SeeInPlace(Phase::kUpdating, "1", true);
  SeeInPlace(Phase::kUnseen, "2", false);
  EXPECT_EQ(Mark("a"), std::nullopt);
  EXPECT_NE(Try("b"), "go");
  SeeInPlace(Phase::kComplete, "2", false);
  After(std::chrono::minutes(1));
  EXPECT_EQ(Try("b"), "go");
}

}  // namespace
}  // namespace kubexx::reloadpolicy
