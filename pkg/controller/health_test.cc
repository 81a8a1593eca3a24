#include "kubexx/controller/health.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

namespace kubexx::controller {
namespace {

using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;
using ::testing::HasSubstr;
using ::testing::Not;

Result<void> Good() { return {}; }
Result<void> Bad() { return Fail(Reason::kUnavailable, "a password is wrong"); }

TEST(HealthChecksTest, WithoutChecksAllIsWell) {
  const HealthChecks checks;
  const auto response = checks.Answer({.path = "/healthz"});
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(response.body, "ok");
}

TEST(HealthChecksTest, OneThatFailsMakesAllFail) {
  HealthChecks checks;
  ASSERT_TRUE(checks.Add("good", Good));
  EXPECT_EQ(checks.Answer({.path = "/readyz"}).status, 200);
  ASSERT_TRUE(checks.Add("bad", Bad));
  const auto response = checks.Answer({.path = "/readyz"});
  EXPECT_EQ(response.status, 503);
  EXPECT_THAT(response.body, HasSubstr("[+]good ok\n"));
  EXPECT_THAT(response.body, HasSubstr("[-]bad failed"));
  EXPECT_THAT(response.body, Not(HasSubstr("password"))) << "the reason is for the log";
}

TEST(HealthChecksTest, QueryListsAndExcludes) {
  HealthChecks checks;
  ASSERT_TRUE(checks.Add("good", Good));
  ASSERT_TRUE(checks.Add("bad", Bad));
  EXPECT_EQ(checks.Answer({.path = "/readyz", .query = "exclude=bad"}).body, "ok");
  EXPECT_THAT(checks.Answer({.path = "/readyz", .query = "verbose&exclude=bad"}).body,
              HasSubstr("[+]good ok\n"));
  EXPECT_EQ(checks.Answer({.path = "/readyz", .query = "exclude=none"}).status, 503);
}

TEST(HealthChecksTest, NamesAreUnique) {
  HealthChecks checks;
  ASSERT_TRUE(checks.Add("a", Good));
  EXPECT_EQ(checks.Add("a", Bad).error().reason, Reason::kAlreadyExists);
}

TEST(HealthChecksTest, CheckThatThrowsFails) {
  HealthChecks checks;
  ASSERT_TRUE(checks.Add("a", []() -> Result<void> { throw std::runtime_error("x"); }));
  EXPECT_EQ(checks.Answer({.path = "/healthz"}).status, 503);
}

}  // namespace
}  // namespace kubexx::controller
