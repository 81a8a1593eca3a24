#include "kubexx/base/after.h"

#include <gtest/gtest.h>

#include <chrono>
#include <stop_token>

namespace kubexx::base {
namespace {

using std::chrono::seconds;

TEST(AfterTest, IsTheSumAsFarAsThatCanBeTold) {
  const TimePoint now = TimePoint() + seconds(5);
  EXPECT_EQ(After(now, seconds(2)), TimePoint() + seconds(7));
  EXPECT_EQ(After(now, seconds(-2)), TimePoint() + seconds(3));
  EXPECT_EQ(After(now, Duration::max()), TimePoint::max());
  EXPECT_EQ(After(TimePoint::max(), seconds(1)), TimePoint::max());
  EXPECT_EQ(After(TimePoint::max(), seconds(0)), TimePoint::max());
  EXPECT_EQ(After(now, std::chrono::milliseconds::max()), TimePoint::max());
  EXPECT_EQ(After(now, std::chrono::hours::max()), TimePoint::max());
  EXPECT_EQ(After(now, std::chrono::milliseconds(3)), now + std::chrono::milliseconds(3));
}

/// Is stopped in the first wait.
class OneWait final : public Clock {
 public:
  TimePoint Now() const override { return TimePoint() + seconds(5); }
  WallTime Wall() const override { return {}; }
  Wake WaitUntil(Mutex& /*mu*/, CondVar& /*cv*/, const std::stop_token& /*stop*/,
                 TimePoint deadline) override {
    until_ = deadline;
    return Wake::kStopped;
  }
  TimePoint until() const { return until_; }

 private:
  TimePoint until_{};
};

TEST(AfterTest, ASleepForEverIsNoShortOne) {
  OneWait clock;
  EXPECT_FALSE(clock.SleepFor(Duration::max(), {}));
  EXPECT_EQ(clock.until(), TimePoint::max());
}

}  // namespace
}  // namespace kubexx::base
