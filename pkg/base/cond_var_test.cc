#include <gtest/gtest.h>

#include <chrono>
#include <optional>
#include <stop_token>
#include <thread>
#include <vector>

#include "kubexx/base/mutex.h"
#include "kubexx/base/testing/await.h"
#include "kubexx/base/testing/test_limit.h"

namespace kubexx::base {
namespace {

using testing::TestLimit;

constexpr auto kNever = std::chrono::steady_clock::time_point::max();

// What threads hand one another, one at a time.
class Slot {
 public:
  void Put(int value) {
    {
      MutexLock lock(mu_);
      while (value_) {
        changed_.wait(mu_);
      }
      value_ = value;
    }
    changed_.notify_all();
  }

  int Take() {
    int value = 0;
    {
      MutexLock lock(mu_);
      while (!value_) {
        changed_.wait(mu_);
      }
      value = *value_;
      value_.reset();
    }
    changed_.notify_all();
    return value;
  }

 private:
  Mutex mu_;
  CondVar changed_;
  std::optional<int> value_ KX_GUARDED_BY(mu_);
};

TEST(CondVarTest, NoWakeIsLostBetweenThreadsThatTakeTurns) {
  const TestLimit limit;
  constexpr int kTurns = 20000;
  Slot there;
  Slot back;
  const std::jthread other([&] {
    for (int i = 0; i < kTurns; ++i) {
      back.Put(there.Take() + 1);
    }
  });
  for (int i = 0; i < kTurns; ++i) {
    there.Put(i);
    ASSERT_EQ(back.Take(), i + 1);
  }
}

TEST(CondVarTest, OneOfSeveralIsWokenForEachThatIsThere) {
  const TestLimit limit;
  constexpr int kWorkers = 4;
  constexpr int kItems = 20000;
  Mutex mu;
  CondVar more;
  CondVar done;
  int items = 0;
  int taken = 0;
  std::vector<std::jthread> workers;
  for (int i = 0; i < kWorkers; ++i) {
    workers.emplace_back([&](const std::stop_token& stop) {
      MutexLock lock(mu);
      while (!stop.stop_requested()) {
        if (items == 0) {
          more.wait_until(mu, stop, kNever);
          continue;
        }
        --items;
        if (++taken == kItems) {
          done.notify_all();
        }
      }
    });
  }
  for (int i = 0; i < kItems; ++i) {
    {
      MutexLock lock(mu);
      ++items;
    }
    more.notify_one();
  }
  MutexLock lock(mu);
  KX_AWAIT_CHANGE(done, mu, taken >= kItems);
  EXPECT_EQ(items, 0);
}

TEST(CondVarTest, AStopEndsTheWaitThoughItsRequesterHoldsTheMutex) {
  const TestLimit limit;
  for (int i = 0; i < 1000; ++i) {
    Mutex mu;
    CondVar never;
    std::stop_source stop;
    std::jthread waiting([&] {
      MutexLock lock(mu);
      while (!stop.stop_requested()) {
        never.wait_until(mu, stop.get_token(), kNever);
      }
    });
    MutexLock lock(mu);
    stop.request_stop();
  }
}

TEST(CondVarTest, AStopFromBeforeEndsTheWaitAtOnce) {
  const TestLimit limit;
  Mutex mu;
  CondVar never;
  std::stop_source stop;
  stop.request_stop();
  MutexLock lock(mu);
  never.wait_until(mu, stop.get_token(), kNever);
}

TEST(CondVarTest, ADeadlineEndsTheWait) {
  const TestLimit limit;
  Mutex mu;
  CondVar never;
  MutexLock lock(mu);
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(5);
  while (std::chrono::steady_clock::now() < deadline) {
    never.wait_until(mu, {}, deadline);
  }
  never.wait_until(mu, {}, deadline);
  never.wait_until(mu, {}, std::chrono::steady_clock::time_point::min());
  never.wait_for(mu, std::chrono::nanoseconds(-1));
}

TEST(CondVarTest, TheMutexIsHeldAfterwardsByOneAtATime) {
  const TestLimit limit;
  Mutex mu;
  CondVar go;
  bool gone = false;
  int inside = 0;
  std::vector<std::jthread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      MutexLock lock(mu);
      while (!gone) {
        go.wait(mu);
      }
      EXPECT_EQ(++inside, 1);
      testing::LetOthersRun();
      --inside;
    });
  }
  {
    MutexLock lock(mu);
    gone = true;
  }
  go.notify_all();
}

}  // namespace
}  // namespace kubexx::base
