#include "kubexx/cache/backoff.h"

#include <gtest/gtest.h>

#include <chrono>

#include "kubexx/base/testing/fake_clock.h"

namespace kubexx::cache {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

TEST(BackoffTest, DoublesUpToTheCap) {
  base::testing::FakeClock clock;
  Backoff backoff({}, clock, [] { return 0.0; });
  for (const auto expected :
       {milliseconds(800), milliseconds(1600), milliseconds(3200), milliseconds(6400),
        milliseconds(12800), milliseconds(25600), milliseconds(30000), milliseconds(30000)}) {
    EXPECT_EQ(backoff.Next(), expected);
    clock.Advance(expected);
  }
}

TEST(BackoffTest, JitterLengthensByUpToTheDelayItself) {
  base::testing::FakeClock clock;
  double random = 0.5;
  Backoff backoff({}, clock, [&random] { return random; });
  EXPECT_EQ(backoff.Next(), milliseconds(1200));
  random = 0.999;
  EXPECT_LT(backoff.Next(), milliseconds(3200));
}

TEST(BackoffTest, StartsAgainAfterTwoQuietMinutes) {
  base::testing::FakeClock clock;
  Backoff backoff({}, clock, [] { return 0.0; });
  EXPECT_EQ(backoff.Next(), milliseconds(800));
  clock.Advance(milliseconds(800) + minutes(2) - milliseconds(1));
  EXPECT_EQ(backoff.Next(), milliseconds(1600));
  clock.Advance(milliseconds(1600) + minutes(2));
  EXPECT_EQ(backoff.Next(), milliseconds(800));
}

TEST(BackoffTest, DoesNotStartAgainInsideALongOutage) {
  base::testing::FakeClock clock;
  Backoff backoff({}, clock, [] { return 0.99; });
  base::Duration delay{};
  for (int i = 0; i < 100; ++i) {
    delay = backoff.Next();
    clock.Advance(delay + seconds(5));
  }
  EXPECT_GT(delay, seconds(30));
}

}  // namespace
}  // namespace kubexx::cache
