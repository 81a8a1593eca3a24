#include "kubexx/reloader/permissions/fallbacks.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "kubexx/base/testing/fake_clock.h"

namespace kubexx::reloader {
namespace {

using apimachinery::Reason;
using apimachinery::Status;

const Status kRefusal(Reason::kForbidden, R"(x is forbidden: User "u" cannot patch resource)", 403);

constexpr Right PatchIn(std::string_view namespace_) {
  return {.kind = "Deployment", .verb = "patch", .namespace_ = namespace_};
}

class FallbacksTest : public testing::Test {
 protected:
  bool Shows(const std::string& series) const {
    return registry_.Serialize().contains("kubexx_reloader_" + series + "\n");
  }

  base::testing::FakeClock clock_;
  metrics::Registry registry_;
  Fallbacks fallbacks_{&registry_, clock_};
};

TEST_F(FallbacksTest, WhatIsGrantedFromTheStartIsShownAsZero) {
  const Right watch{.kind = "Job", .verb = "watch"};
  fallbacks_.Granted(watch);
  EXPECT_TRUE(Shows(R"(fallback{kind="Job",verb="watch"} 0)"));
  fallbacks_.Refused(watch, kRefusal, "");
  EXPECT_TRUE(Shows(R"(fallback{kind="Job",verb="watch"} 1)"));
  EXPECT_TRUE(fallbacks_.IsRefused(watch));
}

TEST_F(FallbacksTest, AClusterWithoutOpenShiftLacksNothing) {
  const Status missing(Reason::kNotFound, "the API is not served");
  fallbacks_.Refused({.kind = "DeploymentConfig", .verb = Fallbacks::kServed}, missing, "");
  EXPECT_FALSE(registry_.Serialize().contains("DeploymentConfig"));
  fallbacks_.Refused({.kind = "Rollout", .verb = Fallbacks::kServed}, missing, "");
  EXPECT_TRUE(Shows(R"(fallback{kind="Rollout",verb="served"} 1)")) << "was asked for by a flag";
}

TEST_F(FallbacksTest, NamespacesAreToldApart) {
  fallbacks_.Refused(PatchIn("a"), kRefusal, "");
  fallbacks_.Granted(PatchIn("b"));
  EXPECT_FALSE(fallbacks_.ShouldTry(PatchIn("a")));
  EXPECT_TRUE(fallbacks_.ShouldTry(PatchIn("b")));
  EXPECT_TRUE(Shows(R"(fallback{kind="Deployment",verb="patch"} 1)"))
      << "a right of b is none of a";
  fallbacks_.Granted(PatchIn("a"));
  EXPECT_TRUE(Shows(R"(fallback{kind="Deployment",verb="patch"} 0)"));
}

TEST_F(FallbacksTest, AWriteThatNobodyTriesAnyMoreCountsNoLonger) {
  const Right watch{.kind = "Job", .verb = "watch", .namespace_ = "gone"};
  fallbacks_.Refused(PatchIn("gone"), kRefusal, "");
  fallbacks_.Refused(watch, kRefusal, "");
  clock_.Advance(std::chrono::hours(1));
  EXPECT_TRUE(Shows(R"(fallback{kind="Deployment",verb="patch"} 0)"));
  EXPECT_TRUE(Shows(R"(fallback{kind="Job",verb="watch"} 1)")) << "is tried for ever";
}

TEST_F(FallbacksTest, KeepsABoundedNumber) {
  for (std::size_t i = 0; i <= Fallbacks::kMaxEntries; ++i) {
    fallbacks_.Refused(PatchIn(std::to_string(i)), kRefusal, "");
    clock_.Advance(std::chrono::milliseconds(1));
  }
  EXPECT_FALSE(fallbacks_.IsRefused(PatchIn("0"))) << "the oldest";
  EXPECT_TRUE(fallbacks_.IsRefused(PatchIn("1")));
  EXPECT_TRUE(fallbacks_.IsRefused(PatchIn(std::to_string(Fallbacks::kMaxEntries))));
}

TEST_F(FallbacksTest, CountsRefusedWritesByWhoRefusesThem) {
  EXPECT_TRUE(Shows(R"(writes_refused_total{by="missing_right"} 0)"));
  EXPECT_TRUE(Shows(R"(writes_refused_total{by="rule"} 0)"));
  fallbacks_.CountRefusedWrite(kRefusal);
  fallbacks_.CountRefusedWrite({Reason::kForbidden, "exceeded quota", 403});
  fallbacks_.CountRefusedWrite({Reason::kInvalid, "denied request", 422});
  fallbacks_.CountRefusedWrite({Reason::kConflict, "", 409});
  EXPECT_TRUE(Shows(R"(writes_refused_total{by="missing_right"} 1)"));
  EXPECT_TRUE(Shows(R"(writes_refused_total{by="rule"} 2)"));
}

}  // namespace
}  // namespace kubexx::reloader
