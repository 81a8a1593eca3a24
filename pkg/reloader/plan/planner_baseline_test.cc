// Tests how the planner uses the baseline that is recorded on a workload.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "kubexx/reloader/plan/planner.h"
#include "kubexx/reloader/plan/strategy.h"

namespace kubexx::reloader {
namespace {

using Kind = PairState::Kind;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::Pair;
using testing::UnorderedElementsAre;

const Digest kRecordedDigest = DigestOf("old");
const Digest kChanged = DigestOf("new");
const SourceId kPlannedConfig{SourceType::kConfigMap, {"ns", "config"}};
const SourceId kPlannedPassword{SourceType::kSecret, {"ns", "password"}};
constexpr char kVariable[] = "STAKATER_CONFIG_CONFIGMAP";

class PlannerBaselineTest : public testing::Test {
 protected:
  PlannerBaselineTest() {
    workload_.id = {WorkloadKind::kDeployment, {"ns", "web"}};
    workload_.uid = "uid-1";
    workload_.annotations = {{"reloader.stakater.com/auto", "true"}};
    workload_.containers = {
        {.name = "app",
         .references = {{SourceType::kConfigMap, "config"}, {SourceType::kSecret, "password"}}}};
    Put(kPlannedConfig, kRecordedDigest);
    Put(kPlannedPassword, kRecordedDigest);
  }
  void Put(const SourceId& id, const Digest& digest) { sources_[id] = {id, digest, false, false}; }
  void Record(const std::map<SourceId, Digest>& digests, const std::string& uid = "uid-1") {
    workload_.annotations[std::string(kBaselineAnnotation)] =
        Baseline{.uid = uid, .digests = digests}.ToString();
  }
  void SetVariable(const Digest& digest) {
    workload_.containers[0].variables = {{kVariable, digest.ToString()}};
  }
  Plan Make(const Knowledge& known = {}, DigestsOver* over = nullptr) {
    const auto get = [this](const SourceId& id) {
      const auto found = sources_.find(id);
      return found == sources_.end() ? std::nullopt : std::optional(found->second);
    };
    const auto names = [this](SourceType type) {
      std::vector<std::string> result;
      for (const auto& [id, source] : sources_) {
        if (id.type == type) {
          result.push_back(id.key.name);
        }
      }
      return result;
    };
    return MakePlan(workload_, SourceLookup{get, names, over}, known, rules_, patterns_);
  }
  /// Carries out the plan and plans again. There must be nothing left to do.
  void WriteAndLookAgain(const Plan& plan) {
    workload_.annotations[std::string(kBaselineAnnotation)] = BaselineAfter(plan, plan.changes);
    for (const Change& change : plan.changes) {
      std::erase_if(workload_.containers[0].variables,
                    [&](const EnvVar& variable) { return variable.name == change.variable; });
      if (!change.remove) {
        workload_.containers[0].variables.push_back({change.variable, change.value});
      }
    }
    const Plan after = Make();
    EXPECT_THAT(after.changes, IsEmpty());
    EXPECT_FALSE(after.record);
  }
  static Baseline Parsed(const std::string& text) {
    return Baseline::Parse(text, "ns").value_or(Baseline{});
  }

