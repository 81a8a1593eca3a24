#include "kubexx/reloadpolicy/arbiter.h"

#include <gmock/gmock.h>

#include <chrono>
#include <optional>
#include <string>

#include "kubexx/apimachinery/time.h"

namespace kubexx::reloadpolicy {
namespace {

using namespace std::chrono_literals;
using base::WallTime;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

const WallTime kNow = WallTime(std::chrono::seconds(1'795'000'000));

ObjectRef Deployment(const std::string& name, const std::string& ns = "shop") {
  return {"Deployment", {ns, name}};
}

Policy PolicyOf(Settings settings, PolicyId id = {"shop", "p"}) {
  return {.id = std::move(id), .generation = 1, .settings = std::move(settings)};
}

Annotations RolledAt(WallTime time) {
  return {{std::string(kLastRolloutAnnotation), apimachinery::Time::From(time).ToString()}};
}

class ArbiterTest : public ::testing::Test {
 protected:
  Decision Begin(const ObjectRef& workload, Annotations annotations = {}) {
    return arbiter_.Begin({workload, std::move(annotations), {}, "u"}, now_);
  }
  std::string ReasonOf(const Decision& decision) {
    return decision.hold ? std::string(ToString(decision.hold->reason)) : "go";
  }
  void See(const ObjectRef& workload, Phase phase, WallTime rolled) {
    arbiter_.Observe(workload, {.uid = "u", .annotations = RolledAt(rolled), .phase = phase}, now_);
    arbiter_.Sweep(now_);
  }

  Arbiter arbiter_;
  WallTime now_ = kNow;
};

TEST_F(ArbiterTest, WithoutPoliciesEverythingGoesAndNothingIsTracked) {
  const Decision decision = Begin(Deployment("a"));
  EXPECT_FALSE(decision.hold);
  EXPECT_FALSE(decision.tracked);
  EXPECT_EQ(arbiter_.rollouts(), 0U);
  EXPECT_TRUE(arbiter_.policies().empty());
}

TEST_F(ArbiterTest, APauseHoldsUntilThePolicyGoes) {
  arbiter_.SetPolicy(PolicyOf({.paused = true}));
  EXPECT_EQ(ReasonOf(Begin(Deployment("a"))), "Paused");
  EXPECT_EQ(ReasonOf(Begin(Deployment("b", "other"))), "go");
  EXPECT_THAT(arbiter_.pending().at(Deployment("a")).hold.message,
              HasSubstr("ReloadPolicy shop/p"));
  arbiter_.TakeWakes(now_);
  arbiter_.RemovePolicy({"shop", "p"});
  EXPECT_THAT(arbiter_.TakeWakes(now_), ElementsAre(Deployment("a")));
  EXPECT_EQ(ReasonOf(Begin(Deployment("a"))), "go");
  EXPECT_THAT(arbiter_.pending(), IsEmpty());
}

TEST_F(ArbiterTest, AnAnnotationBeatsPolicies) {
  arbiter_.SetPolicy(PolicyOf({.paused = true}));
  EXPECT_EQ(ReasonOf(Begin(Deployment("a"), {{"reloader.kubexx.io/paused", "false"}})), "go");
  arbiter_.SetPolicy(PolicyOf({.paused = false}));
  EXPECT_EQ(ReasonOf(Begin(Deployment("a"), {{"reloader.kubexx.io/paused", "true"}})), "Paused");
}

TEST_F(ArbiterTest, TheWindowSaysWhenItOpens) {
  auto windows = MaintenanceWindow::ParseList("0 2 * * * 1h");
  arbiter_.SetPolicy(PolicyOf({.windows = *windows}));
  now_ = WallTime(std::chrono::seconds(apimachinery::Time::Parse("2026-11-21T01:00:00Z")->seconds));
  const Decision decision = Begin(Deployment("a"));
  ASSERT_TRUE(decision.hold);
  EXPECT_EQ(decision.hold->reason, HoldReason::kOutsideWindow);
  EXPECT_EQ(decision.hold->until, now_ + 1h);
  EXPECT_THAT(decision.hold->message, HasSubstr("2026-11-21T02:00:00Z"));
  now_ += 90min;
  EXPECT_EQ(ReasonOf(Begin(Deployment("a"))), "go");
}

TEST_F(ArbiterTest, WindowsOfTwoPoliciesAreToldByWhenTheyAreOpenTogether) {
  now_ = WallTime(std::chrono::seconds(apimachinery::Time::Parse("2026-11-21T01:00:00Z")->seconds));
  const auto set = [&](const PolicyId& id, const char* windows, bool enforced) {
    Policy policy = PolicyOf({.windows = *MaintenanceWindow::ParseList(windows)});
    policy.id = id;
    policy.enforced = enforced;
    arbiter_.SetPolicy(policy);
  };
  set({"shop", "p"}, "0 2 * * * 1h", false);
  set({"", "platform"}, "0 4 * * * 1h", true);
  const Decision never = Begin(Deployment("a"));
  ASSERT_TRUE(never.hold);
  EXPECT_EQ(never.hold->reason, HoldReason::kOutsideWindow);
  EXPECT_EQ(never.hold->until, std::nullopt) << "at the next opening of either nothing begins";
  EXPECT_THAT(never.hold->message, HasSubstr("they are never open together before 2027-12-26"));
  EXPECT_THAT(never.hold->message, HasSubstr("ReloadPolicy shop/p"));
  EXPECT_THAT(never.hold->message, HasSubstr("ClusterReloadPolicy platform"));
  set({"", "platform"}, "30 2 * * sun 1h", true);
  const Decision sunday = Begin(Deployment("a"));
  ASSERT_TRUE(sunday.hold);
  EXPECT_EQ(sunday.hold->until, now_ + 25h + 30min);
  EXPECT_THAT(sunday.hold->message, HasSubstr("2026-11-22T02:30:00Z"));
  now_ = *sunday.hold->until;
  EXPECT_EQ(ReasonOf(Begin(Deployment("a"))), "go");
}

TEST_F(ArbiterTest, WindowsThatTakeTooLongToCompareAreLookedAtAgainLater) {
  now_ = WallTime(std::chrono::seconds(apimachinery::Time::Parse("2026-11-21T03:00:00Z")->seconds));
  std::string each_minute;
  for (int i = 0; i < 16; ++i) {
    each_minute += "* 4-23 * * * 1m;";
  }
  arbiter_.SetPolicy(PolicyOf({.windows = *MaintenanceWindow::ParseList(each_minute)}));
  Policy platform = PolicyOf({.windows = *MaintenanceWindow::ParseList("0 2 * * * 1h")});
  platform.id = {"", "platform"};
  platform.enforced = true;
  arbiter_.SetPolicy(platform);
  const Decision decision = Begin(Deployment("a"));
  ASSERT_TRUE(decision.hold);
  EXPECT_THAT(decision.hold->message, HasSubstr("they are not open together before 2026-11-2"));
  ASSERT_TRUE(decision.hold->until);
  EXPECT_GT(*decision.hold->until, now_);
}

TEST_F(ArbiterTest, NoReadableWindowMeansNever) {
  arbiter_.SetPolicy(PolicyOf({.windows = std::vector<MaintenanceWindow>()}));
  const Decision decision = Begin(Deployment("a"));
  ASSERT_TRUE(decision.hold);
  EXPECT_EQ(decision.hold->until, std::nullopt);
}

TEST_F(ArbiterTest, TheIntervalCountsFromWhatStandsOnTheWorkload) {
  arbiter_.SetPolicy(PolicyOf({.min_interval = 10min}));
  const Decision decision = Begin(Deployment("a"), RolledAt(now_ - 4min));
  ASSERT_TRUE(decision.hold);
  EXPECT_EQ(decision.hold->reason, HoldReason::kMinInterval);
  EXPECT_EQ(decision.hold->until, now_ + 6min);
  EXPECT_EQ(ReasonOf(Begin(Deployment("b"), RolledAt(now_ - 10min))), "go");
  // The event of the write has not come yet, but the write is known.
  EXPECT_EQ(ReasonOf(Begin(Deployment("b"), RolledAt(now_ - 10min))), "MinInterval");
  EXPECT_EQ(ReasonOf(Begin(Deployment("c"), RolledAt(now_ + 100h))), "go") << "a wrong clock";
}

TEST_F(ArbiterTest, AtMostSoManyAtATimeInANamespace) {
  arbiter_.SetPolicy(PolicyOf({.max_in_namespace = 2}, {"", "everywhere"}));
  EXPECT_EQ(ReasonOf(Begin(Deployment("a"))), "go");
  EXPECT_EQ(ReasonOf(Begin(Deployment("b"))), "go");
  EXPECT_EQ(ReasonOf(Begin(Deployment("c"))), "ConcurrencyLimit");
  EXPECT_EQ(ReasonOf(Begin(Deployment("d"))), "ConcurrencyLimit");
  EXPECT_EQ(ReasonOf(Begin(Deployment("a", "other"))), "go");
  const Decision again = Begin(Deployment("a"));
  EXPECT_EQ(ReasonOf(again), "go") << "in the place of its last rollout";
  arbiter_.TakeWakes(now_);
  See(Deployment("a"), Phase::kComplete, again.started);
  EXPECT_THAT(arbiter_.TakeWakes(now_), ElementsAre(Deployment("c"))) << "one place, first come";
  EXPECT_THAT(arbiter_.TakeWakes(now_), IsEmpty());
  EXPECT_EQ(ReasonOf(Begin(Deployment("c"))), "go");
}

TEST_F(ArbiterTest, APatientWorkloadLoosensNoEnforcedLimitOrStop) {
  const Annotations patient{{"reloader.kubexx.io/health-timeout", "24h"}};
  for (const bool stops : {false, true}) {
    arbiter_ = Arbiter();
    arbiter_.SetPolicy(
        {.id = {"", "platform"},
         .enforced = true,
         .settings = stops ? Settings{.stop_after_failures = 1} : Settings{.max_in_cluster = 1}});
    arbiter_.SetPolicy(PolicyOf({.health_timeout = std::chrono::hours(12)}));
    const Decision begun = Begin(Deployment("a"), patient);
    Annotations written = RolledAt(begun.started);
    written.insert(patient.begin(), patient.end());
    arbiter_.Observe(Deployment("a"),
                     {.uid = "u", .annotations = written, .phase = Phase::kUpdating}, now_);
    now_ += Effective::kDefaultHealthTimeout - std::chrono::seconds(1);
    arbiter_.Sweep(now_);
    EXPECT_EQ(ReasonOf(Begin(Deployment("b", "other"))), stops ? "go" : "ConcurrencyLimit");
    now_ += std::chrono::seconds(1);
    arbiter_.Sweep(now_);
    EXPECT_EQ(ReasonOf(Begin(Deployment("c", "other"))), stops ? "StoppedAfterFailures" : "go");
  }
}

TEST_F(ArbiterTest, APlaceThatIsNotTakenGoesToTheNext) {
  arbiter_.SetPolicy(PolicyOf({.max_in_namespace = 1}));
  Begin(Deployment("a"));
  Begin(Deployment("b"));
  Begin(Deployment("c"));
  arbiter_.TakeWakes(now_);
  See(Deployment("a"), Phase::kComplete, now_);
  ASSERT_THAT(arbiter_.TakeWakes(now_), ElementsAre(Deployment("b")));
  arbiter_.Done(Deployment("b"));  // its source was set back meanwhile
  EXPECT_THAT(arbiter_.TakeWakes(now_), ElementsAre(Deployment("c")));
}

TEST_F(ArbiterTest, AFailedWriteGivesThePlaceBack) {
  arbiter_.SetPolicy(PolicyOf({.max_in_namespace = 1}));
  Begin(Deployment("a"));
  Begin(Deployment("b"));
  arbiter_.TakeWakes(now_);
  arbiter_.Cancel(Deployment("a"));
  EXPECT_THAT(arbiter_.TakeWakes(now_), ElementsAre(Deployment("b")));
}

TEST_F(ArbiterTest, ADeletedWorkloadGivesThePlaceBack) {
  arbiter_.SetPolicy(PolicyOf({.max_in_namespace = 1}));
  Begin(Deployment("a"));
  Begin(Deployment("b"));
  arbiter_.TakeWakes(now_);
  arbiter_.Forget(Deployment("a"), now_);
  EXPECT_THAT(arbiter_.TakeWakes(now_), ElementsAre(Deployment("b")));
}

TEST_F(ArbiterTest, TheClusterHasALimitOfItsOwn) {
  arbiter_.SetPolicy(PolicyOf({.max_in_namespace = 2, .max_in_cluster = 1}, {"", "everywhere"}));
  EXPECT_EQ(ReasonOf(Begin(Deployment("a"))), "go");
  EXPECT_EQ(ReasonOf(Begin(Deployment("a", "other"))), "ConcurrencyLimit");
}

TEST_F(ArbiterTest, WithoutAHealthGateReplacedPodsAreEnough) {
  arbiter_.SetPolicy(PolicyOf({.max_in_namespace = 1}));
  Begin(Deployment("a"));
  See(Deployment("a"), Phase::kUnavailable, now_);
  EXPECT_EQ(ReasonOf(Begin(Deployment("b"))), "go");
}

TEST_F(ArbiterTest, TheHealthGateWaitsForAvailability) {
  arbiter_.SetPolicy(PolicyOf({.health_gate = true, .health_timeout = 5min}));
  Begin(Deployment("a"));
  See(Deployment("a"), Phase::kUnavailable, now_);
  const Decision decision = Begin(Deployment("b"));
  EXPECT_EQ(ReasonOf(decision), "Unhealthy");
  EXPECT_THAT(decision.hold->message, HasSubstr("Deployment/shop/a is not healthy yet"));
  now_ += 4min;
  See(Deployment("a"), Phase::kComplete, kNow);
  EXPECT_EQ(ReasonOf(Begin(Deployment("b"))), "Unhealthy") << "for an instant, perhaps";
  arbiter_.TakeWakes(now_);
  now_ += 10s;
  arbiter_.Sweep(now_);
  EXPECT_THAT(arbiter_.TakeWakes(now_), ElementsAre(Deployment("b")));
}

TEST_F(ArbiterTest, WhatWasSeenBeforeTheWriteDoesNotCount) {
  arbiter_.SetPolicy(PolicyOf({.max_in_namespace = 1}));
  now_ += 1h;
  Begin(Deployment("a"), RolledAt(kNow));
  See(Deployment("a"), Phase::kComplete, kNow);
  EXPECT_TRUE(arbiter_.IsActive(Deployment("a")));
  arbiter_.Observe(Deployment("a"), {.uid = "u", .annotations = {}}, now_);
  EXPECT_TRUE(arbiter_.IsActive(Deployment("a")));
}

TEST_F(ArbiterTest, StopsAfterFailuresUntilTheyAreMended) {
  arbiter_.SetPolicy(PolicyOf({.stop_after_failures = 2}));
  Begin(Deployment("a"));
  Begin(Deployment("b"));
  See(Deployment("a"), Phase::kFailed, now_);
  EXPECT_EQ(ReasonOf(Begin(Deployment("c"))), "go");
  See(Deployment("b"), Phase::kFailed, now_);
  const Decision decision = Begin(Deployment("d"));
  EXPECT_EQ(ReasonOf(decision), "StoppedAfterFailures");
  EXPECT_THAT(decision.hold->message, HasSubstr("2 rollouts have failed"));
  EXPECT_EQ(ReasonOf(Begin(Deployment("a"))), "go") << "a change may mend what failed";
  arbiter_.Cancel(Deployment("a"));
  const Policy& policy = *arbiter_.policies().Find({"shop", "p"});
  EXPECT_THAT(arbiter_.ReportFor(policy, now_).failed, SizeIs(2)) << "the write failed, no more";
  arbiter_.TakeWakes(now_);
  See(Deployment("b"), Phase::kComplete, now_);
  EXPECT_EQ(ReasonOf(Begin(Deployment("d"))), "StoppedAfterFailures");
  now_ += 10s;
  EXPECT_EQ(ReasonOf(Begin(Deployment("d"))), "go");
}

TEST_F(ArbiterTest, FailuresOfOthersDoNotStopAPolicy) {
  arbiter_.SetPolicy(PolicyOf({.stop_after_failures = 1}));
  See(Deployment("x", "other"), Phase::kFailed, now_);
  EXPECT_EQ(arbiter_.rollouts(), 1U);
  EXPECT_EQ(ReasonOf(Begin(Deployment("a"))), "go");
}

TEST_F(ArbiterTest, ARolloutThatTakesTooLongHasFailed) {
  arbiter_.SetPolicy(PolicyOf({.health_timeout = 1min, .stop_after_failures = 1}));
  Begin(Deployment("a"));
  See(Deployment("a"), Phase::kUpdating, now_);
  EXPECT_EQ(ReasonOf(Begin(Deployment("b"))), "go");
  arbiter_.Cancel(Deployment("b"));
  now_ += 2min;
  EXPECT_EQ(ReasonOf(Begin(Deployment("b"))), "StoppedAfterFailures");
  EXPECT_TRUE(arbiter_.ReportFor(*arbiter_.policies().Find({"shop", "p"}), now_).stopped);
}

TEST_F(ArbiterTest, ThoseOfALowerOrderComeFirst) {
  Policy policy = PolicyOf({});
  policy.order = {{{"web-*", "StatefulSet/db"}, 2}};
  arbiter_.SetPolicy(policy);
  const Request web{Deployment("web-1"), {}, {Deployment("api")}};
  const Decision decision = arbiter_.Begin(web, now_);
  EXPECT_EQ(ReasonOf(decision), "Order");
  EXPECT_THAT(decision.hold->message, HasSubstr("waits for Deployment/shop/api"));
  arbiter_.TakeWakes(now_);
  Begin(Deployment("api"), {{"reloader.kubexx.io/order", "1"}});
  EXPECT_THAT(arbiter_.TakeWakes(now_), IsEmpty());
  // No policy asks for health, so there is no soak time.
  See(Deployment("api"), Phase::kComplete, now_);
  EXPECT_THAT(arbiter_.TakeWakes(now_), ElementsAre(Deployment("web-1")));
  EXPECT_EQ(ReasonOf(Begin(Deployment("web-1"))), "go");
  EXPECT_EQ(arbiter_.policies().Resolve({"StatefulSet", {"shop", "db"}}, {}).Order(), 2);
  EXPECT_EQ(arbiter_.policies().Resolve({"Deployment", {"shop", "db"}}, {}).Order(), 0);
}

TEST_F(ArbiterTest, AReportListsWhatWaitsFirstComeFirst) {
  arbiter_.SetPolicy(PolicyOf({.max_in_namespace = 1}));
  Begin(Deployment("z"));
  Begin(Deployment("y"));
  now_ += 1s;
  Begin(Deployment("a"));
  now_ += 1s;
  Begin(Deployment("y"));  // it asks again
  const PolicyReport report = arbiter_.ReportFor(*arbiter_.policies().Find({"shop", "p"}), now_);
  EXPECT_EQ(report.active, 1);
  EXPECT_THAT(report.failed, IsEmpty());
  EXPECT_FALSE(report.stopped);
  ASSERT_EQ(report.pending.size(), 2U);
  EXPECT_EQ(report.pending[0].first, Deployment("y"));
  EXPECT_EQ(report.pending[0].second->since, kNow);
  EXPECT_EQ(report.pending[1].first, Deployment("a"));
}

TEST_F(ArbiterTest, AChangedPolicyWakesThoseThatItGoverns) {
  for (const char* ns : {"shop", "other"}) {
    arbiter_.SetPolicy(PolicyOf({.paused = true}, {ns, "p"}));
    Begin(Deployment("a", ns));
  }
  arbiter_.TakeWakes(now_);
  arbiter_.SetPolicy(PolicyOf({.max_in_namespace = 1}));
  EXPECT_THAT(arbiter_.TakeWakes(now_), ElementsAre(Deployment("a"))) << "by what it was";
  Begin(Deployment("a"));
  Policy of_web = PolicyOf({}, {"", "q"});
  of_web.names = {"web*"};
  arbiter_.SetPolicy(of_web);
  EXPECT_THAT(arbiter_.TakeWakes(now_), IsEmpty());
  of_web.names = {"a"};
  arbiter_.SetPolicy(of_web);
  EXPECT_THAT(arbiter_.TakeWakes(now_), ElementsAre(Deployment("a", "other"))) << "by what it is";
  arbiter_.RemovePolicy({"other", "p"});
  EXPECT_THAT(arbiter_.TakeWakes(now_), ElementsAre(Deployment("a", "other")));
}

TEST_F(ArbiterTest, ReportsAreThoseOfEachPolicy) {
  arbiter_.SetPolicy(PolicyOf({.max_in_cluster = 1, .stop_after_failures = 1}, {"", "all"}));
  arbiter_.SetPolicy(PolicyOf({.max_in_namespace = 1}));
  Begin(Deployment("x", "other"));
  Begin(Deployment("a"));
  See(Deployment("x", "other"), Phase::kFailed, now_);
  Begin(Deployment("b"));
  const auto reports = arbiter_.Reports(now_);
  ASSERT_THAT(reports, SizeIs(2));
  for (const auto& [id, report] : reports) {
    const PolicyReport one = arbiter_.ReportFor(*arbiter_.policies().Find(id), now_);
    EXPECT_EQ(report.active, one.active);
    EXPECT_EQ(report.failed, one.failed);
    EXPECT_EQ(report.pending, one.pending);
    EXPECT_EQ(report.longest_for_others, one.longest_for_others);
    EXPECT_EQ(report.stopped, one.stopped);
  }
  EXPECT_TRUE(reports.at({"", "all"}).stopped);
}

TEST_F(ArbiterTest, AChangedPolicyWakesAllThatWait) {
  arbiter_.SetPolicy(PolicyOf({.max_in_namespace = 1}));
  Begin(Deployment("a"));
  Begin(Deployment("b"));
  Begin(Deployment("c"));
  arbiter_.TakeWakes(now_);
  arbiter_.SetPolicy(PolicyOf({.max_in_namespace = 3}));
  EXPECT_THAT(arbiter_.TakeWakes(now_), UnorderedElementsAre(Deployment("b"), Deployment("c")));
  EXPECT_EQ(ReasonOf(Begin(Deployment("b"))), "go");
  EXPECT_EQ(ReasonOf(Begin(Deployment("c"))), "go");
}

}  // namespace
}  // namespace kubexx::reloadpolicy
