#include "kubexx/workqueue/internal/delay_heap.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <utility>
#include <vector>

namespace kubexx::workqueue::internal {
namespace {

TEST(DelayHeapTest, RandomCallsBehaveAsAnOrderedMap) {
  using Place = std::pair<base::TimePoint, std::uint64_t>;
  for (unsigned seed = 1; seed <= 10; ++seed) {
    std::mt19937 random(seed);
    std::vector<Timer> timers;
    for (int i = 0; i < 50; ++i) {
      timers.emplace_back(nullptr);
    }
    DelayHeap heap;
    std::map<Place, Timer*> model;
    for (int step = 0; step < 5000; ++step) {
      Timer& timer = timers.at(random() % timers.size());
      if (random() % 3 > 0) {
        if (timer.set()) {
          model.erase({timer.due, timer.order});
        }
        heap.Set(&timer, base::TimePoint() + std::chrono::seconds(random() % 20));
        model[{timer.due, timer.order}] = &timer;
      } else if (timer.set()) {
        model.erase({timer.due, timer.order});
        heap.Remove(&timer);
        EXPECT_FALSE(timer.set());
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
