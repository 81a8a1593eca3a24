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

TEST(WorldTest, DaysAreMostlyCalmAndCheckedAsOften) {
  constexpr double kTwoDays = 48;
  const RunOptions options{.seed = 25, .hours = kTwoDays};
  const RunResult first = RunForked(options, kPatience);
  EXPECT_STREQ(first.problem.data(), "") << "repeat: hack/simulate --hours 48 --seed 25";
  EXPECT_GE(first.virtual_hours, kTwoDays);
  EXPECT_GE(first.storms, 1U);
  EXPECT_GT(first.calm_operator_hours, first.operator_hours * 0.8);
  EXPECT_LT(first.calm_operator_hours, first.operator_hours);
  EXPECT_GT(first.calm_checks, first.quiet_periods);
  EXPECT_GT(first.calm_rollouts, 0U);
  EXPECT_LT(first.calm_rollouts, first.rollouts);
  EXPECT_GT(first.processor_seconds, 0);
  EXPECT_EQ(RunForked(options, kPatience).hash, first.hash);
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
      all.fault_rollouts[i] += result.fault_rollouts[i];
    }
    for (std::size_t i = 0; i < kMishaps; ++i) {
      all.mishaps[i] += result.mishaps[i];
      all.mishap_rollouts[i] += result.mishap_rollouts[i];
    }
  }
  std::uint64_t met = 0;
  for (const std::uint64_t each : all.fault_rollouts) {
    met += each;
  }
  for (const std::uint64_t each : all.mishap_rollouts) {
    met += each;
  }
  // That nothing was found means something only where something happened.
  EXPECT_GT(met, 100U);
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
