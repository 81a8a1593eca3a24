#include "kubexx/workqueue/task_workers.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <semaphore>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "kubexx/base/executor/executor.h"
#include "kubexx/base/mutex.h"
#include "kubexx/base/testing/await.h"
#include "kubexx/base/testing/fake_clock.h"
#include "kubexx/base/testing/leak_check.h"
#include "kubexx/workqueue/queue.h"

namespace kubexx::workqueue {
namespace {

using std::chrono::seconds;

Key KeyNamed(int number) { return {"Thing", {"ns", std::to_string(number)}}; }

/// A queue and workers that count how often they had each key.
class TaskWorkersTest : public ::testing::Test {
 protected:
  ~TaskWorkersTest() override {
    gate_.release(1000);
    stop_.request_stop();
    workers_.reset();
  }

  void Make(int number) {
    queue_.emplace(Queue::Options{
        .clock = clock_, .executor = executor_, .on_ready = [this] { on_ready_->OnReady(); }});
    workers_.emplace(
        *queue_, TaskWorkers::Options{.executor = executor_,
                                      .clock = clock_,
                                      .number = number,
                                      .handle = [this](Queue::Item& item, const std::stop_token&) {
                                        Handle(item);
                                      }});
    on_ready_ = &*workers_;
  }
  void Handle(Queue::Item& item) {
    const int at_once = ++at_once_;
    int most = most_;
    while (at_once > most && !most_.compare_exchange_weak(most, at_once)) {
    }
    if (waits_) {
      KX_AWAIT(gate_.try_acquire());
    }
    {
      const base::MutexLock lock(mu_);
      ++had_[*item];
    }
    if (puts_back_) {
      puts_back_ = false;
      queue_->PutBack(std::move(item), seconds(5));
    }
    --at_once_;
    ++handled_;
  }
  int Had(const Key& key) {
    const base::MutexLock lock(mu_);
    return had_[key];
  }

