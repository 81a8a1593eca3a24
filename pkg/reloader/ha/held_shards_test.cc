#include "kubexx/reloader/ha/held_shards.h"

#include <gtest/gtest.h>

#include <chrono>
#include <set>
#include <string>
#include <thread>

#include "kubexx/base/testing/await.h"
#include "kubexx/base/testing/fake_clock.h"

namespace kubexx::reloader {
namespace {

using std::chrono::seconds;

TEST(ShardOf, IsStableAndUsesAllShards) {
  // These numbers never change, because replicas of two versions must agree.
  EXPECT_EQ(ShardOf("default", 4), 2);
  EXPECT_EQ(ShardOf("kube-system", 4), 2);
  EXPECT_EQ(ShardOf("anything", 1), 0);
  std::set<int> used;
  for (int i = 0; i < 100; ++i) {
    used.insert(ShardOf("team-" + std::to_string(i), 7));
  }
  EXPECT_EQ(used.size(), 7U);
}

TEST(HeldShards, LetsThroughWhatIsOpen) {
  HeldShards held(2);
  const std::string zero = ShardOf("a", 2) == 0 ? "a" : "b";
  const std::string one = zero == "a" ? "b" : "a";
  ASSERT_EQ(ShardOf(one, 2), 1);
  EXPECT_FALSE(held.Enter(zero));
  held.Open(0);
  EXPECT_TRUE(held.Enter(zero));
  EXPECT_FALSE(held.Enter(one));
  held.Close(0, seconds(1));
  EXPECT_FALSE(held.Enter(zero));
  EXPECT_FALSE(held.IsOpen(0));
}

TEST(HeldShards, AsksForEveryPermit) {
  HeldShards held(1);
  bool holds = true;
  held.Open(0, [&holds] { return holds; });
  EXPECT_TRUE(held.Enter("ns"));
  holds = false;
  EXPECT_FALSE(held.Enter("ns"));
  held.Close(0, seconds(0));  // it returns, because the refused permit does not count
}

TEST(HeldShards, CloseWaitsForWritesAndThenTellsThemToEnd) {
  base::testing::FakeClock clock;
  HeldShards held(1, clock);
  held.Open(0);
  auto quick = held.Enter("ns");
  auto slow = held.Enter("ns");
  ASSERT_TRUE(quick && slow);
  bool closed = false;
  std::jthread closing([&] {
    held.Close(0, seconds(5));
    closed = true;
  });
  clock.AwaitSleepers(1);
  quick.reset();
  EXPECT_FALSE(slow->stop().stop_requested());
  std::jthread writer([write = std::move(slow)]() mutable {
    std::stop_source told;
    const std::stop_callback callback(write->stop(), [&told] { told.request_stop(); });
    KX_AWAIT(told.stop_requested());
    write.reset();
  });
  clock.Advance(seconds(5));
  closing.join();
  EXPECT_TRUE(closed);
}

TEST(HeldShards, CountsTenures) {
  HeldShards held(1);
  held.Open(0);
  const std::uint64_t first = held.Enter("ns")->tenure();
  EXPECT_EQ(held.Enter("ns")->tenure(), first);
  held.Close(0, seconds(0));
  held.Open(0);
  EXPECT_NE(held.Enter("ns")->tenure(), first);
}

}  // namespace
}  // namespace kubexx::reloader
