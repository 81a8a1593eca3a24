#include "kubexx/apiserver/object/version_priority.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace kubexx::apiserver {
namespace {

// The list of the API concepts' page on versions of custom resources.
TEST(VersionPriorityTest, IsThatOfKubernetes) {
  const std::vector<std::string> wanted = {"v10",      "v2",      "v1",        "v11beta2",
                                           "v10beta3", "v3beta1", "v12alpha1", "v11alpha2",
                                           "bar1",     "foo1",    "foo10"};
  std::vector<std::string> versions = wanted;
  std::ranges::reverse(versions);
  std::ranges::sort(versions, IsPreferredVersion);
  EXPECT_EQ(versions, wanted);
}

TEST(VersionPriorityTest, WhatOnlyLooksLikeAVersionComesLast) {
  for (const char* const other : {"v0", "v01", "v1beta", "v1gamma1", "v1beta1x", "1", "v", ""}) {
    EXPECT_TRUE(IsPreferredVersion("v1alpha1", other)) << other;
    EXPECT_FALSE(IsPreferredVersion(other, "v1alpha1")) << other;
  }
}

}  // namespace
}  // namespace kubexx::apiserver
