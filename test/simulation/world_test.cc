#include "world.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <set>

namespace kubexx::simulation {
namespace {

constexpr int kPatience = 120;
constexpr double kTenMinutes = 1.0 / 6;

TEST(WorldTest, ASeedGivesTheSameRunToTheLastDecision) {
  std::set<std::uint64_t> hashes;
  for (std::uint64_t seed = 11; seed <= 13; ++seed) {
    const RunOptions options{.seed = seed, .hours = kTenMinutes};
    const RunResult first = RunForked(options, kPatience);
    const RunResult second = RunForked(options, kPatience);
    EXPECT_TRUE(first.finished) << first.problem.data();
    EXPECT_EQ(first.hash, second.hash) << "seed " << seed;
    EXPECT_EQ(first.points, second.points);
    EXPECT_EQ(first.requests, second.requests);
    hashes.insert(first.hash);
  }
  EXPECT_EQ(hashes.size(), 3U) << "each seed is a run of its own";
}

TEST(WorldTest, NothingIsMissedAndNothingRollsTwice) {
  RunResult all;
  for (std::uint64_t seed = 101; seed <= 114; ++seed) {
    const RunResult result = RunForked({.seed = seed, .hours = kTenMinutes}, kPatience);
    EXPECT_STREQ(result.problem.data(), "") << "repeat: hack/simulate --minutes 10 --seed " << seed;
    all.rollouts += result.rollouts;
    all.quiet_periods += result.quiet_periods;
    for (std::size_t i = 0; i < kFaults; ++i) {
      all.faults[i] += result.faults[i];
    }
    for (std::size_t i = 0; i < kMishaps; ++i) {
      all.mishaps[i] += result.mishaps[i];
    }
  }
  // That nothing was found means something only where something happened.
  EXPECT_GT(all.rollouts, 300U);
  EXPECT_GT(all.quiet_periods, 28U);
  for (std::size_t i = 1; i < kFaults; ++i) {
    EXPECT_GT(all.faults[i], 0U) << ToString(static_cast<Fault>(i));
  }
  for (std::size_t i = 0; i < kMishaps; ++i) {
    EXPECT_GT(all.mishaps[i], 0U) << ToString(static_cast<Mishap>(i));
  }
}

}  // namespace
}  // namespace kubexx::simulation
