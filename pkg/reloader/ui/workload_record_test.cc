#include "kubexx/reloader/ui/workload_record.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>

#include "kubexx/codec/json_tree.h"

namespace kubexx::reloader {
namespace {

using codec::JsonTree;
using reloadpolicy::HoldReason;
using reloadpolicy::Phase;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kPresentDigest[] = "0123456789abcdef0123456789abcdef01234567";
constexpr char kFormerDigest[] = "fedcba9876543210fedcba9876543210fedcba98";

Workload ShownWorkload(Phase phase = Phase::kComplete) {
  return {.id = {WorkloadKind::kDeployment, {"shop", "web"}}, .uid = "uid", .phase = phase};
}

/// An explanation of a workload with one source, which rolls it.
Explanation ShownExplanation(bool is_due) {
  Explanation explanation{.workload = ShownWorkload().id, .phase = "complete", .due = is_due};
  explanation.sources.push_back({.id = {SourceType::kSecret, {"shop", "db"}},
                                 .exists = true,
                                 .verdict = Verdict::kAuto,
                                 .container = "app",
                                 .recorded = is_due ? kFormerDigest : kPresentDigest,
                                 .digest = kPresentDigest,
                                 .due = is_due});
  return explanation;
}

Explanation HeldBy(HoldReason reason) {
  Explanation explanation = ShownExplanation(true);
  explanation.hold = {.reason = reason, .message = "because"};
  return explanation;
}

JsonTree TreeFrom(const std::string& json) {
  const auto tree = JsonTree::Parse(json);
  EXPECT_TRUE(tree) << json;
  return tree.value_or(JsonTree());
}

TEST(PageStateTest, SaysFirstWhatAPersonHasToDo) {
  struct Case {
    const char* name;
    Explanation explanation;
    Phase phase;
    PageState wanted;
  };
  Explanation unwatched = ShownExplanation(true);
  unwatched.not_watched = "its namespace is ignored";
  Explanation failed = HeldBy(HoldReason::kStopped);
  failed.failure = "no progress";
  Explanation refused = HeldBy(HoldReason::kLimit);
  refused.refused = "a pause period that cannot be read";
  Explanation left_alone = ShownExplanation(true);
  left_alone.left_alone = "it is suspended";
  Explanation unread = ShownExplanation(true);
  unread.unread_policies = {"ReloadPolicies"};
  Explanation awaiting = ShownExplanation(true);
  awaiting.awaits_reload = "new data wait";
  Explanation paused = ShownExplanation(false);
  paused.pause = "by somebody else";
  Explanation without = ShownExplanation(false);
  without.sources.front().verdict = Verdict::kNoRule;
  for (const Case& each : std::vector<Case>{
           {"unwatched", unwatched, Phase::kFailed, PageState::kUnwatched},
           {"failed", failed, Phase::kComplete, PageState::kFailed},
           {"failed by its status", ShownExplanation(false), Phase::kFailed, PageState::kFailed},
           {"refused", refused, Phase::kComplete, PageState::kRefused},
           {"left alone", left_alone, Phase::kComplete, PageState::kRefused},
           {"paused by a policy", HeldBy(HoldReason::kPaused), Phase::kComplete, PageState::kHeld},
           {"paused source", HeldBy(HoldReason::kSourcePaused), Phase::kComplete, PageState::kHeld},
           {"waits", HeldBy(HoldReason::kWave), Phase::kUpdating, PageState::kWaiting},
           {"unread policies", unread, Phase::kComplete, PageState::kWaiting},
           {"awaits a reload", awaiting, Phase::kUpdating, PageState::kWaiting},
           {"due", ShownExplanation(true), Phase::kComplete, PageState::kDue},
           {"paused", paused, Phase::kPaused, PageState::kPaused},
           {"rolling", ShownExplanation(false), Phase::kUpdating, PageState::kRolling},
           {"unavailable", ShownExplanation(false), Phase::kUnavailable, PageState::kUnavailable},
           {"current", ShownExplanation(false), Phase::kComplete, PageState::kCurrent},
           {"no pods", ShownExplanation(false), Phase::kWithoutPods, PageState::kCurrent},
           {"no source", without, Phase::kComplete, PageState::kNothing},
       }) {
    EXPECT_EQ(PageStateOf(each.explanation, ShownWorkload(each.phase)), each.wanted) << each.name;
    // Each has a record, with a name for its state.
    const JsonTree tree = TreeFrom(WorkloadRecord(each.explanation, ShownWorkload(each.phase), {}));
    EXPECT_EQ(tree.TextAt("state"), ToString(each.wanted)) << each.name;
  }
}

TEST(PageStateTest, OnlyWhatTimeMayChangeIsUnsettled) {
  EXPECT_TRUE(IsSettled(PageState::kCurrent));
  EXPECT_TRUE(IsSettled(PageState::kHeld));
  for (const PageState state :
       {PageState::kWaiting, PageState::kDue, PageState::kRolling, PageState::kFailed}) {
    EXPECT_FALSE(IsSettled(state)) << ToString(state);
  }
}

TEST(WorkloadRecordTest, TellsWhatItRunsWithWhatWaitsAndWhy) {
  Explanation explanation = HeldBy(HoldReason::kOutsideWindow);
  explanation.hold->until = base::WallTime(std::chrono::seconds(1'800'000'000));
  const std::string json =
      WorkloadRecord(explanation, ShownWorkload(), {{"shop", "gentle"}, {"", "platform"}});
  const JsonTree tree = TreeFrom(json);
  EXPECT_EQ(tree.TextAt("kind"), "Deployment");
  EXPECT_EQ(tree.TextAt("namespace"), "shop");
  EXPECT_EQ(tree.TextAt("name"), "web");
  EXPECT_EQ(tree.TextAt("state"), "waiting");
  EXPECT_EQ(tree.TextAt("reason"), "OutsideMaintenanceWindow");
  EXPECT_EQ(tree.TextAt("why"), "because");
  EXPECT_EQ(tree.TextAt("until"), "2027-01-15T08:00:00Z");
  EXPECT_EQ(tree.Find("policies")->ToJson(), R"(["shop/gentle","platform"])");
  EXPECT_EQ(tree.Find("sources")->ToJson(),
            R"([{"kind":"Secret","name":"db","there":true,"unknown":false,"rolls":true,"due":true,)"
            R"("digest":"0123456789ab","recorded":"fedcba987654"}])");
  EXPECT_THAT(json, Not(HasSubstr("\n"))) << "an event has one line";
}

TEST(WorkloadRecordTest, TellsOfTheLastRollout) {
  Workload workload = ShownWorkload();
  EXPECT_TRUE(
      TreeFrom(WorkloadRecord(ShownExplanation(false), workload, {})).Find("last")->IsNull());
  workload.annotations[std::string(kHistoryAnnotation)] =
      R"({"v":1,"of":"uid","rollouts":[{"at":"2026-01-02T00:00:00Z","outcome":"rolling","sources":[]}]})";
  EXPECT_EQ(TreeFrom(WorkloadRecord(ShownExplanation(false), workload, {})).Find("last")->ToJson(),
            R"({"at":"2026-01-02T00:00:00Z","outcome":"done"})");
}

TEST(WorkloadRecordTest, ChangesWithTheDetailsThatItDoesNotShow) {
  const std::string before = WorkloadRecord(ShownExplanation(false), ShownWorkload(), {});
  EXPECT_EQ(WorkloadRecord(ShownExplanation(false), ShownWorkload(), {}), before);
  Explanation with_setting = ShownExplanation(false);
  with_setting.settings.push_back({"paused", "true", "annotation reloader.kubexx.io/paused"});
  EXPECT_NE(WorkloadRecord(with_setting, ShownWorkload(), {}), before);
  Workload with_history = ShownWorkload();
  with_history.annotations[std::string(kHistoryAnnotation)] = "odd";
  EXPECT_NE(WorkloadRecord(ShownExplanation(false), with_history, {}), before);
}

TEST(WorkloadDetailsTest, ShowTheExplanationAndTheHistoryWithShortDigests) {
  const auto details =
      WorkloadDetails(ShownExplanation(true), {.workload = ShownWorkload().id, .problem = "odd"});
  ASSERT_TRUE(details);
  const JsonTree tree = TreeFrom(*details);
  const JsonTree& source = tree.At({"explanation", "sources"})->elements()[0];
  EXPECT_EQ(source.TextAt("recorded"), "fedcba987654");
  EXPECT_EQ(source.TextAt("digest"), "0123456789ab");
  EXPECT_EQ(tree.Find("history")->TextAt("problem"), "odd");
  EXPECT_THAT(*details, Not(HasSubstr(kPresentDigest)));
  EXPECT_THAT(*details, Not(HasSubstr(kFormerDigest)));
}

}  // namespace
}  // namespace kubexx::reloader
