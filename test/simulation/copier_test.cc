#include "copier.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <string>

#include "kubexx/base/clock.h"
#include "scheduler.h"

namespace kubexx::simulation {
namespace {

void Pass(std::chrono::milliseconds time) { base::Clock::Real().SleepFor(time, {}); }

TEST(CopierTest, CopiesAgainWhatChangesWhileItIsCopied) {
  const apimachinery::ObjectKey key{"ns", "one"};
  Scheduler scheduler({.seed = 3});
  scheduler.Run([&] {
    std::atomic<int> version = 0;
    Copier copier([&version](const apimachinery::ObjectKey&) { return std::to_string(version); },
                  oracle::Random(1));
    for (int i = 0; i < 20; ++i) {
      ++version;
      copier.Changed(key);
      Pass(std::chrono::milliseconds(300));
    }
    EXPECT_NE(copier.copies()[key], "20") << "it takes its time";
    Pass(std::chrono::seconds(20));
    EXPECT_EQ(copier.copies()[key], "20");
  });
}

TEST(CopierTest, WhatIsGoneIsCopiedNoMore) {
  const apimachinery::ObjectKey key{"ns", "one"};
  Scheduler scheduler({.seed = 3});
  scheduler.Run([&] {
    std::atomic<bool> there = true;
    Copier copier(
        [&there](const apimachinery::ObjectKey&) { return std::string(there ? "1" : "none"); },
        oracle::Random(1));
    copier.Changed(key);
    Pass(std::chrono::seconds(10));
    EXPECT_EQ(copier.copies().size(), 1U);
    there = false;
    copier.Changed(key);
    Pass(std::chrono::seconds(10));
    EXPECT_TRUE(copier.copies().empty());
  });
}

}  // namespace
}  // namespace kubexx::simulation
