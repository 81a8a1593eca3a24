#include "tally.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <string>
#include <vector>

namespace kubexx::simulation {
namespace {

using testing::HasSubstr;
using testing::Not;

RunRecord ARecord(std::uint64_t seed) {
  RunRecord record{.revision = "abc", .seed = seed, .hours = 400};
  RunResult& result = record.result;
  result.hash = 0xfedcba9876543210;
  result.points = 7'000'000;
  result.operator_hours = 400.5;
  result.calm_operator_hours = 380.25;
  result.processor_seconds = 8.5;
  result.rollouts = 90;
  result.calm_rollouts = 60;
  result.later_pods = 40;
  result.left_behind = 1;
  result.storms = 6;
  result.quiet_periods = 7;
  result.calm_checks = 120;
  result.faults[static_cast<std::size_t>(Fault::kCut)] = 31;
  result.calm_faults[static_cast<std::size_t>(Fault::kCut)] = 11;
  result.fault_rollouts[static_cast<std::size_t>(Fault::kCut)] = 5;
  result.mishaps[static_cast<std::size_t>(Mishap::kRestore)] = 3;
  result.mishap_rollouts[static_cast<std::size_t>(Mishap::kRestore)] = 2;
  return record;
}

TEST(TallyTest, ALineHasAllThatAPageNeeds) {
  const RunRecord record = ARecord(12);
  const auto read = RecordFrom(ToLine(record));
  ASSERT_TRUE(read) << read.error().ToString();
  EXPECT_EQ(read->seed, 12U);
  EXPECT_EQ(read->result.hash, record.result.hash);
  EXPECT_EQ(PageOf({*read}), PageOf({record}));
  EXPECT_EQ(ToLine(*read), ToLine(record));
}

TEST(TallyTest, WhatIsNoRecordIsRefused) {
  EXPECT_FALSE(RecordFrom("seed 12"));
  EXPECT_FALSE(RecordFrom(R"({"seed":12})"));
  EXPECT_FALSE(RecordFrom(R"({"hours":1})"));
}

TEST(TallyTest, AProblemSurvivesItsLine) {
  RunRecord record = ARecord(1);
  std::snprintf(record.result.problem.data(), record.result.problem.size(), "a \"line\"\nof two");
  const auto read = RecordFrom(ToLine(record));
  ASSERT_TRUE(read);
  EXPECT_TRUE(read->failed());
  EXPECT_STREQ(read->result.problem.data(), record.result.problem.data());
}

TEST(TallyTest, SumsTellStormsFromCalm) {
  Tally tally;
  tally.Add(ARecord(1).result);
  tally.Add(ARecord(2).result);
  EXPECT_EQ(tally.runs, 2U);
  EXPECT_EQ(tally.problems, 0U);
  EXPECT_EQ(tally.all.rollouts, 180U);
  EXPECT_EQ(tally.all.faults[static_cast<std::size_t>(Fault::kCut)], 62U);
  const std::string summary = Summary(tally, 20);
  EXPECT_THAT(summary, HasSubstr("801.0 of operators: 40.5 with storms and what follows them, "
                                 "760.5 of calm"));
  EXPECT_THAT(summary, HasSubstr("180 rollouts (120 of them in calm times)"));
  EXPECT_THAT(summary,
              HasSubstr("80 pods began with other data than those before them, 2 workloads "
                        "were left with such\n"));
}

TEST(TallyTest, APageTellsStormsFromCalmAndWhatRolloutsMet) {
  const std::string page = PageOf({ARecord(1), ARecord(2)});
  EXPECT_THAT(page, HasSubstr("| hours of operators | 40 | 760 | 801 |"));
  EXPECT_THAT(page, HasSubstr("| rollouts by operators | 60 | 120 | 180 |"));
  EXPECT_THAT(page, HasSubstr("| cut | 40 | 22 | 10 |"));
  EXPECT_THAT(page, HasSubstr("| restore | 6 | 4 |"));
  EXPECT_THAT(page, HasSubstr("| abc | 400.00 | 1 to 2 | 2 | 801 | 0 |"));
  EXPECT_THAT(page, HasSubstr("There were none."));
}

TEST(TallyTest, APageTellsHowToRepeatAProblem) {
  RunRecord record = ARecord(9);
  record.hours = 0.5;
  std::snprintf(record.result.problem.data(), record.result.problem.size(), "it is wrong");
  const std::string page = PageOf({record});
  EXPECT_THAT(page, HasSubstr("it is wrong"));
  EXPECT_THAT(page, HasSubstr("hack/simulate --seed 9 --minutes 30 --show"));
  EXPECT_THAT(page, Not(HasSubstr("There were none.")));
}

}  // namespace
}  // namespace kubexx::simulation
