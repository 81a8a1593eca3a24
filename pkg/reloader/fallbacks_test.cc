#include "kubexx/reloader/fallbacks.h"

#include <gtest/gtest.h>

#include <string>

#include "kubexx/base/testing/fake_clock.h"

namespace kubexx::reloader {
namespace {

using apimachinery::Reason;
using apimachinery::Status;

class FallbacksTest : public testing::Test {
 protected:
  bool Shows(const std::string& series) const {
    return registry_.Serialize().contains("kubexx_reloader_fallback" + series + "\n");
  }

  base::testing::FakeClock clock_;
  metrics::Registry registry_;
  Fallbacks fallbacks_{&registry_, clock_};
};

TEST_F(FallbacksTest, WhatIsGrantedFromTheStartIsShownAsZero) {
  fallbacks_.Granted(WorkloadKind::kJob, "watch");
  EXPECT_TRUE(Shows(R"({kind="Job",verb="watch"} 0)"));
  fallbacks_.Refused(WorkloadKind::kJob, "watch", Status(Reason::kForbidden, "no", 403), "");
  EXPECT_TRUE(Shows(R"({kind="Job",verb="watch"} 1)"));
  EXPECT_TRUE(fallbacks_.IsRefused(WorkloadKind::kJob, "watch"));
}

TEST_F(FallbacksTest, AClusterWithoutOpenShiftLacksNothing) {
  const Status missing(Reason::kNotFound, "the API is not served");
  fallbacks_.Refused(WorkloadKind::kDeploymentConfig, Fallbacks::kServed, missing, "");
  EXPECT_FALSE(registry_.Serialize().contains("DeploymentConfig"));
  fallbacks_.Refused(WorkloadKind::kRollout, Fallbacks::kServed, missing, "");
  EXPECT_TRUE(Shows(R"({kind="Rollout",verb="served"} 1)")) << "was asked for by a flag";
}

}  // namespace
}  // namespace kubexx::reloader
