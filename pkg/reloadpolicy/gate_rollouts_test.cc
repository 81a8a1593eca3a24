// How a gate follows rollouts: health, failures, restarts.
#include <gmock/gmock.h>

#include <chrono>
#include <optional>
#include <string>
#include <utility>

#include "kubexx/apimachinery/time.h"
#include "kubexx/reloadpolicy/gate.h"

namespace kubexx::reloadpolicy {
namespace {

using namespace std::chrono_literals;
using base::WallTime;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;
using testing::SizeIs;

const WallTime kBegin = WallTime(std::chrono::seconds(1'795'000'000));

ObjectRef AppRef(const std::string& name) { return {"Deployment", {"shop", name}}; }

Annotations Written(WallTime rolled, std::optional<RolloutState> record,
                    const std::string& uid = "u") {
  Annotations annotations{
      {std::string(kLastRolloutAnnotation), apimachinery::Time::From(rolled).ToString()}};
  if (record) {
    annotations[std::string(kRolloutStateAnnotation)] = RecordFor(*record, uid);
  }
  return annotations;
}

/// One process after the other, and what stands on the workloads in the meantime.
class GateRolloutsTest : public testing::Test {
 protected:
  void SetPolicy(Settings settings) {
    gate_.SetPolicy({.id = {"shop", "p"}, .generation = 1, .settings = std::move(settings)});
  }
  void Restart(Settings settings) {
    gate_ = Gate();
    SetPolicy(std::move(settings));
  }
  Decision Begin(const std::string& name, Phase phase = Phase::kComplete, Annotations own = {}) {
    Decision decision = gate_.Begin({AppRef(name), own, {}, "u", phase}, now_);
    if (!decision.hold && decision.tracked) {
      Annotations written = Written(decision.started, decision.record);
      written.merge(own);
      on_workload_[name] = std::move(written);
    }
    return decision;
  }
  std::string Try(const std::string& name) {
    const Decision decision = gate_.Ask({AppRef(name), {}, {}, "u"}, now_);
    return decision.hold ? std::string(ToString(decision.hold->reason)) : "go";
  }
  void See(const std::string& name, Phase phase, const std::string& hash = "") {
    gate_.Observe(AppRef(name), {"u", on_workload_[name], phase, hash}, now_);
    gate_.Sweep(now_);
  }
  void After(base::Duration time) {
    now_ += std::chrono::duration_cast<WallTime::duration>(time);
    gate_.Sweep(now_);
  }
  /// Writes what the gate wants written.
  std::optional<RolloutState> Mark(const std::string& name) {
    const kubexx::reloadpolicy::Mark mark = gate_.TakeMark(AppRef(name), "u", on_workload_[name]);
    if (mark.record) {
      on_workload_[name][std::string(kRolloutStateAnnotation)] = RecordFor(*mark.record, "u");
    }
    failure_ = mark.failure.value_or("");
    return mark.record;
  }

  const Settings stop_{.health_timeout = 8s, .stop_after_failures = 1};
  const Annotations impatient_{{"reloader.kubexx.io/health-timeout", "1s"}};
  const Settings one_{.max_in_namespace = 1, .health_gate = true, .health_timeout = 1min};
  Gate gate_;
  WallTime now_ = kBegin;
  std::map<std::string, Annotations> on_workload_;
  std::string failure_;
};

TEST_F(GateRolloutsTest, AFailureIsWrittenAndToldOnce) {
  SetPolicy(stop_);
  EXPECT_EQ(Begin("a").record, RolloutState::kStarted);
  See("a", Phase::kUpdating);
  After(8s);
  EXPECT_THAT(gate_.TakeLooks(now_), ElementsAre(Pair(AppRef("a"), base::Duration(0))));
  EXPECT_EQ(Mark("a"), RolloutState::kFailed);
  EXPECT_THAT(failure_, HasSubstr("was not complete and healthy within 8s"));
  See("a", Phase::kUnavailable);
  EXPECT_EQ(Mark("a"), std::nullopt);
  EXPECT_EQ(failure_, "");
  EXPECT_THAT(*gate_.FailureOf(AppRef("a"), now_), HasSubstr("unavailable"));
}

TEST_F(GateRolloutsTest, AnInstantOfHealthAfterARestartLiftsNothing) {
  SetPolicy(stop_);
  Begin("a");
  See("a", Phase::kUpdating);
  After(8s);
  for (const bool was_written : {false, true}) {
    if (was_written) {
      EXPECT_EQ(Mark("a"), RolloutState::kFailed);
    }
    Restart(stop_);
    See("a", Phase::kComplete);
    EXPECT_EQ(Try("b"), "StoppedAfterFailures") << was_written;
    After(1s);
    See("a", Phase::kUnavailable);
    EXPECT_EQ(Try("b"), "StoppedAfterFailures") << was_written;
  }
  EXPECT_THAT(gate_.ReportFor(*gate_.policies().Find({"shop", "p"}), now_).failed, SizeIs(1));
}

TEST_F(GateRolloutsTest, AWorkloadSeenBeforeThePolicyIsJudgedByIt) {
  on_workload_["a"] = Written(now_ - 1min, RolloutState::kStarted);
  See("a", Phase::kUnavailable);
  SetPolicy(stop_);
  EXPECT_EQ(Try("b"), "StoppedAfterFailures");
}

TEST_F(GateRolloutsTest, MendedIsHealthyForAWhileWithAndWithoutARestart) {
  for (const bool restarts : {false, true}) {
    Restart(stop_);
    Begin("a");
    See("a", Phase::kFailed);
    Mark("a");
    if (restarts) {
      Restart(stop_);
    }
    See("a", Phase::kComplete);
    After(9s);
    See("a", Phase::kUnavailable);
    See("a", Phase::kComplete);
    After(9s);
    EXPECT_EQ(Try("b"), "StoppedAfterFailures") << restarts;
    After(1s);
    EXPECT_EQ(Try("b"), "go") << restarts;
    EXPECT_EQ(Mark("a"), RolloutState::kCompleted) << restarts;
  }
}

TEST_F(GateRolloutsTest, AFailureThatIsRolledAgainCountsUntilItIsHealthy) {
  SetPolicy(stop_);
  Begin("a");
  See("a", Phase::kFailed);
  Mark("a");
  After(5s);
  EXPECT_EQ(Begin("a").record, RolloutState::kRetried);
  EXPECT_EQ(Try("b"), "StoppedAfterFailures");
  See("a", Phase::kUpdating);
  EXPECT_EQ(Try("b"), "StoppedAfterFailures");
  Restart(stop_);
  See("a", Phase::kComplete);
  EXPECT_EQ(Try("b"), "StoppedAfterFailures");
  After(10s);
  EXPECT_EQ(Try("b"), "go");
}

TEST_F(GateRolloutsTest, ARetryThatCannotBeWrittenIsNoMend) {
  SetPolicy(stop_);
  Begin("a");
  See("a", Phase::kFailed);
  Begin("a");
  gate_.Cancel(AppRef("a"));
  EXPECT_EQ(Try("b"), "StoppedAfterFailures");
}

TEST_F(GateRolloutsTest, TheStatusOfAPolicyRemembersWhatIsNotOnTheWorkload) {
  SetPolicy(stop_);
  gate_.Remember({AppRef("a"), "u", now_ - 1h});
  EXPECT_EQ(Try("b"), "StoppedAfterFailures") << "not seen yet";
  EXPECT_THAT(gate_.Unseen(), ElementsAre(AppRef("a")));
  on_workload_["a"] = Written(now_ - 2h, RolloutState::kCompleted);  // kubectl rollout undo
  See("a", Phase::kComplete);
  EXPECT_THAT(gate_.Unseen(), IsEmpty());
  EXPECT_EQ(Try("b"), "StoppedAfterFailures");
  After(10s);
  EXPECT_EQ(Try("b"), "go") << "it is healthy";
}

TEST_F(GateRolloutsTest, WhatIsRememberedEndsWithItsObject) {
  SetPolicy(stop_);
  gate_.Remember({AppRef("a"), "old", now_ - 1h});
  See("a", Phase::kUnavailable);
  EXPECT_EQ(Try("b"), "go") << "made anew under its name";
  gate_.Remember({AppRef("c"), "u", now_ - 1h});
  gate_.Forget(AppRef("c"));
  EXPECT_EQ(Try("b"), "go");
  on_workload_["d"] = Written(now_ - 1h, RolloutState::kCompleted);
  gate_.Remember({AppRef("d"), "u", now_ - 1h});
  See("d", Phase::kUnavailable);
  EXPECT_EQ(Try("b"), "go") << "its mend was written";
}

TEST_F(GateRolloutsTest, AnUndoIsNoMendUntilItIsHealthyWithoutARestartToo) {
  SetPolicy(stop_);
  Begin("a");
  See("a", Phase::kFailed);
  on_workload_["a"] = {};
  See("a", Phase::kComplete);
  EXPECT_EQ(Try("b"), "StoppedAfterFailures");
  After(10s);
  EXPECT_EQ(Try("b"), "go");
}

TEST_F(GateRolloutsTest, PodsThatCrashAtOnceDoNotOpenTheHealthGate) {
  SetPolicy(one_);
  Begin("a");
  for (int i = 0; i < 5; ++i) {
    See("a", Phase::kComplete);
    EXPECT_EQ(Try("b"), "Unhealthy");
    After(1s);
    See("a", Phase::kUnavailable);
    After(5s);
    EXPECT_EQ(Try("b"), "Unhealthy");
  }
  See("a", Phase::kComplete);
  After(9s);
  EXPECT_EQ(Try("b"), "Unhealthy");
  After(1s);
  EXPECT_EQ(Try("b"), "go");
}

TEST_F(GateRolloutsTest, TheSoakTimeCanBeSet) {
  Settings settings = one_;
  settings.soak_time = 30s;
  SetPolicy(settings);
  Begin("a");
  See("a", Phase::kComplete);
  EXPECT_THAT(gate_.TakeLooks(now_), ElementsAre(Pair(AppRef("a"), base::Duration(30s))));
  After(29s);
  EXPECT_EQ(Try("b"), "Unhealthy");
  After(1s);
  EXPECT_EQ(Try("b"), "go");
  settings.soak_time = 0s;
  SetPolicy(settings);
  Begin("c");
  See("c", Phase::kComplete);
  EXPECT_EQ(Try("b"), "go");
}

TEST_F(GateRolloutsTest, AWriteOfAnnotationsDoesNotBreakASoak) {
  SetPolicy(one_);
  Begin("a");
  See("a", Phase::kComplete);
  After(9s);
  See("a", Phase::kUnseen);
  After(1s);
  EXPECT_EQ(Try("b"), "go");
}

TEST_F(GateRolloutsTest, AFailedRolloutHasNoPlaceAnyMore) {
  SetPolicy(one_);
  Begin("a");
  See("a", Phase::kUnavailable);
  EXPECT_EQ(Try("b"), "Unhealthy");
  gate_.Begin({AppRef("b"), {}, {}, "u"}, now_);
  gate_.TakeWakes(now_);
  After(1min);
  EXPECT_THAT(gate_.TakeWakes(now_), ElementsAre(AppRef("b")));
  EXPECT_EQ(Try("b"), "go");
}

TEST_F(GateRolloutsTest, AnImpatientWorkloadKeepsItsPlace) {
  SetPolicy({.max_in_namespace = 1});
  Begin("a", Phase::kComplete, impatient_);
  See("a", Phase::kUpdating);
  After(1s);
  EXPECT_EQ(Mark("a"), RolloutState::kFailed);
  EXPECT_THAT(failure_, HasSubstr("within 1s"));
  EXPECT_EQ(Try("b"), "ConcurrencyLimit");
  gate_.Begin({AppRef("b"), {}, {}, "u"}, now_);
  gate_.TakeLooks(now_);
  See("a", Phase::kUpdating);
  EXPECT_THAT(gate_.TakeLooks(now_), ElementsAre(Pair(AppRef("a"), base::Duration(10min - 1s))));
  gate_.TakeWakes(now_);
  After(10min - 2s);
  EXPECT_EQ(Try("b"), "ConcurrencyLimit");
  After(1s);
  EXPECT_EQ(Try("b"), "go") << "by the time that holds for all";
  EXPECT_THAT(gate_.TakeWakes(now_), ElementsAre(AppRef("b")));
  Restart({.max_in_namespace = 1});
  Begin("c", Phase::kComplete, impatient_);
  After(2s);
  EXPECT_EQ(Try("b"), "ConcurrencyLimit");
  See("c", Phase::kFailed);
  EXPECT_EQ(Try("b"), "go") << "by its status";
}

TEST_F(GateRolloutsTest, AnImpatientWorkloadThatWasBrokenBeforeKeepsItsPlace) {
  SetPolicy({.max_in_namespace = 1});
  EXPECT_EQ(Begin("a", Phase::kUnavailable, impatient_).record, RolloutState::kStartedBroken);
  See("a", Phase::kUpdating);
  After(5s);
  EXPECT_EQ(Try("b"), "ConcurrencyLimit");
  After(10min);
  EXPECT_EQ(Try("b"), "go");
}

TEST_F(GateRolloutsTest, APatientWorkloadKeepsItsPlaceForItsOwnTime) {
  SetPolicy({.max_in_namespace = 1, .health_timeout = 8s});
  Begin("a", Phase::kComplete, {{"reloader.kubexx.io/health-timeout", "20s"}});
  See("a", Phase::kUpdating);
  After(19s);
  EXPECT_EQ(Try("b"), "ConcurrencyLimit");
  After(1s);
  EXPECT_EQ(Try("b"), "go");
}

TEST_F(GateRolloutsTest, AnImpatientWorkloadStopsNobody) {
  SetPolicy(stop_);
  Begin("a", Phase::kComplete, impatient_);
  See("a", Phase::kUpdating);
  After(2s);
  EXPECT_EQ(Mark("a"), RolloutState::kFailed);
  EXPECT_EQ(Try("b"), "go");
  const Policy policy = *gate_.policies().Find({"shop", "p"});
  EXPECT_FALSE(gate_.ReportFor(policy, now_).stopped);
  Restart(stop_);
  See("a", Phase::kUpdating);
  EXPECT_EQ(Try("b"), "go") << "nor after a restart";
  EXPECT_EQ(Begin("a", Phase::kUpdating, impatient_).record, RolloutState::kStarted);
  See("a", Phase::kUpdating);
  After(7s);
  EXPECT_EQ(Try("b"), "go") << "nor when it is rolled again";
  After(1s);
  EXPECT_EQ(Try("b"), "StoppedAfterFailures");
  EXPECT_TRUE(gate_.ReportFor(policy, now_).stopped);
  See("a", Phase::kPaused);
  EXPECT_EQ(Try("b"), "StoppedAfterFailures") << "a pause mends nothing";
}

TEST_F(GateRolloutsTest, AnEnforcedTimeoutSaysWhenAPlaceIsFree) {
  gate_.SetPolicy({.id = {"", "platform"},
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

TEST_F(GateRolloutsTest, ATimeToComeKeepsNoPlaceForLonger) {
  SetPolicy(one_);
  on_workload_["a"] = Written(now_ + 24h * 365, RolloutState::kStarted);
  for (int i = 0; i < 5; ++i) {
    See("a", Phase::kUpdating);
    EXPECT_EQ(Try("b"), "ConcurrencyLimit");
    After(12s);
  }
  EXPECT_EQ(Try("b"), "go") << "its minute is over";
  EXPECT_EQ(Mark("a"), RolloutState::kFailed) << "by the time that stands there";
}

TEST_F(GateRolloutsTest, AClockThatIsSetBackKeepsNoPlaceForLonger) {
  SetPolicy(one_);
  Begin("a");
  now_ -= 24h;
  See("a", Phase::kUpdating);
  After(59s);
  EXPECT_EQ(Try("b"), "ConcurrencyLimit");
  After(1s);
  EXPECT_EQ(Try("b"), "go");
}

TEST_F(GateRolloutsTest, AClockThatIsSetBackDuringASoakKeepsNoPlaceForLonger) {
  for (const bool is_seen : {false, true}) {
    Restart(one_);
    Begin("a");
    See("a", Phase::kComplete);
    After(5s);
    now_ -= 1h;
    gate_.Sweep(now_);
    if (is_seen) {
      See("a", Phase::kComplete);
    }
    EXPECT_THAT(gate_.TakeLooks(now_), testing::Contains(Pair(AppRef("a"), base::Duration(10s))));
    After(9s);
    EXPECT_EQ(Try("b"), "Unhealthy") << is_seen;
    After(1s);
    EXPECT_EQ(Try("b"), "go") << is_seen;
    EXPECT_EQ(Mark("a"), RolloutState::kCompleted) << is_seen;
  }
}

TEST_F(GateRolloutsTest, AClockThatIsSetBackLetsARolloutTimeOutUnseen) {
  SetPolicy(stop_);
  Begin("a");
  See("a", Phase::kUpdating);
  now_ -= 1h;
  gate_.Sweep(now_);
  After(8s);
  EXPECT_EQ(Try("b"), "StoppedAfterFailures");
  EXPECT_EQ(Mark("a"), RolloutState::kFailed);
}

TEST_F(GateRolloutsTest, AClockThatIsSetBackMakesNoWaitOfTheFuture) {
  SetPolicy(one_);
  Begin("a");
  gate_.Begin({AppRef("b"), {}, {}, "u"}, now_);
  gate_.Sweep(now_);
  now_ -= 1h;
  gate_.Sweep(now_);
  EXPECT_EQ(gate_.pending().at(AppRef("b")).since, now_);
  EXPECT_EQ(gate_.pending().at(AppRef("b")).for_others_since, now_);
}

TEST_F(GateRolloutsTest, TheEndByAClockThatWasAheadHidesNothingOfTheNext) {
  SetPolicy(stop_);
  on_workload_["a"] = Written(now_ + 1h, RolloutState::kStarted);
  See("a", Phase::kUpdating, "first");
  on_workload_["a"] = Written(now_, RolloutState::kStarted);  // by another replica
  See("a", Phase::kUpdating, "second");
  EXPECT_EQ(Mark("a"), std::nullopt) << "it has not left that one";
  See("a", Phase::kUpdating, "second");
  After(8s);
  EXPECT_EQ(Try("b"), "StoppedAfterFailures");
}

TEST_F(GateRolloutsTest, TheEndOfARolloutHidesNothingOfTheNext) {
  SetPolicy(stop_);
  Begin("a");
  See("a", Phase::kComplete);
  After(10s);  // it has ended, and that is not written
  const Annotations first = on_workload_["a"];
  EXPECT_EQ(gate_.rollouts(), 0U);
  Begin("a");
  const Annotations second = std::exchange(on_workload_["a"], first);
  EXPECT_EQ(Mark("a"), std::nullopt) << "it would be written over the next one's beginning";
  See("a", Phase::kComplete);
  EXPECT_EQ(Mark("a"), std::nullopt);
  on_workload_["a"] = second;
  See("a", Phase::kUpdating);
  After(8s);
  EXPECT_EQ(Mark("a"), RolloutState::kFailed);
  EXPECT_THAT(failure_, HasSubstr("was not complete and healthy within 8s"));
}

TEST_F(GateRolloutsTest, ARolloutThatCouldNotBeWrittenLeavesTheEndOfTheOneBefore) {
  SetPolicy(stop_);
  Begin("a");
  See("a", Phase::kComplete);
  After(10s);
  const Annotations first = on_workload_["a"];
  Begin("a");
  gate_.Cancel(AppRef("a"));
  on_workload_["a"] = first;
  See("a", Phase::kUnavailable);
  EXPECT_EQ(gate_.rollouts(), 0U);
  EXPECT_EQ(Mark("a"), RolloutState::kCompleted);
}

TEST_F(GateRolloutsTest, ARolloutWhoseTemplateTheServerKeptIsNotFollowedFromItsRecord) {
  for (const auto& before : {Annotations(), Written(now_ - 1h, RolloutState::kCompleted)}) {
    Restart(stop_);
    Begin("a");
    gate_.CancelKept(AppRef("a"));
    const Annotations kept = std::exchange(on_workload_["a"], before);
    See("a", Phase::kComplete, "same");  // from before the write
    on_workload_["a"] = kept;
    See("a", Phase::kUpdating, "same");
    EXPECT_EQ(gate_.rollouts(), 0U);
    EXPECT_THAT(gate_.TakeLooks(now_), ElementsAre(Pair(AppRef("a"), base::Duration(0))));
    EXPECT_EQ(Mark("a"), RolloutState::kLeft);
    After(10s);
    EXPECT_EQ(Try("b"), "go");
    Restart(stop_);
    See("a", Phase::kUpdating, "same");
    After(10s);
    EXPECT_EQ(Try("b"), "go") << "nor after a restart";
  }
}

TEST_F(GateRolloutsTest, ARetryWhoseTemplateTheServerKeptLeavesTheFailure) {
  SetPolicy(stop_);
  Begin("a");
  See("a", Phase::kFailed, "same");
  Mark("a");
  After(5s);
  EXPECT_EQ(Begin("a", Phase::kFailed, on_workload_["a"]).record, RolloutState::kRetried);
  gate_.CancelKept(AppRef("a"));
  See("a", Phase::kFailed, "same");
  EXPECT_EQ(Try("b"), "StoppedAfterFailures");
  EXPECT_EQ(Mark("a"), RolloutState::kFailed) << "the write has taken that away";
  EXPECT_EQ(failure_, "") << "told before";
  See("a", Phase::kComplete, "same");
  After(10s);
  EXPECT_EQ(Mark("a"), RolloutState::kCompleted);
  EXPECT_EQ(Try("b"), "go");
}

TEST_F(GateRolloutsTest, AWriteOfWhichNothingIsKnownIsFollowedWhenItIsSeen) {
  SetPolicy(stop_);
  Begin("a");
  gate_.Cancel(AppRef("a"));  // the answer was lost
  See("a", Phase::kUpdating);
  After(8s);
  EXPECT_EQ(Try("b"), "StoppedAfterFailures");
}

TEST_F(GateRolloutsTest, OldTroubleIsNoFailedRollout) {
  SetPolicy(stop_);
  on_workload_["old"] = Written(now_ - 2400h, std::nullopt);
  See("old", Phase::kUnavailable);
  on_workload_["drained"] = Written(now_ - 1min, RolloutState::kCompleted);
  See("drained", Phase::kUnavailable);
  on_workload_["copy"] = Written(now_ - 1min, RolloutState::kFailed, "another");
  See("copy", Phase::kUnavailable);
  EXPECT_EQ(gate_.rollouts(), 0U);
  EXPECT_EQ(Try("b"), "go");
}

TEST_F(GateRolloutsTest, ANodeThatIsDrainedAfterARolloutIsNoFailure) {
  SetPolicy(stop_);
  Begin("a");
  See("a", Phase::kComplete);
  After(10s);
  See("a", Phase::kUnavailable);  // its end is not written yet
  EXPECT_EQ(gate_.rollouts(), 0U);
  EXPECT_EQ(Mark("a"), RolloutState::kCompleted);
  After(1h);
  See("a", Phase::kUnavailable);
  EXPECT_EQ(Try("b"), "go");
}

TEST_F(GateRolloutsTest, ATemplateThatOthersChangeIsTheirs) {
  SetPolicy(stop_);
  Begin("a");
  See("a", Phase::kUpdating, "ours");
  See("a", Phase::kUpdating, "ours");
  See("a", Phase::kUpdating, "theirs");
  EXPECT_EQ(Mark("a"), RolloutState::kLeft);
  See("a", Phase::kFailed, "theirs");
  EXPECT_EQ(Try("b"), "go");
}

TEST_F(GateRolloutsTest, TheSecondRolloutWithinASecondIsFollowedToo) {
  SetPolicy(stop_);
  now_ += 100ms;
  Begin("a");
  See("a", Phase::kUpdating, "first");
  const Annotations first = on_workload_["a"];
  now_ += 500ms;
  Begin("a");
  const Annotations second = std::exchange(on_workload_["a"], first);
  See("a", Phase::kUpdating, "first");  // its status, from before the second write
  on_workload_["a"] = second;
  See("a", Phase::kUpdating, "second");
  EXPECT_EQ(gate_.rollouts(), 1U);
  EXPECT_EQ(Mark("a"), std::nullopt) << "it is nobody else's";
  now_ += 100ms;
  Begin("a");
  const Annotations third = std::exchange(on_workload_["a"], second);
  See("a", Phase::kUpdating, "second");
  on_workload_["a"] = third;
  See("a", Phase::kUpdating, "third");
  EXPECT_EQ(gate_.rollouts(), 1U);
  After(7s);
  EXPECT_EQ(Try("b"), "go");
  After(1s);
  EXPECT_EQ(Try("b"), "StoppedAfterFailures");
}

TEST_F(GateRolloutsTest, ARetryWithinASecondThatCannotBeWrittenIsNoMend) {
  SetPolicy(stop_);
  Begin("a");
  See("a", Phase::kFailed);
  const Annotations first = on_workload_["a"];
  Begin("a");
  on_workload_["a"] = first;
  See("a", Phase::kFailed);  // from before the write
  gate_.Cancel(AppRef("a"));
  EXPECT_EQ(Try("b"), "StoppedAfterFailures");
}

TEST_F(GateRolloutsTest, ARolloutThatCannotBeRecordedNeitherKeepsAPlaceNorFails) {
  const ObjectRef backup{"CronJob", {"shop", "backup"}};
  Settings settings = stop_;
  settings.max_in_namespace = 1;
  settings.min_interval = 1h;
  SetPolicy(settings);
  EXPECT_TRUE(gate_.Begin({backup, {}, {}, "u"}, now_).tracked);
  EXPECT_EQ(Try("b"), "ConcurrencyLimit");
  gate_.LeaveUnrecorded(backup);
  EXPECT_EQ(Try("b"), "go");
  gate_.Observe(backup, {"u", {}, Phase::kComplete, ""}, now_);
  After(10min);
  EXPECT_EQ(gate_.rollouts(), 0U);
  EXPECT_EQ(Try("b"), "go");
  EXPECT_EQ(gate_.Ask({backup, {}, {}, "u"}, now_).hold->reason, HoldReason::kMinInterval);
  After(50min);
  EXPECT_FALSE(gate_.Ask({backup, {}, {}, "u"}, now_).hold);
}

TEST_F(GateRolloutsTest, ARetryThatCannotBeRecordedIsNoMend) {
  SetPolicy(stop_);
  Begin("a");
  See("a", Phase::kFailed);
  gate_.Begin({AppRef("a"), on_workload_["a"], {}, "u", Phase::kFailed}, now_);
  gate_.LeaveUnrecorded(AppRef("a"));
  EXPECT_EQ(Try("b"), "StoppedAfterFailures");
}

TEST_F(GateRolloutsTest, WhatAClockThatWasAheadHasWrittenIsNotTheNextRollout) {
  for (const base::Duration ahead : {base::Duration(2s), base::Duration(1h)}) {
    Restart(stop_);
    const auto by = std::chrono::duration_cast<WallTime::duration>(ahead);
    on_workload_["a"] = Written(now_ + by, RolloutState::kStarted);
    See("a", Phase::kUpdating, "first");
    const Annotations first = on_workload_["a"];
    Begin("a", Phase::kUpdating, first);
    const Annotations second = std::exchange(on_workload_["a"], first);
    See("a", Phase::kUpdating, "first");
    on_workload_["a"] = second;
    See("a", Phase::kUpdating, "second");
    EXPECT_EQ(gate_.rollouts(), 1U) << ahead.count();
    After(8s);
    EXPECT_EQ(Try("b"), "StoppedAfterFailures") << ahead.count();
    EXPECT_EQ(Mark("a"), RolloutState::kFailed) << ahead.count();
  }
}

TEST_F(GateRolloutsTest, AFailureIsNotMendedByAnotherTemplateAlone) {
  SetPolicy(stop_);
  Begin("a");
  See("a", Phase::kFailed, "ours");
  See("a", Phase::kUpdating, "theirs");
  EXPECT_EQ(Try("b"), "StoppedAfterFailures");
}

TEST_F(GateRolloutsTest, WhatWasBrokenBeforeDoesNotCount) {
  SetPolicy(stop_);
  EXPECT_EQ(Begin("a", Phase::kFailed).record, RolloutState::kStartedBroken);
  See("a", Phase::kUpdating);
  After(8s);
  EXPECT_EQ(Try("b"), "go");
  EXPECT_EQ(Mark("a"), RolloutState::kLeft);
  EXPECT_EQ(Begin("c", Phase::kUpdating).record, RolloutState::kStarted)
      << "a rollout of others may go well";
}

TEST_F(GateRolloutsTest, APauseIsNoFailureAndHoldsNoPlace) {
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

TEST_F(GateRolloutsTest, ACanaryThatWaitsHoldsItsPlaceAndDoesNotFail) {
  SetPolicy(one_);
  Begin("a");
  See("a", Phase::kWaiting);
  After(24h);
  EXPECT_EQ(Try("b"), "ConcurrencyLimit");
}

TEST_F(GateRolloutsTest, AnotherReplicaBeginsAndEnds) {
  SetPolicy(one_);
  on_workload_["a"] = Written(now_, RolloutState::kStarted);
  See("a", Phase::kUpdating);
  EXPECT_EQ(Try("b"), "ConcurrencyLimit");
  After(20s);
  on_workload_["a"] = Written(now_, RolloutState::kStarted);  // once more
  See("a", Phase::kUpdating);
  After(50s);
  EXPECT_EQ(Try("b"), "ConcurrencyLimit") << "its minute is not over";
  on_workload_["a"] = Written(now_ - 50s, RolloutState::kCompleted);
  See("a", Phase::kComplete);
  EXPECT_EQ(Try("b"), "go");
}

TEST_F(GateRolloutsTest, WhoTakesOverDoesNotTellAgainOfAFailure) {
  SetPolicy(stop_);
  on_workload_["a"] = Written(now_, RolloutState::kStarted);
  See("a", Phase::kUpdating);
  After(8s);
  on_workload_["a"] = Written(kBegin, RolloutState::kFailed);
  See("a", Phase::kUpdating);
  EXPECT_EQ(Mark("a"), std::nullopt);
  EXPECT_EQ(failure_, "");
  EXPECT_EQ(Try("b"), "StoppedAfterFailures");
}

TEST_F(GateRolloutsTest, APersonCanLiftAStop) {
  SetPolicy(stop_);
  Begin("a");
  See("a", Phase::kFailed);
  Mark("a");
  on_workload_["a"] = Written(kBegin, RolloutState::kCompleted);
  See("a", Phase::kFailed);
  EXPECT_EQ(Try("b"), "go");
}

TEST_F(GateRolloutsTest, WithoutAPolicyThatAsksARolloutIsFollowedNoMore) {
  SetPolicy(stop_);
  Begin("a");
  See("a", Phase::kFailed);
  Mark("a");
  gate_.RemovePolicy({"shop", "p"});
  gate_.Begin({AppRef("a"), on_workload_["a"], {}, "u"}, now_);
  EXPECT_EQ(Mark("a"), RolloutState::kLeft);
}

// The default order is 0: those that nobody has given an order come first.
TEST_F(GateRolloutsTest, WhatHasNoOrderIsFollowedWhereOthersComeAfterIt) {
  EXPECT_FALSE(Begin("db").tracked);
  Policy policy{.id = {"shop", "p"}, .order = {{{"web"}, 1}}};
  gate_.SetPolicy(policy);
  EXPECT_TRUE(Begin("db").tracked);
  const Request web{AppRef("web"), {}, {AppRef("db")}};
  EXPECT_EQ(gate_.Begin(web, now_).hold->reason, HoldReason::kOrder);
  EXPECT_TRUE(gate_.IsActive(AppRef("db")));
  See("db", Phase::kUpdating);
  gate_.TakeWakes(now_);
  See("db", Phase::kUnavailable);
  EXPECT_THAT(gate_.TakeWakes(now_), IsEmpty());
  See("db", Phase::kComplete);
  EXPECT_THAT(gate_.TakeWakes(now_), ElementsAre(AppRef("web")));
}

TEST_F(GateRolloutsTest, WhatHasNoOrderIsFollowedWhereAnAnnotationComesAfterIt) {
  gate_.Observe(AppRef("web"), {"u", {{"reloader.kubexx.io/order", "1"}}}, now_);
  EXPECT_TRUE(Begin("db").tracked);
  gate_.Forget(AppRef("web"));
  EXPECT_FALSE(Begin("db").tracked);
  std::vector<std::string> problems;
  (void)SettingsFromAnnotations({{"reloader.kubexx.io/order", "-1"}}, problems);
  EXPECT_THAT(problems, ElementsAre(HasSubstr("is no number between 0 and 1000")));
}

TEST_F(GateRolloutsTest, ABrakeThatCannotBeReadHolds) {
  for (const auto& [key, value, words] :
       {std::tuple("paused", "yes", "write \"true\" or \"false\""),
        std::tuple("maintenance-windows", "often", "write, for instance"),
        std::tuple("maintenance-windows", "", "names no window"),
        std::tuple("maintenance-windows", "0 3 31 2 * 1h", "never comes"),
        std::tuple("maintenance-windows", "0 3 * * * 1h Mars/Base", "Mars/Base")}) {
    const Request request{AppRef("a"), {{std::string(kAnnotationPrefix) + key, value}}};
    const Decision decision = gate_.Ask(request, now_);
    ASSERT_TRUE(decision.hold) << key << "=" << value;
    EXPECT_EQ(decision.hold->reason, HoldReason::kInvalidAnnotation);
    EXPECT_THAT(decision.hold->message, HasSubstr(words));
  }
}

}  // namespace
}  // namespace kubexx::reloadpolicy
