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

}  // namespace
}  // namespace kubexx::reloader
