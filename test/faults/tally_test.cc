#include "faults/tally.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>

namespace kubexx::faults {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Tally Good() {
  Tally tally;
  tally.seed = 5;
  tally.wanted = 3;
  tally.faults[FaultKind::kCut] = {.count = 2, .rollouts = 4};
  tally.faults[FaultKind::kServerKill] = {.count = 1, .rollouts = 0};
  tally.deeds[Deed::kUndo] = 6;
  tally.took = std::chrono::seconds(125);
  tally.recoveries = {std::chrono::milliseconds(1500), std::chrono::milliseconds(200),
                      std::chrono::milliseconds(7000)};
  return tally;
}

std::string Report(const Tally& tally) { return ReportOf(tally, "2026-01-31", "a machine"); }

TEST(TallyTest, TheReportHasFiguresByKind) {
  const std::string report = Report(Good());
  EXPECT_THAT(report, HasSubstr("on 2026-01-31; a machine. Seed 5."));
  EXPECT_THAT(report, HasSubstr("| faults | 3 | ≥ 3 | yes |"));
  EXPECT_THAT(report, HasSubstr("| connections cut | 2 | 4 |"));
  EXPECT_THAT(report, HasSubstr("| rollout undone | 6 |"));
  EXPECT_THAT(report, HasSubstr("| time | 2 min 5 s |"));
  EXPECT_THAT(report, HasSubstr("median | 1.5 s |"));
  EXPECT_THAT(report, HasSubstr("longest | 7.0 s |"));
  EXPECT_THAT(report, Not(HasSubstr("no**")));
  EXPECT_THAT(report, Not(HasSubstr("broken off")));
}

TEST(TallyTest, TheReportTellsOfProblems) {
  Tally tally = Good();
  tally.missing = 1;
  tally.problems = {"missing: deployments/ns/d", "an operator ended"};
  const std::string report = Report(tally);
  EXPECT_THAT(report, HasSubstr("| final states missing | 1 | 0 | **no** |"));
  EXPECT_THAT(report, HasSubstr("| rollouts too many | 0 | 0 | yes |"));
  EXPECT_THAT(report, HasSubstr("| other problems | 1 | 0 | **no** |"));
  EXPECT_THAT(report, HasSubstr("- missing: deployments/ns/d"));
}

TEST(TallyTest, TheReportSaysThatARunWasBrokenOff) {
  Tally tally = Good();
  tally.wanted = 10;
  tally.broken_off = true;
  EXPECT_THAT(Report(tally), HasSubstr("**This run was broken off.**"));
  EXPECT_THAT(Report(tally), HasSubstr("| faults | 3 | ≥ 10 | **no** |"));
}

}  // namespace
}  // namespace kubexx::faults
