#include "kubexx/reloader/watch/watch_errors.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "kubexx/base/testing/fake_clock.h"
#include "kubexx/logging/testing/capture.h"

namespace kubexx::reloader {
namespace {

using apimachinery::Reason;

// With a hundred namespaces a restart of the API server was more than six hundred warnings.
TEST(WatchErrorsTest, WatchesThatExpireTogetherAreOneLine) {
  const logging::testing::Capture log({.level = logging::Level::kInfo});
  base::testing::FakeClock clock;
  WatchErrors errors("configmaps", clock);
  const auto expire = [&] {
    for (int i = 0; i < 100; ++i) {
      errors.Log({Reason::kExpired, "namespace n" + std::to_string(i) + ": watch: too old", 410});
    }
  };
  expire();
  EXPECT_EQ(log.lines().size(), 1U);
  EXPECT_EQ(log.Count("level=info"), 1U);
  EXPECT_EQ(log.Count("resource=configmaps"), 1U);
  clock.Advance(std::chrono::minutes(1));
  expire();
  EXPECT_EQ(log.lines().size(), 2U) << "it is said again while it goes on";
}

TEST(WatchErrorsTest, OtherErrorsAreALineEach) {
  const logging::testing::Capture log({.level = logging::Level::kInfo});
  base::testing::FakeClock clock;
  WatchErrors errors("configmaps", clock);
  errors.Log({Reason::kForbidden, "no", 403});
  errors.Log({Reason::kForbidden, "no", 403});
  EXPECT_EQ(log.Count("level=warning"), 2U);
}

// An outage of ten minutes was a line for each try of each namespace's watch.
TEST(WatchErrorsTest, AnApiServerThatCannotBeReachedIsALineAtGrowingIntervals) {
  const logging::testing::Capture log({.level = logging::Level::kInfo});
  base::testing::FakeClock clock;
  WatchErrors errors("configmaps", clock);
  const auto fail = [&](const std::string& what) {
    for (const char* name : {"a", "b", "c"}) {
      errors.Log({Reason::kUnavailable, "namespace " + std::string(name) + ": list: " + what});
    }
  };
  for (int second = 0; second < 600; second += 10) {
    fail("connection refused");
    clock.Advance(std::chrono::seconds(10));
  }
  EXPECT_EQ(log.lines().size(), 4U) << "at once, and after 1, 3 and 7 minutes";
  EXPECT_EQ(log.Count("others=17"), 1U) << "of the first minute";
  fail("no such host");
  EXPECT_EQ(log.lines().size(), 5U) << "another error is another line";
  clock.Advance(std::chrono::minutes(4));
  fail("connection refused");
  EXPECT_EQ(log.lines().size(), 6U) << "this is another outage";
}

TEST(WatchErrorsTest, SoManyDifferentErrorsAreRememberedAndNoMore) {
  const logging::testing::Capture log({.level = logging::Level::kInfo});
  base::testing::FakeClock clock;
  WatchErrors errors("configmaps", clock);
  const auto fail = [&](std::size_t i) {
    errors.Log({Reason::kUnavailable, "list: lost connection " + std::to_string(i)});
  };
  for (std::size_t i = 0; i <= WatchErrors::kMaxKept; ++i) {
    fail(i);
  }
  EXPECT_EQ(log.lines().size(), WatchErrors::kMaxKept + 1) << "none is hidden";
  fail(WatchErrors::kMaxKept);
  EXPECT_EQ(log.lines().size(), WatchErrors::kMaxKept + 1);
  fail(0);
  EXPECT_EQ(log.lines().size(), WatchErrors::kMaxKept + 2) << "it was forgotten";
}

}  // namespace
}  // namespace kubexx::reloader
