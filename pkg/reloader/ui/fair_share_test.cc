#include "kubexx/reloader/ui/fair_share.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>

namespace kubexx::reloader {
namespace {

using Owned = std::map<int, std::string>;

std::string OwnerOf(const std::string& owner) { return owner; }

int FirstOf(Owned entries) {
  return FirstToGo(entries, OwnerOf, [](const auto& each) { return each.first; })->first;
}

TEST(FairShareTest, TheOldestOfWhoHasMostGoesFirst) {
  EXPECT_EQ(FirstOf({{1, "ann"}, {2, "bob"}, {3, "bob"}}), 2);
  EXPECT_EQ(FirstOf({{1, "ann"}, {2, "bob"}, {3, "bob"}, {4, "ann"}}), 1);
  EXPECT_EQ(FirstOf({{1, "ann"}, {2, "bob"}, {3, "eve"}}), 1);
  EXPECT_EQ(FirstOf({{7, "ann"}}), 7);
}

TEST(FairShareTest, AShareIsHowManyOneHas) {
  const Owned entries{{1, "ann"}, {2, "bob"}, {3, "bob"}};
  EXPECT_EQ(ShareOf(entries, "bob", OwnerOf), 2);
  EXPECT_EQ(ShareOf(entries, "eve", OwnerOf), 0);
}

}  // namespace
}  // namespace kubexx::reloader
