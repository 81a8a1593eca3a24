#include "kubexx/apiserver/controllers/rollout.h"

#include <gmock/gmock.h>

#include <limits>
#include <random>
#include <string>

namespace kubexx::apiserver::controllers {
namespace {

using apimachinery::IntOrString;
using ::testing::AllOf;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::Ge;
using ::testing::Le;

TEST(ResolveTest, PercentagesAreOfTheTotal) {
  EXPECT_EQ(Resolve(IntOrString(3), 10, true), 3);
  EXPECT_EQ(Resolve(IntOrString(std::string("25%")), 10, true), 3);
  EXPECT_EQ(Resolve(IntOrString(std::string("25%")), 10, false), 2);
  EXPECT_EQ(Resolve(IntOrString(std::string("100%")), 7, true), 7);
  EXPECT_EQ(Resolve(IntOrString(std::string("many")), 10, true), 0);
  EXPECT_EQ(Resolve(IntOrString(std::string("")), 10, true), 0);
  EXPECT_EQ(Resolve(IntOrString(-1), 10, true), 0);
}

api::apps::v1::Deployment With(std::int32_t replicas, IntOrString surge, IntOrString unavailable) {
  api::apps::v1::Deployment deployment;
  deployment.spec.replicas = replicas;
  deployment.spec.strategy.type = "RollingUpdate";
  auto& rolling = deployment.spec.strategy.rolling_update.emplace();
  rolling.max_surge = std::move(surge);
  rolling.max_unavailable = std::move(unavailable);
  return deployment;
}

TEST(LimitsTest, OneOfBothIsNeverZero) {
  EXPECT_EQ(LimitsOf(With(3, IntOrString(1), IntOrString(0))),
            (RolloutLimits{.surge = 1, .unavailable = 0}));
  EXPECT_EQ(LimitsOf(With(3, IntOrString(0), IntOrString(0))),
            (RolloutLimits{.surge = 0, .unavailable = 1}));
  EXPECT_EQ(LimitsOf(With(2, IntOrString(std::string("25%")), IntOrString(std::string("25%")))),
            (RolloutLimits{.surge = 1, .unavailable = 0}));
  api::apps::v1::Deployment recreate = With(3, IntOrString(1), IntOrString(1));
  recreate.spec.strategy.type = "Recreate";
  EXPECT_EQ(LimitsOf(recreate), RolloutLimits());
}

TEST(RollingStepTest, TheFirstRolloutIsOneStep) {
  const RolloutState state{.wanted = 3, .limits = {.surge = 1}};
  EXPECT_EQ(NextRollingStep(state).current, 3);
}

TEST(RollingStepTest, TheSurgeComesFirstAndAnOldPodGoesForEachNewOneThatServes) {
  RolloutState state{.wanted = 3, .limits = {.surge = 1}};
  state.old = {{.replicas = 3, .available = 3}};
  RolloutStep step = NextRollingStep(state);
  EXPECT_EQ(step.current, 1);
  EXPECT_THAT(step.old, ElementsAre(3));
  state.current = {.replicas = 1, .available = 1};
  step = NextRollingStep(state);
  EXPECT_EQ(step.current, 1);
  EXPECT_THAT(step.old, ElementsAre(2));
}

TEST(RollingStepTest, OldPodsThatDoNotServeGoAtOnce) {
  RolloutState state{.wanted = 4, .limits = {.surge = 1, .unavailable = 1}};
  state.current = {.replicas = 0, .available = 0};
  state.old = {{.replicas = 2, .available = 0}, {.replicas = 3, .available = 3}};
  EXPECT_THAT(NextRollingStep(state).old, ElementsAre(0, 3));
}

TEST(RollingStepTest, TooManyNewPodsAreTakenAway) {
  const RolloutState state{.wanted = 2, .limits = {.surge = 1}, .current = {5, 5}};
  EXPECT_EQ(NextRollingStep(state).current, 2);
}

/// Pods become available at random. There are never too many pods, and never too few available
/// ones.
TEST(RollingStepTest, EveryRolloutKeepsItsLimitsAndEnds) {
  const std::uint32_t seed = std::random_device()();
  SCOPED_TRACE(seed);
  std::mt19937 random(seed);
  const auto draw = [&random](std::int32_t from, std::int32_t to) {
    return std::uniform_int_distribution<std::int32_t>(from, to)(random);
  };
  for (int round = 0; round < 300; ++round) {
    RolloutState state{.wanted = draw(0, 20)};
    state.limits = {.surge = draw(0, 5), .unavailable = std::min(state.wanted, draw(0, 5))};
    if (state.limits.surge == 0 && state.limits.unavailable == 0) {
      state.limits.unavailable = 1;
    }
    state.old = {{.replicas = state.wanted, .available = state.wanted}};
    int steps = 0;
    while (state.current.replicas != state.wanted || state.old[0].replicas != 0) {
      ASSERT_LT(++steps, 1000) << "wanted " << state.wanted;
      const RolloutStep step = NextRollingStep(state);
      ASSERT_LE(step.current + step.old[0], state.wanted + state.limits.surge);
      state.old[0] = {.replicas = step.old[0],
                      .available = std::min(step.old[0], state.old[0].available)};
      state.current.replicas = step.current;
      ASSERT_GE(state.old[0].available + state.current.available,
                state.wanted - state.limits.unavailable);
      state.current.available += draw(0, step.current - state.current.available);
    }
  }
}

TEST(ScalingStepTest, ASingleSetGetsAll) {
  RolloutState state{.wanted = 5, .limits = {.surge = 1}, .current = {2, 2}};
  state.old = {{.replicas = 0}};
  const RolloutStep step = NextScalingStep(state, 3);
  EXPECT_EQ(step.current, 5);
  EXPECT_THAT(step.old, ElementsAre(0));
}

TEST(ScalingStepTest, InTheMiddleOfARolloutAllGrowInProportion) {
  RolloutState state{.wanted = 20, .limits = {.surge = 4}, .current = {6, 6}};
  state.old = {{.replicas = 6, .available = 6}};
  const RolloutStep step = NextScalingStep(state, 12);
  EXPECT_EQ(step.current, 12);
  EXPECT_THAT(step.old, ElementsAre(12));
}

// The example is from the documentation of Deployments: 10 replicas, 8 of them old, become 15.
TEST(ScalingStepTest, SharesAreRoundedToTheNearestNumber) {
  RolloutState state{.wanted = 15, .limits = {.surge = 3, .unavailable = 2}, .current = {5, 0}};
  state.old = {{.replicas = 8, .available = 8}};
  const RolloutStep step = NextScalingStep(state, 13);
  EXPECT_EQ(step.current, 7);
  EXPECT_THAT(step.old, ElementsAre(11));
}

TEST(ScalingStepTest, OfOneSizeTheNewerGrowFirstAndTheOlderShrinkFirst) {
  RolloutState state{.wanted = 10, .current = {3, 3}};
  state.old = {{.replicas = 3, .available = 3}, {.replicas = 3, .available = 3}};
  RolloutStep step = NextScalingStep(state, 9);
  EXPECT_EQ(step.current, 4);
  EXPECT_THAT(step.old, ElementsAre(3, 3));
  state.wanted = 8;
  step = NextScalingStep(state, 9);
  EXPECT_EQ(step.current, 3);
  EXPECT_THAT(step.old, ElementsAre(2, 3));
}

TEST(ScalingStepTest, WithoutReplicasTheNewestSetThatExistsGetsAll) {
  RolloutState state{.wanted = 3, .has_current = false};
  state.old = {{.replicas = 0}, {.replicas = 0}};
  RolloutStep step = NextScalingStep(state, 0);
  EXPECT_EQ(step.current, 0);
  EXPECT_THAT(step.old, ElementsAre(0, 3));
  state.has_current = true;
  step = NextScalingStep(state, 0);
  EXPECT_EQ(step.current, 3);
  EXPECT_THAT(step.old, ElementsAre(0, 0));
}

// Users may write these values: replicas and maxSurge have 31 bits.
TEST(RolloutStepTest, TheLargestNumbersAreNoOverflow) {
  constexpr std::int32_t kMax = std::numeric_limits<std::int32_t>::max();
  RolloutState state{.wanted = kMax, .limits = {.surge = kMax, .unavailable = kMax}};
  state.current = {kMax - 1, 0};
  state.old = {{.replicas = kMax, .available = kMax}, {.replicas = kMax, .available = kMax}};
  RolloutStep step = NextRollingStep(state);
  EXPECT_EQ(step.current, kMax - 1) << "there are too many already";
  EXPECT_THAT(step.old, ElementsAre(0, 0));
  step = NextScalingStep(state, std::int64_t{2} * kMax);
  EXPECT_GE(step.current, 0);
  EXPECT_THAT(step.old, Each(AllOf(Ge(0), Le(kMax))));
  EXPECT_EQ(Resolve(IntOrString(std::string("2000000000%")), kMax, true), kMax);
}

TEST(ScalingStepTest, ToZeroLeavesNothing) {
  RolloutState state{.wanted = 0, .limits = {.surge = 0, .unavailable = 1}, .current = {3, 3}};
  state.old = {{.replicas = 4}};
  const RolloutStep step = NextScalingStep(state, 7);
  EXPECT_EQ(step.current, 0);
  EXPECT_THAT(step.old, ElementsAre(0));
}

}  // namespace
}  // namespace kubexx::apiserver::controllers
