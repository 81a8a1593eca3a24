// Tests the planner with data that may have been others while the pods of a release began, and that
// have come back since then, as in seed 5068 of the simulation: the baseline does not tell.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kubexx/apimachinery/status.h"
#include "kubexx/apimachinery/time.h"
#include "kubexx/reloader/plan/pair_memory.h"
#include "kubexx/reloader/plan/planner.h"
#include "kubexx/reloader/plan/strategy.h"

namespace kubexx::reloader {
namespace {

using apimachinery::Time;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Key;
using testing::Not;
using testing::SizeIs;
using testing::StartsWith;

const Digest kCameBack = DigestOf("came back");
const Digest kInBetween = DigestOf("in between");
const SourceId kBackConfig{SourceType::kConfigMap, {"ns", "config"}};
const SourceId kBackSecret{SourceType::kSecret, {"ns", "password"}};
constexpr std::int64_t kFirstTemplate = 100;
constexpr std::int64_t kRelease = 200;

class PlannerComeBackTest : public testing::Test, public DigestsOver {
 protected:
  /// A workload that an operator has recorded, and a source of version 5.
  PlannerComeBackTest() {
    workload_.id = {WorkloadKind::kDeployment, {"ns", "web"}};
    workload_.uid = "uid-1";
    workload_.annotations = {{"reloader.stakater.com/auto", "true"}};
    workload_.containers = {
        {.name = "app",
         .references = {{SourceType::kConfigMap, "config"}, {SourceType::kSecret, "password"}}}};
    workload_.template_written = Time{.seconds = kFirstTemplate};
    Put(kBackConfig, kCameBack, 5);
    Put(kBackSecret, kCameBack, 6);
    Write(Make());
  }
  std::optional<Digest> Over(const SourceId&, std::string_view) override { return std::nullopt; }
  std::optional<Time> WrittenAt(const SourceId& id) override {
    asked_.push_back(id);
    return written_at_;
  }
  std::uint64_t SeenUpTo(const SourceId& id) override {
    const auto seen = seen_.find(id.type);
    return seen == seen_.end() ? UINT64_MAX : seen->second;
  }

  void Put(const SourceId& id, const Digest& digest, std::uint64_t version) {
    sources_[id] = {.id = id, .digest = digest, .resource_version = version};
  }
  /// Somebody else writes the template, at version 20.
  void Release() {
    workload_.template_written = Time{.seconds = kRelease};
    workload_.resource_version = "20";
  }
  /// The source is written at `version`, and has had its earlier data again since `at`.
  void ComeBack(std::uint64_t version, std::optional<std::int64_t> at) {
    Put(kBackConfig, kCameBack, version);
    written_at_ = at ? std::optional(Time{.seconds = *at}) : std::nullopt;
  }
  Plan Make(const Knowledge& known = {}) {
    const auto get = [this](const SourceId& id) {
      const auto found = sources_.find(id);
      return found == sources_.end() ? std::nullopt : std::optional(found->second);
    };
    const auto names = [](SourceType) { return std::vector<std::string>(); };
    return MakePlan(workload_, SourceLookup{get, names, this}, known, rules_, patterns_);
  }
  void WriteBaseline(const std::string& text) {
    workload_.annotations[std::string(kBaselineAnnotation)] = text;
  }
  /// Applies the operator's write, with or without a rollout.
  void Write(const Plan& plan) {
    WriteBaseline(BaselineAfter(plan, plan.changes));
    for (const Change& change : plan.changes) {
      workload_.containers[0].variables = {{change.variable, change.value}};
      workload_.own_written = workload_.template_written;
    }
  }
  /// Checks that a process that starts now has nothing to do, nothing to write and nothing to ask.
  void ExpectSettled() {
    asked_.clear();
    const Plan plan = Make();
    EXPECT_THAT(plan.changes, IsEmpty());
    EXPECT_FALSE(plan.record);
    EXPECT_THAT(asked_, IsEmpty());
  }

