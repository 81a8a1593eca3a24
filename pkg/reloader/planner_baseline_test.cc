// What the planner makes of the baseline that is recorded on a workload.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kubexx/reloader/planner.h"
#include "kubexx/reloader/strategy.h"

namespace kubexx::reloader {
namespace {

using Kind = PairState::Kind;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::Pair;
using testing::UnorderedElementsAre;

const Digest kOld = DigestOf("old");
const Digest kNew = DigestOf("new");
const SourceId kConfig{SourceType::kConfigMap, {"ns", "config"}};
const SourceId kPassword{SourceType::kSecret, {"ns", "password"}};
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
    Put(kConfig, kOld);
    Put(kPassword, kOld);
  }
  void Put(const SourceId& id, const Digest& digest) { sources_[id] = {id, digest, false, false}; }
  void Record(const std::map<SourceId, Digest>& digests, const std::string& uid = "uid-1") {
    workload_.annotations[std::string(kBaselineAnnotation)] =
        Baseline{.uid = uid, .digests = digests}.ToString();
  }
  void SetVariable(const Digest& digest) {
    workload_.containers[0].variables = {{kVariable, digest.ToString()}};
  }
  Plan Make(const Knowledge& known = {}) {
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
    return MakePlan(workload_, SourceLookup{get, names}, known, rules_, patterns_);
  }
  /// Carries out what a plan says, and looks again: there must be nothing left to do.
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
  EXPECT_EQ(BaselineAfter(plan, {}),
            "v1 uid-1 configmap/config=" + kOld.ToString() + " secret/password=" + kOld.ToString());
  WriteAndLookAgain(plan);
}

TEST_F(PlannerBaselineTest, AChangeMadeWhileDownRollsOnce) {
  Record({{kConfig, kOld}, {kPassword, kOld}});
  Put(kConfig, kNew);
  const Plan plan = Make();
  ASSERT_EQ(plan.changes.size(), 1U);
  EXPECT_EQ(plan.changes[0].value, kNew.ToString());
  EXPECT_FALSE(plan.record) << "until it is written the old digest stays";
  EXPECT_THAT(Parsed(BaselineAfter(plan, plan.changes)).digests,
              UnorderedElementsAre(Pair(kConfig, kNew), Pair(kPassword, kOld)));
  WriteAndLookAgain(plan);
}

TEST_F(PlannerBaselineTest, WithoutAWriteAChangeStaysPendingOnRecordToo) {
  Put(kConfig, kNew);
  const Plan plan = Make({.pairs = {{kConfig, {Kind::kObserved, kOld}}}});
  EXPECT_EQ(plan.changes.size(), 1U);
  EXPECT_TRUE(plan.record);
  EXPECT_EQ(Parsed(BaselineAfter(plan, {})).digests[kConfig], kOld);
}

TEST_F(PlannerBaselineTest, ARolloutUndoneIsNoChangeOfData) {
  // kubectl rollout undo brings back the old variable and the old annotation.
  Put(kConfig, kNew);
  Record({{kConfig, kOld}, {kPassword, kOld}});
  SetVariable(kOld);
  const Plan plan = Make({.pairs = {{kConfig, {Kind::kConfirmed, kNew}}}});
  EXPECT_THAT(plan.changes, IsEmpty());
  EXPECT_TRUE(plan.record);
  EXPECT_EQ(Parsed(BaselineAfter(plan, {})).digests[kConfig], kNew);
}

TEST_F(PlannerBaselineTest, TheBaselineCountsMoreThanAVariableSetBack) {
  Put(kConfig, kNew);
  Record({{kConfig, kNew}, {kPassword, kOld}});
  SetVariable(kOld);
  EXPECT_THAT(Make().changes, IsEmpty());
}

TEST_F(PlannerBaselineTest, WhatStakaterReloaderRolledMeanwhileCounts) {
  Put(kConfig, kNew);
  Record({{kConfig, kOld}, {kPassword, kOld}});
  SetVariable(kNew);
  const Plan plan = Make();
  EXPECT_THAT(plan.changes, IsEmpty());
  EXPECT_TRUE(plan.record);
}

TEST_F(PlannerBaselineTest, WhatAnotherReplicaRolledMeanwhileCounts) {
  Put(kConfig, kNew);
  Record({{kConfig, kNew}, {kPassword, kOld}});
  EXPECT_THAT(Make({.pairs = {{kConfig, {Kind::kObserved, kOld}}}}).changes, IsEmpty());
  EXPECT_THAT(Make({.pairs = {{kConfig, {Kind::kConfirmed, kOld}}}}).changes, IsEmpty());
}

TEST_F(PlannerBaselineTest, ACopyOnAnotherObjectIsNotBelieved) {
  Put(kConfig, kNew);
  Record({{kConfig, kOld}}, "uid-of-the-original");
  const Plan plan = Make();
  EXPECT_THAT(plan.changes, IsEmpty());
  EXPECT_TRUE(plan.record);
  WriteAndLookAgain(plan);
}

