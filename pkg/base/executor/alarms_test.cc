#include "kubexx/base/executor/alarms.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>

#include "kubexx/base/executor/executor.h"
#include "kubexx/base/executor/ordered_task.h"
#include "kubexx/base/testing/await.h"
#include "kubexx/base/testing/fake_clock.h"

namespace kubexx::base {
namespace {

using std::chrono::seconds;

class AlarmsTest : public ::testing::Test {
 protected:
  AlarmsTest() {
    executor_->Start();
    task_.Start();
  }

  testing::FakeClock clock_;
  std::shared_ptr<Executor> executor_ = std::make_shared<Executor>();
  std::atomic<int> steps_ = 0;
  OrderedTask task_{executor_, [this] {
                      ++steps_;
                      return false;
                    }};
};

TEST_F(AlarmsTest, WakesOnceAtItsTime) {
  Alarm alarm(executor_->AlarmsOf(clock_), task_);
  alarm.Set(clock_.Now() + seconds(10));
  clock_.AwaitSleepers(1);
  clock_.Advance(seconds(9));
  EXPECT_EQ(steps_, 0);
  clock_.Advance(seconds(1));
  KX_AWAIT_EQ(steps_, 1);
  clock_.Advance(seconds(100));
  EXPECT_EQ(steps_, 1);
}

TEST_F(AlarmsTest, TheLastTimeThatWasSetCounts) {
  Alarm alarm(executor_->AlarmsOf(clock_), task_);
  alarm.Set(clock_.Now() + seconds(10));
  alarm.Set(clock_.Now() + seconds(30));
  clock_.AwaitSleepers(1);
  clock_.Advance(seconds(10));
  clock_.AwaitSleepers(1);
  EXPECT_EQ(steps_, 0) << "it was put off";
  alarm.Set(clock_.Now() + seconds(5));
  clock_.Advance(seconds(5));
  KX_AWAIT_EQ(steps_, 1);
  alarm.Set(clock_.Now() + seconds(5));
  alarm.Set(TimePoint::max());
  clock_.Advance(seconds(60));
  EXPECT_EQ(steps_, 1) << "it was taken back";
}

TEST_F(AlarmsTest, AllOfAClockShareAThreadAndEachHasItsTime) {
  const std::shared_ptr<Alarms> alarms = executor_->AlarmsOf(clock_);
  EXPECT_EQ(executor_->AlarmsOf(clock_), alarms);
  std::atomic<int> others = 0;
  OrderedTask other(executor_, [&others] {
    ++others;
    return false;
  });
  other.Start();
  Alarm late(alarms, task_);
  late.Set(clock_.Now() + seconds(20));
  Alarm early(alarms, other);
  early.Set(clock_.Now() + seconds(10));
  clock_.AwaitSleepers(1);
  clock_.Advance(seconds(10));
  KX_AWAIT_EQ(others, 1);
  EXPECT_EQ(steps_, 0);
  clock_.AwaitSleepers(1);
  clock_.Advance(seconds(10));
  KX_AWAIT_EQ(steps_, 1);
}

TEST_F(AlarmsTest, OneThatIsGoneWakesNobody) {
  const std::shared_ptr<Alarms> alarms = executor_->AlarmsOf(clock_);
  {
    Alarm alarm(alarms, task_);
    alarm.Set(clock_.Now() + seconds(10));
  }
  clock_.Advance(seconds(10));
  Alarm again(alarms, task_);
  again.Set(clock_.Now());
  KX_AWAIT_EQ(steps_, 1);
}

}  // namespace
}  // namespace kubexx::base