  base::testing::FakeClock clock_;
  std::shared_ptr<base::Executor> executor_ = std::make_shared<base::Executor>(
      base::ExecutorOptions{.threads = 2, .keep_idle = seconds(0)});
  std::atomic<bool> waits_ = false;
  std::atomic<bool> puts_back_ = false;
  std::atomic<int> at_once_ = 0;
  std::atomic<int> most_ = 0;
  std::atomic<int> handled_ = 0;
  std::counting_semaphore<> gate_{0};
  base::Mutex mu_;
  std::map<Key, int> had_ KX_GUARDED_BY(mu_);
  std::stop_source stop_;
  std::optional<Queue> queue_;
  std::optional<TaskWorkers> workers_;
  TaskWorkers* on_ready_ = nullptr;  ///< also while it is destroyed
};

TEST_F(TaskWorkersTest, HandleWhatWasQueuedBeforeAndAfterTheStart) {
  Make(3);
  queue_->Add(KeyNamed(1));
  workers_->Start(stop_.get_token());
  KX_AWAIT_EQ(handled_, 1);
  KX_AWAIT_EQ(workers_->busy(), 0U);
  queue_->Add(KeyNamed(2));
  KX_AWAIT_EQ(handled_, 2);
  EXPECT_EQ(Had(KeyNamed(1)), 1);
  EXPECT_EQ(Had(KeyNamed(2)), 1);
}

TEST_F(TaskWorkersTest, ADelayedKeyComesAtItsTime) {
  Make(3);
  workers_->Start(stop_.get_token());
  queue_->AddAfter(KeyNamed(1), seconds(10));
  clock_.AdvanceToSleeper(seconds(9));
  clock_.AdvanceToSleeper(seconds(1));
  KX_AWAIT_EQ(handled_, 1);
  puts_back_ = true;
  queue_->Add(KeyNamed(2));
  KX_AWAIT_EQ(handled_, 2);
  clock_.AdvanceToSleeper(seconds(5));
  KX_AWAIT_EQ(handled_, 3);
  EXPECT_EQ(Had(KeyNamed(2)), 2);
}

TEST_F(TaskWorkersTest, ManyKeysAreHandledAtTheSameTimeAndNoMoreThanThereAreWorkers) {
  executor_->Start();
  const std::size_t before = base::testing::ReadHeldResources().threads.size();
  Make(8);
  workers_->Start(stop_.get_token());
  waits_ = true;
  for (int i = 0; i < 20; ++i) {
    queue_->Add(KeyNamed(i));
  }
  KX_AWAIT_EQ(at_once_, 8);
  EXPECT_EQ(workers_->busy(), 8U);
  gate_.release(20);
  KX_AWAIT_EQ(handled_, 20);
  EXPECT_EQ(most_, 8);
  // One of the executor more, and one that counts the delays.
  KX_AWAIT_LE(base::testing::ReadHeldResources().threads.size(), before + 2);
}

TEST_F(TaskWorkersTest, NoKeyIsMissedAndNoneIsHandledTwiceAtOnce) {
  Make(4);
  workers_->Start(stop_.get_token());
  constexpr int kKeys = 5;
  constexpr int kRounds = 400;
  for (int round = 1; round <= kRounds; ++round) {
    std::vector<std::jthread> adders;
    for (int i = 0; i < kKeys; ++i) {
      if (round % 50 == 0) {
        adders.emplace_back([this, i] { queue_->Add(KeyNamed(i)); });
      } else {
        queue_->Add(KeyNamed(i));
      }
    }
    adders.clear();
    KX_AWAIT_EQ(handled_, round * kKeys);
  }
}

TEST_F(TaskWorkersTest, TheEndIsWhenAllThatIsDueIsHandled) {
  Make(2);
  workers_->Start(stop_.get_token());
  waits_ = true;
  for (int i = 0; i < 5; ++i) {
    queue_->Add(KeyNamed(i));
  }
  KX_AWAIT_EQ(at_once_, 2);
  queue_->ShutDown();
  EXPECT_FALSE(workers_->AwaitEnd(clock_.Now()));
  gate_.release(5);
  EXPECT_TRUE(workers_->AwaitEnd(base::TimePoint::max()));
  EXPECT_EQ(handled_, 5);
}

TEST_F(TaskWorkersTest, TheEndOfAnEmptyQueueIsAtOnce) {
  Make(2);
  workers_->Start(stop_.get_token());
  queue_->ShutDown();
  EXPECT_TRUE(workers_->AwaitEnd(base::TimePoint::max()));
}

TEST_F(TaskWorkersTest, AStopWaitsForTheWorkAndDropsTheRest) {
  Make(1);
  workers_->Start(stop_.get_token());
  waits_ = true;
  for (int i = 0; i < 5; ++i) {
    queue_->Add(KeyNamed(i));
  }
  KX_AWAIT_EQ(at_once_, 1);
  stop_.request_stop();
  gate_.release(5);
  workers_->Stop();
  EXPECT_EQ(handled_, 1);
  workers_->Stop();
}

TEST_F(TaskWorkersTest, AStopThatNobodyHasRequestedBeforeDropsTheRestToo) {
  Make(1);
  workers_->Start(stop_.get_token());
  waits_ = true;
  for (int i = 0; i < 5; ++i) {
    queue_->Add(KeyNamed(i));
  }
  KX_AWAIT_EQ(at_once_, 1);
  std::jthread stopper([this] { workers_->Stop(); });
  KX_AWAIT(queue_->shutting_down());
  gate_.release(5);
  stopper.join();
  EXPECT_EQ(handled_, 1);
  EXPECT_EQ(queue_->Len(), 4U);
}

TEST_F(TaskWorkersTest, MayBeStoppedThoughTheyWereNeverStarted) {
  Make(2);
  queue_->Add(KeyNamed(1));
  EXPECT_EQ(workers_->busy(), 0U);
  workers_->Stop();
  EXPECT_EQ(handled_, 0);
}

}  // namespace
}  // namespace kubexx::workqueue
