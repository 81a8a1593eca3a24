// How an arbiter holds back later waves: until the earlier one is healthy, or for ever if it fails.
#include <gmock/gmock.h>

#include <chrono>
#include <optional>
#include <string>
#include <utility>

#include "kubexx/reloadpolicy/arbiter.h"
#include "kubexx/reloadpolicy/testing/arbiter_fixture.h"

namespace kubexx::reloadpolicy {
namespace {

using namespace std::chrono_literals;
using testing::AppRef;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::Optional;
using ::testing::Pair;
using ::testing::SizeIs;

const DataVersions kBadData{"ConfigMap/config=bad"};
const DataVersions kGoodData{"ConfigMap/config=good"};

/// The canary is "a"; the test says whom others wait for, as the enforcer would.
class ArbiterWavesTest : public testing::ArbiterFixture {
 protected:
  ArbiterWavesTest() { SetPolicy(waves_); }

  Decision Ask(const std::string& name, const DataVersions& data, bool waits_for_canary = false,
               Phase phase = Phase::kComplete) {
    Request request{.workload = AppRef(name),
                    .annotations = on_workload_[name],
                    .uid = "u",
                    .phase = phase,
                    .data = data};
    if (waits_for_canary) {
      request.earlier_wave = EarlierWave{2, 2, AppRef("a")};
    }
    Decision decision = arbiter_.Begin(request, now_);
    if (!decision.hold) {
      Annotations written = testing::Written(decision.started, decision.record);
      if (decision.data) {
        written[std::string(kRolledDataAnnotation)] = *decision.data;
      }
      on_workload_[name] = std::move(written);
    }
    return decision;
  }
  std::string Answer(const std::string& name, const DataVersions& data) {
    const Decision decision = arbiter_.Ask(
        {.workload = AppRef(name), .annotations = on_workload_[name], .uid = "u", .data = data},
        now_);
    return decision.hold ? std::string(ToString(decision.hold->reason)) : "go";
  }
  /// Writes on the workload what the arbiter asks for.
  void MarkAll(const std::string& name) {
    const reloadpolicy::Mark mark = arbiter_.TakeMark(AppRef(name), "u", on_workload_[name]);
    if (mark.record) {
      on_workload_[name][std::string(kRolloutStateAnnotation)] = RecordFor(*mark.record, "u");
    }
    if (mark.data) {
      on_workload_[name][std::string(kRolledDataAnnotation)] = *mark.data;
    }
    failure_ = mark.failure.value_or("");
  }
  std::string DataOn(const std::string& name) {
    return on_workload_[name][std::string(kRolledDataAnnotation)];
  }
  void RollAndFail(const std::string& name, const DataVersions& data) {
    EXPECT_EQ(Ask(name, data).hold, std::nullopt);
    See(name, Phase::kUpdating);
    After(20s);
    MarkAll(name);
  }
  void BecomeHealthy(const std::string& name, base::Duration time) {
    See(name, Phase::kComplete);
    After(time);
    MarkAll(name);
  }

  /// Another object of the name "a".
  void SeeAnew(Phase phase) {
    arbiter_.Observe(AppRef("a"), {"u2", {}, phase}, now_);
    arbiter_.Sweep(now_);
  }

