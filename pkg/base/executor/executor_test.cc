#include "kubexx/base/executor/executor.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <semaphore>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "kubexx/base/executor/ordered_task.h"
#include "kubexx/base/mutex.h"
#include "kubexx/base/testing/await.h"
#include "kubexx/base/testing/fake_clock.h"
#include "kubexx/base/testing/leak_check.h"
#include "kubexx/base/testing/scarce_threads/scarce_threads.h"

namespace kubexx::base {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

std::size_t ThreadsOfProcess() { return testing::ReadHeldResources().threads.size(); }

/// Where tasks wait until they are let go on.
class TaskGate {
 public:
  void Open() {
    const MutexLock lock(mu_);
    is_open_ = true;
    changed_.notify_all();
  }
  void Wait() {
    const MutexLock lock(mu_);
    ++there_;
    changed_.notify_all();
    KX_AWAIT_CHANGE(changed_, mu_, is_open_);
  }
  void Await(std::size_t tasks) {
    const MutexLock lock(mu_);
    KX_AWAIT_CHANGE(changed_, mu_, there_ >= tasks);
  }
  std::size_t there() const {
    const MutexLock lock(mu_);
    return there_;
  }

 private:
  mutable Mutex mu_;
  CondVar changed_;
  std::size_t there_ KX_GUARDED_BY(mu_) = 0;
  bool is_open_ KX_GUARDED_BY(mu_) = false;
};

class ExecutorTest : public ::testing::Test {
 protected:
  void Make(const ExecutorOptions& options) {
    executor_ = std::make_shared<Executor>(options);
    executor_->Start();
  }
  std::unique_ptr<OrderedTask> NewTask(OrderedTask::Step step) {
    auto task = std::make_unique<OrderedTask>(executor_, std::move(step));
    task->Start();
    return task;
  }
  /// Tasks that wait at the gate, all woken.
  std::vector<std::unique_ptr<OrderedTask>> NewWaiting(std::size_t tasks, TaskGate& gate) {
    std::vector<std::unique_ptr<OrderedTask>> waiting;
    for (std::size_t i = 0; i < tasks; ++i) {
      waiting.push_back(NewTask([&gate] {
        gate.Wait();
        return false;
      }));
      waiting.back()->Wake();
    }
    return waiting;
  }
  /// Whether some task that is woken now has its turn.
  void AwaitTurn() {
    std::binary_semaphore done(0);
    const auto task = NewTask([&done] {
      done.release();
      return false;
    });
    task->Wake();
    KX_AWAIT(done.try_acquire());
  }

