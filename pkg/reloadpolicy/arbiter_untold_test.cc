// Tests rollouts of which nothing has told for a while: no answer to their write, or no event.
// Nobody knows then whether their pods have begun, so they must not fail by their time.
#include <gmock/gmock.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

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

const DataVersions kUntoldData{"ConfigMap/config=untold"};

class ArbiterUntoldTest : public testing::ArbiterFixture {
 protected:
  ArbiterUntoldTest() { SetPolicy(settings_); }

  /// Begins a rollout of "a", in a wave, whose write is sent.
  void Send() {
    const Decision decision =
        arbiter_.Begin({.workload = AppRef("a"), .uid = "u", .data = kUntoldData}, now_);
    ASSERT_FALSE(decision.hold);
    written_ = Written(decision.started, decision.record);
    written_[std::string(kRolledDataAnnotation)] = decision.data.value_or("");
  }
  /// An event tells of it.
  void Tell(Phase phase) {
    on_workload_["a"] = written_;
    See("a", phase);
  }
  /// An event tells of the workload as it is at this version, without what the rollout has written.
  void TellWithoutAnnotations(std::uint64_t version, Phase phase = Phase::kComplete,
                              const std::string& uid = "u") {
    arbiter_.Observe(AppRef("a"),
                     {.uid = uid, .annotations = {}, .phase = phase, .version = version}, now_);
    arbiter_.Sweep(now_);
  }
  bool HasFailed() {
    const bool has_failed = arbiter_.FailureOf(AppRef("a"), now_).has_value();
    EXPECT_EQ(has_failed, arbiter_.failed_data().contains(AppRef("a")));
    return has_failed;
  }
  void ExpectFailureAfter(base::Duration timeout) {
    After(timeout - 1s);
    EXPECT_FALSE(HasFailed());
    After(1s);
    EXPECT_TRUE(HasFailed());
  }

  const Settings settings_{
      .max_in_namespace = 1,
      .waves = Waves{.sizes = {{.count = 1}}, .healthy_for = 30s, .timeout = 20s}};
  Annotations written_;
};

// Seed 113 of ten minutes: a request had no answer for half a minute. The rollout counted as failed
// in its wave, and the last good data were put back.
TEST_F(ArbiterUntoldTest, ARolloutWhoseWriteHasNoAnswerYetKeepsItsPlaceAndCannotFail) {
  Send();
  arbiter_.TakeLooks(now_);
  After(1h);
  EXPECT_FALSE(HasFailed());
  EXPECT_EQ(Try("b"), "ConcurrencyLimit");
  EXPECT_TRUE(arbiter_.IsFollowed(AppRef("a"))) << "later waves wait for it";
  EXPECT_THAT(arbiter_.TakeLooks(now_), IsEmpty()) << "there is nothing to look at";
}

TEST_F(ArbiterUntoldTest, TheTimeOfARolloutBeginsWithALateAnswer) {
  Send();
  After(1min);
  arbiter_.Written(AppRef("a"), now_);
  After(19s);
  EXPECT_FALSE(HasFailed());
  EXPECT_EQ(Try("b"), "ConcurrencyLimit");
}

TEST_F(ArbiterUntoldTest, AnEventThatComesBeforeALateAnswerBeginsTheTime) {
  Send();
  After(1min);
  Tell(Phase::kUpdating);
  After(5s);
  arbiter_.Written(AppRef("a"), now_);
  ExpectFailureAfter(15s);
}

TEST_F(ArbiterUntoldTest, AWriteThatWasNotMadeLeavesNothing) {
  Send();
  After(1min);
  arbiter_.Cancel(AppRef("a"));
  After(1min);
  EXPECT_FALSE(HasFailed());
  EXPECT_EQ(Try("b"), "go");
}

TEST_F(ArbiterUntoldTest, AWriteThatWasCutAfterAWhileMayHaveBeenMade) {
  for (const bool was_made : {false, true}) {
    SCOPED_TRACE(was_made);
    arbiter_ = Arbiter();
    SetPolicy(settings_);
    on_workload_.clear();
    Send();
    After(1min);
    arbiter_.Doubt(AppRef("a"), now_);
    EXPECT_NE(Try("b"), "go");
    EXPECT_TRUE(arbiter_.IsFollowed(AppRef("a"))) << "it may have been made just now";
    After(1min);
    EXPECT_FALSE(HasFailed());
    if (was_made) {
      Tell(Phase::kUpdating);
      EXPECT_FALSE(HasFailed());
      ExpectFailureAfter(20s);
    } else {
      After(1h);
      EXPECT_EQ(Try("b"), "go");
    }
  }
}

