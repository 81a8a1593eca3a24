#include "kubexx/controller/internal/runnable_group.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <future>
#include <memory>
#include <optional>
#include <semaphore>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

#include "kubexx/base/testing/await.h"
#include "kubexx/base/testing/fake_clock.h"
#include "kubexx/base/testing/leak_check.h"
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

/// Begins at once, and ends when the test lets it.
class Begun {
 public:
  std::shared_ptr<Runnable> NewRunnable() {
    return std::make_shared<FunctionRunnable>(
        "begun", Stage::kOther,
        [this](const std::stop_token&) -> apimachinery::Result<void> {
          runs_.release();
          return {};
        },
        [this] {
          ends_.release();
          KX_AWAIT(may_end_.try_acquire());
        });
  }
  bool HasRun() { return runs_.try_acquire(); }
  bool Ends() { return ends_.try_acquire(); }
  void LetEnd() { may_end_.release(); }

 private:
  std::counting_semaphore<> runs_{0};
  std::counting_semaphore<> ends_{0};
  std::counting_semaphore<> may_end_{0};
};

TEST(RunnableGroupTest, WhatHasOnlyBegunRunsWithoutAThreadUntilItHasEnded) {
  base::testing::FakeClock clock;
  Begun begun;
  RunnableGroup group(clock, [](const apimachinery::Status&) {});
  const std::size_t threads = base::testing::ReadHeldResources().threads.size();
  group.Add(begun.NewRunnable());
  group.Start();
  KX_AWAIT(begun.HasRun());
  KX_AWAIT_EQ(base::testing::ReadHeldResources().threads.size(), threads);
  EXPECT_EQ(group.Running().size(), 1U);
  EXPECT_FALSE(begun.Ends());
  group.RequestStop();
  group.RequestStop();
  KX_AWAIT(begun.Ends());
  EXPECT_FALSE(group.Await(clock.Now()));
  begun.LetEnd();
  EXPECT_TRUE(group.Await(base::TimePoint::max()));
  EXPECT_TRUE(group.Running().empty());
  EXPECT_FALSE(begun.Ends()) << "it ends once";
}

TEST(RunnableGroupTest, AThrowWhileItIsAskedForItsEndIsAFailure) {
  class Odd final : public Runnable {
   public:
    std::string Name() const override { return "odd"; }
    apimachinery::Result<void> Run(std::stop_token /*stop*/) override { return {}; }
    bool HasEnd() const override { throw std::runtime_error("nobody knows"); }
  };
  base::testing::FakeClock clock;
  std::promise<std::string> failure;
  RunnableGroup group(
      clock, [&failure](const apimachinery::Status& status) { failure.set_value(status.message); });
  group.Add(std::make_shared<Odd>());
  group.Start();
  EXPECT_THAT(failure.get_future().get(), ::testing::HasSubstr("nobody knows"));
  EXPECT_TRUE(group.Await(base::TimePoint::max()));
}

TEST(RunnableGroupTest, WhatIsStoppedWhileItBeginsEndsThen) {
  base::testing::FakeClock clock;
  std::binary_semaphore runs(0);
  std::binary_semaphore end(0);
  std::atomic<bool> has_ended = false;
  RunnableGroup group(clock, [](const apimachinery::Status&) {});
  group.Add(std::make_shared<FunctionRunnable>(
      "slow", Stage::kOther,
      [&](const std::stop_token&) -> apimachinery::Result<void> {
        runs.release();
        KX_AWAIT(end.try_acquire());
        return {};
      },
      [&has_ended] { has_ended = true; }));
  group.Start();
  KX_AWAIT(runs.try_acquire());
  group.RequestStop();
  EXPECT_FALSE(has_ended);
  end.release();
  EXPECT_TRUE(group.Await(base::TimePoint::max()));
  EXPECT_TRUE(has_ended);
}

TEST(RunnableGroupTest, WhatFailsToBeginHasNoEnd) {
  base::testing::FakeClock clock;
  std::atomic<int> failures = 0;
  RunnableGroup group(clock, [&failures](const apimachinery::Status&) { ++failures; });
  group.Add(std::make_shared<FunctionRunnable>(
      "failing", Stage::kOther,
      [](const std::stop_token&) -> apimachinery::Result<void> {
        return apimachinery::Fail(apimachinery::Reason::kUnavailable, "no");
      },
      [] { ADD_FAILURE() << "it has not begun"; }));
  group.Start();
  EXPECT_TRUE(group.Await(base::TimePoint::max()));
  EXPECT_EQ(failures, 1);
}

}  // namespace
}  // namespace kubexx::controller::internal
