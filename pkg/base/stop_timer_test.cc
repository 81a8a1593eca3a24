#include "kubexx/base/stop_timer.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <stop_token>

#include "kubexx/base/testing/await.h"
#include "kubexx/base/testing/fake_clock.h"

namespace kubexx::base {
namespace {

using std::chrono::seconds;

using testing::AwaitStop;

TEST(StopTimerTest, TimeRequestsTheToken) {
  base::testing::FakeClock clock;
  StopTimer timer(clock, {}, seconds(10));
  clock.AwaitSleepers(1);
  EXPECT_FALSE(timer.token().stop_requested());
  clock.Advance(seconds(10));
  AwaitStop(timer.token());
  EXPECT_TRUE(timer.expired());
}

TEST(StopTimerTest, ARestartBeginsTheTimeAgain) {
  base::testing::FakeClock clock;
  StopTimer timer(clock, {}, seconds(10));
  clock.AwaitSleepers(1);
  clock.Advance(seconds(9));
  timer.Restart();
  clock.Advance(seconds(9));
  clock.AwaitSleepers(1);  // it woke at the old deadline and sleeps again
  EXPECT_FALSE(timer.expired());
  clock.Advance(seconds(1));
  AwaitStop(timer.token());
  EXPECT_TRUE(timer.expired());
}

TEST(StopTimerTest, APauseCountsForNothing) {
  base::testing::FakeClock clock;
  StopTimer timer(clock, {}, seconds(10));
  clock.AwaitSleepers(1);
  timer.Pause();
  for (int i = 0; i < 5; ++i) {
    clock.AwaitSleepers(1);
    clock.Advance(seconds(10));
  }
  clock.AwaitSleepers(1);
  EXPECT_FALSE(timer.expired());
  timer.Restart();
  clock.Advance(seconds(10));
  AwaitStop(timer.token());
}

/// Counts the waits and tells which of them have no end.
class CountsWaits final : public Clock {
 public:
  TimePoint Now() const override { return TimePoint() + seconds(5); }
  WallTime Wall() const override { return {}; }
  Wake WaitUntil(Mutex& mu, CondVar& cv, const std::stop_token& stop, TimePoint deadline) override
      KX_REQUIRES(mu) {
    waits_ += deadline == TimePoint::max() ? 1 : 0;
    return Clock::Real().WaitUntil(mu, cv, stop, deadline);
  }
  int waits() const { return waits_; }

 private:
  std::atomic<int> waits_ = 0;  ///< those without an end
};

TEST(StopTimerTest, TheLongestLimitIsNotInThePast) {
  CountsWaits clock;
  StopTimer timer(clock, {}, Duration::max());
  ASSERT_TRUE(testing::HoldsSoon([&] { return clock.waits() > 0 || timer.expired(); }));
  timer.Restart();
  EXPECT_FALSE(timer.expired());
}

TEST(StopTimerTest, TheParentRequestsTheToken) {
  base::testing::FakeClock clock;
  std::stop_source parent;
  const StopTimer timer(clock, parent.get_token(), seconds(10));
  const StopTimer without_limit(clock, parent.get_token(), seconds(0));
  EXPECT_FALSE(timer.token().stop_requested());
  parent.request_stop();
  EXPECT_TRUE(timer.token().stop_requested());
  EXPECT_TRUE(without_limit.token().stop_requested());
  EXPECT_FALSE(timer.expired());
}

}  // namespace
}  // namespace kubexx::base