  const Settings waves_{.waves =
                            Waves{.sizes = {{.count = 1}}, .healthy_for = 30s, .timeout = 20s}};
};

TEST_F(ArbiterWavesTest, AFailureHasNoMoreDataThanItsRecordAndItsStatusHaveRoomFor) {
  DataVersions versions;
  for (std::size_t i = 0; i < 3 * kMaxDataVersions; ++i) {
    versions.push_back("ConfigMap/c" + std::to_string(i) + "=bad");
  }
  RollAndFail("a", versions);
  EXPECT_THAT(arbiter_.failed_data().at(AppRef("a")).versions, SizeIs(kMaxDataVersions));
}

TEST_F(ArbiterWavesTest, TheNextWaveBeginsWhenTheCanaryHasBeenHealthyForLongEnough) {
  const Decision canary = Ask("a", kBadData);
  EXPECT_EQ(canary.data, "rolled u ConfigMap/config=bad");
  const Decision other = Ask("b", kBadData, true);
  ASSERT_NE(other.hold, std::nullopt);
  EXPECT_EQ(other.hold->reason, HoldReason::kWave);
  EXPECT_EQ(other.hold->message,
            "wave 2 of 2 waits for Deployment/shop/a, which is of an earlier wave (ReloadPolicy "
            "shop/p)");
  See("a", Phase::kUpdating);
  After(10s);
  See("a", Phase::kComplete);
  After(29s);
  EXPECT_THAT(arbiter_.TakeWakes(now_), Not(Contains(AppRef("b"))));
  EXPECT_TRUE(arbiter_.IsFollowed(AppRef("a")));
  After(1s);
  EXPECT_THAT(arbiter_.TakeWakes(now_), ElementsAre(AppRef("b")));
  EXPECT_FALSE(arbiter_.IsFollowed(AppRef("a")));
  EXPECT_EQ(Ask("b", kBadData).hold, std::nullopt);
}

TEST_F(ArbiterWavesTest, AfterAFailureNobodyElseIsRolledForTheSameData) {
  RollAndFail("a", kBadData);
  EXPECT_THAT(failure_, HasSubstr("was not complete and healthy within 20s"));
  EXPECT_EQ(DataOn("a"), "failed u ConfigMap/config=bad");
  const Decision other = Ask("b", kBadData);
  ASSERT_NE(other.hold, std::nullopt);
  EXPECT_EQ(other.hold->reason, HoldReason::kWaveFailed);
  EXPECT_THAT(other.hold->message, HasSubstr("the rollout of Deployment/shop/a for "
                                             "ConfigMap/config has failed in a wave"));
  EXPECT_EQ(Answer("c", kGoodData), "go") << "other data are another matter";
  EXPECT_THAT(arbiter_.ReportFor(*arbiter_.policies().Find({"shop", "p"}), now_).failed_waves,
              SizeIs(1));
}

TEST_F(ArbiterWavesTest, AFailureIsToldByItsCauseWhateverTheWorkloadHasBecomeSince) {
  Ask("a", kBadData);
  See("a", Phase::kFailed);
  See("a", Phase::kComplete);
  MarkAll("a");
  EXPECT_THAT(failure_, HasSubstr("made no progress, according to the workload's status; its phase "
                                  "is now: complete"));
}

TEST_F(ArbiterWavesTest, WhoWaitsForTheCanaryIsToldThatItHasFailed) {
  Ask("a", kBadData);
  Ask("b", kBadData, true);
  See("a", Phase::kFailed);
  EXPECT_THAT(arbiter_.TakeWakes(now_), Contains(AppRef("b")));
  EXPECT_EQ(Answer("b", kBadData), "WaveFailed");
}

TEST_F(ArbiterWavesTest, WhatMendsItselfWithTheSameDataProvesNothing) {
  RollAndFail("a", kBadData);
  BecomeHealthy("a", 1h);
  EXPECT_FALSE(arbiter_.IsFollowed(AppRef("a")));
  EXPECT_EQ(Answer("b", kBadData), "WaveFailed");
}

TEST_F(ArbiterWavesTest, AFailureOutlivesTheProcess) {
  RollAndFail("a", kBadData);
  Restart(waves_);
  See("a", Phase::kUnavailable);
  EXPECT_EQ(Answer("b", kBadData), "WaveFailed");
  BecomeHealthy("a", 1h);
  EXPECT_EQ(Answer("b", kBadData), "WaveFailed");
  Restart(waves_);
  See("a", Phase::kComplete);
  EXPECT_EQ(Answer("b", kBadData), "WaveFailed") << "the rollout's record says completed by now";
}

TEST_F(ArbiterWavesTest, ACanaryThatIsUnderWayWhenTheProcessEndsCanStillFail) {
  Ask("a", kBadData);
  Restart(waves_);
  See("a", Phase::kUpdating);
  EXPECT_TRUE(arbiter_.IsFollowed(AppRef("a")));
  After(20s);
  MarkAll("a");
  EXPECT_EQ(DataOn("a"), "failed u ConfigMap/config=bad");
  EXPECT_EQ(Answer("b", kBadData), "WaveFailed");
}

TEST_F(ArbiterWavesTest, NewDataBeginANewSeriesAndEndTheHold) {
  RollAndFail("a", kBadData);
  Ask("b", kBadData);
  EXPECT_EQ(Ask("a", kGoodData).data, "rolled u ConfigMap/config=good");
  EXPECT_EQ(Answer("b", kBadData), "WaveFailed") << "nothing has shown yet that they are better";
  See("a", Phase::kUpdating);
  (void)arbiter_.TakeWakes(now_);
  BecomeHealthy("a", 30s);
  EXPECT_THAT(arbiter_.failed_data(), IsEmpty());
  EXPECT_THAT(arbiter_.TakeWakes(now_), Contains(AppRef("b")));
}

TEST_F(ArbiterWavesTest, ARolloutRightAfterARestartEndsAFailureWhoseTimeAnUndoHasTakenAway) {
  RollAndFail("a", kBadData);
  on_workload_["a"].erase(std::string(kLastRolloutAnnotation));
  on_workload_["a"].erase(std::string(kRolloutStateAnnotation));
  Restart(waves_);
  See("a", Phase::kComplete);
  EXPECT_EQ(Ask("a", kGoodData).data, "rolled u ConfigMap/config=good");
  See("a", Phase::kUpdating);
  MarkAll("a");
  EXPECT_EQ(DataOn("a"), "rolled u ConfigMap/config=good");
  BecomeHealthy("a", 30s);
  EXPECT_THAT(arbiter_.failed_data(), IsEmpty());
}

TEST_F(ArbiterWavesTest, ARolloutForAnotherSourceDoesNotHideWhatHasFailed) {
  RollAndFail("a", kBadData);
  EXPECT_EQ(Ask("a", {"Secret/password=new"}).data,
            "rolled u Secret/password=new ConfigMap/config=bad");
  See("a", Phase::kUpdating);
  After(20s);
  MarkAll("a");
  EXPECT_EQ(DataOn("a"), "failed u Secret/password=new ConfigMap/config=bad");
  EXPECT_EQ(Answer("b", kBadData), "WaveFailed");
}

TEST_F(ArbiterWavesTest, DataThatHaveNotShownAnythingYetFailTogetherWithTheNext) {
  Ask("a", {"Secret/password=bad"});
  See("a", Phase::kUpdating);
  After(5s);
  EXPECT_EQ(Ask("a", kGoodData).data, "rolled u ConfigMap/config=good Secret/password=bad");
  See("a", Phase::kUpdating);
  After(20s);
  MarkAll("a");
  EXPECT_EQ(Answer("b", {"Secret/password=bad"}), "WaveFailed");
  EXPECT_EQ(Ask("a", {"Secret/password=good"}).data,
            "rolled u Secret/password=good ConfigMap/config=good");
  See("a", Phase::kUpdating);
  BecomeHealthy("a", 30s);
  EXPECT_THAT(arbiter_.failed_data(), IsEmpty());
  After(1s);
  EXPECT_EQ(Ask("a", kBadData).data, "rolled u ConfigMap/config=bad") << "the others are good";
}

TEST_F(ArbiterWavesTest, APersonLetsTheWavesGoOn) {
  RollAndFail("a", kBadData);
  Ask("b", kBadData);
  (void)arbiter_.TakeWakes(now_);
  on_workload_["a"][std::string(kRolledDataAnnotation)] = "released u ConfigMap/config=bad";
  See("a", Phase::kUnavailable);
  EXPECT_THAT(arbiter_.TakeWakes(now_), Contains(AppRef("b")));
  EXPECT_EQ(Answer("b", kBadData), "go");
  EXPECT_TRUE(arbiter_.IsFollowed(AppRef("a"))) << "who waits for its health waits on";
  MarkAll("a");
  EXPECT_EQ(DataOn("a"), "released u ConfigMap/config=bad") << "and that stays";
  Restart(waves_);
  See("a", Phase::kUnavailable);
  EXPECT_EQ(Answer("b", kBadData), "go");
}

TEST_F(ArbiterWavesTest, APersonDeclaresAnUndoneCanaryMended) {
  Ask("a", kBadData);
  See("a", Phase::kUpdating);
  on_workload_["a"] = {};
  arbiter_.Observe(
      AppRef("a"),
      {.uid = "u", .annotations = on_workload_["a"], .phase = Phase::kComplete, .undone = now_},
      now_);
  MarkAll("a");
  on_workload_["a"][std::string(kRolloutStateAnnotation)] =
      RecordFor(RolloutState::kCompleted, "u");
  See("a", Phase::kComplete);
  EXPECT_TRUE(arbiter_.IsFollowed(AppRef("a"))) << "the undo may have brought that back";
  on_workload_["a"][std::string(kRolledDataAnnotation)] = "released u ConfigMap/config=bad";
  See("a", Phase::kComplete);
  EXPECT_FALSE(arbiter_.IsFollowed(AppRef("a"))) << "nobody waits until it has been healthy";
  EXPECT_EQ(Answer("b", kBadData), "go");
}

TEST_F(ArbiterWavesTest, AnUndoneCanaryHasFailed) {
  Ask("a", kBadData);
  See("a", Phase::kUpdating, "new");
  After(5s);
  on_workload_["a"] = {};
  arbiter_.Observe(
      AppRef("a"),
      {.uid = "u", .annotations = on_workload_["a"], .phase = Phase::kComplete, .undone = now_},
      now_);
  MarkAll("a");
  EXPECT_THAT(failure_, HasSubstr("was undone"));
  EXPECT_EQ(DataOn("a"), "failed u ConfigMap/config=bad") << "the undo has taken it away";
  BecomeHealthy("a", 1h);
  EXPECT_EQ(Answer("b", kBadData), "WaveFailed");
}

TEST_F(ArbiterWavesTest, ACanaryThatWasBrokenBeforeFailsAsWell) {
  See("a", Phase::kUnavailable);
  After(1min);
  Ask("a", kBadData);
  See("a", Phase::kUnavailable);
  After(20s);
  EXPECT_EQ(Answer("b", kBadData), "WaveFailed");
}

TEST_F(ArbiterWavesTest, ACanaryWhosePodsAreTakenAwayShowsNothingAndFailsInTheEnd) {
  Ask("a", kBadData);
  See("a", Phase::kUnavailable);
  After(5s);
  See("a", Phase::kWithoutPods);
  EXPECT_THAT(Ask("b", kBadData, true).hold->message,
              HasSubstr("which is of an earlier wave and has no pods, so nothing shows"));
  After(14s);
  EXPECT_TRUE(arbiter_.IsFollowed(AppRef("a")));
  After(1s);
  MarkAll("a");
  EXPECT_THAT(failure_, HasSubstr("without pods"));
  EXPECT_EQ(Answer("b", kBadData), "WaveFailed");
}

TEST_F(ArbiterWavesTest, ThatHoldsAcrossARestart) {
  Ask("a", kBadData);
  Restart(waves_);
  See("a", Phase::kWithoutPods);
  After(30s);
  EXPECT_EQ(Answer("b", kBadData), "WaveFailed");
}

TEST_F(ArbiterWavesTest, ACanaryWhosePodsComeBackGoesOn) {
  Ask("a", kBadData);
  See("a", Phase::kWithoutPods);
  After(10s);
  BecomeHealthy("a", 30s);
  EXPECT_FALSE(arbiter_.IsFollowed(AppRef("a")));
  EXPECT_EQ(Answer("b", kBadData), "go");
}

TEST_F(ArbiterWavesTest, NobodyWaitsForACanaryThatHadNoPodsBefore) {
  EXPECT_EQ(Ask("a", kBadData, false, Phase::kWithoutPods).data, std::nullopt);
  See("a", Phase::kWithoutPods);
  After(30s);
  EXPECT_FALSE(arbiter_.IsFollowed(AppRef("a")));
  EXPECT_EQ(Answer("b", kBadData), "go");
}

TEST_F(ArbiterWavesTest, ARolloutWithoutPodsDoesNotEndAFailure) {
  RollAndFail("a", kBadData);
  EXPECT_EQ(Ask("a", kGoodData, false, Phase::kWithoutPods).data, "failed u ConfigMap/config=bad");
  See("a", Phase::kWithoutPods);
  After(1min);
  MarkAll("a");
  EXPECT_FALSE(arbiter_.IsFollowed(AppRef("a"))) << "it has nothing to show of the good data";
  EXPECT_EQ(Answer("b", kGoodData), "go");
  EXPECT_EQ(Answer("b", kBadData), "WaveFailed") << "when they come back";
  Restart(waves_);
  See("a", Phase::kWithoutPods);
  EXPECT_EQ(Answer("b", kGoodData), "go");
  EXPECT_EQ(Answer("b", kBadData), "WaveFailed");
}

TEST_F(ArbiterWavesTest, ACanaryWhosePodsSomebodyElseHasMadeAnewWakesTheOthersWhenTheyAreThere) {
  See("a", Phase::kUpdating);
  EXPECT_NE(Ask("b", kBadData, true).hold, std::nullopt);
  (void)arbiter_.TakeWakes(now_);
  for (const Phase phase : {Phase::kUnseen, Phase::kUpdating, Phase::kUnavailable}) {
    See("a", phase);
    EXPECT_THAT(arbiter_.TakeWakes(now_), IsEmpty()) << ToString(phase);
  }
  See("a", Phase::kComplete);
  EXPECT_THAT(arbiter_.TakeWakes(now_), ElementsAre(AppRef("b")));
  See("a", Phase::kComplete);
  EXPECT_THAT(arbiter_.TakeWakes(now_), IsEmpty()) << "it has not asked since";
}

TEST_F(ArbiterWavesTest, TheArbiterKnowsSinceWhenAWorkloadIsSettled) {
  See("a", Phase::kComplete);
  EXPECT_EQ(arbiter_.SettledSince(AppRef("a")), std::nullopt) << "since before this process";
  See("a", Phase::kUpdating);
  EXPECT_EQ(arbiter_.SettledSince(AppRef("a")), base::WallTime::max());
  See("a", Phase::kComplete);
  const base::WallTime since = now_;
  After(5s);
  See("a", Phase::kUnseen);
  See("a", Phase::kComplete);
  EXPECT_EQ(arbiter_.SettledSince(AppRef("a")), since) << "a write is no interruption";
  See("a", Phase::kUnavailable);
  for (const Phase amid : {Phase::kPaused, Phase::kWaiting}) {
    See("a", amid);
    EXPECT_EQ(arbiter_.SettledSince(AppRef("a")), base::WallTime::max()) << ToString(amid);
  }
  See("a", Phase::kComplete);
  EXPECT_EQ(arbiter_.SettledSince(AppRef("a")), now_);
  now_ = since;
  After(0s);
  EXPECT_EQ(arbiter_.SettledSince(AppRef("a")), now_) << "the clock was set back";
  After(2h);
  EXPECT_EQ(arbiter_.SettledSince(AppRef("a")), std::nullopt) << "nobody asks for so long";
}

TEST_F(ArbiterWavesTest, AStatusThatMayBeOldIsSettledAnewWithEachTemplate) {
  const auto see = [this](const std::string& hash, Phase phase) {
    arbiter_.Observe(
        AppRef("a"),
        {.uid = "u1", .annotations = {}, .phase = phase, .template_without_status = hash}, now_);
  };
  see("one", Phase::kComplete);
  EXPECT_EQ(arbiter_.SettledSince(AppRef("a")), std::nullopt);
  After(5s);
  see("two", Phase::kComplete);
  const base::WallTime since = now_;
  EXPECT_EQ(arbiter_.SettledSince(AppRef("a")), since);
  After(5s);
  see("two", Phase::kComplete);
  EXPECT_EQ(arbiter_.SettledSince(AppRef("a")), since);
  see("three", Phase::kUnseen);
  EXPECT_EQ(arbiter_.SettledSince(AppRef("a")), now_);
  see("three", Phase::kUpdating);
  see("four", Phase::kUnseen);
  EXPECT_EQ(arbiter_.SettledSince(AppRef("a")), base::WallTime::max());
}

TEST_F(ArbiterWavesTest, WhoWaitsForAPausedCanaryIsToldSo) {
  Ask("a", kBadData);
  See("a", Phase::kPaused);
  EXPECT_THAT(Ask("b", kBadData, true).hold->message,
              HasSubstr("waits for Deployment/shop/a, which is of an earlier wave and paused ("));
}

TEST_F(ArbiterWavesTest, WhoWaitsForACanaryThatMayNotBeginIsToldWhy) {
  on_workload_["a"] = {{"reloader.kubexx.io/paused", "true"}};
  EXPECT_NE(Ask("a", kBadData).hold, std::nullopt);
  EXPECT_THAT(Ask("b", kBadData, true).hold->message,
              HasSubstr("which is of an earlier wave and waits, too: Paused ("));
}

TEST_F(ArbiterWavesTest, ANewTemplateOfSomebodyElseDoesNotEndTheWatch) {
  Ask("a", kBadData);
  See("a", Phase::kUpdating, "one");
  See("a", Phase::kUpdating, "other");
  EXPECT_TRUE(arbiter_.IsFollowed(AppRef("a")));
  After(20s);
  EXPECT_EQ(Answer("b", kBadData), "WaveFailed");
}

TEST_F(ArbiterWavesTest, ADeletedWorkloadHoldsNobodyBackForLong) {
  RollAndFail("a", kBadData);
  Ask("b", kBadData);
  (void)arbiter_.TakeWakes(now_);
  (void)arbiter_.TakeLooks(now_);
  arbiter_.Forget(AppRef("a"), now_);
  EXPECT_EQ(Answer("b", kBadData), "WaveFailed") << "it may just be made anew";
  EXPECT_THAT(arbiter_.TakeLooks(now_), Contains(Pair(AppRef("a"), kMadeAnewWithin)));
  After(kMadeAnewWithin);
  EXPECT_THAT(arbiter_.TakeWakes(now_), Contains(AppRef("b")));
  EXPECT_EQ(Answer("b", kBadData), "go");
}

TEST_F(ArbiterWavesTest, AWorkloadThatIsMadeAnewWithTheSameDataHasToShowThatItWorksWithThem) {
  for (const bool is_told_of_the_end : {true, false}) {
    RollAndFail("a", kBadData);
    Ask("b", kBadData);
    if (is_told_of_the_end) {
      arbiter_.Forget(AppRef("a"), now_);
      After(1s);
    }
    SeeAnew(Phase::kUnseen);
    SeeAnew(Phase::kUnavailable);
    EXPECT_EQ(Answer("b", kBadData), "WaveFailed");
    After(10s);
    (void)arbiter_.TakeWakes(now_);
    SeeAnew(Phase::kComplete);
    After(29s);
    EXPECT_EQ(Answer("b", kBadData), "WaveFailed");
    After(1s);
    EXPECT_THAT(arbiter_.TakeWakes(now_), Contains(AppRef("b")));
    EXPECT_EQ(Answer("b", kBadData), "go");
    arbiter_.Forget(AppRef("a"), now_);
  }
}

TEST_F(ArbiterWavesTest, AWorkloadThatIsMadeAnewMayFailAgain) {
  RollAndFail("a", kBadData);
  arbiter_.Forget(AppRef("a"), now_);
  SeeAnew(Phase::kUnavailable);
  EXPECT_EQ(arbiter_.TakeMark(AppRef("a"), "u2", {}).data, std::nullopt) << "not yet";
  After(20s);
  const reloadpolicy::Mark mark = arbiter_.TakeMark(AppRef("a"), "u2", {});
  EXPECT_THAT(mark.failure, Optional(HasSubstr("was not complete and healthy within 20s")));
  EXPECT_EQ(mark.data, "failed u2 ConfigMap/config=bad");
  SeeAnew(Phase::kComplete);
  After(1h);
  EXPECT_EQ(Answer("b", kBadData), "WaveFailed") << "until a person lets the waves go on";
}

TEST_F(ArbiterWavesTest, AnotherObjectOfThatNameHasNotFailedWithDataThatArePast) {
  RollAndFail("a", kBadData);
  arbiter_.SetPast(AppRef("a"), true);
  SeeAnew(Phase::kComplete);
  EXPECT_THAT(arbiter_.failed_data(), IsEmpty());
}

TEST_F(ArbiterWavesTest, ARolloutThatIsUndoneOnItsWayBackIsMarkedWithItsOwnData) {
  RollAndFail("a", kBadData);
  const Annotations failed = on_workload_["a"];
  After(1s);
  Ask("a", kGoodData);
  See("a", Phase::kUpdating);
  After(2s);
  on_workload_["a"] = failed;  // the undo has brought it back
  arbiter_.Observe(
      AppRef("a"),
      {.uid = "u", .annotations = on_workload_["a"], .phase = Phase::kComplete, .undone = now_},
      now_);
  EXPECT_EQ(Answer("b", kGoodData), "WaveFailed");
  for (const char* state : {"failed", "released"}) {
    on_workload_["a"][std::string(kRolledDataAnnotation)] =
        std::string(state) + " u ConfigMap/config=bad";
    See("a", Phase::kComplete);
    MarkAll("a");
    EXPECT_EQ(DataOn("a"), "failed u ConfigMap/config=good") << "so that somebody can release it";
  }
  MarkAll("a");
  EXPECT_EQ(arbiter_.TakeMark(AppRef("a"), "u", on_workload_["a"]).data, std::nullopt);
  on_workload_["a"][std::string(kRolledDataAnnotation)] = "released u ConfigMap/config=good";
  See("a", Phase::kComplete);
  EXPECT_EQ(Answer("b", kGoodData), "go");
}

TEST_F(ArbiterWavesTest, ThePolicysStatusRemembersWhatAnUndoHasTakenAway) {
  const RememberedData remembered{AppRef("a"), "u", kBadData, now_};
  arbiter_.RememberData(remembered);
  EXPECT_THAT(arbiter_.Unseen(), ElementsAre(AppRef("a")));
  See("a", Phase::kComplete);
  EXPECT_EQ(Answer("b", kBadData), "WaveFailed");
  MarkAll("a");
  EXPECT_EQ(DataOn("a"), "failed u ConfigMap/config=bad");
}

// The schema of an older version lets the status have fewer.
TEST_F(ArbiterWavesTest, AWorkloadKnowsMoreOfWhatHasFailedThanThePolicysStatus) {
  on_workload_["a"] = testing::Written(now_ - 1min, RolloutState::kFailed);
  on_workload_["a"][std::string(kRolledDataAnnotation)] =
      "failed u ConfigMap/other=old ConfigMap/config=bad";
  arbiter_.RememberData(RememberedData{AppRef("a"), "u", {"ConfigMap/other=old"}, now_ - 1min});
  See("a", Phase::kFailed);
  EXPECT_EQ(Answer("b", kBadData), "WaveFailed");
}

TEST_F(ArbiterWavesTest, MendedDataDoNotFailByARestartOfTheProcess) {
  RollAndFail("a", kBadData);
  After(1min);
  const Decision mend = Ask("a", kGoodData);
  ASSERT_EQ(mend.record, RolloutState::kRetried);
  See("a", Phase::kComplete);
  After(2s);
  EXPECT_THAT(arbiter_.ReportFor(*arbiter_.policies().Find({"shop", "p"}), now_).failed, SizeIs(1))
      << "so the status of the policy lists the mend";
  Restart(waves_);  // bad data that are past are not in the status
  arbiter_.Remember({AppRef("a"), "u", mend.started});
  See("a", Phase::kComplete);
  MarkAll("a");
  EXPECT_EQ(failure_, "");
  EXPECT_EQ(DataOn("a"), "rolled u ConfigMap/config=good");
  EXPECT_THAT(arbiter_.failed_data(), IsEmpty());
  EXPECT_EQ(Answer("b", kGoodData), "go");
  BecomeHealthy("a", 30s);
  EXPECT_FALSE(arbiter_.IsFollowed(AppRef("a")));
}

TEST_F(ArbiterWavesTest, AMendStillFailsAfterARestartOfTheProcess) {
  RollAndFail("a", kBadData);
  After(1min);
  const Decision mend = Ask("a", kGoodData);
  Restart(waves_);
  arbiter_.Remember({AppRef("a"), "u", mend.started});
  See("a", Phase::kUnavailable);
  After(20s);
  MarkAll("a");
  EXPECT_EQ(DataOn("a"), "failed u ConfigMap/config=good");
  EXPECT_EQ(Answer("b", kGoodData), "WaveFailed");
}

TEST_F(ArbiterWavesTest, WhatHasBeenRolledSinceIsNotRemembered) {
  on_workload_["a"] = testing::Written(now_, RolloutState::kCompleted);
  on_workload_["a"][std::string(kRolledDataAnnotation)] = "rolled u ConfigMap/config=good";
  arbiter_.RememberData(RememberedData{AppRef("a"), "u", kBadData, now_ - 1min});
  See("a", Phase::kComplete);
  EXPECT_EQ(Answer("b", kBadData), "go");
}

TEST_F(ArbiterWavesTest, WithoutWavesNothingIsNotedOrHeld) {
  RollAndFail("a", kBadData);
  SetPolicy({.health_gate = true, .health_timeout = 20s});
  EXPECT_EQ(Answer("b", kBadData), "go");
  EXPECT_EQ(Ask("c", kBadData).data, std::nullopt);
  EXPECT_THAT(arbiter_.ReportFor(*arbiter_.policies().Find({"shop", "p"}), now_).failed_waves,
              IsEmpty());
}

}  // namespace
}  // namespace kubexx::reloadpolicy
