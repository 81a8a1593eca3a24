#include "kubexx/apiserver/endpoints/store/turn.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <stop_token>
#include <thread>
#include <vector>

namespace kubexx::apiserver {
namespace {

TEST(TurnTest, OneThreadHasIt) {
  Turn turn;
  std::atomic<int> inside = 0;
  std::atomic<int> most = 0;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&] {
        for (int round = 0; round < 100; ++round) {
          const auto hold = turn.Take(base::Clock::Real(), {});
          most = std::max(most.load(), ++inside);
          --inside;
        }
      });
    }
  }
  EXPECT_EQ(most, 1);
}

TEST(TurnTest, AStopEndsTheWait) {
  Turn turn;
  const auto hold = turn.Take(base::Clock::Real(), {});
  ASSERT_TRUE(hold.has_value());
  std::stop_source stop;
  const std::jthread stopper([&stop] { stop.request_stop(); });
  const auto second = turn.Take(base::Clock::Real(), stop.get_token());
  ASSERT_FALSE(second.has_value());
  EXPECT_EQ(second.error().reason, apimachinery::Reason::kCancelled);
}

}  // namespace
}  // namespace kubexx::apiserver
