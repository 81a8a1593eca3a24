#include "kubexx/base/clock.h"

#include <gtest/gtest.h>

#include <thread>

#include "kubexx/base/testing/await.h"
#include "kubexx/base/testing/test_limit.h"

namespace kubexx::base {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;

TEST(RealClockTest, TimeoutComesAtTheDeadline) {
  Clock& clock = Clock::Real();
  Mutex mu;
  CondVar cv;
  MutexLock lock(mu);
  const TimePoint deadline = clock.Now() + milliseconds(20);
  Wake wake = Wake::kNotified;
  while (wake != Wake::kTimeout) {
    wake = clock.WaitUntil(mu, cv, {}, deadline);
  }
  EXPECT_GE(clock.Now(), deadline);
}

TEST(RealClockTest, StopDuringAWaitReturnsAtOnce) {
  const testing::TestLimit limit;
  Clock& clock = Clock::Real();
  Mutex mu;
  CondVar cv;
  for (const TimePoint deadline : {TimePoint::max(), clock.Now() + hours(1)}) {
    bool waiting = false;
    Wake wake = Wake::kTimeout;
    std::jthread waiter([&](const std::stop_token& stop) {
      MutexLock lock(mu);
      waiting = true;
      while (wake != Wake::kStopped) {
        wake = clock.WaitUntil(mu, cv, stop, deadline);
      }
    });
    // `waiting` can be seen only once the wait has given the mutex up.
    const auto waits = [&] {
      const MutexLock lock(mu);
      return waiting;
    };
    KX_AWAIT(waits());
    const TimePoint begin = clock.Now();
    waiter.request_stop();
    waiter.join();
    EXPECT_EQ(wake, Wake::kStopped);
    EXPECT_LT(clock.Now() - begin, seconds(10));
  }
}

TEST(RealClockTest, StopBeforeAWaitDoesNotWait) {
  const testing::TestLimit limit;
  Mutex mu;
  CondVar cv;
  std::stop_source stop;
  stop.request_stop();
  MutexLock lock(mu);
  EXPECT_EQ(Clock::Real().WaitUntil(mu, cv, stop.get_token(), TimePoint::max()), Wake::kStopped);
}

TEST(RealClockTest, NotificationEndsAWait) {
  const testing::TestLimit limit;
  Clock& clock = Clock::Real();
  Mutex mu;
  CondVar cv;
  bool ready = false;
  std::jthread waiter([&] {
    MutexLock lock(mu);
    while (!ready) {
      EXPECT_EQ(clock.WaitUntil(mu, cv, {}, TimePoint::max()), Wake::kNotified);
    }
  });
  {
    MutexLock lock(mu);
    ready = true;
  }
  cv.notify_one();
}

TEST(RealClockTest, SleepForSaysWhetherItWasStopped) {
  std::stop_source stop;
  EXPECT_TRUE(Clock::Real().SleepFor(milliseconds(1), stop.get_token()));
  EXPECT_TRUE(Clock::Real().SleepFor(milliseconds(-1), stop.get_token()));
  stop.request_stop();
  EXPECT_FALSE(Clock::Real().SleepFor(hours(1), stop.get_token()));
  EXPECT_FALSE(Clock::Real().SleepFor(milliseconds(0), stop.get_token()));
}

TEST(RealClockTest, TimesMoveOn) {
  const TimePoint before = Clock::Real().Now();
  EXPECT_LE(before, Clock::Real().Now());
  EXPECT_GT(Clock::Real().Wall(), WallTime() + hours(24 * 365 * 50));
}

}  // namespace
}  // namespace kubexx::base
