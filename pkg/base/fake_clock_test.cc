#include "kubexx/base/testing/fake_clock.h"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <thread>
#include <vector>

#include "kubexx/base/testing/await.h"

namespace kubexx::base::testing {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;

TEST(FakeClockTest, MovesOnlyByAdvance) {
  FakeClock clock;
  const TimePoint now = clock.Now();
  const WallTime wall = clock.Wall();
  EXPECT_EQ(clock.Now(), now);
  clock.Advance(milliseconds(1500));
  EXPECT_EQ(clock.Now() - now, milliseconds(1500));
  EXPECT_EQ(clock.Wall() - wall, milliseconds(1500));
}

TEST(FakeClockTest, PassedDeadlineDoesNotWait) {
  FakeClock clock;
  Mutex mu;
  CondVar cv;
  MutexLock lock(mu);
  EXPECT_EQ(clock.WaitUntil(mu, cv, {}, clock.Now()), Wake::kTimeout);
  std::stop_source stop;
  stop.request_stop();
  EXPECT_EQ(clock.WaitUntil(mu, cv, stop.get_token(), clock.Now()), Wake::kStopped);
  EXPECT_EQ(clock.WaitUntil(mu, cv, stop.get_token(), TimePoint::max()), Wake::kStopped);
}

TEST(FakeClockTest, AdvanceWakesOnlyThoseWhoseTimeHasCome) {
  FakeClock clock;
  std::array<std::atomic<bool>, 4> awake{};
  std::stop_source stop;
  {
    std::vector<std::jthread> sleepers;
    for (std::size_t i = 0; i < awake.size(); ++i) {
      sleepers.emplace_back([&, i] {
        awake[i] = clock.SleepFor(seconds(10 * (static_cast<int>(i) + 1)), stop.get_token());
      });
    }
    clock.AwaitSleepers(4);
    clock.Advance(seconds(9));
    for (const auto& a : awake) {
      EXPECT_FALSE(a);
    }
    clock.Advance(seconds(11));
    sleepers[0].join();
    sleepers[1].join();
    EXPECT_TRUE(awake[0]);
    EXPECT_TRUE(awake[1]);
    EXPECT_FALSE(awake[2]);
    EXPECT_FALSE(awake[3]);
    clock.AwaitSleepers(2);
    stop.request_stop();
  }
  EXPECT_FALSE(awake[2]) << "SleepFor says that it was stopped";
  EXPECT_FALSE(awake[3]);
}

TEST(FakeClockTest, NotificationEndsAWaitBeforeItsDeadline) {
  FakeClock clock;
  Mutex mu;
  CondVar cv;
  bool ready = false;
  Wake last = Wake::kTimeout;
  std::jthread waiter([&] {
    MutexLock lock(mu);
    const TimePoint deadline = clock.Now() + hours(1);
    while (!ready) {
      last = clock.WaitUntil(mu, cv, {}, deadline);
    }
  });
  clock.AwaitSleepers(1);
  {
    MutexLock lock(mu);
    ready = true;
  }
  cv.notify_all();
  waiter.join();
  EXPECT_EQ(last, Wake::kNotified);
}

TEST(FakeClockTest, AdvanceToSleeperWaitsForAWaitThatIsLongEnough) {
  FakeClock clock;
  const TimePoint begin = clock.Now();
  std::jthread sleeper([&](const std::stop_token& stop) {
    clock.SleepFor(seconds(1), stop);
    clock.SleepFor(seconds(5), stop);
  });
  clock.AdvanceToSleeper(seconds(1));
  clock.AdvanceToSleeper(seconds(5));
  sleeper.join();
  EXPECT_EQ(clock.Now() - begin, seconds(6));
}

TEST(FakeClockTest, AWaitWhoseStopIsRequestedIsNoSleeper) {
  FakeClock clock;
  Mutex mu;
  CondVar cv;
  std::jthread waiter([&](const std::stop_token& stop) {
    MutexLock lock(mu);
    clock.WaitUntil(mu, cv, stop, clock.Now() + hours(1));
  });
  clock.AwaitSleepers(1);
  {
    MutexLock lock(mu);  // the wait cannot return as long as this is held
    waiter.request_stop();
    EXPECT_EQ(clock.Sleepers(), 0U);
  }
  waiter.join();
}

TEST(FakeClockTest, NoWakeUpIsLostUnderRepetition) {
  FakeClock clock;
  constexpr int kRounds = 300;
  std::atomic<int> done = 0;
  std::jthread sleeper([&](const std::stop_token& stop) {
    for (int i = 0; i < kRounds; ++i) {
      clock.SleepFor(milliseconds(1), stop);
      ++done;
    }
  });
  KX_UNTIL(done >= kRounds) {
    clock.Advance(milliseconds(1));
  }
  EXPECT_EQ(done, kRounds);
}

}  // namespace
}  // namespace kubexx::base::testing
