#include "kubexx/reloader/policy/sighting.h"

#include <gtest/gtest.h>

#include <string>

namespace kubexx::reloader {
namespace {

TEST(Sighting, HasTheTemplateWhileARolloutIsFollowed) {
  const auto template_of = [](const std::string& record) {
    Workload workload{.uid = "u", .template_version = {.generation = 1, .digest = "abc"}};
    workload.annotations["reloader.kubexx.io/rollout-state"] = record;
    return SightingOf(workload, {}).template_hash;
  };
  EXPECT_EQ(template_of("started u"), "abc");
  EXPECT_EQ(template_of("failed u"), "abc");
  EXPECT_EQ(template_of("completed u"), "");
  EXPECT_EQ(template_of("started another"), "");
}

TEST(Sighting, ADeploymentThatTheOperatorHasPausedWaits) {
  using reloadpolicy::Phase;
  Workload workload{.uid = "u", .phase = Phase::kPaused};
  EXPECT_EQ(SightingOf(workload, {}).phase, Phase::kPaused) << "somebody else has";
  workload.annotations["other/at"] = "2026-01-01T00:00:00Z";
  EXPECT_EQ(SightingOf(workload, {}).phase, Phase::kPaused);
  EXPECT_EQ(SightingOf(workload, {.paused_at = "other/at"}).phase, Phase::kWaiting);
  workload.phase = Phase::kUpdating;
  EXPECT_EQ(SightingOf(workload, {.paused_at = "other/at"}).phase, Phase::kUpdating);
}

}  // namespace
}  // namespace kubexx::reloader
