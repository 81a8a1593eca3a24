// Tests what an arbiter does with the annotations about a rollout when they are written late, are
// not written at all, are kept by the server, or are written twice within a second.
#include <gmock/gmock.h>

#include <chrono>
#include <optional>
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
using testing::kBegin;
using ::testing::Pair;
using testing::Written;

class ArbiterRecordsTest : public testing::ArbiterFixture {};

TEST_F(ArbiterRecordsTest, TheStatusOfAPolicyRemembersWhatIsNotOnTheWorkload) {
  SetPolicy(stop_);
  arbiter_.Remember({AppRef("a"), "u", now_ - 1h});
  EXPECT_EQ(Try("b"), "StoppedAfterFailures") << "not seen yet";
  EXPECT_THAT(arbiter_.Unseen(), ElementsAre(AppRef("a")));
  // As after kubectl rollout undo.
  on_workload_["a"] = Written(now_ - 2h, RolloutState::kCompleted);
  See("a", Phase::kComplete);
  EXPECT_THAT(arbiter_.Unseen(), IsEmpty());
  EXPECT_EQ(Try("b"), "StoppedAfterFailures");
  After(10s);
  EXPECT_EQ(Try("b"), "go") << "it is healthy";
}

TEST_F(ArbiterRecordsTest, WhatIsRememberedEndsWithItsObject) {
  SetPolicy(stop_);
  arbiter_.Remember({AppRef("a"), "old", now_ - 1h});
  See("a", Phase::kUnavailable);
  EXPECT_EQ(Try("b"), "go") << "made anew under its name";
  arbiter_.Remember({AppRef("c"), "u", now_ - 1h});
  arbiter_.Forget(AppRef("c"), now_);
  EXPECT_EQ(Try("b"), "go");
  on_workload_["d"] = Written(now_ - 1h, RolloutState::kCompleted);
  arbiter_.Remember({AppRef("d"), "u", now_ - 1h});
  See("d", Phase::kUnavailable);
  EXPECT_EQ(Try("b"), "go") << "its mend was written";
}

TEST_F(ArbiterRecordsTest, AFailureThatAStatusTellsOfIsNotToldByEachProcessAnew) {
  SetPolicy(stop_);
  Begin("a");
  See("a", Phase::kFailed);
  const auto mark = [&] { return arbiter_.TakeMark(AppRef("a"), "u", on_workload_["a"]); };
  EXPECT_TRUE(mark().failure);
  for (const bool seen_first : {false, true}) {  // nothing can be written to the workload
    Restart(stop_);
    if (seen_first) {
      See("a", Phase::kFailed);
    }
    arbiter_.Remember({AppRef("a"), "u", kBegin});
    See("a", Phase::kFailed);
    After(1min);
    const reloadpolicy::Mark again = mark();
    EXPECT_FALSE(again.failure) << seen_first;
    EXPECT_EQ(again.record, RolloutState::kFailed) << "it is tried again";
    EXPECT_EQ(Try("b"), "StoppedAfterFailures");
  }
}

TEST_F(ArbiterRecordsTest, ARetryThatIsUnderWayHasNotFailedByTheStatus) {
  SetPolicy(one_);
  Begin("a");
  See("a", Phase::kFailed);
  Mark("a");
  After(5s);
  const Decision retry = Begin("a", Phase::kFailed, on_workload_["a"]);
  ASSERT_EQ(retry.record, RolloutState::kRetried);
  const Annotations on_workload = on_workload_["a"];
  for (const bool seen_first : {true, false}) {
    on_workload_["a"] = on_workload;
    now_ = retry.started;
    Restart(one_);
    if (seen_first) {
      See("a", Phase::kUpdating);
    }
    arbiter_.Remember({AppRef("a"), "u", retry.started});
    See("a", Phase::kUpdating);
    EXPECT_EQ(Try("b"), "ConcurrencyLimit") << "it keeps its place";
    EXPECT_EQ(arbiter_.ReportFor(*arbiter_.policies().Find({"shop", "p"}), now_).failed.size(), 1U);
    After(1min);
    EXPECT_EQ(Mark("a"), RolloutState::kFailed);
    EXPECT_NE(failure_, "") << "that is another failure";
    EXPECT_EQ(Try("b"), "go");
  }
}

