#include "kubexx/workqueue/internal/key_table.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <string>

namespace kubexx::workqueue::internal {
namespace {

Key K(std::size_t i) { return {"", {"ns", std::to_string(i)}}; }

TEST(KeyTableTest, KeysOfOneHashAreDifferent) {
  KeyTable table;
  Node* const a = table.FindOrAdd(K(1), 42);
  Node* const b = table.FindOrAdd(K(2), 42);
  EXPECT_NE(a, b);
  EXPECT_EQ(table.FindOrAdd(K(1), 42), a);
  table.Erase(a);
  EXPECT_EQ(table.FindOrAdd(K(2), 42), b);
  EXPECT_EQ(table.size(), 1U);
}

/// Compares the table with a map, with few different hashes so that runs collide, overlap and wrap
/// around.
TEST(KeyTableTest, RandomCallsBehaveAsAMap) {
  for (unsigned seed = 1; seed <= 10; ++seed) {
    std::mt19937 random(seed);
    KeyTable table;
    std::map<std::size_t, Node*> model;
    const std::size_t keys = seed % 2 == 0 ? 2000 : 30;
    const auto hash = [seed](std::size_t i) {
      return seed % 3 == 0 ? i % 5 : (i * 0x123456789abcdefULL) << (seed % 7);
    };
    for (int step = 0; step < 20000; ++step) {
      const std::size_t i = random() % keys;
      const auto found = model.find(i);
      // The table grows in the first half and shrinks in the second half.
      const bool add = random() % 100 < (step < 10000 ? 70 : 30);
      if (add) {
        Node* const node = table.FindOrAdd(K(i), hash(i));
        ASSERT_EQ(node->key, K(i));
        if (found != model.end()) {
          ASSERT_EQ(node, found->second) << "seed " << seed;
        }
        model[i] = node;
      } else if (found != model.end()) {
        table.Erase(found->second);
        model.erase(found);
      }
      ASSERT_EQ(table.size(), model.size());
    }
    for (const auto& [i, node] : model) {
      ASSERT_EQ(table.FindOrAdd(K(i), hash(i)), node);
    }
  }
}

}  // namespace
}  // namespace kubexx::workqueue::internal
