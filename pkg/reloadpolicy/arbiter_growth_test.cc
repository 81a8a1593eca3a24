// What an arbiter makes of a workload that gets more pods while its rollout soaks.
#include <gmock/gmock.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "kubexx/reloadpolicy/arbiter.h"
#include "kubexx/reloadpolicy/testing/arbiter_fixture.h"

namespace kubexx::reloadpolicy {
namespace {

using namespace std::chrono_literals;
using testing::AppRef;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// A rollout of "a" may take a minute, and then soaks for ten.
class ArbiterGrowthTest : public testing::ArbiterFixture {
 protected:
  ArbiterGrowthTest() { SetPolicy(settings_); }

  void SeeWanting(std::int64_t wanted, Phase phase) {
    Sighting seen{"u", on_workload_["a"], phase};
    seen.is_first_look = IsFirstLook("a");
    seen.wanted = wanted;
    seen.completed = completed_;
    arbiter_.Observe(AppRef("a"), seen, now_);
    arbiter_.Sweep(now_);
  }
  /// The rollout is complete with three pods, and its time is over.
  void RollAndSoak() {
    Begin("a");
    SeeWanting(3, Phase::kUpdating);
    After(30s);
    SeeWanting(3, Phase::kComplete);
    After(2min);
  }
  /// As a Deployment's status tells it.
  void Grow(std::int64_t wanted) {
    SeeWanting(wanted, Phase::kUnseen);
    SeeWanting(wanted, Phase::kUpdating);
    SeeWanting(wanted, Phase::kUnavailable);
  }
  bool HasFailed() const { return arbiter_.FailureOf(AppRef("a"), now_).has_value(); }