TEST_F(PlannerBaselineTest, AMangledOneIsReplaced) {
  Put(kConfig, kNew);
  workload_.annotations[std::string(kBaselineAnnotation)] = "v1 uid-1 configmap/config=123";
  const Plan plan = Make();
  EXPECT_THAT(plan.changes, IsEmpty());
  EXPECT_TRUE(plan.record);
  SetVariable(kOld);
  EXPECT_EQ(Make().changes.size(), 1U) << "then the variable is what there is";
}

TEST_F(PlannerBaselineTest, StateOfStakaterReloaderIsHonouredWithoutARollout) {
  SetVariable(kOld);
  Plan plan = Make();
  EXPECT_THAT(plan.changes, IsEmpty());
  WriteAndLookAgain(plan);
  workload_.annotations.erase(std::string(kBaselineAnnotation));
  workload_.containers[0].variables.clear();
  workload_.template_annotations[std::string(kLastReloadedFrom)] =
      LastReloadedFrom(kConfig, kOld, "app", {});
  EXPECT_THAT(Make().changes, IsEmpty());
  Put(kConfig, kNew);
  plan = Make();
  EXPECT_EQ(plan.changes.size(), 1U) << "changed while nothing watched";
  Put(kPassword, kNew);
  EXPECT_EQ(Make().changes.size(), 1U) << "nothing is known of this one";
}

TEST_F(PlannerBaselineTest, ANewReferenceOrRuleRecordsAndRollsNothing) {
  Record({{kConfig, kOld}});
  Put(kPassword, kNew);
  const Plan plan = Make();
  EXPECT_THAT(plan.changes, IsEmpty());
  EXPECT_TRUE(plan.record);
}

TEST_F(PlannerBaselineTest, WhatNoRuleAsksForIsKeptButNoLongerBelieved) {
  Record({{kConfig, kOld}, {kPassword, kOld}});
  workload_.annotations["configmaps.exclude.reloader.stakater.com/reload"] = "config";
  Put(kConfig, kNew);
  Plan plan = Make();
  EXPECT_THAT(plan.changes, IsEmpty());
  EXPECT_FALSE(plan.record) << "another instance may have recorded it";
  EXPECT_THAT(plan.learnt, testing::Contains(Pair(kConfig, PairState{Kind::kUnruled})));
  EXPECT_EQ(Parsed(BaselineAfter(plan, {})).digests.size(), 2U);
  workload_.annotations.erase("configmaps.exclude.reloader.stakater.com/reload");
  plan = Make({.pairs = {{kConfig, {.kind = Kind::kUnruled}}}});
  EXPECT_THAT(plan.changes, IsEmpty()) << "an edit of annotations rolls nothing";
  EXPECT_TRUE(plan.record);
}

TEST_F(PlannerBaselineTest, AnIgnoredTypeIsLeftToOthers) {
  Record({{kConfig, kOld}, {kPassword, kOld}});
  rules_.ignored_types = {SourceType::kSecret};
  rules_.reload_on_delete = true;
  sources_.erase(kPassword);
  Plan plan = Make();
  EXPECT_THAT(plan.changes, IsEmpty());
  EXPECT_FALSE(plan.record);
  Put(kConfig, kNew);
  plan = Make();
  EXPECT_EQ(Parsed(BaselineAfter(plan, plan.changes)).digests[kPassword], kOld);
}

TEST_F(PlannerBaselineTest, SourcesThatAreNotReferencedAnyMoreGoWithTheNextWrite) {
  Record(
      {{kConfig, kOld}, {kPassword, kOld}, {{SourceType::kConfigMap, {"ns", "config-1"}}, kOld}});
  EXPECT_FALSE(Make().record);
  Put(kConfig, kNew);
  const Plan plan = Make();
  EXPECT_THAT(BaselineAfter(plan, plan.changes), Not(HasSubstr("config-1")));
}

TEST_F(PlannerBaselineTest, IsBounded) {
  workload_.annotations = {{"configmap.reloader.stakater.com/reload", ".*"}};
  for (int i = 0; i < 2000; ++i) {
    Put({SourceType::kConfigMap, {"ns", "source-" + std::to_string(i)}}, kOld);
  }
  Plan plan = Make();
  EXPECT_TRUE(plan.record);
  EXPECT_LE(BaselineAfter(plan, {}).size(), Baseline::kMaxBytes);
  WriteAndLookAgain(plan);
  // What has no room is remembered all the same.
  Put({SourceType::kConfigMap, {"ns", "source-999"}}, kNew);
  plan =
      Make({.pairs = {{{SourceType::kConfigMap, {"ns", "source-999"}}, {Kind::kObserved, kOld}}}});
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
  Record({{kConfig, kOld}, {kPassword, kOld}});
  sources_.erase(kConfig);
  Plan plan = Make();
  EXPECT_THAT(plan.changes, IsEmpty());
  EXPECT_FALSE(plan.record) << "the digest stays on record";
  Put(kConfig, kOld);
  EXPECT_THAT(Make().changes, IsEmpty());
  Put(kConfig, kNew);
  plan = Make();
  EXPECT_EQ(plan.changes.size(), 1U);
  WriteAndLookAgain(plan);
}

