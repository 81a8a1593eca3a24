#include "kubexx/http/internal/write_limit.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>

namespace kubexx::http::internal {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr std::size_t kRate = 1000;
const WriteLimit::TimePoint kBegin{hours(1)};

WriteLimit Begun(std::size_t min_rate = kRate) {
  WriteLimit limit;
  limit.Begin(kBegin, seconds(10), min_rate);
  return limit;
}

TEST(WriteLimitTest, WhoReceivesNothingIsGivenUp) {
  EXPECT_EQ(Begun().deadline(), kBegin + seconds(10));
}

TEST(WriteLimitTest, WhoReceivesEnoughMayGoOn) {
  WriteLimit limit = Begun();
  for (int i = 1; i <= 100; ++i) {
    limit.OnTaken(kBegin + seconds(9 * i), 9 * kRate);
    EXPECT_EQ(limit.deadline(), kBegin + seconds(9 * i) + seconds(10));
  }
}

TEST(WriteLimitTest, WhoStopsIsGivenUpHoweverMuchItHasReceived) {
  WriteLimit limit = Begun();
  limit.OnTaken(kBegin + seconds(1), 1'000'000 * kRate);
  EXPECT_EQ(limit.deadline(), kBegin + seconds(11));
}

TEST(WriteLimitTest, WhoReceivesAByteNowAndThenIsGivenUp) {
  WriteLimit limit = Begun();
  for (int i = 1; i <= 9; ++i) {
    limit.OnTaken(kBegin + seconds(i), 100);
    EXPECT_EQ(limit.deadline(), kBegin + seconds(10) + milliseconds(100 * i));
  }
}

TEST(WriteLimitTest, WhatTheServerTakesForItselfIsNoSilenceOfTheClient) {
  WriteLimit limit = Begun();
  limit.OnTaken(kBegin + seconds(1), 30 * kRate);
  limit.OnTaken(kBegin + seconds(20), 0);
  EXPECT_EQ(limit.deadline(), kBegin + seconds(30));
}

TEST(WriteLimitTest, WithoutARateAllHasToBeReceivedInTime) {
  WriteLimit limit = Begun(0);
  limit.OnTaken(kBegin + seconds(9), 1'000'000);
  EXPECT_EQ(limit.deadline(), kBegin + seconds(10));
}

TEST(WriteLimitTest, EachWriteBeginsAnew) {
  WriteLimit limit = Begun();
  limit.OnTaken(kBegin + seconds(5), 1'000'000);
  limit.Begin(kBegin + seconds(100), seconds(10), kRate);
  EXPECT_EQ(limit.deadline(), kBegin + seconds(110));
}

TEST(WriteLimitTest, AnAnswerMayBeAsLargeAsThereIs) {
  WriteLimit limit = Begun(16 << 10);
  limit.OnTaken(kBegin + hours(24 * 3), std::size_t{1} << 40);
  EXPECT_EQ(limit.deadline(), kBegin + hours(24 * 3) + seconds(10));
}

}  // namespace
}  // namespace kubexx::http::internal