  testing::FakeClock clock_;
  std::shared_ptr<Executor> executor_;
};

TEST_F(ExecutorTest, StepsOfATaskNeverMeetAndNoneIsMissed) {
  Make({.threads = 4});
  constexpr int kTasks = 20;
  constexpr int kWakes = 500;
  struct Count {
    std::atomic<int> wanted = 0;
    int seen = 0;  // by one step at a time
    std::atomic<int> at_once = 0;
    std::atomic<int> done = 0;
  };
  std::vector<Count> counts(kTasks);
  std::vector<std::unique_ptr<OrderedTask>> tasks;
  for (Count& count : counts) {
    tasks.push_back(NewTask([&count] {
      EXPECT_EQ(++count.at_once, 1);
      const int wanted = count.wanted;
      if (count.seen < wanted) {
        ++count.seen;
      }
      count.done = count.seen;
      --count.at_once;
      return count.seen < wanted;
    }));
  }
  {
    std::vector<std::jthread> wakers;
    for (int i = 0; i < 3; ++i) {
      wakers.emplace_back([&] {
        for (int k = 0; k < kWakes; ++k) {
          for (std::size_t t = 0; t < tasks.size(); ++t) {
            ++counts[t].wanted;
            tasks[t]->Wake();
          }
        }
      });
    }
  }
  for (const Count& count : counts) {
    KX_AWAIT_EQ(count.done, 3 * kWakes);
  }
}

TEST_F(ExecutorTest, TasksThatHaveMuchToDoTakeTurns) {
  Make({.threads = 1, .patience = std::chrono::hours(1)});
  std::atomic<bool> ends = false;
  const auto busy = NewTask([&ends] { return !ends; });
  busy->Wake();
  AwaitTurn();
  AwaitTurn();
  ends = true;
}

TEST_F(ExecutorTest, ATaskThatWaitsHoldsUpNoOther) {
  Make({.threads = 2, .patience = milliseconds(1)});
  TaskGate gate;
  auto waiting = NewWaiting(5, gate);
  gate.Await(5);
  AwaitTurn();
  EXPECT_LE(executor_->threads(), 2U + 5U);
  gate.Open();
}

TEST_F(ExecutorTest, ReplacesThreadsOnlyAfterThePatience) {
  Make({.threads = 2, .patience = milliseconds(10), .clock = clock_});
  TaskGate gate;
  auto waiting = NewWaiting(3, gate);
  gate.Await(2);
  clock_.AwaitSleepers(1);
  clock_.Advance(milliseconds(9));
  EXPECT_EQ(executor_->threads(), 2U);
  EXPECT_EQ(gate.there(), 2U);
  // The watcher may have looked first before both threads had their tasks.
  KX_UNTIL(gate.there() == 3) {
    clock_.Advance(milliseconds(10));
  }
  EXPECT_EQ(executor_->threads(), 3U);
  gate.Open();
}

TEST_F(ExecutorTest, WhoSaysThatItWaitsIsReplacedAtOnce) {
  Make({.threads = 1, .patience = std::chrono::hours(1), .keep_idle = std::chrono::hours(1)});
  std::binary_semaphore told(0);
  const auto teller = NewTask([&told] {
    told.release();
    return false;
  });
  std::atomic<bool> seen = false;
  const auto waiter = NewTask([&] {
    const Executor::Waiting waiting;
    const Executor::Waiting again;  // the same
    teller->Wake(OrderedTask::Hurry::kAfterThisStep);
    teller->Wake();
    KX_AWAIT(told.try_acquire());
    seen = true;
    return false;
  });
  waiter->Wake();
  KX_AWAIT(seen);
  EXPECT_EQ(executor_->threads(), 2U);
}

TEST_F(ExecutorTest, AWakeForLaterIsNotLostWhenTheStepWaits) {
  Make({.threads = 1, .patience = std::chrono::hours(1)});
  std::binary_semaphore told(0);
  const auto teller = NewTask([&told] {
    told.release();
    return false;
  });
  std::atomic<bool> seen = false;
  const auto waiter = NewTask([&] {
    teller->Wake(OrderedTask::Hurry::kAfterThisStep);
    const Executor::Waiting waiting;
    KX_AWAIT(told.try_acquire());
    seen = true;
    return false;
  });
  waiter->Wake();
  KX_AWAIT(seen);
}

TEST_F(ExecutorTest, ManyThatWaitHaveAThreadEachAndThenThereAreAsFewAsBefore) {
  constexpr std::size_t kWaiting = 200;
  Make({.threads = 2, .patience = milliseconds(1), .keep_idle = seconds(0)});
  const std::size_t before = ThreadsOfProcess();
  TaskGate gate;
  auto waiting = NewWaiting(kWaiting, gate);
  gate.Await(kWaiting);
  AwaitTurn();
  EXPECT_LE(executor_->threads(), kWaiting + 2);
  EXPECT_LE(ThreadsOfProcess(), before + kWaiting + 2);
  gate.Open();
  KX_AWAIT_LE(executor_->threads(), 2U);
  KX_AWAIT_LE(ThreadsOfProcess(), before + 1);
  AwaitTurn();
}

TEST_F(ExecutorTest, ThereAreNeverMoreThreadsThanTheMost) {
  Make({.threads = 1, .max_threads = 3, .patience = milliseconds(10), .clock = clock_});
  TaskGate gate;
  auto waiting = NewWaiting(20, gate);
  gate.Await(1);
  for (std::size_t there = 2; there <= 3; ++there) {
    KX_UNTIL(gate.there() >= there) {
      clock_.Advance(milliseconds(10));
    }
  }
  for (int i = 0; i < 10; ++i) {
    clock_.AwaitSleepers(1);
    clock_.Advance(milliseconds(10));
  }
  EXPECT_EQ(executor_->threads(), 3U);
  EXPECT_EQ(gate.there(), 3U);
  gate.Open();
  gate.Await(20);  // they have their turn all the same
}

TEST_F(ExecutorTest, AStopWaitsForTheStepAndNoFurtherOneBegins) {
  Make({.threads = 2});
  std::binary_semaphore began(0);
  std::binary_semaphore go_on(0);
  std::atomic<int> steps = 0;
  std::atomic<bool> returned = false;
  const auto task = NewTask([&] {
    ++steps;
    began.release();
    KX_AWAIT(go_on.try_acquire());
    returned = true;
    return true;
  });
  task->Wake();
  KX_AWAIT(began.try_acquire());
  EXPECT_TRUE(task->IsRunning());
  EXPECT_FALSE(task->IsCurrent());
  task->RequestStop();
  task->Wake();
  go_on.release();
  task->Stop();
  EXPECT_TRUE(returned);
  EXPECT_FALSE(task->IsRunning());
  AwaitTurn();
  EXPECT_EQ(steps, 1);
  task->Start();
  AwaitTurn();
  EXPECT_EQ(steps, 1) << "it was not woken since";
  task->Wake();
  KX_AWAIT(began.try_acquire());
  task->RequestStop();
  go_on.release();
}

TEST_F(ExecutorTest, ATaskMayStopItselfAndAnother) {
  Make({.threads = 1, .patience = std::chrono::hours(1)});
  const auto never = NewTask([] { return true; });
  std::atomic<bool> stopped = false;
  std::unique_ptr<OrderedTask> task;
  task = NewTask([&] {
    EXPECT_TRUE(task->IsCurrent());
    never->Stop();
    task->Stop();
    stopped = true;
    return true;
  });
  never->Wake();
  task->Wake();
  KX_AWAIT(stopped);
  task->Stop();
}

TEST_F(ExecutorTest, WhatIsWokenBeforeTheThreadsStartRunsThen) {
  executor_ = std::make_shared<Executor>(ExecutorOptions{.threads = 1});
  std::binary_semaphore ran(0);
  const auto task = NewTask([&ran] {
    ran.release();
    return false;
  });
  task->Wake();
  EXPECT_EQ(executor_->threads(), 0U);
  executor_->Start();
  executor_->Start();
  KX_AWAIT(ran.try_acquire());
  EXPECT_EQ(executor_->threads(), 1U);
}

using ExecutorDeathTest = ExecutorTest;

TEST_F(ExecutorDeathTest, ATaskCannotDestroyItsExecutor) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto destroy = [] {
    auto executor = std::make_unique<Executor>(ExecutorOptions{.threads = 1});
    executor->Start();
    // Of another owner, which the compiler cannot know.
    const std::shared_ptr<Executor> shared(executor.get(), [](Executor*) {});
    std::binary_semaphore never(0);
    OrderedTask task(shared, [&executor] {
      executor.reset();
      return false;
    });
    task.Start();
    task.Wake();
    KX_AWAIT(never.try_acquire());
  };
  EXPECT_DEATH(destroy(), "destroyed by one of its own tasks");
}

