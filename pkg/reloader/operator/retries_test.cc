#include "kubexx/reloader/operator/retries.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>

#include "kubexx/base/testing/fake_clock.h"

namespace kubexx::reloader {
namespace {

using Failure = Retries::Failure;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

const workqueue::Key kHealthy{"Deployment", {"ns", "healthy"}};

workqueue::Key Failing(int n) { return {"Deployment", {"ns", "failing-" + std::to_string(n)}}; }

class RetriesTest : public testing::Test {
 protected:
  base::testing::FakeClock clock_;
  Retries retries_{clock_};
};

TEST_F(RetriesTest, APauseDoublesUpToAMinute) {
  base::Duration expected = milliseconds(5);
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(retries_.After(kHealthy, Failure::kPasses),
              std::min(expected, base::Duration(minutes(1))));
    expected = std::min(expected * 2, base::Duration(minutes(1)));
    clock_.Advance(seconds(1));
  }
  retries_.Forget(kHealthy);
  EXPECT_EQ(retries_.After(kHealthy, Failure::kPasses), milliseconds(5));
}

TEST_F(RetriesTest, WhatTheServerRefusedIsNotRepeatedAtOnce) {
  EXPECT_EQ(retries_.After(kHealthy, Failure::kDenied), seconds(1));
  EXPECT_EQ(retries_.After(kHealthy, Failure::kDenied), seconds(2));
}

TEST_F(RetriesTest, WhileACacheIsBehindNothingIsTriedMoreOftenThanOnceASecond) {
  for (int i = 0; i < 8; ++i) {
    EXPECT_EQ(retries_.After(kHealthy, Failure::kBehind), seconds(1));
  }
  EXPECT_EQ(retries_.After(kHealthy, Failure::kBehind), milliseconds(1280));
  retries_.Forget(kHealthy);
  EXPECT_EQ(retries_.After(kHealthy, Failure::kPasses), milliseconds(5));
}

TEST_F(RetriesTest, AThousandThatAreAlwaysDeniedDelayNoOther) {
  for (int round = 0; round < 5; ++round) {
    for (int n = 0; n < 1000; ++n) {
      (void)retries_.After(Failing(n), Failure::kDenied);
    }
    retries_.Forget(kHealthy);
    EXPECT_EQ(retries_.After(kHealthy, Failure::kPasses), milliseconds(5)) << "round " << round;
    clock_.Advance(seconds(1));
  }
}

TEST_F(RetriesTest, AThousandThatAlwaysFailOtherwiseDelayNoOther) {
  for (int round = 0; round < 20; ++round) {  // as when an admission webhook does not answer
    for (int n = 0; n < 1000; ++n) {
      (void)retries_.After(Failing(n), Failure::kPasses);
    }
  }
  EXPECT_EQ(retries_.After(kHealthy, Failure::kPasses), milliseconds(5));
}

TEST_F(RetriesTest, ThoseThatKeepFailingAreTogetherTriedTenTimesASecond) {
  base::Duration last{};
  for (int n = 0; n < 1100; ++n) {
    last = retries_.After(Failing(n), Failure::kDenied);
  }
  EXPECT_EQ(last, seconds(100));
}

TEST_F(RetriesTest, AChangeIsUnansweredUntilAnAttemptDoesNotFail) {
  const base::TimePoint first = clock_.Now();
  const base::TimePoint second = first + seconds(1);
  EXPECT_EQ(retries_.Unanswered(kHealthy), std::nullopt);
  (void)retries_.After(kHealthy, Failure::kPasses);
  EXPECT_EQ(retries_.Unanswered(kHealthy), std::nullopt);
  (void)retries_.After(kHealthy, Failure::kPasses, first);
  EXPECT_EQ(retries_.Unanswered(kHealthy), first);
  (void)retries_.After(kHealthy, Failure::kPasses, second);
  EXPECT_EQ(retries_.Unanswered(kHealthy), second);
  EXPECT_EQ(retries_.Unanswered(Failing(1)), std::nullopt);
  retries_.Forget(kHealthy);
  EXPECT_EQ(retries_.Unanswered(kHealthy), std::nullopt);
}

}  // namespace
}  // namespace kubexx::reloader