  Workload workload_;
  std::map<SourceId, Source> sources_;
  DecisionRules rules_;
  PatternCache patterns_;
};

TEST_F(PlannerBaselineTest, FirstSightRecordsAndRollsNothing) {
  const Plan plan = Make();
  EXPECT_THAT(plan.changes, IsEmpty());
  EXPECT_TRUE(plan.record);
  EXPECT_EQ(BaselineAfter(plan, {}), "v1 uid-1 configmap/config=" + kRecordedDigest.ToString() +
                                         " secret/password=" + kRecordedDigest.ToString());
  WriteAndLookAgain(plan);
}

TEST_F(PlannerBaselineTest, AChangeMadeWhileDownRollsOnce) {
  Record({{kPlannedConfig, kRecordedDigest}, {kPlannedPassword, kRecordedDigest}});
  Put(kPlannedConfig, kChanged);
  const Plan plan = Make();
  ASSERT_EQ(plan.changes.size(), 1U);
  EXPECT_EQ(plan.changes[0].value, kChanged.ToString());
  EXPECT_FALSE(plan.record) << "until it is written the old digest stays";
  EXPECT_THAT(Parsed(BaselineAfter(plan, plan.changes)).digests,
              UnorderedElementsAre(Pair(kPlannedConfig, kChanged),
                                   Pair(kPlannedPassword, kRecordedDigest)));
  WriteAndLookAgain(plan);
}

TEST_F(PlannerBaselineTest, WithoutAWriteAChangeStaysPendingOnRecordToo) {
  Put(kPlannedConfig, kChanged);
  const Plan plan = Make({.pairs = {{kPlannedConfig, {Kind::kObserved, kRecordedDigest}}}});
  EXPECT_EQ(plan.changes.size(), 1U);
  EXPECT_TRUE(plan.record);
  EXPECT_EQ(Parsed(BaselineAfter(plan, {})).digests[kPlannedConfig], kRecordedDigest);
}

TEST_F(PlannerBaselineTest, ARolloutUndoneIsNoChangeOfData) {
  // kubectl rollout undo brings back the old variable and the old annotation.
  workload_.baseline_restored = apimachinery::Time{.seconds = 100};
  Put(kPlannedConfig, kChanged);
  Record({{kPlannedConfig, kRecordedDigest}, {kPlannedPassword, kRecordedDigest}});
  SetVariable(kRecordedDigest);
  const Plan plan = Make({.pairs = {{kPlannedConfig, {Kind::kConfirmed, kChanged}},
                                    {kPlannedPassword, {Kind::kConfirmed, kRecordedDigest}}}});
  EXPECT_THAT(plan.changes, IsEmpty());
  EXPECT_TRUE(plan.record);
  EXPECT_EQ(Parsed(BaselineAfter(plan, {})).digests[kPlannedConfig], kChanged);
}

TEST_F(PlannerBaselineTest, TheBaselineCountsMoreThanAVariableSetBack) {
  Put(kPlannedConfig, kChanged);
  Record({{kPlannedConfig, kChanged}, {kPlannedPassword, kRecordedDigest}});
  SetVariable(kRecordedDigest);
  EXPECT_THAT(Make().changes, IsEmpty());
}

TEST_F(PlannerBaselineTest, TheBaselineCountsMoreThanAVariableThatIsRight) {
  // A DaemonSet was rolled for kRecordedDigest, the rollout was undone, and the data were repaired
  // while nobody watched. An undo does not change a DaemonSet's annotations.
  Put(kPlannedConfig, kChanged);
  Record({{kPlannedConfig, kRecordedDigest}, {kPlannedPassword, kRecordedDigest}});
  SetVariable(kChanged);
  const Plan plan = Make();
  ASSERT_EQ(plan.changes.size(), 1U);
  EXPECT_EQ(plan.changes[0].value, kChanged.ToString());
}

TEST_F(PlannerBaselineTest, WhatAnotherReplicaRolledMeanwhileCounts) {
  Put(kPlannedConfig, kChanged);
  Record({{kPlannedConfig, kChanged}, {kPlannedPassword, kRecordedDigest}});
  EXPECT_THAT(Make({.pairs = {{kPlannedConfig, {Kind::kObserved, kRecordedDigest}}}}).changes,
              IsEmpty());
  EXPECT_THAT(Make({.pairs = {{kPlannedConfig, {Kind::kConfirmed, kRecordedDigest}}}}).changes,
              IsEmpty());
  // The data for which it was rolled have been repaired meanwhile, so the pods have the recorded
  // data.
  Put(kPlannedConfig, kRecordedDigest);
  EXPECT_EQ(Make({.pairs = {{kPlannedConfig, {Kind::kConfirmed, kRecordedDigest}}}}).changes.size(),
            1U);
  Put(kPlannedConfig, kChanged);
  const PairState ahead{
      .kind = Kind::kConfirmed, .digest = kRecordedDigest, .is_ahead_of_record = true};
  EXPECT_EQ(Make({.pairs = {{kPlannedConfig, ahead}}}).changes.size(), 1U)
      << "the baseline is the older one";
}

// Another replica may have seen a state of the source that this replica's store does not have yet.
TEST_F(PlannerBaselineTest, ASourceThatIsOlderThanAnothersRecordIsDoubtful) {
  Record({{kPlannedConfig, kChanged}, {kPlannedPassword, kRecordedDigest}});
  sources_[kPlannedConfig].resource_version = 100;
  sources_[kPlannedPassword].resource_version = 100;
  const auto is_doubtful = UnorderedElementsAre(Pair(kPlannedConfig, kRecordedDigest));
  EXPECT_THAT(Make().doubtful, IsEmpty()) << "nothing tells how old the record is";
  EXPECT_THAT(Make({.record_at = 99}).doubtful, IsEmpty()) << "a change since then";
  const Plan plan = Make({.record_at = 100});
  EXPECT_THAT(plan.doubtful, is_doubtful);
  EXPECT_EQ(plan.changes.size(), 1U);
  const Plan settled = Make({.template_since = 101, .record_at = 102});
  EXPECT_THAT(settled.changes, IsEmpty());
  EXPECT_THAT(settled.doubtful, is_doubtful) << "it would be recorded";
  PairState certain{
      .kind = Kind::kConfirmed, .digest = DigestOf("older"), .is_ahead_of_record = true};
  EXPECT_THAT(Make({.pairs = {{kPlannedConfig, certain}}, .record_at = 100}).doubtful, IsEmpty())
      << "the record is not what tells of the change";
  certain.kind = Kind::kObserved;
  EXPECT_THAT(Make({.pairs = {{kPlannedConfig, certain}}, .record_at = 100}).doubtful, is_doubtful);
}

// Somebody has removed the record since then, and the store does not have the source's recorded
// state yet.
TEST_F(PlannerBaselineTest, ASourceThatIsOlderThanARemovedRecordIsDoubtful) {
  sources_[kPlannedConfig].resource_version = 100;
  sources_[kPlannedPassword].resource_version = 104;
  const auto is_doubtful = UnorderedElementsAre(Pair(kPlannedConfig, kRecordedDigest));
  const Plan plan = Make({.template_since = 101, .record_at = 102});
  EXPECT_TRUE(plan.record);
  EXPECT_THAT(plan.doubtful, is_doubtful);
  const PairState certain{
      .kind = Kind::kConfirmed, .digest = kRecordedDigest, .is_ahead_of_record = true};
  EXPECT_THAT(Make({.pairs = {{kPlannedConfig, certain}}, .record_at = 102}).doubtful, IsEmpty());
}

// One replica has rolled without a record, and another one, which leads again, has older data.
TEST_F(PlannerBaselineTest, ARemovedRecordDoesNotHideThatTheTemplateTellsOfOtherData) {
  sources_[kPlannedConfig].resource_version = 104;
  sources_[kPlannedPassword].resource_version = 104;
  EXPECT_THAT(Make({.record_at = 102}).doubtful, IsEmpty());
  SetVariable(kChanged);
  EXPECT_THAT(Make({.record_at = 102}).doubtful,
              UnorderedElementsAre(Pair(kPlannedConfig, kRecordedDigest)));
}

// There may be thousands of such sources, and each costs a request.
TEST_F(PlannerBaselineTest, ASourceForWhichARecordHasNoRoomIsNotDoubtful) {
  Record({{kPlannedPassword, kRecordedDigest}});
  sources_[kPlannedConfig].resource_version = 100;
  EXPECT_THAT(Make({.record_at = 102}).doubtful, IsEmpty());
  rules_.reload_on_delete = true;
  sources_.erase(kPlannedConfig);
  EXPECT_THAT(Make({.record_at = 102}).doubtful, IsEmpty()) << "an optional one that never was";
}

TEST_F(PlannerBaselineTest, WhatHasBeenComparedStaysCertainWhileNothingIsRecorded) {
  sources_[kPlannedConfig].resource_version = 100;
  sources_[kPlannedPassword].resource_version = 104;
  PairState compared{
      .kind = Kind::kConfirmed, .digest = kRecordedDigest, .is_ahead_of_record = true};
  Knowledge known{.pairs = {{kPlannedConfig, compared}}, .record_at = 102};
  Plan plan = Make(known);
  EXPECT_THAT(plan.learnt, testing::Contains(Pair(kPlannedConfig, compared)));
  SetVariable(kChanged);
  EXPECT_THAT(Make(known).doubtful, IsEmpty());
  compared.is_ahead_of_record = false;
  known.pairs[kPlannedConfig] = compared;
  EXPECT_THAT(Make(known).doubtful, Not(IsEmpty()));
}

TEST_F(PlannerBaselineTest, ChangesOfASourceThatIsUnknownAreNotSeen) {
  sources_[kPlannedConfig].unknown = true;
  const std::vector<Move> moves = {{.digest = kChanged, .version = 7}};
  const Plan plan = Make({.moves = {{kPlannedConfig, moves}, {kPlannedPassword, moves}}});
  EXPECT_THAT(plan.seen, UnorderedElementsAre(Pair(kPlannedPassword, moves)));
}

// This happens when the operator starts with a cache that is behind.
TEST_F(PlannerBaselineTest, ASourceIsDoubtfulWhereOnlyTheTemplateTellsOfOtherData) {
  SetVariable(kChanged);
  const auto is_doubtful = UnorderedElementsAre(Pair(kPlannedConfig, kRecordedDigest));
  EXPECT_THAT(Make().doubtful, is_doubtful);
  SetVariable(kRecordedDigest);
  EXPECT_THAT(Make().doubtful, IsEmpty());
  workload_.containers[0].variables.clear();
  rules_.by_variables = false;
  workload_.template_annotations = {
      {"reloader.stakater.com/last-reloaded-from",
       R"({"type":"CONFIGMAP","name":"config","namespace":"ns","hash":")" + kChanged.ToString() +
           R"("})"}};
  EXPECT_THAT(Make().doubtful, is_doubtful);
  Record({{kPlannedConfig, kRecordedDigest}, {kPlannedPassword, kRecordedDigest}});
  EXPECT_THAT(Make().doubtful, IsEmpty()) << "the record counts more";
}

TEST_F(PlannerBaselineTest, ASourceThatTheCacheDoesNotHaveYetIsDoubtful) {
  rules_.reload_on_delete = true;
  Record({{kPlannedConfig, kChanged}, {kPlannedPassword, kRecordedDigest}});
  SetVariable(kChanged);
  sources_.erase(kPlannedConfig);
  EXPECT_THAT(Make({.record_at = 100}).doubtful,
              UnorderedElementsAre(Pair(kPlannedConfig, kNoSource)));
}

TEST_F(PlannerBaselineTest, ACopyOnAnotherObjectIsNotBelieved) {
  Put(kPlannedConfig, kChanged);
  Record({{kPlannedConfig, kRecordedDigest}}, "uid-of-the-original");
  const Plan plan = Make();
  EXPECT_THAT(plan.changes, IsEmpty());
  EXPECT_TRUE(plan.record);
  WriteAndLookAgain(plan);
}

// The operator made the Job anew for one source, and another changed while no operator ran.
TEST_F(PlannerBaselineTest, AJobMadeAnewIsHeldToTheRecordThatItWasMadeWith) {
  workload_.id.kind = WorkloadKind::kJob;
  Record({{kPlannedConfig, kRecordedDigest}, {kPlannedPassword, kRecordedDigest}});
  Put(kPlannedConfig, kChanged);
  Plan plan = Make();
  ASSERT_EQ(plan.changes.size(), 1U);
  workload_.annotations[std::string(kBaselineAnnotation)] =
      BaselineAfter(plan, plan.changes, PodsAre::kOfNextJob);
  workload_.uid = "uid-2";
  workload_.is_made_with_baseline = true;
  SetVariable(kChanged);
  plan = Make();
  EXPECT_THAT(plan.changes, IsEmpty());
  EXPECT_TRUE(plan.record) << "in its own name";
  EXPECT_TRUE(BaselineAfter(plan, {}).starts_with("v1 uid-2 configmap/config="));
  Put(kPlannedPassword, kChanged);
  plan = Make();
  ASSERT_EQ(plan.changes.size(), 1U);
  EXPECT_EQ(plan.changes[0].causes.front(), kPlannedPassword);
}

TEST_F(PlannerBaselineTest, AMangledOneIsReplaced) {
  Put(kPlannedConfig, kChanged);
  workload_.annotations[std::string(kBaselineAnnotation)] = "v1 uid-1 configmap/config=123";
  const Plan plan = Make();
  EXPECT_THAT(plan.changes, IsEmpty());
  EXPECT_TRUE(plan.record);
  SetVariable(kRecordedDigest);
  EXPECT_EQ(Make().changes.size(), 1U) << "then the variable is what there is";
}

TEST_F(PlannerBaselineTest, StateOfStakaterReloaderIsHonouredWithoutARollout) {
  SetVariable(kRecordedDigest);
  Plan plan = Make();
  EXPECT_THAT(plan.changes, IsEmpty());
  WriteAndLookAgain(plan);
  workload_.annotations.erase(std::string(kBaselineAnnotation));
  workload_.containers[0].variables.clear();
  workload_.template_annotations[std::string(kLastReloadedFrom)] =
      LastReloadedFrom(kPlannedConfig, kRecordedDigest, "app", {});
  rules_.by_variables = false;
  EXPECT_THAT(Make().changes, IsEmpty());
  Put(kPlannedConfig, kChanged);
  plan = Make();
  EXPECT_EQ(plan.changes.size(), 1U) << "changed while nothing watched";
  Put(kPlannedPassword, kChanged);
  EXPECT_EQ(Make().changes.size(), 1U) << "nothing is known of this one";
}

TEST_F(PlannerBaselineTest, ANewReferenceOrRuleRecordsAndRollsNothing) {
  Record({{kPlannedConfig, kRecordedDigest}});
  Put(kPlannedPassword, kChanged);
  const Plan plan = Make();
  EXPECT_THAT(plan.changes, IsEmpty());
  EXPECT_TRUE(plan.record);
  EXPECT_TRUE(plan.is_news) << "a process that began now would take its present data";
}

TEST_F(PlannerBaselineTest, WhatAPatternMatchesNewlyIsNoNews) {
  workload_.annotations["configmap.reloader.stakater.com/reload"] = "other-.*";
  Record({{kPlannedConfig, kRecordedDigest}, {kPlannedPassword, kRecordedDigest}});
  Put({SourceType::kConfigMap, {"ns", "other-1"}}, kRecordedDigest);
  const Plan plan = Make();
  EXPECT_TRUE(plan.record);
  EXPECT_FALSE(plan.is_news) << "it may come and go all day";
}

TEST_F(PlannerBaselineTest, WhatNoRuleAsksForIsKeptAndCountsAgain) {
  Record({{kPlannedConfig, kRecordedDigest}, {kPlannedPassword, kRecordedDigest}});
  workload_.annotations["configmaps.exclude.reloader.stakater.com/reload"] = "config";
  Put(kPlannedConfig, kChanged);
  Plan plan = Make();
  EXPECT_THAT(plan.changes, IsEmpty());
  EXPECT_FALSE(plan.record) << "another instance may have recorded it";
  EXPECT_EQ(Parsed(BaselineAfter(plan, {})).digests,
            Parsed(*Find(workload_.annotations, kBaselineAnnotation)).digests);
  workload_.annotations.erase("configmaps.exclude.reloader.stakater.com/reload");
  const Knowledge sure{.pairs = {{kPlannedConfig, {Kind::kConfirmed, kRecordedDigest}}}};
  EXPECT_THAT(Make(sure).changes, testing::SizeIs(1)) << "its pods have what was recorded";
  EXPECT_THAT(Make().changes, testing::SizeIs(1)) << "after a restart, too";
  sources_[kPlannedConfig].resource_version = 41;
  const Knowledge released{.template_since = 42};
  EXPECT_THAT(Make(released).changes, IsEmpty()) << "somebody has given them the data meanwhile";
}

TEST_F(PlannerBaselineTest, ABaselineOfSomebodyElseIsNoNewerThanWhatIsKnown) {
  Record({{kPlannedConfig, kRecordedDigest}, {kPlannedPassword, kRecordedDigest}});
  Put(kPlannedConfig, kChanged);
  const Knowledge sure{.pairs = {{kPlannedConfig, {Kind::kConfirmed, kChanged}},
                                 {kPlannedPassword, {Kind::kConfirmed, kRecordedDigest}}}};
  EXPECT_THAT(Make(sure).changes, testing::SizeIs(1)) << "another replica's";
  workload_.baseline_is_foreign = true;  // an old record that was restored
  const Plan plan = Make(sure);
  EXPECT_THAT(plan.changes, IsEmpty());
  EXPECT_TRUE(plan.record) << "it is put back";
}

TEST_F(PlannerBaselineTest, ADeletionThatRollsNothingHidesNoLaterChange) {
  Record({{kPlannedConfig, kRecordedDigest}, {kPlannedPassword, kRecordedDigest}});
  rules_.reload_on_delete = true;
  sources_.erase(kPlannedConfig);
  Plan plan = Make();
  EXPECT_THAT(plan.changes, IsEmpty()) << "there is no variable to take away";
  EXPECT_EQ(Parsed(BaselineAfter(plan, {})).digests[kPlannedConfig], kRecordedDigest);
  Put(kPlannedConfig, kChanged);
  EXPECT_THAT(Make().changes, testing::SizeIs(1)) << "made anew with other data";
  Put(kPlannedConfig, kRecordedDigest);
  EXPECT_THAT(Make().changes, IsEmpty());
}

TEST_F(PlannerBaselineTest, AnIgnoredTypeIsLeftToOthers) {
  Record({{kPlannedConfig, kRecordedDigest}, {kPlannedPassword, kRecordedDigest}});
  rules_.ignored_types = {SourceType::kSecret};
  rules_.reload_on_delete = true;
  sources_.erase(kPlannedPassword);
  Plan plan = Make();
  EXPECT_THAT(plan.changes, IsEmpty());
  EXPECT_FALSE(plan.record);
  Put(kPlannedConfig, kChanged);
  plan = Make();
  EXPECT_EQ(Parsed(BaselineAfter(plan, plan.changes)).digests[kPlannedPassword], kRecordedDigest);
}

TEST_F(PlannerBaselineTest, SourcesThatAreNotReferencedAnyMoreGoWithTheNextWrite) {
  Record({{kPlannedConfig, kRecordedDigest},
          {kPlannedPassword, kRecordedDigest},
          {{SourceType::kConfigMap, {"ns", "config-1"}}, kRecordedDigest}});
  EXPECT_FALSE(Make().record);
  Put(kPlannedConfig, kChanged);
  const Plan plan = Make();
  EXPECT_THAT(BaselineAfter(plan, plan.changes), Not(HasSubstr("config-1")));
}

/// What one of two operators with different label selectors sees.
class Selecting final : public DigestsOver {
 public:
  explicit Selecting(std::set<SourceId> left_out) : left_out_(std::move(left_out)) {}
  std::optional<Digest> Over(const SourceId&, std::string_view) override { return std::nullopt; }
  std::optional<apimachinery::Time> WrittenAt(const SourceId&) override { return std::nullopt; }
  bool IsLeftOut(const SourceId& source) override { return left_out_.contains(source); }

