#include "kubexx/reloader/policy/sighting.h"

#include <gtest/gtest.h>

#include <string>

namespace kubexx::reloader {
namespace {

TEST(Sighting, HasTheTemplateWhileARolloutIsFollowed) {
  const auto template_of = [](const std::string& record) {
    Workload workload{.uid = "u", .template_version = {.generation = 1, .digest = "abc"}};
    workload.annotations["reloader.kubexx.io/rollout-state"] = record;
    return SightingOf(workload).template_hash;
  };
  EXPECT_EQ(template_of("started u"), "abc");
  EXPECT_EQ(template_of("failed u"), "abc");
  EXPECT_EQ(template_of("completed u"), "");
  EXPECT_EQ(template_of("started another"), "");
}

}  // namespace
}  // namespace kubexx::reloader
