// Tests how long a rollout keeps its place in a limit and in an order.
#include <gmock/gmock.h>

#include <chrono>
#include <string>
#include <vector>

#include "kubexx/reloadpolicy/arbiter.h"
#include "kubexx/reloadpolicy/testing/arbiter_fixture.h"

namespace kubexx::reloadpolicy {
namespace {

using namespace std::chrono_literals;
using testing::AppRef;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using testing::Written;

class ArbiterPlacesTest : public testing::ArbiterFixture {};

TEST_F(ArbiterPlacesTest, AFailedRolloutHasNoPlaceAnyMore) {
  SetPolicy(one_);
  Begin("a");
  See("a", Phase::kUnavailable);
  EXPECT_EQ(Try("b"), "Unhealthy");
  arbiter_.Begin({AppRef("b"), {}, {}, "u"}, now_);
  arbiter_.TakeWakes(now_);
  After(1min);
  EXPECT_THAT(arbiter_.TakeWakes(now_), ElementsAre(AppRef("b")));
  EXPECT_EQ(Try("b"), "go");
}

TEST_F(ArbiterPlacesTest, AnImpatientWorkloadKeepsItsPlace) {
  SetPolicy({.max_in_namespace = 1});
  Begin("a", Phase::kComplete, impatient_);
  See("a", Phase::kUpdating);
  After(1s);
  EXPECT_EQ(Mark("a"), RolloutState::kFailed);
  EXPECT_THAT(failure_, HasSubstr("within 1s"));
  EXPECT_EQ(Try("b"), "ConcurrencyLimit");
  arbiter_.Begin({AppRef("b"), {}, {}, "u"}, now_);
  arbiter_.TakeLooks(now_);
  See("a", Phase::kUpdating);
  EXPECT_THAT(arbiter_.TakeLooks(now_), ElementsAre(Pair(AppRef("a"), base::Duration(10min - 1s))));
  arbiter_.TakeWakes(now_);
  After(10min - 2s);
  EXPECT_EQ(Try("b"), "ConcurrencyLimit");
  After(1s);
  EXPECT_EQ(Try("b"), "go") << "by the time that holds for all";
  EXPECT_THAT(arbiter_.TakeWakes(now_), ElementsAre(AppRef("b")));
  Restart({.max_in_namespace = 1});
  Begin("c", Phase::kComplete, impatient_);
  After(2s);
  EXPECT_EQ(Try("b"), "ConcurrencyLimit");
  See("c", Phase::kFailed);
  EXPECT_EQ(Try("b"), "go") << "by its status";
}

TEST_F(ArbiterPlacesTest, AnImpatientWorkloadThatWasBrokenBeforeKeepsItsPlace) {
  SetPolicy({.max_in_namespace = 1});
  See("a", Phase::kUnavailable);
  After(10s);
  EXPECT_EQ(Begin("a", Phase::kUnavailable, impatient_).record, RolloutState::kStartedBroken);
  See("a", Phase::kUpdating);
  After(5s);
  EXPECT_EQ(Try("b"), "ConcurrencyLimit");
  After(10min);
  EXPECT_EQ(Try("b"), "go");
}

TEST_F(ArbiterPlacesTest, AWriteWithoutAnAnswerKeepsItsPlace) {
  SetPolicy({.max_in_namespace = 1, .stop_after_failures = 1});
  Begin("a");
  arbiter_.Doubt(AppRef("a"), now_);
  EXPECT_EQ(Try("b"), "ConcurrencyLimit");
  arbiter_.Settle(AppRef("a"), {"u", {}, Phase::kComplete, ""}, now_);
  EXPECT_EQ(Try("b"), "go") << "another look finds that it was not made, and need not be";
  Begin("a");
  arbiter_.Doubt(AppRef("a"), now_);
  now_ += 2s;
  Begin("a");
  arbiter_.CancelOvertaken(AppRef("a"));  // a conflict, perhaps with a write of its own
  EXPECT_EQ(Try("b"), "ConcurrencyLimit");
  See("a", Phase::kUpdating);
  EXPECT_EQ(Try("b"), "ConcurrencyLimit") << "it was made";
  arbiter_.Cancel(AppRef("a"));
  EXPECT_EQ(Try("b"), "ConcurrencyLimit")
      << "what has been seen is under way, whatever a write says";
  See("a", Phase::kComplete);
  EXPECT_EQ(Try("b"), "go");
}

// A conflict with a status or with another field is no reason to let another workload go first.
TEST_F(ArbiterPlacesTest, AWorkloadThatChangedMeanwhileKeepsItsPlaceForTheRepeat) {
  SetPolicy({.max_in_namespace = 1});
  const auto begin = [&](const char* name) {
    return !arbiter_.Begin({AppRef(name), {}, {}, "u"}, now_).hold;
  };
  const auto conflict = [&] {
    arbiter_.TakeWakes(now_);
    arbiter_.CancelOvertaken(AppRef("a"));
    EXPECT_EQ(arbiter_.rollouts(), 0U);
    EXPECT_THAT(arbiter_.TakeWakes(now_), IsEmpty());
    EXPECT_EQ(Try("b"), "ConcurrencyLimit");
    EXPECT_EQ(Try("a"), "go");
  };
  EXPECT_TRUE(begin("a"));
  EXPECT_FALSE(begin("b"));
  for (int i = 0; i < 4; ++i) {
    conflict();
    EXPECT_TRUE(begin("a"));
  }
  conflict();
  arbiter_.Done(AppRef("a"));  // it gives up for now
  EXPECT_THAT(arbiter_.TakeWakes(now_), ElementsAre(AppRef("b")));
  EXPECT_FALSE(begin("a")) << "it is the other's turn";
  arbiter_.Done(AppRef("b"));
  EXPECT_THAT(arbiter_.TakeWakes(now_), ElementsAre(AppRef("a")));
  EXPECT_TRUE(begin("a"));
  EXPECT_FALSE(begin("b"));
  conflict();
  arbiter_.Forget(AppRef("a"), now_);
  EXPECT_THAT(arbiter_.TakeWakes(now_), ElementsAre(AppRef("b"))) << "it was deleted";
  arbiter_.Done(AppRef("b"));
  EXPECT_TRUE(begin("a"));
  EXPECT_FALSE(begin("b"));
  conflict();
  arbiter_.Wait({AppRef("a"), {}, {}, "u"}, {.reason = HoldReason::kSourcePaused}, now_);
  EXPECT_THAT(arbiter_.TakeWakes(now_), ElementsAre(AppRef("b"))) << "something else holds it";
}

/// The phase of the workload's last rollout. Under a limit without a health gate that rollout takes
/// no place, and it counts again after a conflict.
class EarlierRolloutTest : public ArbiterPlacesTest, public ::testing::WithParamInterface<Phase> {};

TEST_P(EarlierRolloutTest, AWorkloadKeepsItsPlaceForTheRepeat) {
  SetPolicy({.max_in_namespace = 1});
  Begin("a");
  See("a", GetParam());
  EXPECT_FALSE(arbiter_.Begin({AppRef("a"), on_workload_["a"], {}, "u"}, now_).hold);
  EXPECT_TRUE(arbiter_.Begin({AppRef("b"), {}, {}, "u"}, now_).hold);
  arbiter_.CancelOvertaken(AppRef("a"));
  EXPECT_EQ(arbiter_.rollouts(), 1U);
  EXPECT_THAT(arbiter_.TakeWakes(now_), IsEmpty());
  EXPECT_EQ(Try("b"), "ConcurrencyLimit");
  EXPECT_EQ(Try("a"), "go");
  arbiter_.Done(AppRef("a"));
  EXPECT_THAT(arbiter_.TakeWakes(now_), ElementsAre(AppRef("b")));
}

INSTANTIATE_TEST_SUITE_P(All, EarlierRolloutTest,
                         ::testing::Values(Phase::kFailed, Phase::kUnavailable));

TEST_F(ArbiterPlacesTest, AWriteWithoutAnAnswerThatWasNotMadeIsNoFailure) {
  SetPolicy({.max_in_namespace = 1, .health_timeout = 8s, .stop_after_failures = 1});
  Begin("a");
  arbiter_.Doubt(AppRef("a"), now_);
  After(9s);
  EXPECT_EQ(Try("b"), "go") << "it has neither failed nor a place any more";
  EXPECT_EQ(arbiter_.rollouts(), 0U);
  Begin("a");
  arbiter_.Doubt(AppRef("a"), now_);
  on_workload_["a"].clear();
  arbiter_.Settle(AppRef("a"), {"u", {}, Phase::kComplete, ""}, now_);
  EXPECT_EQ(arbiter_.rollouts(), 0U) << "there is nothing to roll, and nothing was";
}

TEST_F(ArbiterPlacesTest, WritesWithoutAnAnswerKeepAPlaceForTheTimeOfOneRollout) {
  SetPolicy({.max_in_namespace = 1, .health_timeout = 8s});
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(Try("b"), i == 0 ? "go" : "ConcurrencyLimit") << i;
    Begin("a");
    arbiter_.Doubt(AppRef("a"), now_);
    After(2s);
  }
  EXPECT_EQ(Try("b"), "go");
  Begin("a");
  arbiter_.Doubt(AppRef("a"), now_);
  Begin("a");
  arbiter_.Cancel(AppRef("a"));
  EXPECT_EQ(Try("b"), "go") << "refused for certain";
}

TEST_F(ArbiterPlacesTest, AWriteWithoutAnAnswerIsNoRolloutForTheInterval) {
  SetPolicy({.min_interval = 1h, .max_in_namespace = 1});
  EXPECT_FALSE(Begin("a").hold);
  arbiter_.Doubt(AppRef("a"), now_);
  on_workload_["a"].clear();
  EXPECT_FALSE(Begin("a").hold);
  See("a", Phase::kComplete);
  EXPECT_EQ(ToString(Begin("a", Phase::kComplete, on_workload_["a"]).hold.value().reason),
            "MinInterval");
}

TEST_F(ArbiterPlacesTest, WhatWasBrokenBeforeIsSoAlsoWhenItIsWrittenAgain) {
  SetPolicy(stop_);
  See("a", Phase::kUnavailable);
  After(10s);
  EXPECT_EQ(Begin("a", Phase::kUnavailable).record, RolloutState::kStartedBroken);
  arbiter_.Doubt(AppRef("a"), now_);
  EXPECT_EQ(Begin("a", Phase::kUnavailable).record, RolloutState::kStartedBroken);
}

TEST_F(ArbiterPlacesTest, AWriteWithoutAnAnswerWhoseTimeIsOverLeavesTheFailureBefore) {
  SetPolicy(stop_);
  Begin("a");
  See("a", Phase::kFailed);
  const Annotations failed = on_workload_["a"];
  After(1s);
  Begin("a", Phase::kFailed, failed);
  arbiter_.Doubt(AppRef("a"), now_);
  After(1h);
  EXPECT_EQ(Try("b"), "StoppedAfterFailures");
}

TEST_F(ArbiterPlacesTest, AWriteWithoutAnAnswerThatIsGivenUpLeavesTheFailureBefore) {
  SetPolicy(stop_);
  Begin("a");
  See("a", Phase::kFailed);
  const Annotations failed = on_workload_["a"];
  Begin("a", Phase::kFailed, failed);
  arbiter_.Doubt(AppRef("a"), now_);
  now_ += 1s;
  Begin("a", Phase::kFailed, failed);
  arbiter_.Doubt(AppRef("a"), now_);
  on_workload_["a"] = failed;
  arbiter_.Settle(AppRef("a"), {"u", failed, Phase::kFailed, ""}, now_);
  EXPECT_EQ(Try("b"), "StoppedAfterFailures");
}

// Its event came while another rollout was on the way that was never made.
TEST_F(ArbiterPlacesTest, ARolloutThatEndedMeanwhileHasEndedWhenTheNextOneWasNotMade) {
  SetPolicy({.max_in_namespace = 1, .health_timeout = 8s, .stop_after_failures = 1});
  Begin("a");
  See("a", Phase::kUpdating);
  const Annotations first = on_workload_["a"];
  now_ += 1s;
  Begin("a", Phase::kUpdating, first);
  arbiter_.Doubt(AppRef("a"), now_);
  on_workload_["a"] = first;
  See("a", Phase::kComplete);
  arbiter_.Settle(AppRef("a"), {"u", first, Phase::kComplete, ""}, now_);
  After(1min);
  EXPECT_EQ(Mark("a"), RolloutState::kCompleted);
  EXPECT_EQ(Try("b"), "go");
}

TEST_F(ArbiterPlacesTest, WhatIsUnavailableForAMomentIsNotBroken) {
  SetPolicy({.health_timeout = 8s, .stop_after_failures = 1});
  See("a", Phase::kUnavailable);
  After(9s);
  EXPECT_EQ(Begin("a", Phase::kUnavailable).record, RolloutState::kStarted);
  See("b", Phase::kUnavailable);
  See("b", Phase::kComplete);
  After(1s);
  See("b", Phase::kUnavailable);
  After(5s);
  EXPECT_EQ(Begin("b", Phase::kUnavailable).record, RolloutState::kStarted);
}

TEST_F(ArbiterPlacesTest, APatientWorkloadKeepsItsPlaceForItsOwnTime) {
  SetPolicy({.max_in_namespace = 1, .health_timeout = 8s});
  Begin("a", Phase::kComplete, {{"reloader.kubexx.io/health-timeout", "20s"}});
  See("a", Phase::kUpdating);
  After(19s);
  EXPECT_EQ(Try("b"), "ConcurrencyLimit");
  After(1s);
  EXPECT_EQ(Try("b"), "go");
}

TEST_F(ArbiterPlacesTest, AnImpatientWorkloadStopsNobody) {
  SetPolicy(stop_);
  Begin("a", Phase::kComplete, impatient_);
  See("a", Phase::kUpdating);
  After(2s);
  EXPECT_EQ(Mark("a"), RolloutState::kFailed);
  EXPECT_EQ(Try("b"), "go");
  const Policy policy = *arbiter_.policies().Find({"shop", "p"});
  EXPECT_FALSE(arbiter_.ReportFor(policy, now_).stopped);
  Restart(stop_);
  See("a", Phase::kUpdating);
  EXPECT_EQ(Try("b"), "go") << "nor after a restart";
  EXPECT_EQ(Begin("a", Phase::kUpdating, impatient_).record, RolloutState::kStarted);
  See("a", Phase::kUpdating);
  After(7s);
  EXPECT_EQ(Try("b"), "go") << "nor when it is rolled again";
  After(1s);
  EXPECT_EQ(Try("b"), "StoppedAfterFailures");
  EXPECT_TRUE(arbiter_.ReportFor(policy, now_).stopped);
  See("a", Phase::kPaused);
  EXPECT_EQ(Try("b"), "StoppedAfterFailures") << "a pause mends nothing";
}

TEST_F(ArbiterPlacesTest, AnEnforcedTimeoutSaysWhenAPlaceIsFree) {
  arbiter_.SetPolicy({.id = {"", "platform"},
                      .enforced = true,
                      .settings = {.max_in_cluster = 1, .health_timeout = 1min}});
  SetPolicy({.health_timeout = 2s});
  Begin("a");
  See("a", Phase::kUpdating);
  After(30s);
  EXPECT_EQ(Mark("a"), RolloutState::kFailed);
  EXPECT_EQ(Try("b"), "ConcurrencyLimit");
  After(30s);
  EXPECT_EQ(Try("b"), "go");
}

TEST_F(ArbiterPlacesTest, ARolloutThatCannotBeRecordedNeitherKeepsAPlaceNorFails) {
  const ObjectRef backup{"CronJob", {"shop", "backup"}};
  Settings settings = stop_;
  settings.max_in_namespace = 1;
  settings.min_interval = 1h;
  SetPolicy(settings);
  EXPECT_TRUE(arbiter_.Begin({backup, {}, {}, "u"}, now_).tracked);
  EXPECT_EQ(Try("b"), "ConcurrencyLimit");
  arbiter_.LeaveUnrecorded(backup);
  EXPECT_EQ(Try("b"), "go");
  arbiter_.Observe(backup, {"u", {}, Phase::kComplete, ""}, now_);
  After(10min);
  EXPECT_EQ(arbiter_.rollouts(), 0U);
  EXPECT_EQ(Try("b"), "go");
  EXPECT_EQ(arbiter_.Ask({backup, {}, {}, "u"}, now_).hold->reason, HoldReason::kMinInterval);
  After(50min);
  EXPECT_FALSE(arbiter_.Ask({backup, {}, {}, "u"}, now_).hold);
}

TEST_F(ArbiterPlacesTest, WhoeverWaitsIsToldOfAStopAtOnce) {
  SetPolicy({.max_in_namespace = 1, .stop_after_failures = 1});
  Begin("a");
  See("a", Phase::kUpdating);
  for (const char* name : {"b", "c", "d"}) {
    EXPECT_EQ(Begin(name).hold->reason, HoldReason::kLimit);
  }
  arbiter_.TakeWakes(now_);
  See("a", Phase::kFailed);
  const std::vector<ObjectRef> wakes = arbiter_.TakeWakes(now_);
  EXPECT_THAT(wakes, ElementsAre(AppRef("b"), AppRef("c"), AppRef("d")));
  See("a", Phase::kUnavailable);
  EXPECT_THAT(arbiter_.TakeWakes(now_), IsEmpty()) << "each is woken once until it asks";
  for (const ObjectRef& workload : wakes) {
    arbiter_.Begin({workload, {}, {}, "u"}, now_);
  }
  EXPECT_THAT(arbiter_.TakeWakes(now_), IsEmpty());
  for (const auto& [workload, pending] : arbiter_.pending()) {
    EXPECT_EQ(pending.hold.reason, HoldReason::kStopped) << workload.ToString();
  }
  After(1min);
  See("a", Phase::kComplete);
  After(1min);
  EXPECT_THAT(arbiter_.TakeWakes(now_), ElementsAre(AppRef("b"), AppRef("c"), AppRef("d")));
  EXPECT_FALSE(Begin("b").hold);
  EXPECT_EQ(Try("c"), "ConcurrencyLimit");
}

TEST_F(ArbiterPlacesTest, APlaceThatItsWorkloadCannotTakeIsTheNextOnes) {
  SetPolicy({.max_in_namespace = 1});
  Begin("a");
  See("a", Phase::kUpdating);
  for (const char* name : {"b", "c", "d"}) {
    EXPECT_EQ(Begin(name).hold->reason, HoldReason::kLimit);
  }
  arbiter_.TakeWakes(now_);
  See("a", Phase::kComplete);
  EXPECT_THAT(arbiter_.TakeWakes(now_), ElementsAre(AppRef("b")));
  EXPECT_EQ(Begin("b", Phase::kComplete, {{"reloader.kubexx.io/paused", "true"}}).hold->reason,
            HoldReason::kPaused);
  EXPECT_THAT(arbiter_.TakeWakes(now_), ElementsAre(AppRef("c")));
  arbiter_.Wait({AppRef("c"), {}, {}, "u"}, {.reason = HoldReason::kSourcePaused}, now_);
  EXPECT_THAT(arbiter_.TakeWakes(now_), ElementsAre(AppRef("d")));
  EXPECT_FALSE(Begin("d").hold);
  EXPECT_THAT(arbiter_.TakeWakes(now_), IsEmpty());
}

TEST_F(ArbiterPlacesTest, APauseIsNoFailureAndHoldsNoPlace) {
  Settings settings = one_;
  settings.stop_after_failures = 1;
  SetPolicy(settings);
  Begin("a");
  See("a", Phase::kPaused);
  After(1h);
  EXPECT_EQ(Try("b"), "go");
  See("a", Phase::kUpdating);
  EXPECT_EQ(Try("b"), "ConcurrencyLimit");
  After(59s);
  EXPECT_EQ(Try("b"), "ConcurrencyLimit");
  After(1s);
  EXPECT_EQ(Try("b"), "StoppedAfterFailures");
  See("a", Phase::kPaused);
  EXPECT_EQ(Try("b"), "StoppedAfterFailures") << "a pause mends nothing";
}

TEST_F(ArbiterPlacesTest, WhatIsResumedHoldsAPlaceBeforeItsStatusTellsOfIt) {
  SetPolicy(one_);
  Begin("a");
  See("a", Phase::kPaused);
  EXPECT_EQ(Try("b"), "go");
  See("a", Phase::kUnseen);
  EXPECT_EQ(Try("b"), "ConcurrencyLimit") << "its pods are replaced from now on";
  See("a", Phase::kUpdating);
  EXPECT_EQ(Try("b"), "ConcurrencyLimit");
}

TEST_F(ArbiterPlacesTest, AJobKeepsItsPlaceWhileItIsMadeAnew) {
  const ObjectRef job{"Job", {"shop", "once"}};
  SetPolicy({.max_in_namespace = 1});
  base::WallTime started{};
  const auto begin = [&] { started = arbiter_.Begin({job, {}, {}, "u"}, now_).started; };
  const auto see_new = [&](Phase phase) {
    arbiter_.Observe(job, {"v", Written(started, {}), phase, ""}, now_);
    arbiter_.Sweep(now_);
  };
  begin();
  arbiter_.Forget(job, now_);  // this is the old Job
  EXPECT_EQ(Try("b"), "ConcurrencyLimit");
  see_new(Phase::kComplete);
  EXPECT_EQ(Try("b"), "go");

  begin();
  arbiter_.Forget(job, now_);
  arbiter_.Cancel(job);
  EXPECT_EQ(Try("b"), "go") << "it could not be made anew";

  begin();
  arbiter_.Forget(job, now_);
  arbiter_.Written(job, now_);
  After(10min);
  EXPECT_EQ(Try("b"), "go") << "it was never seen again";

  begin();
  see_new(Phase::kUpdating);
  EXPECT_EQ(Try("b"), "ConcurrencyLimit");
  arbiter_.Forget(job, now_);
  EXPECT_EQ(Try("b"), "go") << "somebody has deleted the new one";
}

TEST_F(ArbiterPlacesTest, ACanaryThatWaitsHoldsItsPlaceAndDoesNotFail) {
  SetPolicy(one_);
  Begin("a");
  See("a", Phase::kWaiting);
  After(24h);
  EXPECT_EQ(Try("b"), "ConcurrencyLimit");
}

TEST_F(ArbiterPlacesTest, AnotherReplicaBeginsAndEnds) {
  SetPolicy(one_);
  on_workload_["a"] = Written(now_, RolloutState::kStarted);
  See("a", Phase::kUpdating);
  EXPECT_EQ(Try("b"), "ConcurrencyLimit");
  After(20s);
  on_workload_["a"] = Written(now_, RolloutState::kStarted);  // it is written once more
  See("a", Phase::kUpdating);
  After(50s);
  EXPECT_EQ(Try("b"), "ConcurrencyLimit") << "its minute is not over";
  on_workload_["a"] = Written(now_ - 50s, RolloutState::kCompleted);
  See("a", Phase::kComplete);
  EXPECT_EQ(Try("b"), "go");
}

// The default order is 0, so workloads without an order come first.
TEST_F(ArbiterPlacesTest, WhatHasNoOrderIsFollowedWhereOthersComeAfterIt) {
  EXPECT_FALSE(Begin("db").tracked);
  Policy policy{.id = {"shop", "p"}, .order = {{{"web"}, 1}}};
  arbiter_.SetPolicy(policy);
  EXPECT_TRUE(Begin("db").tracked);
  const Request web{AppRef("web"), {}, {AppRef("db")}};
  EXPECT_EQ(arbiter_.Begin(web, now_).hold->reason, HoldReason::kOrder);
  EXPECT_TRUE(arbiter_.IsActive(AppRef("db")));
  See("db", Phase::kUpdating);
  arbiter_.TakeWakes(now_);
  See("db", Phase::kUnavailable);
  EXPECT_THAT(arbiter_.TakeWakes(now_), IsEmpty());
  See("db", Phase::kComplete);
  EXPECT_THAT(arbiter_.TakeWakes(now_), ElementsAre(AppRef("web")));
}

// It was woken after ten minutes, by itself.
TEST_F(ArbiterPlacesTest, WhoWaitsForOneThatNobodyFollowsIsWokenWhenThatNeedsNoRollout) {
  arbiter_.SetPolicy({.id = {"shop", "p"}, .order = {{{"web"}, 1}}});
  const Request web{AppRef("web"), {}, {AppRef("db")}};
  EXPECT_EQ(arbiter_.Begin(web, now_).hold->reason, HoldReason::kOrder);
  EXPECT_THAT(arbiter_.TakeWakes(now_), IsEmpty());
  arbiter_.Done(AppRef("db"));
  EXPECT_THAT(arbiter_.TakeWakes(now_), IsEmpty()) << "it only cannot ask now";
  arbiter_.Settle(AppRef("db"), {"u", on_workload_["db"]}, now_);
  EXPECT_THAT(arbiter_.TakeWakes(now_), ElementsAre(AppRef("web")));
  arbiter_.Settle(AppRef("db"), {"u", on_workload_["db"]}, now_);
  EXPECT_EQ(arbiter_.Begin({AppRef("web"), {}, {AppRef("cache")}}, now_).hold->waits_for,
            AppRef("cache"));
  (void)arbiter_.TakeWakes(now_);
  arbiter_.Settle(AppRef("db"), {"u", on_workload_["db"]}, now_);
  EXPECT_THAT(arbiter_.TakeWakes(now_), IsEmpty()) << "it waits for another one by now";
  EXPECT_FALSE(arbiter_.Begin({AppRef("web")}, now_).hold);
  arbiter_.Settle(AppRef("cache"), {"u", on_workload_["cache"]}, now_);
  EXPECT_THAT(arbiter_.TakeWakes(now_), IsEmpty()) << "it waits no more";
}

// Nothing but the log told why everybody waited.
TEST_F(ArbiterPlacesTest, WhoWaitsForOneWhoseWriteIsRefusedSaysSo) {
  for (const bool waves : {false, true}) {
    arbiter_ = Arbiter();
    arbiter_.SetPolicy({.id = {"shop", "p"},
                        .settings = {.waves = Waves{.sizes = {{.count = 1}}}},
                        .order = {{{"web"}, 1}}});
    Request web{.workload = AppRef("web"), .uid = "u"};
    if (waves) {
      web.earlier_wave = EarlierWave{.wave = 2, .waves = 2, .waits_for = AppRef("db")};
    } else {
      web.before = {AppRef("db")};
    }
    const auto message = [&] { return arbiter_.Begin(web, now_).hold->message; };
    const std::string before = message();
    for (int i = 0; i < 3; ++i) {
      Begin("db");
      arbiter_.Cancel(AppRef("db"));
      (void)arbiter_.TakeWakes(now_);
      arbiter_.NoteRefused(AppRef("db"), "quota of pods; attempt " + std::to_string(i), now_);
      EXPECT_EQ(arbiter_.TakeWakes(now_).size(), i == 0 ? 1U : 0U) << "it tells that once";
      EXPECT_THAT(message(), HasSubstr("db" +
                                       std::string(waves ? ", which is of an earlier wave"
                                                         : ", which comes first") +
                                       " and whose write the API server refuses: quota of pods; "
                                       "attempt " +
                                       std::to_string(i)));
    }
    arbiter_.NoteRefused(AppRef("db"), std::string(255, 'x') + "\u00e4", now_);
    EXPECT_THAT(message(), HasSubstr("xxx..."));
    arbiter_.Settle(AppRef("db"), {"u", on_workload_["db"]}, now_);
    EXPECT_EQ(message(), before);
    arbiter_.NoteRefused(AppRef("db"), "quota", now_);
    Begin("db");
    arbiter_.Written(AppRef("db"), now_);
    EXPECT_EQ(message(), before);
    on_workload_.clear();
  }
}

// Its shard was with another replica for a while.
TEST_F(ArbiterPlacesTest, ARefusalIsOverWhenAnotherReplicaHasRolledTheWorkload) {
  arbiter_.SetPolicy({.id = {"shop", "p"}, .generation = 1, .order = {{{"web"}, 1}}});
  const auto message = [&] {
    return arbiter_.Begin({.workload = AppRef("web"), .before = {AppRef("db")}, .uid = "u"}, now_)
        .hold->message;
  };
  for (const RolloutState state : {RolloutState::kStarted, RolloutState::kCompleted}) {
    Begin("db");
    arbiter_.Cancel(AppRef("db"));
    arbiter_.NoteRefused(AppRef("db"), "quota", now_);
    on_workload_["db"] = Written(now_ - 1h, RolloutState::kCompleted);
    See("db", Phase::kComplete);
    EXPECT_THAT(message(), HasSubstr("quota")) << "that was before";
    After(1min);
    on_workload_["db"] = Written(now_, state);
    See("db", Phase::kUpdating);
    EXPECT_THAT(message(), Not(HasSubstr("quota")));
    arbiter_.Forget(AppRef("db"), now_);
    After(2h);
  }
}

// One that cannot be written keeps others waiting for hours, and each of them was planned anew at
// each event of any other rollout.
TEST_F(ArbiterPlacesTest, WhoWaitsForOneThatNothingIsKnownOfIsNotWokenByOthers) {
  constexpr int kWaiting = 100;
  const auto name = [](int i) { return "web-" + std::to_string(i); };
  for (const bool waves : {false, true}) {
    arbiter_ = Arbiter();
    arbiter_.SetPolicy(
        {.id = {"shop", "p"},
         .settings = {.max_in_namespace = 2, .waves = Waves{.sizes = {{.count = 1}}}},
         .order = {{{"web-*"}, 1}}});
    const auto ask = [&](int i) {
      Request request{.workload = AppRef(name(i)), .uid = "u"};
      if (waves) {
        request.earlier_wave = EarlierWave{.wave = 2, .waves = 2, .waits_for = AppRef("db")};
      } else {
        request.before = {AppRef("db")};
      }
      return arbiter_.Begin(request, now_).hold.has_value();
    };
    std::size_t wakes = 0;
    const auto take = [&] {
      const auto woken = arbiter_.TakeWakes(now_);
      wakes += woken.size();
      for (int i = 0; i < kWaiting && !woken.empty(); ++i) {
        EXPECT_TRUE(ask(i));
      }
    };
    for (int i = 0; i < kWaiting; ++i) {
      ASSERT_TRUE(ask(i));
    }
    Begin("other");
    for (int i = 0; i < 50; ++i) {  // the pods of another workload come and go
      See("other", i % 2 == 0 ? Phase::kUpdating : Phase::kUnavailable);
      take();
    }
    for (int i = 0; i < 5; ++i) {  // its write is refused
      Begin("db");
      take();
      arbiter_.Cancel(AppRef("db"));
      take();
    }
    EXPECT_EQ(wakes, 0U) << waves;
    Begin("db");
    See("db", Phase::kComplete);
    After(1h);
    EXPECT_THAT(arbiter_.TakeWakes(now_), ::testing::SizeIs(kWaiting)) << waves;
    on_workload_.clear();
  }
}

// A new leader read what its predecessor had rolled before it was told, and rolled the next one.
TEST_F(ArbiterPlacesTest, ARolloutThatWasReadBeforeItsEventWakesNobody) {
  arbiter_.SetPolicy({.id = {"shop", "p"}, .order = {{{"web"}, 1}}});
  const Request web{AppRef("web"), {}, {AppRef("db")}};
  EXPECT_EQ(arbiter_.Begin(web, now_).hold->reason, HoldReason::kOrder);
  (void)arbiter_.TakeWakes(now_);
  const Annotations rolled = Written(now_, RolloutState::kStarted);
  const auto is_to_be_told = [&] { return arbiter_.IsToBeTold(AppRef("db"), "u", rolled); };
  arbiter_.Settle(AppRef("db"), {"u", rolled}, now_);
  EXPECT_THAT(arbiter_.TakeWakes(now_), IsEmpty());
  EXPECT_TRUE(is_to_be_told());
  on_workload_["db"] = rolled;
  See("db", Phase::kUpdating);
  EXPECT_TRUE(arbiter_.IsActive(AppRef("db")));
  EXPECT_FALSE(is_to_be_told());
  See("db", Phase::kComplete);
  After(1s);
  EXPECT_FALSE(arbiter_.IsActive(AppRef("db")));
  EXPECT_FALSE(is_to_be_told()) << "only the record of its end is missing";
  EXPECT_THAT(arbiter_.TakeWakes(now_), ElementsAre(AppRef("web")));
}

// Its pods would have older and newer data side by side until the window opens again.
TEST_F(ArbiterPlacesTest, WhatIsReloadedInPlaceNeedsNoSecondPlaceForNewerData) {
  const auto ask = [&](Request request) {
    request.workload = AppRef("a");
    request.uid = "u";
    request.annotations.insert(on_workload_["a"].begin(), on_workload_["a"].end());
    request.goes_on = true;
    return arbiter_.Ask(request, now_).hold;
  };
  SetPolicy({.min_interval = 1h,
             .max_in_namespace = 1,
             .waves = Waves{.sizes = {{.count = 1}}, .healthy_for = 1min, .timeout = 10min}});
  Begin("a");
  See("a", Phase::kUpdating);
  EXPECT_EQ(Try("a"), "MinInterval") << "for a rollout";
  EXPECT_FALSE(ask({}));
  EXPECT_EQ(ask({.annotations = {{"reloader.kubexx.io/paused", "true"}}})->reason,
            HoldReason::kPaused);
  EXPECT_EQ(
      ask({.earlier_wave = EarlierWave{.wave = 2, .waves = 2, .waits_for = AppRef("c")}})->reason,
      HoldReason::kWave);
}

TEST_F(ArbiterPlacesTest, WhatHasNoOrderIsFollowedWhereAnAnnotationComesAfterIt) {
  arbiter_.Observe(AppRef("web"), {"u", {{"reloader.kubexx.io/order", "1"}}}, now_);
  EXPECT_TRUE(Begin("db").tracked);
  arbiter_.Forget(AppRef("web"), now_);
  EXPECT_FALSE(Begin("db").tracked);
}

}  // namespace
}  // namespace kubexx::reloadpolicy
