#include "kubexx/reloader/policy/policy_news.h"

#include <gmock/gmock.h>

namespace kubexx::reloader {
namespace {

using reloadpolicy::HoldReason;
using testing::ElementsAre;
using testing::IsEmpty;

PolicyState TwoWait() {
  PolicyState state{.id = {"shop", "gentle"}, .failed = 3, .pending = 2};
  state.listed.push_back({.workload = {"Deployment", {"shop", "web"}},
                          .hold = {.reason = HoldReason::kPaused, .message = "paused (by p)"}});
  return state;
}

TEST(PolicyNews, NothingIsNewWhenNothingBeginsOrEnds) {
  EXPECT_THAT(NewsBetween({}, {}, {}), IsEmpty());
  const PolicyFacts bad{.waits = true, .stopped = true, .problems = "minInterval: what?"};
  EXPECT_THAT(NewsBetween(bad, bad, TwoWait()), IsEmpty()) << "however many wait now";
}

TEST(PolicyNews, WaitingBeginsAndEnds) {
  EXPECT_THAT(NewsBetween({}, {.waits = true}, TwoWait()),
              ElementsAre(PolicyNews{events::EventType::kNormal, "RolloutsWait",
                                     "2 rollouts wait; first Deployment/shop/web: Paused: paused "
                                     "(by p)"}));
  EXPECT_THAT(NewsBetween({.waits = true}, {}, {}),
              ElementsAre(PolicyNews{events::EventType::kNormal, "RolloutsGoOn",
                                     "no rollout waits because of this policy any more"}));
}

TEST(PolicyNews, AStopWarnsAndItsEndDoesNot) {
  EXPECT_THAT(
      NewsBetween({}, {.stopped = true}, TwoWait()),
      ElementsAre(PolicyNews{events::EventType::kWarning, "Stopped",
                             "3 rollouts failed; no more rollouts begin until they are mended"}));
  EXPECT_THAT(
      NewsBetween({.stopped = true}, {}, {}),
      ElementsAre(PolicyNews{events::EventType::kNormal, "StopLifted", "rollouts begin again"}));
}

TEST(PolicyNews, AFailedWaveWarnsAndItsEndDoesNot) {
  PolicyState state = TwoWait();
  state.failed_waves = 1;
  state.failed_in_waves.push_back(
      {.workload = {"Deployment", {"shop", "web"}}, .data = {"ConfigMap/config=1"}});
  EXPECT_THAT(NewsBetween({}, {.wave_failed = true}, state),
              ElementsAre(PolicyNews{events::EventType::kWarning, "WaveFailed",
                                     "1 rollout failed in a wave; first Deployment/shop/web for "
                                     "ConfigMap/config; no other rollout begins for these data"}));
  EXPECT_THAT(
      NewsBetween({.wave_failed = true}, {}, TwoWait()),
      ElementsAre(PolicyNews{events::EventType::kNormal, "WavesGoOn",
                             "no rollout that failed in a wave holds others back any more"}));
}

TEST(PolicyNews, WhatCannotBeReadWarnsAgainWhenItIsSomethingElse) {
  EXPECT_THAT(NewsBetween({}, {.problems = "a"}, {}),
              ElementsAre(PolicyNews{events::EventType::kWarning, "Invalid", "a"}));
  EXPECT_THAT(NewsBetween({.problems = "a"}, {.problems = "b"}, {}),
              ElementsAre(PolicyNews{events::EventType::kWarning, "Invalid", "b"}));
  EXPECT_THAT(NewsBetween({.problems = "b"}, {}, {}),
              ElementsAre(PolicyNews{events::EventType::kNormal, "Accepted",
                                     "the whole policy is in force"}));
}

TEST(PolicyNews, AStatusTellsWhatWasSaidLast) {
  reloadpolicy::v1alpha1::ReloadPolicyStatus status;
  EXPECT_EQ(FactsOf(status), PolicyFacts());
  status.pending = 2;
  auto& conditions = status.conditions.emplace();
  conditions.push_back({.type = "Ready", .status = "False", .message = "not in force: x"});
  conditions.push_back({.type = "Stopped", .status = "True"});
  EXPECT_EQ(FactsOf(status),
            (PolicyFacts{.waits = true, .stopped = true, .problems = "not in force: x"}));
  conditions.front().status = "True";
  EXPECT_EQ(FactsOf(status).problems, "");
}

TEST(PolicyNews, ARestoreIsToldAndWarnsWhenThereIsNone) {
  const PolicyFacts done{.restored = true, .restore = "the last good data were put back"};
  const PolicyFacts held{.restore = "there is no snapshot"};
  EXPECT_THAT(NewsBetween({}, done, {}),
              ElementsAre(PolicyNews{events::EventType::kNormal, "Restored",
                                     "the last good data were put back"}));
  EXPECT_THAT(
      NewsBetween(done, held, {}),
      ElementsAre(PolicyNews{events::EventType::kWarning, "NotRestored", "there is no snapshot"}));
  EXPECT_THAT(NewsBetween(held, held, {}), IsEmpty());
  EXPECT_THAT(NewsBetween(held, {}, {}), IsEmpty()) << "that the waves go on is told anyway";
}

}  // namespace
}  // namespace kubexx::reloader
