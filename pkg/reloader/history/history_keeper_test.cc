#include "kubexx/reloader/history/history_keeper.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "kubexx/reloader/model/annotations.h"

namespace kubexx::reloader {
namespace {

using apimachinery::Time;
using reloadpolicy::Phase;

const SourceId kSettings{SourceType::kConfigMap, {"shop", "settings"}};

/// A keeper with the sources that it finds.
struct Kept {
  std::map<SourceId, TracedSource> sources{};
  HistoryKeeper keeper{{.rollouts = 3, .source = [this](const SourceId& id) {
                          const auto found = sources.find(id);
                          return found == sources.end() ? std::nullopt
                                                        : std::optional(found->second);
                        }}};
};

Workload KeptWorkload(const std::string& history = {}) {
  Workload workload{.id = {WorkloadKind::kDeployment, {"shop", "web"}}, .uid = "u-1"};
  if (!history.empty()) {
    workload.annotations[std::string(kHistoryAnnotation)] = history;
  }
  return workload;
}

/// A rollout for the settings, which change from one text to another.
reloader::Plan PlanOf(const std::string& from, const std::string& to) {
  reloader::Plan plan;
  plan.baseline.digests[kSettings] = DigestOf(from);
  plan.changes.push_back({.container = "app",
                          .variable = "V",
                          .sources = {{kSettings, DigestOf(to)}},
                          .causes = {kSettings}});
  return plan;
}

SourceChange ChangeOfKeys(const std::string& from, const std::string& to, KeyChanges keys) {
  return {.before = DigestOf(from),
          .now = DigestOf(to),
          .keys = std::move(keys),
          .writer = DataWriter{.manager = "helm", .time = {.seconds = 50}}};
}

TEST(HistoryKeeper, WritesTheRolloutWithItsKeysAndTheirWriter) {
  Kept kept;
  kept.sources[kSettings] = {.digest = DigestOf("2")};
  kept.keeper.changes().Add(kSettings,
                            ChangeOfKeys("1", "2", {{"a", {KeyChange::What::kChanged, "01"}}}));
  const auto history = History::Parse(
      kept.keeper.WithRollout(KeptWorkload(), PlanOf("1", "2"), Time{.seconds = 100}));
  ASSERT_TRUE(history) << history.error().ToString();
  EXPECT_EQ(history->owner, "u-1");
  ASSERT_EQ(history->rollouts.size(), 1U);
  EXPECT_EQ(history->rollouts[0].at.seconds, 100);
  EXPECT_EQ(history->rollouts[0].outcome, RolloutOutcome::kRolling);
  ASSERT_EQ(history->rollouts[0].sources.size(), 1U);
  const HistorySource& source = history->rollouts[0].sources[0];
  EXPECT_EQ(source.name, "settings");
  EXPECT_EQ(source.digest, DigestOf("2").ToString().substr(0, 12));
  EXPECT_TRUE(source.keys && source.keys->contains("a"));
  ASSERT_TRUE(source.writer);
  EXPECT_EQ(source.writer->manager, "helm");
}

TEST(HistoryKeeper, NamesOnlyKeysThatCount) {
  Kept kept;
  kept.sources[kSettings] = {.digest = DigestOf("2")};
  kept.keeper.changes().Add(kSettings, ChangeOfKeys("1", "2", {{"a", {}}, {"b", {}}, {"c", {}}}));
  reloader::Plan plan = PlanOf("over a and c", "of a and c");
  plan.baseline.keys[kSettings] = "a,c";
  plan.changes[0].keys[kSettings] = "a,c";
  const auto history =
      History::Parse(kept.keeper.WithRollout(KeptWorkload(), plan, Time{.seconds = 100}));
  ASSERT_TRUE(history && history->rollouts[0].sources[0].keys);
  EXPECT_EQ(history->rollouts[0].sources[0].keys->size(), 2U);
  EXPECT_FALSE(history->rollouts[0].sources[0].keys->contains("b"));
}

TEST(HistoryKeeper, KnowsTheWriterAloneOfAChangeThatItHasNotSeen) {
  Kept kept;
  kept.sources[kSettings] = {
      .digest = DigestOf("2"),
      .trace = SourceTrace{.writer = DataWriter{.manager = "helm", .time = {.seconds = 5}}}};
  const auto history = History::Parse(
      kept.keeper.WithRollout(KeptWorkload(), PlanOf("1", "2"), Time{.seconds = 100}));
  ASSERT_TRUE(history);
  EXPECT_FALSE(history->rollouts[0].sources[0].keys);
  EXPECT_EQ(history->rollouts[0].sources[0].writer->manager, "helm");
}

TEST(HistoryKeeper, TellsThatASourceWasDeleted) {
  Kept kept;
  SourceChange gone = ChangeOfKeys("1", "", {{"a", {KeyChange::What::kRemoved, ""}}});
  gone.now = kNoSource;
  gone.writer.reset();
  kept.keeper.changes().Add(kSettings, gone);
  reloader::Plan plan = PlanOf("1", "");
  plan.changes[0].sources[0].second = kNoSource;
  const auto history =
      History::Parse(kept.keeper.WithRollout(KeptWorkload(), plan, Time{.seconds = 100}));
  ASSERT_TRUE(history);
  EXPECT_EQ(history->rollouts[0].sources[0].digest, "");
  EXPECT_TRUE(history->rollouts[0].sources[0].keys->contains("a"));
}

TEST(HistoryKeeper, CompletesTheLastRolloutWithTheNextAndDropsTheEarliest) {
  Kept kept;
  Workload workload = KeptWorkload();
  for (int i = 1; i <= 4; ++i) {
    workload.phase = i == 3 ? Phase::kUpdating : Phase::kComplete;
    workload.ended = Time{.seconds = 100 * (i - 1) + 7};
    workload.annotations[std::string(kHistoryAnnotation)] = kept.keeper.WithRollout(
        workload, PlanOf(std::to_string(i), std::to_string(i + 1)), Time{.seconds = 100 * i});
    if (i == 1) {
      EXPECT_FALSE(HistoryOf(workload)->rollouts[0].seconds);
    }
  }
  const auto history = HistoryOf(workload);
  ASSERT_TRUE(history);
  ASSERT_EQ(history->rollouts.size(), 3U);
  EXPECT_EQ(history->rollouts[0].outcome, RolloutOutcome::kRolling);
  EXPECT_EQ(history->rollouts[1].outcome, RolloutOutcome::kDone);
  EXPECT_EQ(history->rollouts[1].seconds, 7);
  EXPECT_EQ(history->rollouts[2].outcome, RolloutOutcome::kSuperseded);
  EXPECT_EQ(history->rollouts[2].at.seconds, 200);
}

TEST(HistoryKeeper, RecordsAnOutcomeOnceWhereThereIsAWrite) {
  Kept kept;
  Workload workload = KeptWorkload();
  EXPECT_FALSE(kept.keeper.WithOutcome(workload)) << "there is none";
  workload.annotations[std::string(kHistoryAnnotation)] =
      kept.keeper.WithRollout(workload, PlanOf("1", "2"), Time{.seconds = 100});
  workload.phase = Phase::kUpdating;
  EXPECT_FALSE(kept.keeper.WithOutcome(workload)) << "it goes on";
  workload.phase = Phase::kFailed;
  const auto failed = kept.keeper.WithOutcome(workload);
  ASSERT_TRUE(failed);
  workload.annotations[std::string(kHistoryAnnotation)] = *failed;
  EXPECT_EQ(HistoryOf(workload)->rollouts[0].outcome, RolloutOutcome::kFailed);
  EXPECT_FALSE(kept.keeper.WithOutcome(workload));
  workload.annotations[std::string(kHistoryAnnotation)] = "broken";
  EXPECT_FALSE(kept.keeper.WithOutcome(workload)) << "the next rollout replaces it";
}

TEST(HistoryKeeper, BeginsAnewWhereTheHistoryIsBrokenOrOfAnother) {
  Kept kept;
  for (const std::string& text :
       {std::string("{\"v\":1"), std::string(300'000, '['), std::string("\x1b[2J"),
        History{.owner = "another", .rollouts = std::vector<HistoryEntry>(2)}.ToString()}) {
    const auto history = History::Parse(
        kept.keeper.WithRollout(KeptWorkload(text), PlanOf("1", "2"), Time{.seconds = 100}));
    ASSERT_TRUE(history) << text.substr(0, 100);
    EXPECT_EQ(history->owner, "u-1");
    EXPECT_EQ(history->rollouts.size(), 1U);
  }
}

}  // namespace
}  // namespace kubexx::reloader
