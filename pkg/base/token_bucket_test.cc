#include "kubexx/base/token_bucket.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <thread>
#include <vector>

#include "kubexx/base/testing/fake_clock.h"

namespace kubexx::base {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::FakeClock;

TEST(TokenBucketTest, LetsABurstThroughThenSpacesCallsEvenly) {
  FakeClock clock;
  TokenBucket bucket(4, 3, clock);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(bucket.Reserve(), Duration::zero());
  }
  EXPECT_EQ(bucket.Reserve(), milliseconds(250));
  EXPECT_EQ(bucket.Reserve(), milliseconds(500));
  clock.Advance(milliseconds(500));
  EXPECT_EQ(bucket.Reserve(), milliseconds(250));
}

TEST(TokenBucketTest, RefillsNoFurtherThanItsBurst) {
  FakeClock clock;
  TokenBucket bucket(10, 2, clock);
  clock.Advance(seconds(3600));
  EXPECT_EQ(bucket.Reserve(), Duration::zero());
  EXPECT_EQ(bucket.Reserve(), Duration::zero());
  EXPECT_EQ(bucket.Reserve(), milliseconds(100));
}

TEST(TokenBucketTest, RateOfZeroOrLessIsUnlimited) {
  FakeClock clock;
  for (const double rate : {0.0, -1.0}) {
    TokenBucket bucket(rate, 1, clock);
    for (int i = 0; i < 1000; ++i) {
      ASSERT_EQ(bucket.Reserve(), Duration::zero()) << rate;
    }
    bucket.Cancel();
    EXPECT_EQ(bucket.Reserve(), Duration::zero());
  }
}

TEST(TokenBucketTest, BurstBelowOneCountsAsOne) {
  FakeClock clock;
  TokenBucket bucket(1, 0, clock);
  EXPECT_EQ(bucket.Reserve(), Duration::zero());
  EXPECT_EQ(bucket.Reserve(), seconds(1));
}

TEST(TokenBucketTest, CancelGivesTheTokenBackAndNoMore) {
  FakeClock clock;
  TokenBucket bucket(1, 1, clock);
  EXPECT_EQ(bucket.Reserve(), Duration::zero());
  EXPECT_EQ(bucket.Reserve(), seconds(1));
  bucket.Cancel();
  EXPECT_EQ(bucket.Reserve(), seconds(1));
  for (int i = 0; i < 5; ++i) {
    bucket.Cancel();
  }
  EXPECT_EQ(bucket.Reserve(), Duration::zero());
  EXPECT_EQ(bucket.Reserve(), seconds(1));
}

TEST(TokenBucketTest, TinyRatesGiveALongWaitWithoutOverflow) {
  FakeClock clock;
  TokenBucket bucket(1e-300, 1, clock);
  EXPECT_EQ(bucket.Reserve(), Duration::zero());
  EXPECT_EQ(bucket.Reserve(), std::chrono::hours(24 * 365));
}

TEST(TokenBucketTest, MoreThanTheLongestWaitIsNotBorrowed) {
  testing::FakeClock clock;
  TokenBucket bucket(10, 1, clock, std::chrono::seconds(2));
  EXPECT_EQ(bucket.Reserve(), Duration::zero());
  Duration longest{};
  for (int i = 0; i < 1000; ++i) {
    longest = std::max(longest, bucket.Reserve());
  }
  EXPECT_EQ(longest, std::chrono::seconds(2));
  clock.Advance(std::chrono::seconds(2));
  EXPECT_EQ(bucket.Reserve(), std::chrono::milliseconds(100)) << "the thousand are forgotten";
}

TEST(TokenBucketTest, ConcurrentCallersGetDifferentTurns) {
  FakeClock clock;
  TokenBucket bucket(1, 100, clock);
  std::atomic<int> immediate = 0;
  {
    std::vector<std::jthread> callers;
    for (int t = 0; t < 4; ++t) {
      callers.emplace_back([&bucket, &immediate] {
        for (int i = 0; i < 50; ++i) {
          if (bucket.Reserve() == Duration::zero()) {
            ++immediate;
          }
        }
      });
    }
  }
  EXPECT_EQ(immediate, 100);
  EXPECT_EQ(bucket.Reserve(), seconds(101));
}

}  // namespace
}  // namespace kubexx::base