TEST_F(ArbiterUntoldTest, WithoutAnEventAWrittenRolloutGivesItsPlaceToOthersAndCannotFail) {
  Send();
  arbiter_.Written(AppRef("a"), now_);
  EXPECT_EQ(Try("b"), "ConcurrencyLimit");
  EXPECT_THAT(arbiter_.TakeLooks(now_), ElementsAre(Pair(AppRef("a"), base::Duration(20s))));
  After(20s);
  EXPECT_EQ(Try("b"), "go");
  EXPECT_FALSE(HasFailed());
  EXPECT_TRUE(arbiter_.IsFollowed(AppRef("a")));
  EXPECT_EQ(arbiter_.TakeMark(AppRef("a"), "u", {}).record, std::nullopt);
  EXPECT_THAT(arbiter_.TakeLooks(now_), IsEmpty()) << "only an event tells more";
  Tell(Phase::kUnseen);
  EXPECT_FALSE(HasFailed()) << "others are about to come that tell how its pods are";
  EXPECT_EQ(Try("b"), "ConcurrencyLimit");
  ExpectFailureAfter(20s);
}

// Somebody undoes the rollout while the watch is ended, so that a list is the first to tell.
TEST_F(ArbiterUntoldTest, ALaterStateTellsOfARolloutWhoseAnnotationsWereTakenAway) {
  Send();
  arbiter_.Written(AppRef("a"), now_, 10);
  TellWithoutAnnotations(9);
  EXPECT_TRUE(arbiter_.IsFollowed(AppRef("a"))) << "it is of before the rollout";
  TellWithoutAnnotations(12, Phase::kUpdating);
  EXPECT_TRUE(arbiter_.IsFollowed(AppRef("a"))) << "its pods are being replaced";
  EXPECT_EQ(Try("b"), "ConcurrencyLimit");
  TellWithoutAnnotations(13);
  After(30s);
  EXPECT_FALSE(arbiter_.IsFollowed(AppRef("a")));
  EXPECT_EQ(Try("b"), "go");
}

TEST_F(ArbiterUntoldTest, TheStateThatTheRolloutItselfHasMadeTellsOfItWithoutAnnotations) {
  Send();
  arbiter_.Written(AppRef("a"), now_, 10);
  TellWithoutAnnotations(10);
  After(30s);
  EXPECT_FALSE(arbiter_.IsFollowed(AppRef("a"))) << "an admission webhook has taken them away";
}

TEST_F(ArbiterUntoldTest, AFailedRolloutWhoseAnnotationsWereTakenAwayFails) {
  Send();
  arbiter_.Written(AppRef("a"), now_, 10);
  TellWithoutAnnotations(12, Phase::kUpdating);
  ExpectFailureAfter(20s);
}

TEST_F(ArbiterUntoldTest, AStateOfUnknownVersionTellsOfNoRolloutWithoutAnnotations) {
  for (const auto& [written, seen] : {std::pair<std::uint64_t, std::uint64_t>{0, 12}, {10, 0}}) {
    Send();
    EXPECT_FALSE(arbiter_.Written(AppRef("a"), now_, written));
    TellWithoutAnnotations(seen);
    EXPECT_TRUE(arbiter_.IsFollowed(AppRef("a")));
    arbiter_.Cancel(AppRef("a"));
  }
}

TEST_F(ArbiterUntoldTest, ALaterStateThatCameBeforeTheAnswerIsAskedForOnceMore) {
  Send();
  TellWithoutAnnotations(9);
  Arbiter other = arbiter_;
  EXPECT_FALSE(other.Written(AppRef("a"), now_, 10)) << "nothing has told of the rollout yet";
  TellWithoutAnnotations(12);
  EXPECT_TRUE(arbiter_.IsFollowed(AppRef("a"))) << "nobody knows yet which version it has got";
  EXPECT_TRUE(arbiter_.Written(AppRef("a"), now_, 10));
  TellWithoutAnnotations(12);
  After(30s);
  EXPECT_FALSE(arbiter_.IsFollowed(AppRef("a")));
}