  const Settings settings_{.health_timeout = 1min, .soak_time = 10min, .stop_after_failures = 1};
  std::optional<base::WallTime> completed_{};
};

// An autoscaler made a canary fail, and good data were taken back.
TEST_F(ArbiterGrowthTest, PodsThatAreAddedAfterItsTimeAreNoFailure) {
  RollAndSoak();
  Grow(5);
  EXPECT_FALSE(HasFailed());
  After(59s);
  EXPECT_FALSE(HasFailed());
  SeeWanting(5, Phase::kComplete);
  After(9min);
  EXPECT_TRUE(arbiter_.IsFollowed(AppRef("a"))) << "its soak has begun anew";
  After(1min);
  EXPECT_EQ(Mark("a"), RolloutState::kCompleted);
}

TEST_F(ArbiterGrowthTest, PodsThatAreAddedAndDoNotBecomeAvailableAreAFailure) {
  RollAndSoak();
  Grow(5);
  After(1min);
  EXPECT_TRUE(HasFailed());
  EXPECT_EQ(Mark("a"), RolloutState::kFailed);
  Grow(6);
  EXPECT_TRUE(HasFailed()) << "more pods mend nothing";
}

TEST_F(ArbiterGrowthTest, PodsThatCrashAreAFailureAlsoIfMoreAreAdded) {
  RollAndSoak();
  SeeWanting(3, Phase::kUnavailable);
  EXPECT_TRUE(HasFailed());
  Restart(settings_);
  on_workload_.clear();
  Begin("a");
  SeeWanting(3, Phase::kComplete);
  After(30s);
  SeeWanting(3, Phase::kUnavailable);  // there is time for that
  After(20s);
  Grow(5);
  After(10s);
  EXPECT_TRUE(HasFailed()) << "it was not complete when they were added";
}

TEST_F(ArbiterGrowthTest, AnAutoscalerThatAddsOneAfterTheOtherMaySo) {
  RollAndSoak();
  for (std::int64_t wanted = 4; wanted < 10; ++wanted) {
    Grow(wanted);
    After(40s);
  }
  EXPECT_FALSE(HasFailed());
  After(20s);
  EXPECT_TRUE(HasFailed());
}

// Each growth began the soak anew until the bound was reached, and then the canary had failed.
TEST_F(ArbiterGrowthTest, AHealthyWorkloadUnderAnAutoscalerThatBreathesEndsWell) {
  SetPolicy({.health_timeout = 1min, .soak_time = 1h, .stop_after_failures = 1});
  RollAndSoak();
  const base::WallTime begin = now_;
  while (arbiter_.IsFollowed(AppRef("a")) && !HasFailed() && now_ < begin + 24h) {
    Grow(8);
    After(30s);
    SeeWanting(8, Phase::kComplete);
    After(90s);
    SeeWanting(5, Phase::kComplete);
    After(90s);
  }
  EXPECT_FALSE(HasFailed());
  EXPECT_EQ(Mark("a"), RolloutState::kCompleted);
  EXPECT_GE(now_, begin + 1h)
      << "it is complete for an hour, and the pods' coming is no part of it";
  EXPECT_LE(now_, begin + 2h);
}

TEST_F(ArbiterGrowthTest, PodsThatCrashBetweenTwoGrowthsBeginTheSoakAnew) {
  RollAndSoak();
  Grow(5);
  SeeWanting(5, Phase::kComplete);
  After(9min);
  SeeWanting(3, Phase::kComplete);
  Grow(5);
  SeeWanting(5, Phase::kComplete);
  After(30s);
  SeeWanting(5, Phase::kUnavailable);
  SeeWanting(5, Phase::kComplete);
  After(9min + 59s);
  EXPECT_TRUE(arbiter_.IsFollowed(AppRef("a")));
  After(1s);
  EXPECT_EQ(Mark("a"), RolloutState::kCompleted);
}

TEST_F(ArbiterGrowthTest, AWorkloadThatIsHardlyEverCompleteEndsInAnAnswer) {
  RollAndSoak();
  int rounds = 0;
  for (; rounds < 1000 && !HasFailed(); ++rounds) {
    Grow(5);
    After(30s);
    SeeWanting(5, Phase::kComplete);
    After(9s);
    SeeWanting(3, Phase::kComplete);
  }
  EXPECT_EQ(rounds, 1 + kMostRegrown + 1) << "the first is more than ever, the last one fails";
}

TEST_F(ArbiterGrowthTest, FewerPodsGiveNoTime) {
  RollAndSoak();
  SeeWanting(2, Phase::kUnavailable);
  EXPECT_TRUE(HasFailed());
}

TEST_F(ArbiterGrowthTest, TheSameHoldsForARolloutThatTheNextProcessFollows) {
  RollAndSoak();
  Restart(settings_);
  SeeWanting(3, Phase::kComplete);
  Grow(5);
  EXPECT_FALSE(HasFailed());
  EXPECT_EQ(Try("b"), "go");
  After(1min);
  EXPECT_TRUE(HasFailed());
}

// Nothing tells the next process what was wanted before, but some statuses tell that the rollout
// was complete.
TEST_F(ArbiterGrowthTest, PodsThatWereAddedBetweenTwoProcessesAreGivenTimeWhereTheStatusTells) {
  for (const bool tells : {false, true}) {
    on_workload_.clear();
    Restart(settings_);
    RollAndSoak();
    completed_ = tells ? std::optional(now_ - 2min) : std::nullopt;
    Restart(settings_);
    SeeWanting(5, Phase::kUnavailable);
    EXPECT_EQ(HasFailed(), !tells);
    EXPECT_EQ(Try("b"), "StoppedAfterFailures") << "it may as well be that its pods crash";
    After(1min);
    EXPECT_TRUE(HasFailed()) << tells;
    completed_.reset();
    now_ += 1h;
  }
}

TEST_F(ArbiterGrowthTest, WhenThePodsThatWereAddedBetweenTwoProcessesHaveComeOthersGoOn) {
  RollAndSoak();
  completed_ = now_ - 2min;
  Restart(settings_);
  SeeWanting(5, Phase::kUnavailable);
  EXPECT_EQ(Try("b"), "StoppedAfterFailures");
  SeeWanting(5, Phase::kComplete);
  After(9s);
  EXPECT_EQ(Try("b"), "StoppedAfterFailures") << "pods that crash are complete in between";
  (void)arbiter_.TakeWakes(now_);
  After(1s);
  EXPECT_EQ(Try("b"), "go");
}

// Each process would give pods that crash the timeout anew.
TEST_F(ArbiterGrowthTest, HoweverOftenTheOperatorBeginsAgainOthersWaitForPodsThatCrash) {
  RollAndSoak();
  completed_ = now_ - 2min;
  for (int i = 0; i < 3; ++i) {
    Restart(settings_);
    SeeWanting(3, Phase::kUnavailable);
    EXPECT_EQ(Try("b"), "StoppedAfterFailures");
    After(10s);
  }
}

TEST_F(ArbiterGrowthTest, ACompletionAfterItsTimeIsNone) {
  Begin("a");
  SeeWanting(3, Phase::kUpdating);
  completed_ = now_ + 2min;
  now_ += 3min;  // nobody watches
  Restart(settings_);
  SeeWanting(3, Phase::kComplete);
  EXPECT_EQ(Try("b"), "StoppedAfterFailures");
}

// A restart of the operator stopped everything for the rest of a long soak.
TEST_F(ArbiterGrowthTest, ARestartDuringALongSoakIsNoFailure) {
  for (const bool tells : {false, true}) {
    on_workload_.clear();
    Restart(settings_);
    RollAndSoak();
    completed_ = tells ? std::optional(now_ - 2min) : std::nullopt;
    Restart(settings_);
    SeeWanting(3, Phase::kComplete);
    EXPECT_EQ(Try("b"), tells ? "go" : "StoppedAfterFailures") << "it may have failed meanwhile";
    (void)arbiter_.Begin({AppRef("b"), {}, {}, "u"}, now_);
    if (!tells) {
      (void)arbiter_.TakeWakes(now_);
      After(9s);
      EXPECT_EQ(Try("b"), "StoppedAfterFailures") << "pods that crash are complete in between";
      After(1s);
      EXPECT_THAT(arbiter_.TakeWakes(now_), ElementsAre(AppRef("b")));
      EXPECT_EQ(Try("b"), "go");
    }
    EXPECT_FALSE(arbiter_.Begin({AppRef("a"), on_workload_["a"], {}, "u"}, now_).record ==
                 RolloutState::kRetried);
    completed_.reset();
    now_ += 1h;
  }
}

TEST_F(ArbiterGrowthTest, PodsThatCrashAfterARestartAreAFailureAtOnce) {
  RollAndSoak();
  Restart(settings_);
  SeeWanting(3, Phase::kComplete);
  After(1min);
  EXPECT_EQ(Try("b"), "go");
  SeeWanting(3, Phase::kUnavailable);
  EXPECT_EQ(Try("b"), "StoppedAfterFailures");
  EXPECT_THAT(*arbiter_.FailureOf(AppRef("a"), now_), HasSubstr("unavailable"));
}

}  // namespace
}  // namespace kubexx::reloadpolicy
