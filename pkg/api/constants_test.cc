#include <string>

#include "gtest/gtest.h"
#include "kubexx/api/apps/v1/constants.gen.h"
#include "kubexx/api/core/v1/constants.gen.h"
#include "kubexx/api/core/v1/types.gen.h"

namespace kubexx::api {
namespace {

TEST(ConstantsTest, HaveTheValuesOfTheApi) {
  core::v1::Pod pod;
  pod.status.phase = core::v1::kPodRunning;
  EXPECT_EQ(pod.status.phase, "Running");
  EXPECT_TRUE(pod.status.phase == core::v1::kPodRunning);
  EXPECT_EQ(std::string(core::v1::kTaintEffectNoSchedule), "NoSchedule");
  EXPECT_EQ(std::string(core::v1::kLabelHostname), "kubernetes.io/hostname");
  EXPECT_EQ(std::string(apps::v1::kRollingUpdateDeploymentStrategyType), "RollingUpdate");
}

}  // namespace
}  // namespace kubexx::api
