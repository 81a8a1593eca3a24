// Tests that clocks that are ahead or are set back keep no place for longer and hide no failure.
#include <gmock/gmock.h>

#include <chrono>
#include <optional>
#include <utility>

#include "kubexx/reloadpolicy/arbiter.h"
#include "kubexx/reloadpolicy/testing/arbiter_fixture.h"

namespace kubexx::reloadpolicy {
namespace {

using namespace std::chrono_literals;
using base::WallTime;
using testing::AppRef;
using ::testing::Pair;
using testing::Written;

class ArbiterClockTest : public testing::ArbiterFixture {};

TEST_F(ArbiterClockTest, ATimeToComeKeepsNoPlaceForLonger) {
  SetPolicy(one_);
  on_workload_["a"] = Written(now_ + 24h * 365, RolloutState::kStarted);
  for (int i = 0; i < 5; ++i) {
    See("a", Phase::kUpdating);
    EXPECT_EQ(Try("b"), "ConcurrencyLimit");
    After(12s);
  }
  EXPECT_EQ(Try("b"), "go") << "its minute is over";
  EXPECT_EQ(Mark("a"), RolloutState::kFailed) << "by the time that stands there";
}

TEST_F(ArbiterClockTest, AClockThatIsSetBackKeepsNoPlaceForLonger) {
  SetPolicy(one_);
  Begin("a");
  now_ -= 24h;
  See("a", Phase::kUpdating);
  After(59s);
  EXPECT_EQ(Try("b"), "ConcurrencyLimit");
  After(1s);
  EXPECT_EQ(Try("b"), "go");
}

TEST_F(ArbiterClockTest, AClockThatIsSetBackDuringASoakKeepsNoPlaceForLonger) {
  for (const bool is_seen : {false, true}) {
    Restart(one_);
    Begin("a");
    See("a", Phase::kComplete);
    After(5s);
    now_ -= 1h;
    arbiter_.Sweep(now_);
    if (is_seen) {
      See("a", Phase::kComplete);
    }
    EXPECT_THAT(arbiter_.TakeLooks(now_),
                ::testing::Contains(Pair(AppRef("a"), base::Duration(10s))));
    After(9s);
    EXPECT_EQ(Try("b"), "Unhealthy") << is_seen;
    After(1s);
    EXPECT_EQ(Try("b"), "go") << is_seen;
    EXPECT_EQ(Mark("a"), RolloutState::kCompleted) << is_seen;
  }
}

TEST_F(ArbiterClockTest, AClockThatIsSetBackLetsARolloutTimeOutUnseen) {
  SetPolicy(stop_);
  Begin("a");
  See("a", Phase::kUpdating);
  now_ -= 1h;
  arbiter_.Sweep(now_);
  After(8s);
  EXPECT_EQ(Try("b"), "StoppedAfterFailures");
  EXPECT_EQ(Mark("a"), RolloutState::kFailed);
}

TEST_F(ArbiterClockTest, AClockThatIsSetBackMakesNoWaitOfTheFuture) {
  SetPolicy(one_);
  Begin("a");
  arbiter_.Begin({AppRef("b"), {}, {}, "u"}, now_);
  arbiter_.Sweep(now_);
  now_ -= 1h;
  arbiter_.Sweep(now_);
  EXPECT_EQ(arbiter_.pending().at(AppRef("b")).since, now_);
  EXPECT_EQ(arbiter_.pending().at(AppRef("b")).for_others_since, now_);
}

TEST_F(ArbiterClockTest, TheEndByAClockThatWasAheadHidesNothingOfTheNext) {
  SetPolicy(stop_);
  on_workload_["a"] = Written(now_ + 1h, RolloutState::kStarted);
  See("a", Phase::kUpdating, "first");
  on_workload_["a"] = Written(now_, RolloutState::kStarted);  // another replica has written it
  See("a", Phase::kUpdating, "second");
  EXPECT_EQ(Mark("a"), std::nullopt) << "it has not left that one";
  See("a", Phase::kUpdating, "second");
  After(8s);
  EXPECT_EQ(Try("b"), "StoppedAfterFailures");
}

TEST_F(ArbiterClockTest, WhatAClockThatWasAheadHasWrittenIsNotTheNextRollout) {
  for (const base::Duration ahead : {base::Duration(2s), base::Duration(1h)}) {
    Restart(stop_);
    const auto by = std::chrono::duration_cast<WallTime::duration>(ahead);
    on_workload_["a"] = Written(now_ + by, RolloutState::kStarted);
    See("a", Phase::kUpdating, "first");
    const Annotations first = on_workload_["a"];
    Begin("a", Phase::kUpdating, first);
    const Annotations second = std::exchange(on_workload_["a"], first);
    See("a", Phase::kUpdating, "first");
    on_workload_["a"] = second;
    See("a", Phase::kUpdating, "second");
    EXPECT_EQ(arbiter_.rollouts(), 1U) << ahead.count();
    After(8s);
    EXPECT_EQ(Try("b"), "StoppedAfterFailures") << ahead.count();
    EXPECT_EQ(Mark("a"), RolloutState::kFailed) << ahead.count();
  }
}

}  // namespace
}  // namespace kubexx::reloadpolicy