  Workload workload_;
  std::map<SourceId, Source> sources_;
  std::optional<Time> written_at_;
  std::map<SourceType, std::uint64_t> seen_;  ///< by the watches; those of other types are ahead
  std::vector<SourceId> asked_;               ///< whose time somebody wanted to know
  DecisionRules rules_;
  PatternCache patterns_;
};

TEST_F(PlannerComeBackTest, DataThatMayHaveBeenOthersWhenTheReleaseBeganRoll) {
  Release();
  ComeBack(8, kRelease + 10);
  const Plan plan = Make();
  EXPECT_THAT(asked_, ElementsAre(kBackConfig)) << "the other source was not written since";
  ASSERT_EQ(plan.changes.size(), 1U);
  EXPECT_THAT(plan.changes[0].causes, ElementsAre(kBackConfig));
  Write(plan);
  ExpectSettled();
}

TEST_F(PlannerComeBackTest, TheyRollThoughTheVariableIsRight) {
  workload_.containers[0].variables = {{"STAKATER_CONFIG_CONFIGMAP", kCameBack.ToString()}};
  Release();
  ComeBack(8, kRelease + 10);
  const Plan plan = Make();
  const WorkloadWrite write =
      MakeWrite(workload_, plan.changes, ReloadStrategy::kEnvVars, base::WallTime{});
  EXPECT_THAT(write.template_annotations, Contains(Key(kRestartedFor)));
}

// Seed 20082 of the simulation: the process begins while the data are others, and has not made a
// plan yet when the data come back.
TEST_F(PlannerComeBackTest, DataThatThisProcessHasSeenComeBackWereOthersWhenAnOlderReleaseBegan) {
  const Knowledge known{
      .pairs = {{kBackConfig, {.kind = PairState::Kind::kObserved, .digest = kInBetween}}}};
  ComeBack(8, std::nullopt);
  EXPECT_THAT(Make(known).changes, IsEmpty()) << "the pods are those of the baseline";
  Release();
  ASSERT_EQ(Make(known).changes.size(), 1U);
  EXPECT_THAT(asked_, IsEmpty()) << "the pods are older than the change";
}

// Seed 110 of ten minutes: a release, its undo and the mended data all come before the first plan.
TEST_F(PlannerComeBackTest, DataThatComeBackAfterAnUndoWereOthersWhenItsPodsBegan) {
  const Knowledge known{
      .pairs = {{kBackConfig, {.kind = PairState::Kind::kObserved, .digest = kInBetween}}}};
  Release();
  workload_.undone = Time{.seconds = kRelease + 5};
  ComeBack(8, kRelease + 5);
  EXPECT_THAT(Make(known).changes, IsEmpty()) << "the undo may have begun pods with these data";
  ComeBack(8, kRelease + 6);
  EXPECT_EQ(Make(known).changes.size(), 1U);
  EXPECT_EQ(Make().changes.size(), 1U) << "also where the events came before the workload";
}

// Seed 1279 of ten minutes: a list tells of the source as it is after two changes, so that this
// process, which has seen the release, knows the data of before and after it only.
TEST_F(PlannerComeBackTest, DataThatMayHaveBeenOthersDuringUnseenWritesRoll) {
  Knowledge known{
      .pairs = {{kBackConfig, {.kind = PairState::Kind::kConfirmed, .digest = kCameBack}}},
      .template_since = 20,
      .template_until = 20,
      .unseen_writes = {{kBackConfig, {.from = 5, .to = 21}}}};
  Release();
  ComeBack(21, kRelease + 10);
  const Plan plan = Make(known);
  ASSERT_EQ(plan.changes.size(), 1U);
  EXPECT_THAT(plan.changes[0].causes, ElementsAre(kBackConfig));
  EXPECT_TRUE(plan.has_uncertain_changes);
  EXPECT_THAT(BaselineAfter(plan, {}), HasSubstr("=" + kCameBack.ToString() + "@5"))
      << "while the rollout waits, the doubt stays for whoever begins";

  known.template_since = known.template_until = 22;
  EXPECT_THAT(Make(known).changes, IsEmpty()) << "the pods began after these writes";
  known.template_since = known.template_until = 5;
  EXPECT_THAT(Make(known).changes, IsEmpty()) << "the pods began before them";
}

// Seed 621 of ten minutes: a replica whose watch was refused for minutes learns of a release and of
// the rollout of another replica by one list. It has seen the data go and come back.
TEST_F(PlannerComeBackTest, WhoIsToldOfARolloutAmongOtherWritesGoesByItsTime) {
  workload_.annotations.erase(std::string(kBaselineAnnotation));
  workload_.containers[0].variables = {{"STAKATER_CONFIG_CONFIGMAP", kCameBack.ToString()}};
  const Knowledge known{
      .pairs = {{kBackConfig, {.kind = PairState::Kind::kConfirmed, .digest = UnknownData()}}},
      .stamps_of_others = {"STAKATER_CONFIG_CONFIGMAP"}};
  Release();
  ComeBack(21, kRelease + 10);
  EXPECT_THAT(Make(known).changes, SizeIs(1)) << "nobody has rolled it since the release";
  workload_.own_written = Time{.seconds = kRelease + 9};
  EXPECT_THAT(Make(known).changes, SizeIs(1)) << "its pods began before the data came back";
  workload_.own_written = Time{.seconds = kRelease + 10};
  EXPECT_THAT(Make(known).changes, IsEmpty());
  workload_.template_written = workload_.own_written;
  EXPECT_THAT(Make(known).changes, SizeIs(1)) << "a release may have begun them";
  Release();
  workload_.undone = workload_.own_written;
  EXPECT_THAT(Make(known).changes, SizeIs(1)) << "an undo may have begun them";
}

// Seed 540 of 400 hours.
TEST_F(PlannerComeBackTest, WhoIsToldOfAnUndoTogetherWithChangesGoesByItsTime) {
  const Knowledge known{.pairs = {{kBackConfig,
                                   {.kind = PairState::Kind::kConfirmed,
                                    .digest = UnknownData(),
                                    .is_ahead_of_record = true}}}};
  workload_.stampers["STAKATER_CONFIG_CONFIGMAP"] = {.since = Time{.seconds = kRelease}};
  ComeBack(21, kRelease);
  EXPECT_THAT(Make(known).changes, SizeIs(1)) << "in the same second the pods may be older";
  ComeBack(21, kRelease - 1);
  EXPECT_THAT(Make(known).changes, IsEmpty());
  workload_.stampers.clear();  // the undo has removed the variable
  EXPECT_THAT(Make(known).changes, SizeIs(1));
  workload_.undone = Time{.seconds = kRelease};
  EXPECT_THAT(Make(known).changes, IsEmpty());
  Knowledge told{.pairs = {{kBackConfig,
                            {.kind = PairState::Kind::kConfirmed,
                             .digest = kInBetween,
                             .is_ahead_of_record = true}}},
                 .template_since = 20,
                 .template_until = 30};
  EXPECT_THAT(Make(told).changes, IsEmpty()) << "the change came to be known after the undo";
  told.template_until = told.template_since;
  EXPECT_THAT(Make(told).changes, SizeIs(1)) << "the versions tell that the change is later";
}

// Seed 851 of ten minutes: one list told of a release and of the rollout that another replica made
// for a change after it.
TEST_F(PlannerComeBackTest, WhoCannotTellWhatPodsBeganWithGoesByARecordOfTheLastWrite) {
  Knowledge known{.pairs = {{kBackConfig,
                             {.kind = PairState::Kind::kConfirmed,
                              .digest = UnknownData(),
                              .is_ahead_of_record = true}}},
                  .template_since = 4,
                  .template_until = 9};
  Release();
  ComeBack(5, kRelease + 1);  // the version in the baseline
  EXPECT_THAT(Make(known).changes, IsEmpty());
  ComeBack(6, kRelease + 1);
  EXPECT_THAT(Make(known).changes, SizeIs(1)) << "written once more since then";
  ComeBack(5, kRelease + 1);
  workload_.baseline_restored = Time{.seconds = kRelease};
  EXPECT_THAT(Make(known).changes, Not(IsEmpty())) << "the record is of pods that are gone";
  workload_.baseline_restored.reset();
  known.template_since = known.template_until = 0;
  EXPECT_THAT(Make(known).changes, SizeIs(1)) << "pods of an earlier template live on";
  Knowledge told{.pairs = {{kBackConfig,
                            {.kind = PairState::Kind::kConfirmed,
                             .digest = kInBetween,
                             .is_ahead_of_record = true}}},
                 .template_since = 4,
                 .template_until = 9};
  EXPECT_THAT(Make(told).changes, IsEmpty()) << "the pods may have begun after the change";
  told.template_until = told.template_since;
  EXPECT_THAT(Make(told).changes, SizeIs(1)) << "they began before it";
}

TEST_F(PlannerComeBackTest, UnseenWritesFromBeforeTheReleaseAreJudgedOnce) {
  const Knowledge known{
      .pairs = {{kBackConfig, {.kind = PairState::Kind::kConfirmed, .digest = kCameBack}}},
      .template_since = 20,
      .template_until = 20,
      .unseen_writes = {{kBackConfig, {.from = 5, .to = 21}}}};
  Release();
  ComeBack(21, kRelease - 1);
  const Plan plan = Make(known);
  EXPECT_THAT(plan.changes, IsEmpty());
  EXPECT_EQ(plan.judged_writes, known.unseen_writes);
}

// A leader ended while a wave had failed, and the next one put the good data back: it rolled all
// who had never had others.
TEST_F(PlannerComeBackTest, PodsFromBeforeTheSnapshotHaveTheDataThatArePutBack) {
  Release();
  ComeBack(8, kRelease + 100);
  sources_[kBackConfig].restored = true;
  EXPECT_THAT(Make().changes, SizeIs(1))
      << "a mark of an earlier version says nothing of a snapshot";
  sources_[kBackConfig].settled = Time{.seconds = kRelease};
  EXPECT_THAT(Make().changes, SizeIs(1)) << "in the same second, the pods may be younger";
  sources_[kBackConfig].settled = Time{.seconds = kRelease + 1};
  EXPECT_THAT(Make().changes, IsEmpty());
  const Knowledge known{
      .pairs = {{kBackConfig, {.kind = PairState::Kind::kObserved, .digest = kInBetween}}}};
  EXPECT_THAT(Make(known).changes, IsEmpty()) << "who began with the bad data knows it, too";
  workload_.own_written = Time{.seconds = kRelease + 50};
  EXPECT_THAT(Make(known).changes, SizeIs(1)) << "a rollout since then may have had the bad data";
}

TEST_F(PlannerComeBackTest, WithinTheSecondOfTheReleaseTheyMayHaveBeenOthers) {
  Release();
  ComeBack(8, kRelease);
  EXPECT_EQ(Make().changes.size(), 1U);
}

TEST_F(PlannerComeBackTest, DataFromBeforeTheReleaseAreThoseOfItsPods) {
  Release();
  ComeBack(8, kRelease - 1);
  const Plan plan = Make();
  EXPECT_THAT(plan.changes, IsEmpty());
  EXPECT_TRUE(plan.record) << "or each start would ask again";
  EXPECT_TRUE(plan.is_news);
  Write(plan);
  ExpectSettled();
}

TEST_F(PlannerComeBackTest, WhereNothingTellsWhenTheyWereWrittenNothingIsRolled) {
  Release();
  ComeBack(8, std::nullopt);
  EXPECT_THAT(Make().changes, IsEmpty());
}

TEST_F(PlannerComeBackTest, NothingIsAskedWithoutAReleaseOrWithoutAWriteOfTheSource) {
  ComeBack(8, kRelease + 10);
  ExpectSettled();
  ComeBack(5, kRelease + 10);
  Release();
  EXPECT_THAT(Make().changes, IsEmpty());
  EXPECT_THAT(asked_, IsEmpty());
}

// The next writes of the sources may be labels that come while no operator runs.
TEST_F(PlannerComeBackTest, WhoHasSeenAReleaseWritesItsTimeThoughNoSourceWasWrittenSince) {
  Release();
  const Plan plan = Make();
  EXPECT_TRUE(plan.record);
  EXPECT_FALSE(plan.is_news) << "once a minute is enough for whoever releases all the time";
  Write(plan);
  EXPECT_THAT(workload_.annotations[std::string(kBaselineAnnotation)],
              StartsWith("v2 uid-1 " + std::to_string(kRelease) + " "));
  ExpectSettled();
  ComeBack(8, kRelease + 10);
  ExpectSettled();
}

TEST_F(PlannerComeBackTest, WhatIsDueOrUnknownKeepsTheTimeOfTheReleaseOut) {
  Release();
  const Source config = sources_[kBackConfig];
  sources_[kBackConfig].unknown = true;
  EXPECT_FALSE(Make().record);
  sources_[kBackConfig] = config;
  Put(kBackSecret, kInBetween, 9);
  const Plan plan = Make();
  EXPECT_EQ(plan.changes.size(), 1U);
  EXPECT_FALSE(plan.record);
  EXPECT_FALSE(plan.awaits_watches);
}

// Seed 166 of ten minutes: the API of the classes was taken away, and no pod reports any.
TEST_F(PlannerComeBackTest, AClassThatNoPodReportsKeepsNoTimeOut) {
  workload_.containers[0].references.push_back({SourceType::kSecretProviderClass, "class"});
  std::string& baseline = workload_.annotations[std::string(kBaselineAnnotation)];
  WriteBaseline(baseline + " secretproviderclass/class=" + kInBetween.ToString());
  Release();
  const Plan plan = Make();
  EXPECT_TRUE(plan.record);
  Write(plan);
  EXPECT_THAT(baseline, StartsWith("v2 uid-1 " + std::to_string(kRelease) + " "));
  EXPECT_THAT(baseline, HasSubstr(" secretproviderclass/class=" + kInBetween.ToString()));
  ExpectSettled();
}

TEST_F(PlannerComeBackTest, AReleaseThatNoSourceWithVersionsCanPutInDoubtIsNoReasonToWrite) {
  sources_.clear();
  WriteBaseline("");
  Put({SourceType::kConfigMap, {"ns", "config"}}, kCameBack, 0);  // its version is not known
  Write(Make());
  Release();
  EXPECT_FALSE(Make().record);
}

// `kubectl apply` of a ConfigMap and its workload: the watch of ConfigMaps has nothing to tell
// after the ConfigMap, so nobody knows that it was not behind before its next bookmark.
TEST_F(PlannerComeBackTest, AFirstBaselineHasTheTimeOfItsTemplateOnceTheWatchesHaveToldMore) {
  WriteBaseline("");
  Release();
  seen_ = {{SourceType::kConfigMap, 19}};
  Plan plan = Make();
  EXPECT_TRUE(plan.awaits_watches);
  Write(plan);
  plan = Make();
  EXPECT_FALSE(plan.record);
  EXPECT_TRUE(plan.awaits_watches);
  seen_ = {{SourceType::kConfigMap, 20}};
  plan = Make();
  EXPECT_TRUE(plan.record);
  EXPECT_TRUE(plan.is_news);
  EXPECT_FALSE(plan.awaits_watches);
  Write(plan);
  EXPECT_THAT(workload_.annotations[std::string(kBaselineAnnotation)],
              StartsWith("v2 uid-1 " + std::to_string(kRelease) + " "));
  ComeBack(22, kRelease);  // a label: the data are of the second of the release
  ExpectSettled();
}

// A wave has failed at others, and data that were bad come back to what these pods have.
TEST_F(PlannerComeBackTest, AfterARestartGoodDataThatReturnRollNoWorkloadThatHasThem) {
  WriteBaseline("");
  Release();
  Write(Make());
  Put(kBackConfig, kInBetween, 30);
  ASSERT_EQ(Make().changes.size(), 1U) << "it waits for its wave";
  const Knowledge known{
      .pairs = {{kBackConfig, {.kind = PairState::Kind::kObserved, .digest = kInBetween}}}};
  ComeBack(31, kRelease + 10);
  EXPECT_THAT(Make(known).changes, IsEmpty());
  EXPECT_THAT(asked_, IsEmpty());
}

// The bad data came before a bookmark did: the rollout waits, and the process knows what the pods
// have. A process that begins then does not.
TEST_F(PlannerComeBackTest, WhileARolloutWaitsWhoKnowsWhatThePodsHaveWritesTheTimeOfTheirTemplate) {
  WriteBaseline("");
  Release();
  seen_ = {{SourceType::kConfigMap, 19}};
  Write(Make());
  const Knowledge known{
      .pairs = {{kBackConfig, {.kind = PairState::Kind::kConfirmed, .digest = kCameBack}}}};
  Put(kBackConfig, kInBetween, 30);
  EXPECT_TRUE(Make(known).awaits_watches);
  EXPECT_FALSE(Make().awaits_watches);
  seen_.clear();
  EXPECT_FALSE(Make().record);
  const Plan plan = Make(known);
  EXPECT_EQ(plan.changes.size(), 1U);
  EXPECT_TRUE(plan.record);
  const std::string text = BaselineAfter(plan, {});
  EXPECT_THAT(text, StartsWith("v2 uid-1 " + std::to_string(kRelease) +
                               " configmap/config=" + kCameBack.ToString() + "@5"));
  WriteBaseline(text);
  EXPECT_FALSE(Make(known).record);
  ComeBack(31, kRelease + 10);
  EXPECT_THAT(Make().changes, IsEmpty());
  EXPECT_THAT(
      Make({.pairs = {{kBackConfig, {.kind = PairState::Kind::kObserved, .digest = kInBetween}}}})
          .changes,
      IsEmpty());
}

// That doubt ends by itself, and another write for each rollout would be a high price.
TEST_F(PlannerComeBackTest, TheOperatorsOwnRolloutIsNoReasonToWriteByItself) {
  Put(kBackSecret, kInBetween, 30);
  Write(Make());
  workload_.own_written = Time{.seconds = kRelease};
  seen_ = {{SourceType::kConfigMap, 0}};
  EXPECT_FALSE(Make().awaits_watches);
  seen_.clear();
  EXPECT_FALSE(Make().record);
}

// An operator that sees a change of a label after a release leaves no doubt for later processes.
TEST_F(PlannerComeBackTest, WhoKnowsBetterWritesTheBaselineAnew) {
  Release();
  ComeBack(8, kRelease + 10);
  const Plan plan =
      Make({.pairs = {{kBackConfig, {.kind = PairState::Kind::kConfirmed, .digest = kCameBack}}}});
  EXPECT_THAT(plan.changes, IsEmpty());
  EXPECT_THAT(asked_, IsEmpty());
  EXPECT_TRUE(plan.record);
  EXPECT_TRUE(plan.is_news);
  Write(plan);
  ExpectSettled();
  ComeBack(9, kRelease + 20);
  ExpectSettled();  // there is no release since then, so one write is enough
}

TEST_F(PlannerComeBackTest, AMemoryKnowsWhichWorkloadsWereReleasedSinceTheirBaseline) {
  PairMemory memory;
  const auto is_released = [&] {
    EXPECT_TRUE(memory.Apply(workload_.id, Make(memory.Get(workload_.id))));
    return memory.IsReleased(workload_.id);
  };
  EXPECT_FALSE(is_released());
  Release();
  EXPECT_TRUE(is_released());
  ComeBack(8, kRelease + 10);
  Write(Make(memory.Get(workload_.id)));
  EXPECT_FALSE(is_released());
}

TEST_F(PlannerComeBackTest, WhatWaitsForItsRolloutStaysInDoubt) {
  Release();
  ComeBack(8, kRelease + 10);
  Put(kBackSecret, kInBetween, 9);
  Plan plan = Make();
  ASSERT_EQ(plan.changes.size(), 2U);
  WriteBaseline(BaselineAfter(plan, {}));
  plan = Make();
  EXPECT_EQ(plan.changes.size(), 2U);
  Write(plan);
  ExpectSettled();
}

// Seed 20187 of the simulation: a rollout for one source waits while the first baseline is written.
TEST_F(PlannerComeBackTest, AFirstBaselineThatIsWrittenWhileARolloutWaitsHasTimeAndVersions) {
  WriteBaseline("");
  Put(kBackSecret, kInBetween, 9);
  const Plan first =
      Make({.pairs = {{kBackSecret, {.kind = PairState::Kind::kObserved, .digest = kCameBack}}}});
  ASSERT_EQ(first.changes.size(), 1U);
  WriteBaseline(BaselineAfter(first, {}));
  Release();
  ComeBack(8, kRelease + 10);
  EXPECT_EQ(Make().changes.size(), 2U) << "the ConfigMap may have had other data in between";
}

// Seed 20603 of the simulation: when the baseline is written after a release, the watch of a source
// is behind; the process dies before the watch tells of the data that the release's pods have.
TEST_F(PlannerComeBackTest, ASourceWhoseWatchIsBehindTheReleaseStaysInDoubt) {
  Release();
  Put(kBackSecret, kInBetween, 30);
  seen_ = {{SourceType::kConfigMap, 19}, {SourceType::kSecret, 30}};
  const Plan plan = Make();
  ASSERT_EQ(plan.changes.size(), 1U);
  Write(plan);
  ComeBack(22, kRelease + 1);
  const Plan next = Make();
  ASSERT_EQ(next.changes.size(), 1U);
  EXPECT_THAT(next.changes[0].causes, ElementsAre(kBackConfig));
  seen_.clear();
  Write(next);
  ExpectSettled();
}

TEST_F(PlannerComeBackTest, ASourceWhoseWatchIsPastTheReleaseIsNotInDoubt) {
  Release();
  Put(kBackSecret, kCameBack, 30);  // a label, say
  seen_ = {{SourceType::kConfigMap, 20}, {SourceType::kSecret, 30}};
  const Plan plan = Make();
  EXPECT_THAT(plan.changes, IsEmpty());
  Write(plan);
  EXPECT_THAT(workload_.annotations[std::string(kBaselineAnnotation)],
              StartsWith("v2 uid-1 " + std::to_string(kRelease) + " "));
  ComeBack(22, kRelease + 1);
  ExpectSettled();
}

// Seed 1038 of 400 hours of the simulation: no event told of data that came and went while the
// operator rolled the workload, for this source or another, and the operator ended before one did.
TEST_F(PlannerComeBackTest, DataThatMayHaveBeenOthersWhenTheOperatorsOwnRolloutBeganRoll) {
  Put(kBackSecret, kInBetween, 30);
  Write(Make());
  EXPECT_THAT(workload_.annotations[std::string(kBaselineAnnotation)], StartsWith("v2 uid-1 0 "));
  workload_.own_written = Time{.seconds = kRelease};
  ExpectSettled();
  ComeBack(32, kRelease + 1);
  EXPECT_EQ(Make().changes.size(), 1U);
  // No watch is behind for that long, and labels are written all the time.
  ComeBack(33, kRelease + 601);
  EXPECT_THAT(Make().changes, IsEmpty());
  // A release since then is none of the operator's, whatever the time.
  workload_.template_written = Time{.seconds = kRelease + 300};
  EXPECT_EQ(Make().changes.size(), 1U);
}

// The end-to-end sequence "selector": a label comes while no operator runs, and the data are still
// those for which the last one rolled, mostly within the second in which they were written.
TEST_F(PlannerComeBackTest, ALabelAfterTheOperatorsOwnRolloutRollsNothing) {
  Put(kBackConfig, kInBetween, 30);
  Write(Make());
  workload_.own_written = Time{.seconds = kRelease};
  const Workload rolled = workload_;
  for (const std::int64_t written : {kRelease, kRelease - 1, kFirstTemplate + 1}) {
    SCOPED_TRACE(written);
    workload_ = rolled;
    Put(kBackConfig, kInBetween, 31);
    written_at_ = Time{.seconds = written};
    const Plan plan = Make();
    EXPECT_THAT(plan.changes, IsEmpty());
    EXPECT_TRUE(plan.record) << "or each start would ask again";
    Write(plan);
    ExpectSettled();
  }
}

TEST_F(PlannerComeBackTest, ARestartFromBeforeTheOperatorsOwnRolloutSaysNothingOfItsPods) {
  Put(kBackSecret, kInBetween, 30);
  Write(Make());
  workload_.own_written = Time{.seconds = kRelease};
  workload_.undone = Time{.seconds = kRelease - 1};
  ComeBack(32, kRelease + 1);
  EXPECT_EQ(Make().changes.size(), 1U);
  workload_.undone = Time{.seconds = kRelease + 2};
  EXPECT_THAT(Make().changes, IsEmpty());
}

TEST_F(PlannerComeBackTest, WhoSeesAWriteAfterItsOwnRolloutLeavesNoDoubt) {
  Put(kBackSecret, kInBetween, 30);
  Write(Make());
  workload_.own_written = Time{.seconds = kRelease};
  workload_.resource_version = "31";
  const Knowledge known{
      .pairs = {{kBackConfig, {.kind = PairState::Kind::kConfirmed, .digest = kCameBack}},
                {kBackSecret, {.kind = PairState::Kind::kConfirmed, .digest = kInBetween}}}};
  EXPECT_FALSE(Make(known).record) << "nothing has been written since";
  ComeBack(32, kRelease + 1);  // a label, as this process knows
  const Plan plan = Make(known);
  EXPECT_THAT(plan.changes, IsEmpty());
  EXPECT_TRUE(plan.record);
  EXPECT_TRUE(plan.is_news);
  Write(plan);
  ExpectSettled();
  ComeBack(33, kRelease + 2);
  EXPECT_FALSE(Make(known).record) << "once is enough";
}

// Each write of the label was one of the baseline, for as long as a window, say, held the rollout.
TEST_F(PlannerComeBackTest, WhileARolloutWaitsALabelIsNoNewsOfTheBaseline) {
  Put(kBackSecret, kInBetween, 30);
  Write(Make());
  workload_.own_written = Time{.seconds = kRelease};
  const Knowledge known{
      .pairs = {{kBackConfig, {.kind = PairState::Kind::kConfirmed, .digest = kCameBack}},
                {kBackSecret, {.kind = PairState::Kind::kConfirmed, .digest = kInBetween}}}};
  Put(kBackSecret, kCameBack, 40);
  for (const std::uint64_t version : {41U, 42U, 43U}) {
    ComeBack(version, kRelease + 1);
    const Plan plan = Make(known);
    ASSERT_EQ(plan.changes.size(), 1U);
    EXPECT_TRUE(plan.record) << "but not at once";
    EXPECT_FALSE(plan.is_news);
    WriteBaseline(BaselineAfter(plan, {}));
  }
}

// The pods are those of the release of long ago, whatever the operator has written.
TEST_F(PlannerComeBackTest, AReloadInPlaceLeavesNoDoubtOfPodsThatBeganLongBefore) {
  Put(kBackSecret, kInBetween, 30);
  const Plan plan = Make();
  ASSERT_EQ(plan.changes.size(), 1U);
  WriteBaseline(BaselineAfter(plan, plan.changes, PodsAre::kKept));
  EXPECT_THAT(workload_.annotations[std::string(kBaselineAnnotation)],
              StartsWith("v2 uid-1 " + std::to_string(kFirstTemplate) + " "));
  ComeBack(32, kRelease);  // a label, days later
  ExpectSettled();
}

TEST_F(PlannerComeBackTest, AReloadInPlaceSettlesNoDoubtOfAnotherSource) {
  Release();
  ComeBack(8, kRelease + 10);
  Put(kBackSecret, kInBetween, 9);
  Plan plan = Make();
  ASSERT_EQ(plan.changes.size(), 2U);
  std::erase_if(plan.changes, [](const Change& change) {
    return change.causes != std::vector<SourceId>{kBackSecret};
  });
  WriteBaseline(BaselineAfter(plan, plan.changes, PodsAre::kKept));
  plan = Make();
  ASSERT_EQ(plan.changes.size(), 1U);
  EXPECT_THAT(plan.changes[0].causes, ElementsAre(kBackConfig));
}

/// A CronJob of which the operator has made a Job, recorded at version 31.
class PlannerCronJobTest : public PlannerComeBackTest {
 protected:
  PlannerCronJobTest() {
    workload_.id.kind = WorkloadKind::kCronJob;
    workload_.template_written.reset();
    WriteBaseline("");
    Write(Make());
    EXPECT_THAT(BaselineText(), StartsWith("v1 uid-1 "));
    Put(kBackSecret, kInBetween, 30);
    Write(Make());
    workload_.own_written = Time{.seconds = kRelease};
    workload_.resource_version = "31";
  }
  const std::string& BaselineText() {
    return workload_.annotations[std::string(kBaselineAnnotation)];
  }
  /// What the process knows that has made the Job.
  const Knowledge known_{
      .pairs = {{kBackConfig, {.kind = PairState::Kind::kConfirmed, .digest = kCameBack}},
                {kBackSecret, {.kind = PairState::Kind::kConfirmed, .digest = kInBetween}}}};
};

// Seed 745 of ten minutes of the simulation: no event told of data that came and went while the
// operator made a Job, and the operator ended before one did.
TEST_F(PlannerCronJobTest, DataThatMayHaveBeenOthersWhenTheJobBeganRoll) {
  EXPECT_THAT(BaselineText(), StartsWith("v2 uid-1 0 "));
  ExpectSettled();
  ComeBack(32, kRelease + 1);
  const Plan plan = Make();
  ASSERT_EQ(plan.changes.size(), 1U);
  EXPECT_THAT(plan.changes[0].causes, ElementsAre(kBackConfig));
  Write(plan);
  ExpectSettled();
}

TEST_F(PlannerCronJobTest, ALabelLongAfterTheJobRollsNothing) {
  for (const std::int64_t written : {kRelease, kRelease + 601}) {
    SCOPED_TRACE(written);
    ComeBack(32, written);
    EXPECT_THAT(Make().changes, IsEmpty());
  }
  ComeBack(32, kRelease + 1);
  workload_.own_written.reset();
  EXPECT_THAT(Make().changes, IsEmpty()) << "nobody says when the Job was made";
}

TEST_F(PlannerCronJobTest, ATemplateThatSomebodyWritesBeginsNoPods) {
  workload_.template_written = Time{.seconds = kRelease + 300};
  ComeBack(32, kRelease + 601);
  EXPECT_THAT(Make().changes, IsEmpty());
}

TEST_F(PlannerCronJobTest, WhoSeesAWriteAfterItsJobLeavesNoDoubt) {
  EXPECT_FALSE(Make(known_).record) << "nothing has been written since";
  ComeBack(32, kRelease + 1);  // a label, as this process knows
  const Plan plan = Make(known_);
  EXPECT_THAT(plan.changes, IsEmpty());
  EXPECT_TRUE(plan.is_released);
  EXPECT_TRUE(plan.is_news);
  Write(plan);
  EXPECT_THAT(BaselineText(), StartsWith("v1 uid-1 "));
  ComeBack(33, kRelease + 2);
  ExpectSettled();
  EXPECT_FALSE(Make(known_).record) << "once is enough";
}

TEST_F(PlannerCronJobTest, ASourceWhoseWatchIsBehindTheJobStaysInDoubt) {
  seen_ = {{SourceType::kConfigMap, 30}, {SourceType::kSecret, 33}};
  Put(kBackSecret, kInBetween, 33);  // a label
  WriteBaseline(BaselineAfter(Make(known_), {}));
  EXPECT_THAT(BaselineText(), StartsWith("v2 uid-1 0 "));
  ComeBack(32, kRelease + 1);
  const Plan plan = Make();
  ASSERT_EQ(plan.changes.size(), 1U);
  EXPECT_THAT(plan.changes[0].causes, ElementsAre(kBackConfig));
}

TEST_F(PlannerCronJobTest, WhereNobodyRenewsBaselinesAJobLeavesNoDoubt) {
  Put(kBackSecret, kCameBack, 40);
  Plan plan = Make();
  ASSERT_EQ(plan.changes.size(), 1U);
  plan.is_run_by_jobs = false;
  plan.baseline.template_written.reset();
  EXPECT_THAT(BaselineAfter(plan, plan.changes), StartsWith("v1 uid-1 "));
}

TEST_F(PlannerComeBackTest, AFirstBaselineSaysThatNoReleaseHasBeenSeenWhereAWatchIsBehind) {
  WriteBaseline("");
  Release();
  seen_ = {{SourceType::kConfigMap, 19}};
  Write(Make());
  EXPECT_THAT(workload_.annotations[std::string(kBaselineAnnotation)],
              StartsWith("v2 uid-1 0 configmap/config="));
  ExpectSettled();
  ComeBack(22, kRelease + 1);
  EXPECT_EQ(Make().changes.size(), 1U);
}

TEST_F(PlannerComeBackTest, ABaselineThatKeepsItsOlderTimeIsWrittenAnewButNotAtOnce) {
  const Knowledge known{
      .pairs = {{kBackConfig, {.kind = PairState::Kind::kConfirmed, .digest = kCameBack}}}};
  Release();
  ComeBack(22, kRelease + 1);
  seen_ = {{SourceType::kConfigMap, 22}, {SourceType::kSecret, 19}};
  const Plan plan = Make(known);
  EXPECT_TRUE(plan.record);
  EXPECT_FALSE(plan.is_news) << "the next write of the source would have it written once more";
  Write(plan);
  ExpectSettled();
  ComeBack(23, kRelease + 2);
  EXPECT_TRUE(Make(known).record);
  seen_.clear();
  EXPECT_TRUE(Make(known).is_news);
}

TEST_F(PlannerComeBackTest, TheTemplateOfADeploymentIsThatDeploymentsVersion) {
  workload_.id.kind = WorkloadKind::kRollout;
  workload_.template_ref = TemplateRef{.kind = "Deployment", .name = "web"};
  Release();
  workload_.resource_version = "40";
  workload_.template_resource_version = "20";
  seen_ = {{SourceType::kConfigMap, 20}, {SourceType::kSecret, 20}};
  EXPECT_TRUE(Make().has_seen_template);
  workload_.template_resource_version = "21";
  EXPECT_FALSE(Make().has_seen_template);
}

TEST_F(PlannerComeBackTest, WhatDoesNotExistAndIsNotRecordedHasNotToBeSeen) {
  WriteBaseline("");
  Release();
  seen_ = {{SourceType::kConfigMap, 20}, {SourceType::kSecret, 19}};
  EXPECT_FALSE(Make().has_seen_template);
  sources_.erase(kBackSecret);
  EXPECT_TRUE(Make().has_seen_template);
}

TEST_F(PlannerComeBackTest, ASourceThatCannotBeReadStaysInDoubt) {
  Release();
  Put(kBackSecret, kInBetween, 9);
  ComeBack(8, kRelease + 10);
  const Source back = sources_[kBackConfig];
  sources_[kBackConfig].unknown = true;
  Plan plan = Make();
  ASSERT_EQ(plan.changes.size(), 1U);
  WriteBaseline(BaselineAfter(plan, plan.changes));
  sources_[kBackConfig] = back;
  plan = Make();
  ASSERT_EQ(plan.changes.size(), 1U);
  EXPECT_THAT(plan.changes[0].causes, ElementsAre(kBackConfig));
}

// A new leader's cache may be older than the last leader's record.
TEST_F(PlannerComeBackTest, ALaterVersionThatAnotherReplicaHasSeenStays) {
  Put(kBackConfig, kCameBack, 4);
  Put(kBackSecret, kInBetween, 9);
  const Plan plan = Make();
  EXPECT_THAT(BaselineAfter(plan, plan.changes), HasSubstr(kCameBack.ToString() + "@5"));
  EXPECT_THAT(BaselineAfter(plan, plan.changes), HasSubstr(kInBetween.ToString() + "@9"));
}

TEST_F(PlannerComeBackTest, ABaselineWithoutVersionsIsBelieved) {
  const Baseline old{.uid = "uid-1",
                     .digests = {{kBackConfig, kCameBack}, {kBackSecret, kCameBack}}};
  WriteBaseline(old.ToString());
  Release();
  ComeBack(8, kRelease + 10);
  ExpectSettled();
}

TEST_F(PlannerComeBackTest, WhoHasUndoneARolloutSinceWantsThePodsAsTheyAre) {
  Release();
  ComeBack(8, kRelease + 10);
  workload_.undone = Time{.seconds = kRelease + 10};
  EXPECT_THAT(Make().changes, IsEmpty());
  workload_.undone = Time{.seconds = kRelease + 9};
  EXPECT_EQ(Make().changes.size(), 1U) << "the data came back after that";
}

TEST_F(PlannerComeBackTest, ABaselineThatAnotherHandHasWrittenIsNotWrittenAnewForThat) {
  Release();
  ComeBack(8, kRelease + 10);
  workload_.baseline_is_foreign = true;
  ExpectSettled();  // otherwise the operator and a tool would write it in turns
}

TEST_F(PlannerComeBackTest, WithoutTheTimeOfTheTemplateThereAreNoVersions) {
  workload_.template_written.reset();
  WriteBaseline("");
  EXPECT_EQ(BaselineAfter(Make(), {}), "v1 uid-1 configmap/config=" + kCameBack.ToString() +
                                           " secret/password=" + kCameBack.ToString());
}

}  // namespace
}  // namespace kubexx::reloader
