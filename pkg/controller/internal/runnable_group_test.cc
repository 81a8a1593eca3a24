#include "kubexx/controller/internal/runnable_group.h"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <optional>
#include <semaphore>
#include <thread>
#include <utility>

#include "kubexx/base/testing/await.h"
#include "kubexx/base/testing/fake_clock.h"
#include "kubexx/controller/internal/function_runnable.h"
#include "kubexx/logging/testing/capture.h"

namespace kubexx::controller::internal {
namespace {

TEST(RunnableGroupTest, ADestructorThatWaitsSaysForWhat) {
  const logging::testing::Capture log;
  base::testing::FakeClock clock;
  std::binary_semaphore runs(0);
  std::binary_semaphore end(0);
  std::optional<RunnableGroup> group(std::in_place, clock, [](const apimachinery::Status&) {});
  group->Add(std::make_shared<FunctionRunnable>(
      "stubborn", Stage::kOther, [&](const std::stop_token&) -> apimachinery::Result<void> {
        runs.release();
        KX_AWAIT(end.try_acquire());
        return {};
      }));
  group->Start();
  KX_AWAIT(runs.try_acquire());
  std::jthread destroys([&group] { group.reset(); });
  clock.AdvanceToSleeper(std::chrono::seconds(5));
  KX_AWAIT_NE(log.Count("waits for runnables that still run"), 0);
  EXPECT_EQ(log.Count("running=stubborn"), 1U);
  end.release();
}

TEST(RunnableGroupTest, WhatHasReturnedIsLetGoOf) {
  base::testing::FakeClock clock;
  RunnableGroup group(clock, [](const apimachinery::Status&) {});
  group.Start();
  auto first = std::make_shared<FunctionRunnable>(
      "short", Stage::kOther,
      [](const std::stop_token&) -> apimachinery::Result<void> { return {}; });
  const std::weak_ptr<Runnable> left = first;
  group.Add(first);
  ASSERT_TRUE(group.Await(base::TimePoint::max()));
  group.Add(std::move(first));
  ASSERT_TRUE(group.Await(base::TimePoint::max()));
  EXPECT_EQ(left.use_count(), 1) << "held by the second run only";
}

}  // namespace
}  // namespace kubexx::controller::internal
