#include "kubexx/apimachinery/object_key.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace kubexx::apimachinery
