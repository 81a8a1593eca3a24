#include "kubexx/reloader/plan/baseline_schedule.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "kubexx/base/testing/fake_clock.h"

namespace kubexx::reloader {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

WorkloadId Number(int n) { return {WorkloadKind::kDeployment, {"ns", std::to_string(n)}}; }

class BaselineScheduleTest : public testing::Test {
 protected:
  base::Duration Ask(const WorkloadId& workload) { return schedule_.Ask(workload, "v1 u").wait; }

  base::testing::FakeClock clock_;
  BaselineSchedule schedule_{{.rate = 10, .burst = 3}, clock_};
};

TEST_F(BaselineScheduleTest, LetsABurstGoAndSpreadsTheRest) {
  for (int n = 0; n < 3; ++n) {
    EXPECT_EQ(Ask(Number(n)), base::Duration(0));
  }
  EXPECT_EQ(Ask(Number(3)), milliseconds(100));
  EXPECT_EQ(Ask(Number(4)), milliseconds(200));
  clock_.Advance(milliseconds(50));
  EXPECT_EQ(Ask(Number(4)), milliseconds(150)) << "asking again costs no slot";
  clock_.Advance(milliseconds(50));
  EXPECT_EQ(Ask(Number(3)), base::Duration(0));
  clock_.Advance(milliseconds(100));
  EXPECT_EQ(Ask(Number(4)), base::Duration(0));
}

TEST_F(BaselineScheduleTest, AWorkloadIsNotWrittenTwiceInAnInterval) {
  EXPECT_EQ(Ask(Number(0)), base::Duration(0));
  EXPECT_EQ(Ask(Number(0)), minutes(1));
  schedule_.Written(Number(1), "v1 u");
  EXPECT_EQ(Ask(Number(1)), minutes(1));
  clock_.Advance(minutes(1));
  EXPECT_EQ(Ask(Number(0)), base::Duration(0));
  EXPECT_EQ(Ask(Number(1)), base::Duration(0));
}

TEST_F(BaselineScheduleTest, AForbiddenKindWaitsInItsNamespaceOnly) {
  schedule_.Forbidden(Number(0));
  EXPECT_EQ(Ask(Number(2)), minutes(10));
  EXPECT_EQ(Ask({WorkloadKind::kDaemonSet, {"ns", "x"}}), base::Duration(0));
  EXPECT_EQ(Ask({WorkloadKind::kDeployment, {"other", "x"}}), base::Duration(0));
  clock_.Advance(minutes(10));
  EXPECT_EQ(Ask(Number(2)), base::Duration(0));
}

TEST_F(BaselineScheduleTest, WhoTakesItAwayIsNotFought) {
  int writes = 0;
  int news = 0;
  for (int minute = 0; minute < 30 * 24 * 60; ++minute) {
    const BaselineSchedule::Turn turn = schedule_.Ask(Number(0), "v1 u");
    news += turn.is_fought ? 1 : 0;
    if (turn.wait == base::Duration(0)) {
      ++writes;
      schedule_.Written(Number(0), "v1 u");
    }
    clock_.Advance(minutes(1));
  }
  EXPECT_LE(writes, 12 + 30) << "doubling up to a day, then once a day";
  EXPECT_GE(writes, 30);
  EXPECT_EQ(news, 1);
}

TEST_F(BaselineScheduleTest, WhatIsTakenAwayNowAndThenIsPutBack) {
  for (int day = 0; day < 10; ++day) {
    const BaselineSchedule::Turn turn = schedule_.Ask(Number(0), "v1 u");
    EXPECT_EQ(turn.wait, base::Duration(0));
    EXPECT_FALSE(turn.is_fought);
    schedule_.Written(Number(0), "v1 u");
    clock_.Advance(std::chrono::hours(3));
  }
}

TEST_F(BaselineScheduleTest, AWriteThatIsNotShownYetIsNotLost) {
  EXPECT_EQ(Ask(Number(0)), base::Duration(0));
  schedule_.Written(Number(0), "v1 u");
  for (int i = 0; i < 9; ++i) {
    EXPECT_FALSE(schedule_.Ask(Number(0), "v1 u").is_fought);
    clock_.Advance(seconds(1));
  }
  clock_.Advance(minutes(1));
  EXPECT_EQ(Ask(Number(0)), base::Duration(0));
}

TEST_F(BaselineScheduleTest, AnotherBaselineIsNoLoss) {
  for (int i = 0; i < 10; ++i) {
    const std::string baseline = "v1 u " + std::to_string(i);
    const BaselineSchedule::Turn turn = schedule_.Ask(Number(0), baseline);
    EXPECT_EQ(turn.wait, base::Duration(0));
    EXPECT_FALSE(turn.is_fought);
    schedule_.Written(Number(0), baseline);
    clock_.Advance(minutes(1));
  }
}

TEST_F(BaselineScheduleTest, NewsDoNotWaitForTheInterval) {
  schedule_.Written(Number(0), "v1 u a");
  EXPECT_EQ(schedule_.Ask(Number(0), "v1 u a b", false).wait, minutes(1));
  EXPECT_EQ(schedule_.Ask(Number(0), "v1 u a b", true).wait, base::Duration(0));
  schedule_.Written(Number(0), "v1 u a b");
  EXPECT_EQ(schedule_.Ask(Number(0), "v1 u a b", true).wait, minutes(1))
      << "somebody else writes, too: it is not taken back and forth";
  EXPECT_EQ(schedule_.Ask(Number(0), "v1 u a b c", true).wait, base::Duration(0));
}

TEST_F(BaselineScheduleTest, NewsKeepToTheRate) {
  const auto ask = [this](int n) { return schedule_.Ask(Number(n), "v1 u", true).wait; };
  for (int n = 0; n < 3; ++n) {
    EXPECT_EQ(ask(n), base::Duration(0));
  }
  EXPECT_EQ(ask(3), milliseconds(100));
  EXPECT_EQ(ask(3), milliseconds(100)) << "asking again is no way round it";
  clock_.Advance(milliseconds(100));
  EXPECT_EQ(ask(3), base::Duration(0));
  // A wait for a reason of its own does not count either.
  for (int n = 4; n < 7; ++n) {
    schedule_.Written(Number(n), "v1 u");
    EXPECT_EQ(schedule_.Ask(Number(n), "v1 u a").wait, minutes(1));
  }
  for (int n = 7; schedule_.Ask(Number(n), "v1 u").wait == base::Duration(0);) {
    ++n;
  }
  EXPECT_GT(schedule_.Ask(Number(4), "v1 u a", true).wait, base::Duration(0));
  EXPECT_LT(schedule_.Ask(Number(4), "v1 u a", true).wait, seconds(1));
}

TEST_F(BaselineScheduleTest, WhatHasWaitedForTheSameTimeDoesNotGoAtOnce) {
  schedule_.Forbidden(Number(0));
  for (int n = 0; n < 10; ++n) {
    EXPECT_EQ(Ask(Number(n)), minutes(10));
  }
  clock_.Advance(minutes(10));
  int writes = 0;
  for (int n = 0; n < 10; ++n) {
    writes += Ask(Number(n)) == base::Duration(0) ? 1 : 0;
  }
  EXPECT_EQ(writes, 3) << "a burst";
}

TEST_F(BaselineScheduleTest, AttemptsThatFailBecomeRareAndAreNewsOnce) {
  int attempts = 0;
  int news = 0;
  for (int minute = 0; minute < 24 * 60; ++minute) {
    if (Ask(Number(0)) == base::Duration(0)) {
      ++attempts;
      news += schedule_.Failed(Number(0)) ? 1 : 0;
    }
    clock_.Advance(minutes(1));
  }
  EXPECT_LE(attempts, 6 + 24) << "doubling up to an hour, then once an hour";
  EXPECT_GE(attempts, 24);
  EXPECT_EQ(news, 1);
  EXPECT_EQ(Ask(Number(1)), base::Duration(0)) << "another one is not concerned";
}

TEST_F(BaselineScheduleTest, LooksForWhatWatchesTellBecomeRareAndOtherPlansAreNone) {
  EXPECT_EQ(schedule_.LookAgain(Number(0)), seconds(10));
  clock_.Advance(seconds(4));
  EXPECT_EQ(schedule_.LookAgain(Number(0)), seconds(6)) << "an event came in between";
  clock_.Advance(seconds(6));
  EXPECT_EQ(schedule_.LookAgain(Number(0)), seconds(20));
  EXPECT_EQ(schedule_.LookAgain(Number(1)), seconds(10));
  base::Duration pause = seconds(20);
  for (int i = 0; i < 20; ++i) {
    clock_.Advance(pause);
    pause = schedule_.LookAgain(Number(0));
  }
  EXPECT_EQ(pause, minutes(10));
  schedule_.HasSeen(Number(0));
  EXPECT_EQ(schedule_.LookAgain(Number(0)), seconds(10)) << "after another release";
  schedule_.Forget(Number(0));
  schedule_.HasSeen(Number(1));
  EXPECT_EQ(schedule_.size(), 0U);
}

TEST_F(BaselineScheduleTest, KeepsNothingForGood) {
  for (int n = 0; n < 10; ++n) {
    (void)Ask(Number(n));
    schedule_.NothingToDo(Number(n));
  }
  clock_.Advance(std::chrono::hours(1));
  EXPECT_EQ(Ask(Number(10)), base::Duration(0));
  EXPECT_EQ(schedule_.size(), 1U);
  schedule_.Forget(Number(10));
  EXPECT_EQ(schedule_.size(), 0U);
}

}  // namespace
}  // namespace kubexx::reloader
