#include "faults/script.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace kubexx::faults {
namespace {

using std::chrono::milliseconds;

std::vector<PlannedFault> Planned(std::uint64_t seed, std::size_t replicas = 3) {
  oracle::Random random(seed);
  return PlanStorm({.faults = 2000, .pace = milliseconds(360), .replicas = replicas}, random);
}

bool IsOfCluster(FaultKind kind) { return kind >= FaultKind::kServerKill; }

TEST(ScriptTest, ASeedGivesTheSameScript) {
  EXPECT_EQ(Planned(7), Planned(7));
  EXPECT_NE(Planned(7), Planned(8));
}

TEST(ScriptTest, HasAsManyFaultsAsAskedForOfEachKindInTheOrderOfTime) {
  const std::vector<PlannedFault> storm = Planned(1);
  ASSERT_EQ(storm.size(), 2000U);
  std::set<FaultKind> kinds;
  milliseconds last(0);
  for (const PlannedFault& fault : storm) {
    kinds.insert(fault.kind);
    EXPECT_GE(fault.at, last);
    last = fault.at;
  }
  EXPECT_EQ(kinds.size(), kFaultKinds);
  EXPECT_GT(last, milliseconds(300) * 2000);
  EXPECT_LT(last, milliseconds(420) * 2000);
  EXPECT_GE(EndOf(storm), last);
}

TEST(ScriptTest, OneFaultOfTheClusterAtATime) {
  milliseconds free(0);
  for (const PlannedFault& fault : Planned(2)) {
    if (IsOfCluster(fault.kind)) {
      EXPECT_GE(fault.at, free) << ToString(fault.kind);
      free = fault.at + fault.lasts;
    }
  }
}

TEST(ScriptTest, WhatLastsMeetsOneOperator) {
  for (const std::size_t replicas : {1, 2, 3}) {
    for (const PlannedFault& fault : Planned(3, replicas)) {
      if (fault.lasts > milliseconds(0) && !IsOfCluster(fault.kind)) {
        EXPECT_LT(fault.replica, replicas) << ToString(fault.kind);
      }
    }
  }
}

TEST(ScriptTest, KindsHaveNamesOfTheirOwn) {
  std::set<std::string> names;
  for (std::size_t i = 0; i < kFaultKinds; ++i) {
    names.insert(std::string(ToString(static_cast<FaultKind>(i))));
  }
  EXPECT_EQ(names.size(), kFaultKinds);
  EXPECT_FALSE(names.contains(""));
}

}  // namespace
}  // namespace kubexx::faults
