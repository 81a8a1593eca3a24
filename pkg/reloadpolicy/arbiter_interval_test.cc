// Tests that a minimum interval counts from the last rollout, even if annotations are lost.
#include <gmock/gmock.h>

#include <chrono>
#include <string>

#include "kubexx/apimachinery/time.h"
#include "kubexx/reloadpolicy/arbiter.h"
#include "kubexx/reloadpolicy/last_starts.h"
#include "kubexx/reloadpolicy/testing/arbiter_fixture.h"

namespace kubexx::reloadpolicy {
namespace {

using namespace std::chrono_literals;
using testing::AppRef;
using testing::kBegin;
using testing::Written;

class ArbiterIntervalTest : public testing::ArbiterFixture {
 protected:
  void SetUp() override { Enforce(); }
  void Enforce() {
    arbiter_.SetPolicy({.id = {"", "platform"},
                        .generation = 1,
                        .enforced = true,
                        .settings = {.min_interval = 1h}});
  }
  /// Rolls the workload and ends the rollout.
  void Roll(const std::string& name) {
    EXPECT_FALSE(Begin(name).hold);
    See(name, Phase::kUpdating);
    See(name, Phase::kComplete);
    EXPECT_EQ(arbiter_.rollouts(), 0U);
    Mark(name);
    See(name, Phase::kComplete);
  }
  /// Tries to roll a workload with its present annotations.
  std::string TryWritten(const std::string& name, const std::string& uid = "u") {
    const Decision decision = arbiter_.Ask({AppRef(name), on_workload_[name], {}, uid}, now_);
    return decision.hold ? std::string(ToString(decision.hold->reason)) : "go";
  }
};

TEST_F(ArbiterIntervalTest, HoldsWhenTheAnnotationIsTakenOff) {
  Roll("a");
  After(8s);
  on_workload_["a"].clear();
  See("a", Phase::kComplete);
  EXPECT_EQ(TryWritten("a"), "MinInterval");
  After(59min);
  EXPECT_EQ(TryWritten("a"), "MinInterval");
  const auto hold = arbiter_.Ask({AppRef("a"), {}, {}, "u"}, now_).hold;
  ASSERT_TRUE(hold);
  EXPECT_EQ(hold->until, kBegin + 1h) << "it counts from the rollout, not from the edit";
  After(52s);
  EXPECT_EQ(TryWritten("a"), "go");
}

TEST_F(ArbiterIntervalTest, HoldsWhenTheAnnotationIsSetBackOrFarAhead) {
  Roll("a");
  for (const auto by : {base::Duration(-48h), base::Duration(365h * 24)}) {
    After(1s);
    on_workload_["a"] =
        Written(now_ + std::chrono::duration_cast<base::WallTime::duration>(by), {});
    EXPECT_EQ(TryWritten("a"), "MinInterval") << "before an event tells of it";
    See("a", Phase::kComplete);
    EXPECT_EQ(TryWritten("a"), "MinInterval");
  }
  After(1h);
  EXPECT_EQ(TryWritten("a"), "go") << "and not for ever";
}

TEST_F(ArbiterIntervalTest, HoldsWhenTheAnnotationIsTakenOffDuringTheRollout) {
  EXPECT_FALSE(Begin("a").hold);
  See("a", Phase::kUpdating);
  on_workload_["a"] = Written(now_ + 365h * 24, RolloutState::kStarted);
  See("a", Phase::kUpdating);
  EXPECT_EQ(TryWritten("a"), "MinInterval");
  on_workload_["a"].clear();
  See("a", Phase::kComplete);
  After(1min);
  See("a", Phase::kComplete);
  EXPECT_EQ(TryWritten("a"), "MinInterval");
}

TEST_F(ArbiterIntervalTest, HoldsForARolloutThatAnotherReplicaHasEnded) {
  on_workload_["a"] = Written(now_ - 1min, RolloutState::kCompleted);
  See("a", Phase::kComplete);
  on_workload_["a"].clear();
  See("a", Phase::kComplete);
  EXPECT_EQ(TryWritten("a"), "MinInterval");
}

TEST_F(ArbiterIntervalTest, RemembersWhatWasSeenBeforeThePoliciesWere) {
  arbiter_ = Arbiter();
  arbiter_.SetUnread("", true, now_);
  on_workload_["a"] = Written(now_ - 1min, RolloutState::kCompleted);
  See("a", Phase::kComplete);
  After(2min);
  Enforce();
  arbiter_.SetUnread("", false, now_);
  on_workload_["a"].clear();
  See("a", Phase::kComplete);
  EXPECT_EQ(TryWritten("a"), "MinInterval");
}

// An operator that may not read the policies of one namespace for weeks remembers no more starts
// for it than policies could ask for, and none for the other namespaces.
TEST_F(ArbiterIntervalTest, WherePoliciesAreUnreadStartsAreKeptAsLongAsTheyMightCount) {
  arbiter_.SetUnread("closed", true, now_);
  Roll("a");
  const ObjectRef closed{"Deployment", {"closed", "b"}};
  const Decision decision = arbiter_.Begin({closed, {}, {}, "u"}, now_);
  ASSERT_TRUE(decision.tracked);
  arbiter_.Observe(closed, {"u", Written(decision.started, decision.record), Phase::kComplete, ""},
                   now_);
  After(59min);
  EXPECT_EQ(arbiter_.starts(), 2U);
  After(2min);
  EXPECT_EQ(arbiter_.starts(), 1U)
      << "an hour is the most that the other namespaces' policies ask for";
  After(Effective::kLongestMinInterval - 2h);
  EXPECT_EQ(arbiter_.starts(), 1U);
  After(2h);
  EXPECT_EQ(arbiter_.starts(), 0U);
}

TEST_F(ArbiterIntervalTest, AnotherObjectOfThatNameIsNotHeld) {
  Roll("a");
  on_workload_["a"].clear();
  EXPECT_EQ(TryWritten("a", "another"), "go");
  See("a", Phase::kComplete);
  EXPECT_EQ(TryWritten("a"), "MinInterval");
  arbiter_.Forget(AppRef("a"), now_);
  EXPECT_EQ(TryWritten("a"), "go") << "it was deleted";
}

TEST_F(ArbiterIntervalTest, ARolloutThatWasNotMadeHoldsNothing) {
  EXPECT_FALSE(Begin("a").hold);
  arbiter_.Cancel(AppRef("a"));
  on_workload_["a"].clear();
  EXPECT_EQ(TryWritten("a"), "go");
}

TEST_F(ArbiterIntervalTest, AClockThatIsSetBackHoldsForOneIntervalAtMost) {
  now_ += 24h * 365;
  Roll("a");
  now_ -= 24h * 365;
  EXPECT_EQ(TryWritten("a"), "MinInterval") << "before the arbiter has seen that";
  arbiter_.Sweep(now_);
  EXPECT_EQ(TryWritten("a"), "MinInterval");
  After(59min);
  EXPECT_EQ(TryWritten("a"), "MinInterval");
  After(1min);
  EXPECT_EQ(TryWritten("a"), "go");
}

TEST(LastStarts, KeepsTheLatestOfEachWorkload) {
  LastStarts starts;
  EXPECT_EQ(starts.Find(AppRef("a"), "u"), std::nullopt);
  starts.Note(AppRef("a"), "u", kBegin);
  starts.Note(AppRef("a"), "u", kBegin - 1h);
  EXPECT_EQ(starts.Find(AppRef("a"), "u"), kBegin);
  EXPECT_EQ(starts.Find(AppRef("a"), ""), kBegin);
  EXPECT_EQ(starts.Find(AppRef("a"), "v"), std::nullopt);
  starts.Note(AppRef("a"), "v", kBegin - 2h);
  EXPECT_EQ(starts.Find(AppRef("a"), "v"), kBegin - 2h);
  const ObjectRef job{"Job", {"shop", "once"}};
  starts.Note(job, "u", kBegin);
  EXPECT_EQ(starts.Find(job, "v"), kBegin) << "rolling a Job makes another object of it";
}

TEST(LastStarts, DropsThoseThatNoIntervalCountsFrom) {
  LastStarts starts;
  for (int i = 0; i < 100; ++i) {
    starts.Note(AppRef(std::to_string(i)), "u", kBegin + i * 1s);
  }
  starts.Note(AppRef("patient"), "u", kBegin, 2h);
  EXPECT_EQ(starts.size(), 101U);
  const auto an_hour = [](const ObjectRef&) { return base::Duration(1h); };
  starts.Prune(kBegin + 1h + 49s, an_hour);
  EXPECT_EQ(starts.size(), 51U);
  EXPECT_EQ(starts.Find(AppRef("49"), "u"), std::nullopt);
  EXPECT_EQ(starts.Find(AppRef("50"), "u"), kBegin + 50s);
  starts.Clamp(kBegin + 55s);
  EXPECT_EQ(starts.Find(AppRef("99"), "u"), kBegin + 55s);
  starts.Prune(kBegin + 2h, an_hour);
  EXPECT_EQ(starts.size(), 0U);
  starts.Note(AppRef("short"), "u", kBegin);
  starts.Note(AppRef("long"), "u", kBegin);
  starts.Prune(kBegin + 2h, [](const ObjectRef& workload) {
    return base::Duration(workload == AppRef("long") ? 3h : 1h);
  });
  EXPECT_EQ(starts.Find(AppRef("long"), "u"), kBegin);
  EXPECT_EQ(starts.size(), 1U);
}

TEST(PolicySet, TellsTheLongestInterval) {
  PolicySet set(Settings{.min_interval = 1min});
  EXPECT_EQ(set.LongestMinInterval(), base::Duration(1min));
  set.Set({.id = {"shop", "p"}, .settings = {.min_interval = 2h}});
  set.Set({.id = {"", "q"}, .settings = {.min_interval = 1h}});
  EXPECT_EQ(set.LongestMinInterval(), base::Duration(2h));
  EXPECT_EQ(PolicySet().LongestMinInterval(), base::Duration(0));
}

}  // namespace
}  // namespace kubexx::reloadpolicy