TEST_F(PlannerBaselineTest, ACreationRollsOnlyWhenAsked) {
  sources_.erase(kConfig);
  rules_.reload_on_create = true;
  Plan plan = Make();
  EXPECT_THAT(plan.changes, IsEmpty());
  EXPECT_EQ(Parsed(BaselineAfter(plan, {})).digests[kConfig], kNoSource);
  EXPECT_THAT(plan.learnt, testing::Contains(Pair(kConfig, PairState{Kind::kObserved, kNoSource})));
  WriteAndLookAgain(plan);
  Put(kConfig, kNew);
  plan = Make();
  ASSERT_EQ(plan.changes.size(), 1U);
  EXPECT_EQ(plan.changes[0].value, kNew.ToString());
  EXPECT_EQ(Make({.pairs = {{kConfig, {Kind::kObserved, kNoSource}}}}).changes.size(), 1U);
  rules_.reload_on_create = false;
  EXPECT_THAT(Make().changes, IsEmpty());
  rules_.reload_on_create = true;
  WriteAndLookAgain(plan);
}

TEST_F(PlannerBaselineTest, ADeletionTakesTheVariableAway) {
  Record({{kConfig, kOld}, {kPassword, kOld}});
  SetVariable(kOld);
  sources_.erase(kConfig);
  rules_.reload_on_delete = true;
  const Plan plan = Make();
  ASSERT_EQ(plan.changes.size(), 1U);
  EXPECT_TRUE(plan.changes[0].remove);
  EXPECT_EQ(Parsed(BaselineAfter(plan, plan.changes)).digests[kConfig], kNoSource);
  WriteAndLookAgain(plan);
  Put(kConfig, kNew);
  EXPECT_THAT(Make().changes, IsEmpty()) << "creation has a flag of its own";
}

TEST_F(PlannerBaselineTest, WithoutAVariableADeletionRollsOnlyWithAnnotations) {
  Record({{kConfig, kOld}, {kPassword, kOld}});
  sources_.erase(kConfig);
  rules_.reload_on_delete = true;
  Plan plan = Make();
  EXPECT_THAT(plan.changes, IsEmpty());
  EXPECT_TRUE(plan.record);
  rules_.deletion_needs_variable = false;
  plan = Make();
  ASSERT_EQ(plan.changes.size(), 1U);
  const WorkloadWrite write = MakeWrite(workload_, plan.changes, ReloadStrategy::kAnnotations, {});
  EXPECT_THAT(write.template_annotations.begin()->second.value_or(""),
              HasSubstr("aae45badef99284e4dae01d6046154ea9d99532f"));
  WriteAndLookAgain(plan);
}

TEST_F(PlannerBaselineTest, AVariableOfASourceLongGoneIsLeftAlone) {
  SetVariable(kOld);
  sources_.erase(kConfig);
  rules_.reload_on_delete = true;
  EXPECT_THAT(Make().changes, IsEmpty()) << "what stakater/Reloader left rolls nothing";
}

TEST_F(PlannerBaselineTest, SyncAfterRestartRollsWhatIsNewOnce) {
  rules_.sync_after_restart = true;
  EXPECT_THAT(Make({.is_new = true}).changes, IsEmpty()) << "only with reload-on-create";
  rules_.reload_on_create = true;
  EXPECT_THAT(Make().changes, IsEmpty()) << "only what was there before the process";
  const Plan plan = Make({.is_new = true});
  EXPECT_EQ(plan.changes.size(), 2U);
  WriteAndLookAgain(plan);
  EXPECT_THAT(Make({.is_new = true}).changes, IsEmpty());
}

TEST_F(PlannerBaselineTest, OneOfTwoSourcesOfAVariableCanGo) {
  const SourceId dashed{SourceType::kConfigMap, {"ns", "a-b"}};
  const SourceId dotted{SourceType::kConfigMap, {"ns", "a.b"}};
  workload_.containers[0].references = {{SourceType::kConfigMap, "a-b"},
                                        {SourceType::kConfigMap, "a.b"}};
  Put(dashed, kOld);
  Put(dotted, kOld);
  Record({{dashed, kOld}, {dotted, kOld}});
  workload_.containers[0].variables = {{"STAKATER_A_B_CONFIGMAP", "of both"}};
  sources_.erase(dotted);
  EXPECT_THAT(Make().changes, IsEmpty());
  rules_.reload_on_delete = true;
  const Plan plan = Make();
  ASSERT_EQ(plan.changes.size(), 1U);
  EXPECT_FALSE(plan.changes[0].remove);
  EXPECT_EQ(plan.changes[0].value, kOld.ToString());
  WriteAndLookAgain(plan);
}

}  // namespace
}  // namespace kubexx::reloader
