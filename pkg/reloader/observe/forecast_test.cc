#include "kubexx/reloader/observe/forecast.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <deque>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "kubexx/apimachinery/time.h"

namespace kubexx::reloader {
namespace {

using namespace std::chrono_literals;
using reloadpolicy::HoldReason;
using testing::HasSubstr;

const SourceId kForecastConfig{SourceType::kConfigMap, {"shop", "config"}};
constexpr base::WallTime kForecastNow{std::chrono::seconds(1'795'000'000)};  // 11:06:40

Workload WorkloadCalled(const std::string& name,
                        std::map<std::string, std::string> annotations = {}) {
  return {.id = {WorkloadKind::kDeployment, {"shop", name}},
          .uid = "uid-" + name,
          .annotations = std::move(annotations)};
}

/// The workload lives as long as the process.
DueWorkload DueOf(const std::string& name, std::map<std::string, std::string> annotations = {}) {
  static std::deque<Workload> workloads;
  return {.workload = &workloads.emplace_back(WorkloadCalled(name, std::move(annotations))),
          .causes = {kForecastConfig}};
}

/// Returns "name:step" of each forecast.
std::string StepsOf(const std::vector<Forecast>& forecasts) {
  std::string text;
  for (const Forecast& each : forecasts) {
    text += (text.empty() ? "" : " ") + each.workload.key.name + ":" + std::to_string(each.step);
  }
  return text;
}

std::vector<Forecast> ForecastOf(const reloadpolicy::Arbiter& arbiter, std::vector<DueWorkload> due,
                                 const std::vector<Workload>& users = {}) {
  return ForecastRollouts(arbiter, std::move(due), users, kForecastNow);
}

reloadpolicy::Arbiter Under(reloadpolicy::Settings settings) {
  reloadpolicy::Arbiter arbiter;
  arbiter.SetPolicy({.id = {"shop", "p"}, .settings = std::move(settings)});
  return arbiter;
}

TEST(Forecast, WithoutPoliciesAllBeginAtOnce) {
  const auto forecasts = ForecastOf(reloadpolicy::Arbiter(), {DueOf("b"), DueOf("a")});
  EXPECT_EQ(StepsOf(forecasts), "a:1 b:1");
  EXPECT_FALSE(forecasts[0].hold);
  EXPECT_FALSE(forecasts[0].not_before);
}

TEST(Forecast, ALimitMakesSteps) {
  const auto forecasts = ForecastOf(Under({.max_in_namespace = 2}),
                                    {DueOf("a"), DueOf("b"), DueOf("c"), DueOf("d"), DueOf("e")});
  EXPECT_EQ(StepsOf(forecasts), "a:1 b:1 c:2 d:2 e:3");
  EXPECT_FALSE(forecasts[1].hold);
  ASSERT_TRUE(forecasts[2].hold);
  EXPECT_EQ(forecasts[2].hold->reason, HoldReason::kLimit);
}

TEST(Forecast, AHealthGateMakesOneAtATime) {
  EXPECT_EQ(StepsOf(ForecastOf(Under({.health_gate = true, .soak_time = 1h}),
                               {DueOf("a"), DueOf("b"), DueOf("c")})),
            "a:1 b:2 c:3");
}

TEST(Forecast, TheOrderIsKept) {
  const auto forecasts =
      ForecastOf(reloadpolicy::Arbiter(),
                 {DueOf("a", {{"reloader.kubexx.io/order", "2"}}),
                  DueOf("b", {{"reloader.kubexx.io/order", "1"}}), DueOf("c"), DueOf("d")});
  EXPECT_EQ(StepsOf(forecasts), "c:1 d:1 b:2 a:3");
  EXPECT_THAT(forecasts[2].hold->message, HasSubstr("waits for Deployment/shop/c"));
}

TEST(Forecast, WavesAreSteps) {
  const auto forecasts =
      ForecastOf(Under({.waves = reloadpolicy::Waves{.canaries = {"d"},
                                                     .sizes = {{.count = 1}, {.percent = 40}}}}),
                 {DueOf("a"), DueOf("b"), DueOf("c"), DueOf("d"), DueOf("e")});
  EXPECT_EQ(StepsOf(forecasts), "d:1 a:2 b:3 c:3 e:4");
  ASSERT_TRUE(forecasts[4].hold);
  EXPECT_EQ(forecasts[4].hold->reason, HoldReason::kWave);
  EXPECT_THAT(forecasts[4].hold->message, HasSubstr("wave 4 of 4 waits for Deployment/shop/d"));
}

TEST(Forecast, ACanaryGoesBeforeALowerOrder) {
  EXPECT_EQ(StepsOf(ForecastOf(Under({.waves = reloadpolicy::Waves{.canaries = {"a"}}}),
                               {DueOf("a", {{"reloader.kubexx.io/order", "2"}}),
                                DueOf("b", {{"reloader.kubexx.io/order", "1"}}), DueOf("c")})),
            "a:1 c:2 b:3");
}

TEST(Forecast, AWindowIsWaitedFor) {
  auto windows = reloadpolicy::MaintenanceWindow::ParseList("0 22 * * * 2h");
  ASSERT_TRUE(windows);
  const auto forecasts =
      ForecastOf(Under({.max_in_namespace = 1, .windows = *windows}), {DueOf("a"), DueOf("b")});
  EXPECT_EQ(StepsOf(forecasts), "a:1 b:2");
  for (const Forecast& each : forecasts) {
    ASSERT_TRUE(each.not_before);
    EXPECT_EQ(apimachinery::Time::From(*each.not_before).ToString(), "2026-11-18T22:00:00Z");
    EXPECT_EQ(each.hold->reason, HoldReason::kOutsideWindow) << "why it does not begin at once";
  }
}

TEST(Forecast, AnIntervalIsWaitedForByThoseThatItConcerns) {
  const auto forecasts = ForecastOf(
      Under({.min_interval = 1h}),
      {DueOf("a", {{"reloader.kubexx.io/last-rollout", "2026-11-18T11:00:00Z"}}), DueOf("b")});
  EXPECT_EQ(StepsOf(forecasts), "b:1 a:2");
  EXPECT_FALSE(forecasts[0].not_before);
  EXPECT_EQ(apimachinery::Time::From(*forecasts[1].not_before).ToString(), "2026-11-18T12:00:00Z");
}

TEST(Forecast, WhatNobodyCanTellComesLast) {
  DueWorkload held = DueOf("a");
  held.held = reloadpolicy::Hold{.reason = HoldReason::kSourcePaused, .message = "paused"};
  const auto forecasts = ForecastOf(reloadpolicy::Arbiter(),
                                    {held, DueOf("b", {{"reloader.kubexx.io/paused", "true"}}),
                                     DueOf("c"), DueOf("d", {{"reloader.kubexx.io/order", "1"}})});
  EXPECT_EQ(StepsOf(forecasts), "c:1 a:0 b:0 d:0");
  EXPECT_EQ(forecasts[1].hold->reason, HoldReason::kSourcePaused);
  EXPECT_EQ(forecasts[2].hold->reason, HoldReason::kPaused);
  EXPECT_EQ(forecasts[3].hold->reason, HoldReason::kOrder) << "it waits for those that are paused";
}

TEST(Forecast, ARolloutUnderWayHoldsAPlaceUntilItEnds) {
  reloadpolicy::Arbiter arbiter = Under({.max_in_namespace = 1});
  Workload busy = WorkloadCalled("busy");
  busy.annotations = {{"reloader.kubexx.io/last-rollout", "2026-11-18T11:06:00Z"},
                      {"reloader.kubexx.io/rollout-state", "started uid-busy"}};
  arbiter.Observe(
      {"Deployment", busy.id.key},
      {.uid = busy.uid, .annotations = busy.annotations, .phase = reloadpolicy::Phase::kUpdating},
      kForecastNow);
  auto forecasts = ForecastOf(arbiter, {DueOf("a"), DueOf("b")}, {busy});
  EXPECT_EQ(StepsOf(forecasts), "a:1 b:2");
  ASSERT_TRUE(forecasts[0].hold) << "not at once";
  EXPECT_EQ(forecasts[0].hold->reason, HoldReason::kLimit);
  forecasts = ForecastOf(arbiter, {DueOf("a")});
  EXPECT_EQ(StepsOf(forecasts), "a:0") << "of others nobody knows when they end";
}

TEST(Forecast, AStopHoldsEverything) {
  reloadpolicy::Arbiter arbiter = Under({.stop_after_failures = 1});
  const Workload broken = WorkloadCalled("broken");
  arbiter.Remember(
      {.workload = {"Deployment", broken.id.key}, .uid = broken.uid, .started = kForecastNow - 1h});
  const auto forecasts = ForecastOf(arbiter, {DueOf("a")});
  EXPECT_EQ(StepsOf(forecasts), "a:0");
  EXPECT_EQ(forecasts[0].hold->reason, HoldReason::kStopped);
}

}  // namespace
}  // namespace kubexx::reloader
