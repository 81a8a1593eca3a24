#include "kubexx/apimachinery/resource_version.h"

#include <gtest/gtest.h>

#include <compare>

namespace kubexx::apimachinery {
namespace {

TEST(ResourceVersionTest, LongerIsNewerThenByteByByte) {
  using Order = std::strong_ordering;
  EXPECT_EQ(CompareResourceVersions("9", "10"), Order::less);
  EXPECT_EQ(CompareResourceVersions("10", "9"), Order::greater);
  EXPECT_EQ(CompareResourceVersions("19", "20"), Order::less);
  EXPECT_EQ(CompareResourceVersions("20", "20"), Order::equal);
  EXPECT_EQ(CompareResourceVersions("0", "1"), Order::less);
  EXPECT_EQ(CompareResourceVersions("18446744073709551616", "9"), Order::greater);
}

TEST(ResourceVersionTest, WhatIsNoVersionCannotBeCompared) {
  for (const char* bad : {"", "x", "1x", "-1", "01", "1.5"}) {
    EXPECT_FALSE(CompareResourceVersions(bad, "1")) << bad;
    EXPECT_FALSE(CompareResourceVersions("1", bad)) << bad;
  }
}

}  // namespace
}  // namespace kubexx::apimachinery
