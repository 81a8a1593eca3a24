#include "kubexx/base/text/join.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace kubexx::base {
namespace {

using Texts = std::vector<std::string>;

TEST(Join, PutsTheSeparatorBetweenTheTextsOnly) {
  EXPECT_EQ(Join(Texts{}, ", "), "");
  EXPECT_EQ(Join(Texts{"a"}, ", "), "a");
  EXPECT_EQ(Join(Texts{"a", "b", "c"}, ", "), "a, b, c");
  EXPECT_EQ(Join(Texts{"a", "b"}, ""), "ab");
}

TEST(Join, CountsEmptyTexts) {
  EXPECT_EQ(Join(Texts{"", "a", ""}, ","), ",a,");
  EXPECT_EQ(Join(Texts{""}, ","), "");
}

TEST(Join, TakesAnyRangeOfTexts) {
  EXPECT_EQ(Join(std::set<std::string_view>{"b", "a"}, "/"), "a/b");
}

}  // namespace
}  // namespace kubexx::base
