#include "shrink.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>

namespace kubexx::simulation {
namespace {

using ::testing::HasSubstr;

TEST(ShrinkTest, WhatIsLeftOutHasNames) {
  const auto without = ParseWithout("storm 3,operator kill,cut,undo");
  ASSERT_TRUE(without);
  EXPECT_EQ(without->storms, 8U);
  EXPECT_TRUE(IsIn(without->mishaps, Mishap::kOperatorKill));
  EXPECT_TRUE(IsIn(without->faults, Fault::kCut));
  EXPECT_TRUE(IsIn(without->acts, Act::kUndo));
  EXPECT_FALSE(IsIn(without->acts, Act::kEdit));
  EXPECT_EQ(ToString(*without), "storm 3,operator kill,cut,undo");
  EXPECT_EQ(ToString(*ParseWithout("")), "");
}

TEST(ShrinkTest, AnotherNameIsRefused) {
  EXPECT_THAT(ParseWithout("cut,rain").error().message, HasSubstr("\"rain\""));
}

TEST(ShrinkTest, WhatIsLeftOutDoesNotHappen) {
  const RunOptions options{
      .seed = 5, .hours = 1.0 / 6, .without = *ParseWithout("operator kill,clock jump,late,cut")};
  const RunResult result = RunForked(options, 120);
  EXPECT_STREQ(result.problem.data(), "");
  EXPECT_EQ(result.mishaps[static_cast<std::size_t>(Mishap::kOperatorKill)], 0U);
  EXPECT_EQ(result.faults[static_cast<std::size_t>(Fault::kLate)], 0U);
}

}  // namespace
}  // namespace kubexx::simulation