// Once in a process, so this is the only test that sees it.
TEST_F(ExecutorTest, TellsThatTheSystemHasNoThreadForIt) {
  if constexpr (!testing::ScarceThreads::kWorks) {
    GTEST_SKIP() << "a sanitizer has a pthread_create of its own";
  }
  ::testing::internal::CaptureStderr();
  {
    const auto executor = std::make_shared<Executor>(ExecutorOptions{.threads = 1});
    std::binary_semaphore may_end{0};
    std::atomic<bool> waits = false;
    std::atomic<bool> has_run = false;
    OrderedTask waiting(executor, [&] {
      const Executor::Waiting wait;
      waits = true;
      KX_AWAIT(may_end.try_acquire());
      return false;
    });
    OrderedTask other(executor, [&] {
      has_run = true;
      return false;
    });
    executor->Start();
    waiting.Start();
    other.Start();
    waiting.Wake();
    KX_AWAIT(waits);
    {
      const testing::ScarceThreads scarce(0);
      other.Wake();
      may_end.release();
      KX_AWAIT(has_run);
    }
  }
  const std::string told = ::testing::internal::GetCapturedStderr();
  EXPECT_NE(told.find("has no further thread for an executor"), std::string::npos) << told;
}

}  // namespace
}  // namespace kubexx::base
