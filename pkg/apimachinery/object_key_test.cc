#include "kubexx/apimachinery/object_key.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <unordered_set>

namespace kubexx::apimachinery {
namespace {

TEST(ObjectKeyTest, ToStringLeavesOutAnEmptyNamespace) {
  EXPECT_EQ((ObjectKey{"ns", "a"}).ToString(), "ns/a");
  EXPECT_EQ((ObjectKey{"", "node-1"}).ToString(), "node-1");
}

TEST(ObjectKeyTest, OrdersByNamespaceThenName) {
  EXPECT_LT((ObjectKey{"a", "z"}), (ObjectKey{"b", "a"}));
  EXPECT_LT((ObjectKey{"a", "a"}), (ObjectKey{"a", "b"}));
}

TEST(ObjectKeyTest, SwappedOrSplitNamesAreOtherKeys) {
  const std::unordered_set<ObjectKey> keys = {
      {"a", "b"}, {"b", "a"}, {"ab", ""}, {"", "ab"}, {"a", "b"}};
  EXPECT_EQ(keys.size(), 4U);
}

TEST(ObjectKeyTest, HashSpreadsNumberedNames) {
  std::unordered_set<std::size_t> hashes;
  for (int ns = 0; ns < 100; ++ns) {
    for (int name = 0; name < 100; ++name) {
      hashes.insert(
          std::hash<ObjectKey>()({"team-" + std::to_string(ns), "web-" + std::to_string(name)}));
    }
  }
  EXPECT_GE(hashes.size(), 9999U);
}

// Those that are here were chosen by a hash that everybody can compute.
TEST(ObjectKeyTest, NobodyCanChooseNamesThatMeet) {
  constexpr std::size_t kPlaces = 1024;
  const std::size_t h = std::hash<std::string>()("ns");
  std::unordered_set<std::size_t> places;
  int names = 0;
  for (int i = 0; names < 512; ++i) {
    const std::string name = "config-" + std::to_string(i);
    const std::size_t known =
        h ^ (std::hash<std::string>()(name) + 0x9e3779b97f4a7c15ULL + (h << 6) + (h >> 2));
    if (known % kPlaces == 7) {
      places.insert(std::hash<ObjectKey>()({"ns", name}) % kPlaces);
      ++names;
    }
  }
  EXPECT_GT(places.size(), 300U) << "403 are expected";
}

}  // namespace
}  // namespace kubexx::apimachinery
