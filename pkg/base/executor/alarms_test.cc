#include "kubexx/base/executor/alarms.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "kubexx/base/executor/executor.h"
#include "kubexx/base/executor/ordered_task.h"
#include "kubexx/base/testing/await.h"
#include "kubexx/base/testing/fake_clock.h"

namespace kubexx::base {
namespace {

using std::chrono::seconds;

/// The parameter says whether the alarms are of the executor's own clock.
class AlarmsTest : public ::testing::TestWithParam<bool> {
 protected:
  AlarmsTest() {
    executor_->Start();
    task_.Start();
  }

  testing::FakeClock clock_;
  std::shared_ptr<Executor> executor_ =
      std::make_shared<Executor>(GetParam() ? ExecutorOptions{.clock = clock_} : ExecutorOptions());
  std::atomic<int> steps_ = 0;
  OrderedTask task_{executor_, [this] {
                      ++steps_;
                      return false;
                    }};
};

INSTANTIATE_TEST_SUITE_P(Clocks, AlarmsTest, ::testing::Bool(), [](const auto& param) {
  return std::string(param.param ? "TheExecutorsOwn" : "Another");
});

TEST_P(AlarmsTest, WakesOnceAtItsTime) {
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

TEST_P(AlarmsTest, ATaskOfAnotherExecutorEndsTheProgram) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  OrderedTask other(std::make_shared<Executor>(), [] { return false; });
  EXPECT_DEATH(Alarm(executor_->AlarmsOf(clock_), other), "a task of another executor");
}

TEST_P(AlarmsTest, TheLastTimeThatWasSetCounts) {
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

TEST_P(AlarmsTest, AllOfAClockShareAThreadAndEachHasItsTime) {
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

TEST_P(AlarmsTest, OneThatIsGoneWakesNobody) {
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

TEST_P(AlarmsTest, ManyTasksAreWokenAtTheSameTime) {
  const std::shared_ptr<Alarms> alarms = executor_->AlarmsOf(clock_);
  std::atomic<int> woken = 0;
  std::vector<std::unique_ptr<OrderedTask>> tasks;
  std::vector<std::unique_ptr<Alarm>> set;
  constexpr int kTasks = 50;
  for (int i = 0; i < kTasks; ++i) {
    tasks.push_back(std::make_unique<OrderedTask>(executor_, [&woken] {
      ++woken;
      return false;
    }));
    tasks.back()->Start();
    set.push_back(std::make_unique<Alarm>(alarms, *tasks.back()));
    set.back()->Set(clock_.Now() + seconds(10));
  }
  clock_.AwaitSleepers(1);
  clock_.Advance(seconds(10));
  KX_AWAIT_EQ(woken, kTasks);
}

TEST_P(AlarmsTest, ATaskMaySetItsOwnAlarm) {
  std::atomic<int> woken = 0;
  std::unique_ptr<Alarm> alarm;
  OrderedTask task(executor_, [&] {
    ++woken;
    alarm->Set(clock_.Now() + seconds(1));
    return false;
  });
  alarm = std::make_unique<Alarm>(executor_->AlarmsOf(clock_), task);
  task.Start();
  task.Wake();
  for (int i = 1; i < 20; ++i) {
    KX_AWAIT_EQ(woken, i);
    clock_.AdvanceToSleeper(seconds(1));
  }
  task.Stop();
  alarm.reset();
}

}  // namespace
}  // namespace kubexx::base
