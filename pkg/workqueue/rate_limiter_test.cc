#include "kubexx/workqueue/rate_limiter.h"

#include <gtest/gtest.h>

#include <chrono>
#include <vector>

#include "kubexx/base/testing/fake_clock.h"
#include "kubexx/workqueue/queue.h"

namespace kubexx::workqueue {
namespace {

using base::Duration;
using std::chrono::milliseconds;
using std::chrono::seconds;

const Key kA{"", {"ns", "a"}};
const Key kB{"", {"ns", "b"}};

TEST(ExponentialFailureRateLimiterTest, DoublesPerKeyUpToTheLimit) {
  const auto limiter = NewExponentialFailureRateLimiter(milliseconds(1), milliseconds(10));
  for (const int expected : {1, 2, 4, 8, 10, 10, 10}) {
    EXPECT_EQ(limiter->When(kA), milliseconds(expected));
  }
  EXPECT_EQ(limiter->When(kB), milliseconds(1)) << "keys do not share failures";
  EXPECT_EQ(limiter->NumRequeues(kA), 7);
  EXPECT_EQ(limiter->NumRequeues(kB), 1);
}

TEST(ExponentialFailureRateLimiterTest, ForgetStartsAgain) {
  const auto limiter = NewExponentialFailureRateLimiter(milliseconds(1), seconds(1));
  limiter->When(kA);
  limiter->When(kA);
  limiter->Forget(kA);
  limiter->Forget(kB);
  EXPECT_EQ(limiter->NumRequeues(kA), 0);
  EXPECT_EQ(limiter->When(kA), milliseconds(1));
}

TEST(ExponentialFailureRateLimiterTest, NeverOverflows) {
  const auto limiter = NewExponentialFailureRateLimiter(Duration(3), Duration::max());
  Duration last{0};
  for (int i = 0; i < 200; ++i) {
    const Duration delay = limiter->When(kA);
    EXPECT_GE(delay, last) << i;
    last = delay;
  }
  EXPECT_EQ(last, Duration::max());
  EXPECT_EQ(limiter->NumRequeues(kA), 200);
}

TEST(ExponentialFailureRateLimiterTest, OddLimitsAreHarmless) {
  EXPECT_EQ(NewExponentialFailureRateLimiter(seconds(5), seconds(1))->When(kA), seconds(1));
  EXPECT_EQ(NewExponentialFailureRateLimiter(seconds(-5), seconds(1))->When(kA), seconds(0));
  EXPECT_EQ(NewExponentialFailureRateLimiter(seconds(5), seconds(-1))->When(kA), seconds(0));
}

TEST(BucketRateLimiterTest, AllKeysShareTheBucket) {
  base::testing::FakeClock clock;
  const auto limiter = NewBucketRateLimiter(1, 2, clock);
  EXPECT_EQ(limiter->When(kA), seconds(0));
  EXPECT_EQ(limiter->When(kB), seconds(0));
  EXPECT_EQ(limiter->When(kA), seconds(1));
  EXPECT_EQ(limiter->When(kB), seconds(2));
  clock.Advance(seconds(10));
  EXPECT_EQ(limiter->When(kA), seconds(0));
  EXPECT_EQ(limiter->NumRequeues(kA), 0);
}

TEST(MaxOfRateLimiterTest, TakesTheLargerOfBoth) {
  base::testing::FakeClock clock;
  const auto limiter =
      NewMaxOfRateLimiter(NewExponentialFailureRateLimiter(milliseconds(1500), seconds(60)),
                          NewBucketRateLimiter(1, 1, clock));
  EXPECT_EQ(limiter->When(kA), milliseconds(1500)) << "the bucket has a token";
  EXPECT_EQ(limiter->When(kA), milliseconds(3000)) << "one second from the bucket";
  EXPECT_EQ(limiter->When(kB), seconds(2)) << "the bucket owes two";
  EXPECT_EQ(limiter->NumRequeues(kA), 2);
  limiter->Forget(kA);
  EXPECT_EQ(limiter->NumRequeues(kA), 0);
}

TEST(DefaultRateLimiterTest, StartsAtFiveMillisecondsAndEndsAtThousandSeconds) {
  base::testing::FakeClock clock;
  const auto limiter = NewDefaultRateLimiter(clock);
  EXPECT_EQ(limiter->When(kA), milliseconds(5));
  EXPECT_EQ(limiter->When(kA), milliseconds(10));
  for (int i = 0; i < 30; ++i) {
    limiter->When(kA);
  }
  EXPECT_EQ(limiter->When(kA), seconds(1000));
}

TEST(DefaultRateLimiterTest, ManyKeysAreLimitedToTenASecond) {
  base::testing::FakeClock clock;
  const auto limiter = NewDefaultRateLimiter(clock);
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(limiter->When({"", {"ns", std::to_string(i)}}), milliseconds(5));
  }
  EXPECT_EQ(limiter->When({"", {"ns", "x"}}), milliseconds(100));
}

}  // namespace
}  // namespace kubexx::workqueue