TEST_F(ArbiterRecordsTest, TheEndOfARolloutHidesNothingOfTheNext) {
  SetPolicy(stop_);
  Begin("a");
  See("a", Phase::kComplete);
  After(10s);  // it has ended, and the end has not been written
  const Annotations first = on_workload_["a"];
  EXPECT_EQ(arbiter_.rollouts(), 0U);
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

TEST_F(ArbiterRecordsTest, ARolloutThatCouldNotBeWrittenLeavesTheEndOfTheOneBefore) {
  SetPolicy(stop_);
  Begin("a");
  See("a", Phase::kComplete);
  After(10s);
  const Annotations first = on_workload_["a"];
  Begin("a");
  arbiter_.Cancel(AppRef("a"));
  on_workload_["a"] = first;
  See("a", Phase::kUnavailable);
  EXPECT_EQ(arbiter_.rollouts(), 0U);
  EXPECT_EQ(Mark("a"), RolloutState::kCompleted);
}

TEST_F(ArbiterRecordsTest, ARolloutWhoseTemplateTheServerKeptIsNotFollowedFromItsRecord) {
  for (const auto& before : {Annotations(), Written(now_ - 1h, RolloutState::kCompleted)}) {
    Restart(stop_);
    Begin("a");
    arbiter_.CancelKept(AppRef("a"));
    const Annotations kept = std::exchange(on_workload_["a"], before);
    See("a", Phase::kComplete, "same");  // a status from before the write
    on_workload_["a"] = kept;
    See("a", Phase::kUpdating, "same");
    EXPECT_EQ(arbiter_.rollouts(), 0U);
    EXPECT_THAT(arbiter_.TakeLooks(now_), ElementsAre(Pair(AppRef("a"), base::Duration(0))));
    EXPECT_EQ(Mark("a"), RolloutState::kLeft);
    After(10s);
    EXPECT_EQ(Try("b"), "go");
    Restart(stop_);
    See("a", Phase::kUpdating, "same");
    After(10s);
    EXPECT_EQ(Try("b"), "go") << "nor after a restart";
  }
}

TEST_F(ArbiterRecordsTest, ARetryWhoseTemplateTheServerKeptLeavesTheFailure) {
  SetPolicy(stop_);
  Begin("a");
  See("a", Phase::kFailed, "same");
  Mark("a");
  After(5s);
  EXPECT_EQ(Begin("a", Phase::kFailed, on_workload_["a"]).record, RolloutState::kRetried);
  arbiter_.CancelKept(AppRef("a"));
  See("a", Phase::kFailed, "same");
  EXPECT_EQ(Try("b"), "StoppedAfterFailures");
  EXPECT_EQ(Mark("a"), RolloutState::kFailed) << "the write has taken that away";
  EXPECT_EQ(failure_, "") << "told before";
  See("a", Phase::kComplete, "same");
  After(10s);
  EXPECT_EQ(Mark("a"), RolloutState::kCompleted);
  EXPECT_EQ(Try("b"), "go");
}

TEST_F(ArbiterRecordsTest, AWriteOfWhichNothingIsKnownIsFollowedWhenItIsSeen) {
  SetPolicy(stop_);
  Begin("a");
  arbiter_.Cancel(AppRef("a"));  // the answer to the write was lost
  See("a", Phase::kUpdating);
  After(8s);
  EXPECT_EQ(Try("b"), "StoppedAfterFailures");
}

TEST_F(ArbiterRecordsTest, TheSecondRolloutWithinASecondIsFollowedToo) {
  SetPolicy(stop_);
  now_ += 100ms;
  Begin("a");
  See("a", Phase::kUpdating, "first");
  const Annotations first = on_workload_["a"];
  now_ += 500ms;
  Begin("a");
  const Annotations second = std::exchange(on_workload_["a"], first);
  See("a", Phase::kUpdating, "first");  // a status from before the second write
  on_workload_["a"] = second;
  See("a", Phase::kUpdating, "second");
  EXPECT_EQ(arbiter_.rollouts(), 1U);
  EXPECT_EQ(Mark("a"), std::nullopt) << "it is nobody else's";
  now_ += 100ms;
  Begin("a");
  const Annotations third = std::exchange(on_workload_["a"], second);
  See("a", Phase::kUpdating, "second");
  on_workload_["a"] = third;
  See("a", Phase::kUpdating, "third");
  EXPECT_EQ(arbiter_.rollouts(), 1U);
  After(7s);
  EXPECT_EQ(Try("b"), "go");
  After(1s);
  EXPECT_EQ(Try("b"), "StoppedAfterFailures");
}

TEST_F(ArbiterRecordsTest, ARetryWithinASecondThatCannotBeWrittenIsNoMend) {
  SetPolicy(stop_);
  Begin("a");
  See("a", Phase::kFailed);
  const Annotations first = on_workload_["a"];
  Begin("a");
  on_workload_["a"] = first;
  See("a", Phase::kFailed);  // a status from before the write
  arbiter_.Cancel(AppRef("a"));
  EXPECT_EQ(Try("b"), "StoppedAfterFailures");
}

TEST_F(ArbiterRecordsTest, ARetryThatCannotBeRecordedIsNoMend) {
  SetPolicy(stop_);
  Begin("a");
  See("a", Phase::kFailed);
  arbiter_.Begin({AppRef("a"), on_workload_["a"], {}, "u", Phase::kFailed}, now_);
  arbiter_.LeaveUnrecorded(AppRef("a"));
  EXPECT_EQ(Try("b"), "StoppedAfterFailures");
}

}  // namespace
}  // namespace kubexx::reloadpolicy
