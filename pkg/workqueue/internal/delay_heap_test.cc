#include "kubexx/workqueue/internal/delay_heap.h"

#include <gtest/gtest.h>

#include <array>
#include <map>
#include <random>
#include <utility>

namespace kubexx::workqueue::internal {
namespace {

TEST(DelayHeapTest, RandomCallsBehaveAsAnOrderedMap) {
  using Place = std::pair<base::TimePoint, std::uint64_t>;
  for (unsigned seed = 1; seed <= 10; ++seed) {
    std::mt19937 random(seed);
    std::array<Node, 50> nodes;
    DelayHeap heap;
    std::map<Place, Node*> model;
    for (int step = 0; step < 5000; ++step) {
      Node& node = nodes.at(random() % nodes.size());
      if (random() % 3 > 0) {
        if (node.delayed()) {
          model.erase({node.due, node.delay_order});
        }
        heap.Set(&node, base::TimePoint() + std::chrono::seconds(random() % 20));
        model[{node.due, node.delay_order}] = &node;
      } else if (node.delayed()) {
        model.erase({node.due, node.delay_order});
        heap.Remove(&node);
        EXPECT_FALSE(node.delayed());
      }
      ASSERT_EQ(heap.empty(), model.empty());
      if (!model.empty()) {
        ASSERT_EQ(heap.front(), model.begin()->second) << "seed " << seed << " step " << step;
        ASSERT_EQ(heap.NextDue(), model.begin()->first.first);
      }
    }
    for (; !heap.empty(); heap.Remove(heap.front())) {
      ASSERT_EQ(heap.front(), model.begin()->second);
      model.erase(model.begin());
    }
    EXPECT_TRUE(model.empty());
    EXPECT_EQ(heap.NextDue(), base::TimePoint::max());
  }
}

}  // namespace
}  // namespace kubexx::workqueue::internal
