#include "kubexx/reloader/baseline_schedule.h"

#include <gtest/gtest.h>

#include "kubexx/base/testing/fake_clock.h"

namespace kubexx::reloader {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

WorkloadId Number(int n) { return {WorkloadKind::kDeployment, {"ns", std::to_string(n)}}; }

class BaselineScheduleTest : public testing::Test {
 protected:
  base::testing::FakeClock clock_;
  BaselineSchedule schedule_{{.rate = 10, .burst = 3}, clock_};
};

TEST_F(BaselineScheduleTest, LetsABurstGoAndSpreadsTheRest) {
  for (int n = 0; n < 3; ++n) {
    EXPECT_EQ(schedule_.Ask(Number(n)), base::Duration(0));
  }
  EXPECT_EQ(schedule_.Ask(Number(3)), milliseconds(100));
  EXPECT_EQ(schedule_.Ask(Number(4)), milliseconds(200));
  clock_.Advance(milliseconds(50));
  EXPECT_EQ(schedule_.Ask(Number(4)), milliseconds(150)) << "asking again costs no slot";
  clock_.Advance(milliseconds(50));
  EXPECT_EQ(schedule_.Ask(Number(3)), base::Duration(0));
  clock_.Advance(milliseconds(100));
  EXPECT_EQ(schedule_.Ask(Number(4)), base::Duration(0));
}

TEST_F(BaselineScheduleTest, AWorkloadIsNotWrittenTwiceInAnInterval) {
  EXPECT_EQ(schedule_.Ask(Number(0)), base::Duration(0));
  EXPECT_EQ(schedule_.Ask(Number(0)), minutes(1));
  schedule_.Written(Number(1));
  EXPECT_EQ(schedule_.Ask(Number(1)), minutes(1));
  clock_.Advance(minutes(1));
  EXPECT_EQ(schedule_.Ask(Number(0)), base::Duration(0));
  EXPECT_EQ(schedule_.Ask(Number(1)), base::Duration(0));
}

TEST_F(BaselineScheduleTest, AForbiddenKindWaitsInItsNamespaceOnly) {
  EXPECT_TRUE(schedule_.Forbidden(Number(0)));
  EXPECT_FALSE(schedule_.Forbidden(Number(1))) << "said once";
  EXPECT_EQ(schedule_.Ask(Number(2)), minutes(10));
  EXPECT_EQ(schedule_.Ask({WorkloadKind::kDaemonSet, {"ns", "x"}}), base::Duration(0));
  EXPECT_EQ(schedule_.Ask({WorkloadKind::kDeployment, {"other", "x"}}), base::Duration(0));
  clock_.Advance(minutes(10));
  EXPECT_EQ(schedule_.Ask(Number(2)), base::Duration(0));
}

TEST_F(BaselineScheduleTest, KeepsNothingForGood) {
  for (int n = 0; n < 10; ++n) {
    (void)schedule_.Ask(Number(n));
    schedule_.Forget(Number(n));
  }
  clock_.Advance(minutes(1));
  EXPECT_EQ(schedule_.Ask(Number(10)), base::Duration(0));
  EXPECT_EQ(schedule_.size(), 1U);
}

}  // namespace
}  // namespace kubexx::reloader
