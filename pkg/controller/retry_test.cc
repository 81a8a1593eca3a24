#include "kubexx/controller/retry.h"

#include <gtest/gtest.h>

#include "kubexx/cache/testing/auto_clock.h"

namespace kubexx::controller {
namespace {

using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;
using cache::testing::AutoClock;
using std::chrono::milliseconds;

TEST(RetryOnConflictTest, OnlyConflictsAreRetried) {
  AutoClock clock;
  int calls = 0;
  const Result<int> result = RetryOnConflict(
      [&]() -> Result<int> {
        if (++calls < 3) {
          return Fail(Reason::kConflict, "again");
        }
        return 7;
      },
      {.jitter = 0, .clock = clock});
  EXPECT_EQ(result.value(), 7);
  EXPECT_EQ(calls, 3);
  EXPECT_EQ(clock.slept(), milliseconds(20));

  calls = 0;
  const Result<void> other = RetryOnConflict(
      [&]() -> Result<void> {
        ++calls;
        return Fail(Reason::kForbidden, "no");
      },
      {.clock = clock});
  EXPECT_EQ(other.error().reason, Reason::kForbidden);
  EXPECT_EQ(calls, 1);
}

TEST(RetryOnConflictTest, GivesUpAfterTheAttempts) {
  AutoClock clock;
  int calls = 0;
  const auto conflict = [&]() -> Result<void> {
    ++calls;
    return Fail(Reason::kConflict, "again");
  };
  EXPECT_EQ(RetryOnConflict(conflict, {.clock = clock}).error().reason, Reason::kConflict);
  EXPECT_EQ(calls, 5);
  EXPECT_GE(clock.slept(), milliseconds(40));
  EXPECT_LE(clock.slept(), milliseconds(44));
}

TEST(RetryOnConflictTest, DelaysGrowByTheFactor) {
  AutoClock clock;
  const auto conflict = [&]() -> Result<void> { return Fail(Reason::kConflict, "again"); };
  EXPECT_FALSE(
      RetryOnConflict(conflict, {.attempts = 4, .factor = 2, .jitter = 0, .clock = clock}));
  EXPECT_EQ(clock.slept(), milliseconds(10 + 20 + 40));
}

TEST(RetryOnConflictTest, StopEndsIt) {
  std::stop_source stop;
  stop.request_stop();
  int calls = 0;
  const auto conflict = [&]() -> Result<void> {
    ++calls;
    return Fail(Reason::kConflict, "again");
  };
  EXPECT_FALSE(RetryOnConflict(conflict, {.stop = stop.get_token()}));
  EXPECT_EQ(calls, 1);
}

}  // namespace
}  // namespace kubexx::controller