 private:
  const std::set<SourceId> left_out_;
};

// Each took the other's entries for those of deleted sources, and wrote the baseline without them.
TEST_F(PlannerBaselineTest, OperatorsThatSelectDifferentSourcesLeaveEachOthersRecords) {
  const SourceId red{SourceType::kConfigMap, {"ns", "red"}};
  const SourceId blue{SourceType::kConfigMap, {"ns", "blue"}};
  workload_.containers = {{.name = "app"}};
  workload_.annotations = {{"configmap.reloader.stakater.com/reload", "red.*,blue.*"}};
  for (const bool on_delete : {false, true}) {
    rules_.reload_on_delete = on_delete;
    rules_.by_variables = !on_delete;
    workload_.annotations.erase(std::string(kBaselineAnnotation));
    int writes = 0;
    for (int turn = 0; turn < 6; ++turn) {
      const bool is_red = turn % 2 == 0;
      sources_.clear();
      Put(is_red ? red : blue, kRecordedDigest);
      Selecting selecting({is_red ? blue : red});
      const Plan plan = Make({}, &selecting);
      EXPECT_THAT(plan.changes, IsEmpty()) << "the other one is not deleted";
      if (plan.record) {
        ++writes;
        workload_.annotations[std::string(kBaselineAnnotation)] = BaselineAfter(plan, {});
      }
    }
    EXPECT_EQ(writes, 2) << "each has recorded its own";
    EXPECT_THAT(Parsed(workload_.annotations[std::string(kBaselineAnnotation)]).digests,
                UnorderedElementsAre(Pair(red, kRecordedDigest), Pair(blue, kRecordedDigest)));
  }
}

TEST_F(PlannerBaselineTest, IsBounded) {
  workload_.annotations = {{"configmap.reloader.stakater.com/reload", ".*"}};
  for (int i = 0; i < 2000; ++i) {
    Put({SourceType::kConfigMap, {"ns", "source-" + std::to_string(i)}}, kRecordedDigest);
  }
  Plan plan = Make();
  EXPECT_TRUE(plan.record);
  EXPECT_LE(BaselineAfter(plan, {}).size(), Baseline::kMaxBytes);
  EXPECT_EQ(plan.baseline.digests.size() + plan.left_out.size(), 2001U) << "none is lost silently";
  EXPECT_THAT(plan.left_out,
              testing::Contains(SourceId{SourceType::kConfigMap, {"ns", "source-999"}}));
  WriteAndLookAgain(plan);
  // A source for which there is no room is remembered nevertheless.
  Put({SourceType::kConfigMap, {"ns", "source-999"}}, kChanged);
  plan = Make({.pairs = {{{SourceType::kConfigMap, {"ns", "source-999"}},
                          {Kind::kObserved, kRecordedDigest}}}});
  EXPECT_EQ(plan.changes.size(), 1U);
  EXPECT_LE(BaselineAfter(plan, plan.changes).size(), Baseline::kMaxBytes);
}

TEST_F(PlannerBaselineTest, WithoutAUidNothingIsRecorded) {
  workload_.uid.clear();
  const Plan plan = Make();
  EXPECT_FALSE(plan.record);
  EXPECT_EQ(BaselineAfter(plan, {}), "");
}

// ---- Sources that come and go.

TEST_F(PlannerBaselineTest, ASourceDeletedAndMadeAnewWhileDownRollsForOtherData) {
  Record({{kPlannedConfig, kRecordedDigest}, {kPlannedPassword, kRecordedDigest}});
  sources_.erase(kPlannedConfig);
  Plan plan = Make();
  EXPECT_THAT(plan.changes, IsEmpty());
  EXPECT_FALSE(plan.record) << "the digest stays on record";
  Put(kPlannedConfig, kRecordedDigest);
  EXPECT_THAT(Make().changes, IsEmpty());
  Put(kPlannedConfig, kChanged);
  plan = Make();
  EXPECT_EQ(plan.changes.size(), 1U);
  WriteAndLookAgain(plan);
}

TEST_F(PlannerBaselineTest, ACreationRollsOnlyWhenAsked) {
  sources_.erase(kPlannedConfig);
  rules_.reload_on_create = true;
  Plan plan = Make();
  EXPECT_THAT(plan.changes, IsEmpty());
  EXPECT_EQ(Parsed(BaselineAfter(plan, {})).digests[kPlannedConfig], kNoSource);
  EXPECT_THAT(plan.learnt,
              testing::Contains(Pair(kPlannedConfig, PairState{Kind::kObserved, kNoSource})));
  WriteAndLookAgain(plan);
  Put(kPlannedConfig, kChanged);
  plan = Make();
  ASSERT_EQ(plan.changes.size(), 1U);
  EXPECT_EQ(plan.changes[0].value, kChanged.ToString());
  EXPECT_EQ(Make({.pairs = {{kPlannedConfig, {Kind::kObserved, kNoSource}}}}).changes.size(), 1U);
  rules_.reload_on_create = false;
  EXPECT_THAT(Make().changes, IsEmpty());
  rules_.reload_on_create = true;
  WriteAndLookAgain(plan);
}

TEST_F(PlannerBaselineTest, ADeletionTakesTheVariableAway) {
  Record({{kPlannedConfig, kRecordedDigest}, {kPlannedPassword, kRecordedDigest}});
  SetVariable(kRecordedDigest);
  sources_.erase(kPlannedConfig);
  rules_.reload_on_delete = true;
  const Plan plan = Make();
  ASSERT_EQ(plan.changes.size(), 1U);
  EXPECT_TRUE(plan.changes[0].remove);
  EXPECT_EQ(Parsed(BaselineAfter(plan, plan.changes)).digests[kPlannedConfig], kNoSource);
  WriteAndLookAgain(plan);
  Put(kPlannedConfig, kChanged);
  EXPECT_THAT(Make().changes, IsEmpty()) << "creation has a flag of its own";
}

TEST_F(PlannerBaselineTest, WithoutAVariableADeletionRollsOnlyWithAnnotations) {
  Record({{kPlannedConfig, kRecordedDigest}, {kPlannedPassword, kRecordedDigest}});
  sources_.erase(kPlannedConfig);
  rules_.reload_on_delete = true;
  Plan plan = Make();
  EXPECT_THAT(plan.changes, IsEmpty());
  EXPECT_FALSE(plan.record) << "what the pods have stays recorded";
  rules_.by_variables = false;
  plan = Make();
  ASSERT_EQ(plan.changes.size(), 1U);
  const WorkloadWrite write = MakeWrite(workload_, plan.changes, ReloadStrategy::kAnnotations, {});
  EXPECT_THAT(write.template_annotations.begin()->second.value_or(""),
              HasSubstr("aae45badef99284e4dae01d6046154ea9d99532f"));
  WriteAndLookAgain(plan);
}

TEST_F(PlannerBaselineTest, AVariableOfASourceLongGoneIsLeftAlone) {
  SetVariable(kRecordedDigest);
  sources_.erase(kPlannedConfig);
  rules_.reload_on_delete = true;
  EXPECT_THAT(Make().changes, IsEmpty()) << "what stakater/Reloader left rolls nothing";
}

TEST_F(PlannerBaselineTest, SyncAfterRestartRollsWhatIsNewOnce) {
  rules_.sync_after_restart = true;
  EXPECT_THAT(Make({.is_unplanned = true}).changes, IsEmpty()) << "only with reload-on-create";
  rules_.reload_on_create = true;
  EXPECT_THAT(Make().changes, IsEmpty()) << "only what was there before the process";
  const Plan plan = Make({.is_unplanned = true});
  EXPECT_EQ(plan.changes.size(), 2U);
  WriteAndLookAgain(plan);
  EXPECT_THAT(Make({.is_unplanned = true}).changes, IsEmpty());
}

TEST_F(PlannerBaselineTest, OneOfTwoSourcesOfAVariableCanGo) {
  const SourceId dashed{SourceType::kConfigMap, {"ns", "a-b"}};
  const SourceId dotted{SourceType::kConfigMap, {"ns", "a.b"}};
  workload_.containers[0].references = {{SourceType::kConfigMap, "a-b"},
                                        {SourceType::kConfigMap, "a.b"}};
  Put(dashed, kRecordedDigest);
  Put(dotted, kRecordedDigest);
  Record({{dashed, kRecordedDigest}, {dotted, kRecordedDigest}});
  workload_.containers[0].variables = {{"STAKATER_A_B_CONFIGMAP", "of both"}};
  sources_.erase(dotted);
  EXPECT_THAT(Make().changes, IsEmpty());
  rules_.reload_on_delete = true;
  const Plan plan = Make();
  ASSERT_EQ(plan.changes.size(), 1U);
  EXPECT_FALSE(plan.changes[0].remove);
  EXPECT_EQ(plan.changes[0].value, kRecordedDigest.ToString());
  WriteAndLookAgain(plan);
}

TEST_F(PlannerBaselineTest, WhatTheOtherStrategyLeftBehindRollsNothing) {
  SetVariable(kChanged);
  rules_.by_variables = false;
  EXPECT_THAT(Make().changes, IsEmpty());
  workload_.containers[0].variables.clear();
  workload_.template_annotations[std::string(kLastReloadedFrom)] =
      LastReloadedFrom(kPlannedConfig, kChanged, "app", {});
  rules_.by_variables = true;
  EXPECT_THAT(Make().changes, IsEmpty());
}

}  // namespace
}  // namespace kubexx::reloader
