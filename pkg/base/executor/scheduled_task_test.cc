#include "kubexx/base/executor/scheduled_task.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "kubexx/base/executor/executor.h"
#include "kubexx/base/testing/await.h"
#include "kubexx/base/testing/fake_clock.h"

namespace kubexx::base {
namespace {

using std::chrono::seconds;

/// The parameter says whether the task has an executor, or else a thread of its own.
class ScheduledTaskTest : public ::testing::TestWithParam<bool> {
 protected:
  void Make(ScheduledTask::Step step) {
    task_ = std::make_unique<ScheduledTask>(GetParam() ? std::make_shared<Executor>() : nullptr,
                                            clock_, std::move(step));
  }

  testing::FakeClock clock_;
  std::atomic<int> steps_ = 0;
  std::unique_ptr<ScheduledTask> task_;
};

INSTANTIATE_TEST_SUITE_P(Threads, ScheduledTaskTest, ::testing::Bool(), [](const auto& param) {
  return std::string(param.param ? "OfAnExecutor" : "OfItsOwn");
});

TEST_P(ScheduledTaskTest, RunsAtTheStartAtItsTimesAndWhenItIsWoken) {
  Make([this](const std::stop_token&) {
    ++steps_;
    return clock_.Now() + seconds(10);
  });
  task_->Start();
  KX_AWAIT_EQ(steps_, 1);
  for (int i = 2; i < 5; ++i) {
    clock_.AdvanceToSleeper(seconds(10));
    KX_AWAIT_EQ(steps_, i);
  }
  clock_.AwaitSleepers(1);
  task_->Wake();
  KX_AWAIT_EQ(steps_, 5);
  task_->Stop();
  task_->Wake();
  clock_.Advance(seconds(100));
  EXPECT_EQ(steps_, 5);
}

TEST_P(ScheduledTaskTest, GoesOnWhileItsTimeHasCome) {
  Make([this](const std::stop_token&) { return ++steps_ < 100 ? clock_.Now() : TimePoint::max(); });
  task_->Start();
  KX_AWAIT_EQ(steps_, 100);
}

TEST_P(ScheduledTaskTest, AWakeDuringAStepHasAnotherOneRun) {
  Make([this](const std::stop_token&) {
    if (++steps_ < 100) {
      task_->Wake();
    }
    return TimePoint::max();
  });
  task_->Start();
  KX_AWAIT_EQ(steps_, 100);
}

TEST_P(ScheduledTaskTest, AStopTellsTheStepThatRunsAndWaitsForIt) {
  std::atomic<bool> ended = false;
  Make([&](const std::stop_token& stop) {
    ++steps_;
    const Executor::Waiting waiting;
    (void)clock_.SleepFor(std::chrono::hours(1), stop);
    ended = true;
    return clock_.Now();
  });
  task_->Start();
  KX_AWAIT_EQ(steps_, 1);
  task_.reset();
  EXPECT_TRUE(ended);
  EXPECT_EQ(steps_, 1);
}

TEST_P(ScheduledTaskTest, AStepMayStopItsOwnTask) {
  std::atomic<bool> returned = false;
  Make([&](const std::stop_token&) {
    ++steps_;
    task_->Stop();
    returned = true;
    return clock_.Now();
  });
  task_->Start();
  KX_AWAIT(returned);
  task_->Stop();
  EXPECT_EQ(steps_, 1);
}

TEST_P(ScheduledTaskTest, SeveralMayStopItAtOnce) {
  std::atomic<bool> ended = false;
  Make([&](const std::stop_token& stop) {
    ++steps_;
    const Executor::Waiting waiting;
    (void)clock_.SleepFor(std::chrono::hours(1), stop);
    ended = true;
    return TimePoint::max();
  });
  task_->Start();
  KX_AWAIT_EQ(steps_, 1);
  std::vector<std::jthread> stoppers;
  for (int i = 0; i < 4; ++i) {
    stoppers.emplace_back([this, &ended] {
      task_->RequestStop();
      task_->Stop();
      EXPECT_TRUE(ended);
    });
  }
  stoppers.clear();
  EXPECT_EQ(steps_, 1);
}

TEST_P(ScheduledTaskTest, MayBeStoppedThoughItWasNeverStarted) {
  Make([this](const std::stop_token&) {
    ++steps_;
    return TimePoint::max();
  });
  task_->Wake();
  task_->RequestStop();
  task_->Stop();
  EXPECT_EQ(steps_, 0);
}

}  // namespace
}  // namespace kubexx::base
