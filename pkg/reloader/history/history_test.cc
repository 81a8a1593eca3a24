#include "kubexx/reloader/history/history.h"

#include <gmock/gmock.h>

#include <string>

#include "kubexx/reloader/model/annotations.h"
#include "kubexx/reloadpolicy/policy.h"
#include "kubexx/reloadpolicy/rollout_record.h"

namespace kubexx::reloader {
namespace {

using apimachinery::Time;
using reloadpolicy::Phase;
using testing::HasSubstr;
using What = KeyChange::What;

constexpr char kExampleHistory[] =
    R"({"v":1,"of":"u-1","rollouts":[{"at":"2026-01-02T00:00:00Z","outcome":"rolling","sources":[)"
    R"({"source":"configmap/settings","digest":"0123456789ab","by":"helm","written":"2026-01-01T23:59:58Z",)"
    R"("keys":[{"key":"a","is":"changed","digest":"deadbeef"},{"key":"b","is":"removed"}],"moreKeys":2}]},)"
    R"({"at":"2026-01-01T00:00:00Z","outcome":"done","seconds":12,"sources":[{"source":"secret/db"}],"moreSources":1}]})";

Workload RolledWorkload(const std::string& text) {
  Workload workload{.id = {WorkloadKind::kDeployment, {"shop", "web"}}, .uid = "u-1"};
  if (!text.empty()) {
    workload.annotations[std::string(kHistoryAnnotation)] = text;
  }
  return workload;
}

TEST(History, IsReadBackAsItWasWritten) {
  const auto history = History::Parse(kExampleHistory);
  ASSERT_TRUE(history) << history.error().ToString();
  ASSERT_EQ(history->rollouts.size(), 2U);
  const HistorySource& source = history->rollouts[0].sources[0];
  EXPECT_EQ(source.type, SourceType::kConfigMap);
  EXPECT_EQ(source.name, "settings");
  EXPECT_EQ(source.more_keys, 2);
  EXPECT_EQ(*source.keys,
            (KeyChanges{{"a", {What::kChanged, "deadbeef"}}, {"b", {What::kRemoved, ""}}}));
  EXPECT_EQ(source.writer->manager, "helm");
  EXPECT_FALSE(history->rollouts[0].seconds);
  EXPECT_EQ(history->rollouts[1].seconds, 12);
  EXPECT_FALSE(history->rollouts[1].sources[0].keys);
  EXPECT_EQ(history->rollouts[1].more_sources, 1);
  EXPECT_EQ(history->ToString(), kExampleHistory);
}

TEST(History, RefusesWhatNobodyButAStrangerWrites) {
  const std::string good = kExampleHistory;
  const auto with = [&](const std::string& part, const std::string& other) {
    std::string text = good;
    const std::size_t at = text.find(part);
    EXPECT_NE(at, std::string::npos) << part;
    return text.replace(at, part.size(), other);
  };
  for (const std::string& text : {
           std::string(),
           std::string("null"),
           std::string("[]"),
           std::string("{}"),
           good.substr(0, good.size() - 1),
           with("\"v\":1", "\"v\":2"),
           with("\"u-1\"", "\"\""),
           with("\"u-1\"", "\"\\u001b[31m\""),
           with("\"u-1\"", "7"),
           with("\"outcome\":\"rolling\"", "\"outcome\":\"good\""),
           with("2026-01-02T00:00:00Z", "yesterday"),
           with("\"seconds\":12", "\"seconds\":-1"),
           with("\"seconds\":12", "\"seconds\":\"x\""),
           with("configmap/settings", "Pod/settings"),
           with("configmap/settings", "configmap"),
           with("configmap/settings", "configmap/\\u0007"),
           with("0123456789ab", "0123456789XY"),
           with("deadbeef", "deadbeefdeadbeef"),
           with("\"key\":\"a\"", "\"key\":\"a b\""),
           with("\"is\":\"changed\"", "\"is\":\"x\""),
           with("\"moreKeys\":2", "\"moreKeys\":null"),
           with("\"helm\"", "\"\\u001b[31m\""),
           with("2026-01-01T23:59:58Z", ""),
           with("[{\"source\":\"secret/db\"}]", "{}"),
           with("[{\"source\":\"secret/db\"}]", "[1]"),
           with("[{\"source\":\"secret/db\"}]", "[[],[],[],[],[],[]]"),
           R"({"v":1,"of":"u","rollouts":)" + std::string(5000, '[') + std::string(5000, ']') + "}",
           R"({"v":1,"of":"u","rollouts":[)" + std::string(History::kMaxBytes, ' ') + "]}",
       }) {
    const auto history = History::Parse(text);
    ASSERT_FALSE(history) << text;
    EXPECT_EQ(history.error().reason, apimachinery::Reason::kMalformed);
  }
}

TEST(History, KeepsSourcesOfKindsThatThisProcessDoesNotKnow) {
  std::string text = kExampleHistory;
  const std::string known = "configmap/settings";
  text.replace(text.find(known), known.size(), "forgottenkind/web");
  const auto history = History::Parse(text);
  ASSERT_TRUE(history) << history.error().message;
  EXPECT_TRUE(history->rollouts[0].sources.empty());
  EXPECT_EQ(history->rollouts[0].Unshown(), 1);
  EXPECT_EQ(history->ToString(), text) << "others know them";
  History full = *history;
  full.rollouts[0].sources.resize(History::kMaxSources);
  full.Fit(1);
  EXPECT_EQ(full.rollouts[0].sources.size(), History::kMaxSources);
  EXPECT_EQ(full.rollouts[0].more_sources, 1) << "there was no room";
  text.replace(text.find("0123456789ab"), 12, "0123456789XY");
  EXPECT_FALSE(History::Parse(text)) << "others could not read it either";
}

TEST(History, FitsWhatItMayTake) {
  History history{.owner = "u"};
  for (int i = 0; i < 40; ++i) {
    HistoryEntry entry{.at = {.seconds = 1'000'000 - i}};
    for (int s = 0; s < 8; ++s) {
      HistorySource source{.name = std::string(200, 'n') + std::to_string(s), .keys = KeyChanges()};
      for (int k = 0; k < 15; ++k) {
        (*source.keys)[std::string(250, 'k') + std::to_string(k)] = {What::kChanged, "deadbeef"};
      }
      entry.sources.push_back(std::move(source));
    }
    history.rollouts.push_back(std::move(entry));
  }
  history.Fit(30);
  EXPECT_LE(history.ToString().size(), History::kMaxBytes);
  ASSERT_EQ(history.rollouts.size(), 1U) << "the newest stays";
  EXPECT_EQ(history.rollouts[0].at.seconds, 1'000'000);
  EXPECT_EQ(history.rollouts[0].sources.size(), History::kMaxSources);
  EXPECT_EQ(history.rollouts[0].more_sources, 3);
  for (const HistorySource& source : history.rollouts[0].sources) {
    EXPECT_EQ(static_cast<std::int64_t>(source.keys->size()) + source.more_keys, 15);
  }
  EXPECT_TRUE(History::Parse(history.ToString())) << "what is written can be read";

  History small{.owner = "u", .rollouts = std::vector<HistoryEntry>(20)};
  small.Fit(7);
  EXPECT_EQ(small.rollouts.size(), 7U);
}

TEST(History, OfAnotherObjectCountsAsNone) {
  const auto own = HistoryOf(RolledWorkload(kExampleHistory));
  ASSERT_TRUE(own);
  EXPECT_EQ(own->rollouts.size(), 2U);
  Workload copy = RolledWorkload(kExampleHistory);
  copy.uid = "u-2";
  const auto none = HistoryOf(copy);
  ASSERT_TRUE(none);
  EXPECT_TRUE(none->rollouts.empty());
  EXPECT_EQ(none->owner, "u-2");
  EXPECT_TRUE(HistoryOf(RolledWorkload(""))->rollouts.empty());
  const auto broken = HistoryOf(RolledWorkload("{"));
  ASSERT_FALSE(broken);
  EXPECT_THAT(broken.error().message, HasSubstr("not a JSON object"));
}

TEST(History, OfAJobStaysWithItsNameAsEachRolloutMakesAnotherObject) {
  Workload job = RolledWorkload("");
  job.id.kind = WorkloadKind::kJob;
  EXPECT_EQ(HistoryOwner(job), "job/shop/web");
}

TEST(History, TakesTheOutcomeFromTheStatus) {
  struct Case {
    const char* about;
    RolloutOutcome recorded;
    Phase phase;
    std::optional<std::int64_t> in_status;
    std::optional<std::int64_t> seen;
    RolloutOutcome outcome;
    std::optional<std::int64_t> seconds;
  };
  using enum RolloutOutcome;
  for (const Case& each : {
           Case{"done, as the status tells", kRolling, Phase::kComplete, 130, 140, kDone, 30},
           Case{"done, as was seen", kRolling, Phase::kComplete, {}, 140, kDone, 40},
           Case{"done, nobody knows when", kRolling, Phase::kComplete, {}, {}, kDone, {}},
           Case{"the end of an earlier rollout", kRolling, Phase::kComplete, 99, {}, kDone, {}},
           Case{"no pods to replace", kRolling, Phase::kWithoutPods, 100, {}, kDone, 0},
           Case{"failed", kRolling, Phase::kFailed, 700, {}, kFailed, 600},
           Case{"failed and got well", kFailed, Phase::kComplete, 800, {}, kDone, 700},
           Case{"goes on", kRolling, Phase::kUpdating, 99, {}, kRolling, {}},
           Case{"paused", kRolling, Phase::kPaused, {}, {}, kRolling, {}},
           Case{"what was done stays done", kDone, Phase::kFailed, 900, {}, kDone, {}},
           Case{"superseded stays", kSuperseded, Phase::kComplete, 900, {}, kSuperseded, {}},
       }) {
    Workload workload = RolledWorkload("");
    workload.phase = each.phase;
    const auto time = [](const std::optional<std::int64_t>& at) {
      return at ? std::optional(Time{.seconds = *at}) : std::nullopt;
    };
    workload.ended = time(each.in_status);
    HistoryEntry entry{.at = {.seconds = 100}, .outcome = each.recorded};
    const auto seen =
        each.seen ? std::optional(RolloutEnd{.time = {.seconds = *each.seen}}) : std::nullopt;
    CompleteFrom(workload, seen, entry);
    EXPECT_EQ(entry.outcome, each.outcome) << each.about;
    EXPECT_EQ(entry.seconds, each.seconds) << each.about;
  }
}

TEST(History, TakesAFailureByTimeFromTheRecordOfAPolicy) {
  Workload workload = RolledWorkload("");
  workload.phase = Phase::kUnavailable;
  workload.annotations[std::string(reloadpolicy::kRolloutStateAnnotation)] =
      "failed " + workload.uid;
  const auto outcome = [&](const std::string& last_rollout) {
    workload.annotations[std::string(reloadpolicy::kLastRolloutAnnotation)] = last_rollout;
    HistoryEntry entry{.at = {.seconds = 100}};
    CompleteFrom(workload, {}, entry);
    return entry.outcome;
  };
  EXPECT_EQ(outcome("1970-01-01T00:01:39Z"), RolloutOutcome::kFailed);
  EXPECT_EQ(outcome("1970-01-01T00:01:41Z"), RolloutOutcome::kFailed);
  EXPECT_EQ(outcome("1970-01-01T00:00:39Z"), RolloutOutcome::kRolling) << "of an earlier rollout";
  EXPECT_EQ(outcome(""), RolloutOutcome::kRolling);
  workload.phase = Phase::kComplete;
  EXPECT_EQ(outcome("1970-01-01T00:01:40Z"), RolloutOutcome::kDone) << "it has got well";
}

// A release three days later is through after three days, and no rollout took so long.
TEST(History, DoesNotTakeTheOutcomeOfALaterReleaseFromTheStatus) {
  Workload workload = RolledWorkload("");
  workload.phase = Phase::kComplete;
  workload.template_written = Time{.seconds = 300'000};
  workload.ended = Time{.seconds = 300'010};
  const auto complete = [&](const std::optional<RolloutEnd>& seen) {
    HistoryEntry entry{.at = {.seconds = 100}};
    CompleteFrom(workload, seen, entry);
    return std::pair(entry.outcome, entry.seconds.value_or(-1));
  };
  EXPECT_EQ(complete({}), std::pair(RolloutOutcome::kSuperseded, std::int64_t{-1}));
  EXPECT_EQ(complete(RolloutEnd{.time = {.seconds = 130}}),
            std::pair(RolloutOutcome::kDone, std::int64_t{30}));
  EXPECT_EQ(complete(RolloutEnd{.time = {.seconds = 700}, .has_failed = true}),
            std::pair(RolloutOutcome::kFailed, std::int64_t{600}));
  workload.ended = Time{.seconds = 130};
  EXPECT_EQ(complete({}), std::pair(RolloutOutcome::kDone, std::int64_t{30}))
      << "the later write has rolled out nothing";
  workload.template_written.reset();
  workload.undone = Time{.seconds = 300'000};
  workload.ended = Time{.seconds = 300'010};
  EXPECT_EQ(complete({}), std::pair(RolloutOutcome::kSuperseded, std::int64_t{-1})) << "an undo";
}

}  // namespace
}  // namespace kubexx::reloader