TEST_F(ArbiterUntoldTest, AWorkloadThatWasMadeAnewTellsOfTheEndOfARollout) {
  arbiter_.RemovePolicy({"shop", "p"});
  SetPolicy({.max_in_namespace = 1});
  ASSERT_FALSE(Begin("a").hold);
  arbiter_.Written(AppRef("a"), now_, 10);
  TellWithoutAnnotations(12, Phase::kComplete, "another");
  EXPECT_FALSE(arbiter_.IsFollowed(AppRef("a")));
  EXPECT_EQ(Try("b"), "go");
}

// The API server's store was restored from a backup: versions begin anew, so they tell nothing.
TEST_F(ArbiterUntoldTest, WhereVersionsHaveBegunAnewTheNextStateTellsOfARollout) {
  Send();
  TellWithoutAnnotations(9);
  arbiter_.Written(AppRef("a"), now_, 10);
  TellWithoutAnnotations(5);
  After(30s);
  EXPECT_TRUE(arbiter_.IsFollowed(AppRef("a"))) << "it may have been written after that";
  TellWithoutAnnotations(6);
  After(30s);
  EXPECT_FALSE(arbiter_.IsFollowed(AppRef("a")));
}

TEST_F(ArbiterUntoldTest, WhoWaitsSaysThatNothingTellsOfARollout) {
  const auto why = [&] {
    const Decision decision = arbiter_.Begin(
        {.workload = AppRef("b"),
         .uid = "u",
         .data = kUntoldData,
         .earlier_wave = EarlierWave{.wave = 1, .waves = 2, .waits_for = AppRef("a")}},
        now_);
    return decision.hold ? decision.hold->message : "";
  };
  Send();
  arbiter_.Written(AppRef("a"), now_);
  EXPECT_THAT(why(), HasSubstr("an earlier wave ("));
  arbiter_.TakeWakes(now_);
  After(20s);
  EXPECT_THAT(arbiter_.TakeWakes(now_), ElementsAre(AppRef("b")));
  EXPECT_THAT(why(), HasSubstr("an earlier wave and of whose rollout no event has told yet ("));
  Tell(Phase::kUpdating);
  EXPECT_THAT(arbiter_.TakeWakes(now_), ElementsAre(AppRef("b")));
  EXPECT_THAT(why(), HasSubstr("an earlier wave ("));
}

TEST_F(ArbiterUntoldTest, TheEventOfAnotherReplicasRolloutMayBeLate) {
  for (const bool follows_another : {false, true}) {
    SCOPED_TRACE(follows_another);
    Send();
    if (follows_another) {
      Tell(Phase::kUpdating);
      now_ += 1s;
      Arbiter other = arbiter_;
      other.Cancel(AppRef("a"));
      const Decision decision =
          other.Begin({.workload = AppRef("a"), .uid = "u", .data = kUntoldData}, now_);
      written_ = Written(decision.started, decision.record);
      written_[std::string(kRolledDataAnnotation)] = *decision.data;
      now_ += 1h;
    } else {
      arbiter_ = Arbiter();
      SetPolicy(settings_);
      After(1h);
    }
    Tell(Phase::kUnseen);
    EXPECT_FALSE(HasFailed());
    ExpectFailureAfter(20s);
    arbiter_ = Arbiter();
    SetPolicy(settings_);
    on_workload_.clear();
  }
}

TEST_F(ArbiterUntoldTest, WhoBeginsAfterwardsGoesByTheTimeOfTheRollout) {
  Send();
  Restart(settings_);
  now_ += 10s;
  Tell(Phase::kUpdating);
  ExpectFailureAfter(10s);
}

// The process that sent the write ended before it was made.
TEST_F(ArbiterUntoldTest, WhoBeginsAfterwardsGoesByTheTimeOfAWriteThatWasOnTheWay) {
  for (const bool is_clock_ahead : {false, true}) {
    SCOPED_TRACE(is_clock_ahead);
    Send();
    now_ += 1min;
    arbiter_ = Arbiter();
    SetPolicy(settings_);
    Sighting seen{"u", written_, Phase::kUpdating};
    seen.is_first_look = true;
    seen.rolled = is_clock_ahead ? now_ + 1h : now_ - 5s;
    arbiter_.Observe(AppRef("a"), seen, now_);
    arbiter_.Sweep(now_);
    ExpectFailureAfter(is_clock_ahead ? 20s : 15s);
    arbiter_ = Arbiter();
    SetPolicy(settings_);
  }
}

}  // namespace
}  // namespace kubexx::reloadpolicy
