#include "kubexx/leaderelection/config.h"

#include <gmock/gmock.h>

#include <chrono>
#include <string>

#include "kubexx/base/identity.h"

namespace kubexx::leaderelection {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST(ElectionConfig, HasTheDefaultsOfKubernetes) {
  const Config config{.identity = "a"};
  EXPECT_TRUE(config.Validate());
  EXPECT_EQ(config.lease_duration, 15s);
  EXPECT_EQ(config.renew_deadline, 10s);
  EXPECT_EQ(config.retry_period, 2s);
  EXPECT_EQ(config.RequestTimeout(), 5s);
  EXPECT_EQ(config.LeadLimit(), 12500ms);
}

struct BadCase {
  const char* name = "";
  Config config{};
  const char* message = "";
};

class ElectionConfigErrors : public ::testing::TestWithParam<BadCase> {};

TEST_P(ElectionConfigErrors, NameTheField) {
  const auto result = GetParam().config.Validate();
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().reason, apimachinery::Reason::kInvalidConfig);
  EXPECT_THAT(result.error().message, HasSubstr(GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(
    All, ElectionConfigErrors,
    ::testing::Values(
        BadCase{"NoIdentity", {}, "identity"},
        BadCase{"ShortLease", {.identity = "a", .lease_duration = 900ms}, "lease_duration"},
        BadCase{"EndlessLease", {.identity = "a", .lease_duration = 9000h}, "lease_duration"},
        BadCase{"LeaseNotLongerThanDeadline",
                {.identity = "a", .lease_duration = 10s},
                "longer than renew_deadline of 10000 ms"},
        BadCase{"DeadlineAtTheEndOfTheLease",
                {.identity = "a", .lease_duration = 10s, .renew_deadline = 9999ms},
                "renew_deadline of 9999 ms must be at most 9800 ms"},
        BadCase{"DeadlineNotLongerThanJitteredRetry",
                {.identity = "a", .renew_deadline = 2400ms},
                "1.2 times retry_period of 2000 ms"},
        BadCase{"NoRetryPeriod", {.identity = "a", .retry_period = 0s}, "retry_period"}),
    [](const auto& param) { return std::string(param.param.name); });

// A clock that runs 1 % faster than another is far worse than what NTP does to one.
TEST(ElectionConfig, WhatIsValidBearsClocksThatDifferByOnePercent) {
  const Config config{.identity = "a", .lease_duration = 10s, .renew_deadline = 9800ms};
  ASSERT_TRUE(config.Validate()) << config.Validate().error().ToString();
  EXPECT_GE(config.lease_duration, config.LeadLimit() * 1.01);
}

TEST(ElectionConfig, WritesWholeSecondsRoundedUp) {
  EXPECT_EQ(Config{.lease_duration = 1500ms}.LeaseDurationSeconds(), 2);
  EXPECT_EQ(Config{.lease_duration = 3s}.LeaseDurationSeconds(), 3);
}

TEST(ElectionConfig, GivesRequestsAtLeastASecond) {
  EXPECT_EQ(Config{.renew_deadline = 600ms}.RequestTimeout(), 1s);
}

TEST(DefaultIdentity, IsTheHostAndUnique) {
  EXPECT_THAT(DefaultIdentity(), StartsWith(base::HostName() + "_"));
  EXPECT_NE(DefaultIdentity(), DefaultIdentity());
}

}  // namespace
}  // namespace kubexx::leaderelection
