#include "kubexx/reloader/plan/planner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kubexx/reloader/model/env_var.h"
#include "kubexx/reloader/plan/pair_memory.h"
#include "kubexx/reloader/plan/strategy.h"

namespace kubexx::reloader {
namespace {

using Kind = PairState::Kind;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;
using testing::SizeIs;

const Digest kBefore = DigestOf("old");
const Digest kAfter = DigestOf("new");

SourceId ConfigMapId(std::string name) { return {SourceType::kConfigMap, {"ns", std::move(name)}}; }
SourceId SecretId(std::string name) { return {SourceType::kSecret, {"ns", std::move(name)}}; }

/// A Deployment with auto, whose container "app" has ConfigMap "config" and Secret "password" in
/// its environment.
Workload AutoWorkload(std::vector<EnvVar> variables = {}) {
  Workload workload;
  workload.id = {WorkloadKind::kDeployment, {"ns", "web"}};
  workload.annotations = {{"reloader.stakater.com/auto", "true"}};
  workload.containers = {
      {.name = "sidecar"},
      {.name = "app",
       .references = {{SourceType::kConfigMap, "config"}, {SourceType::kSecret, "password"}},
       .variables = std::move(variables)}};
  return workload;
}

class PlannerTest : public testing::Test {
 protected:
  void Put(SourceId id, const Digest& digest, bool ignore = false) {
    sources_[id] = {id, digest, ignore, false};
  }
  Plan Make(const Workload& workload, const PairStates& states = {}, bool is_unplanned = false) {
    return MakeWith(workload, {states, is_unplanned});
  }
  Plan MakeWith(const Workload& workload, const Knowledge& known) {
    const auto get = [this](const SourceId& id) {
      const auto found = sources_.find(id);
      return found == sources_.end() ? std::nullopt : std::optional(found->second);
    };
    const auto names = [this](SourceType type) {
      ++name_listings_;
      std::vector<std::string> result;
      for (const auto& [id, source] : sources_) {
        if (id.type == type) {
          result.push_back(id.key.name);
        }
      }
      return result;
    };
    return MakePlan(workload, SourceLookup{get, names}, known, rules_, patterns_);
  }

  std::map<SourceId, Source> sources_;
  DecisionRules rules_;
  PatternCache patterns_;
  int name_listings_ = 0;
};

TEST_F(PlannerTest, AbsentVariableWithoutAnObservedChangeIsLeftAbsent) {
  Put(ConfigMapId("config"), kAfter);
  EXPECT_THAT(Make(AutoWorkload()).changes, IsEmpty());
}

TEST_F(PlannerTest, AnObservedChangeSetsTheVariable) {
  Put(ConfigMapId("config"), kAfter);
  const Plan plan = Make(AutoWorkload(), {{ConfigMapId("config"), {Kind::kObserved, kBefore}}});
  EXPECT_THAT(plan.changes, ElementsAre(Change{.container = "app",
                                               .variable = "STAKATER_CONFIG_CONFIGMAP",
                                               .value = kAfter.ToString(),
                                               .sources = {{ConfigMapId("config"), kAfter}},
                                               .causes = {ConfigMapId("config")}}));
}

TEST_F(PlannerTest, WhatIsTakenFromThePresentDataSaysFromWhichVersion) {
  Put(ConfigMapId("config"), kAfter);
  sources_[ConfigMapId("config")].resource_version = 20;
  const PairState taken{.kind = Kind::kConfirmed, .digest = kAfter, .taken_at = 20};
  EXPECT_THAT(Make(AutoWorkload()).learnt, ElementsAre(Pair(ConfigMapId("config"), taken)));
  // The next plan knows no more than this one, even if the object's labels have changed.
  sources_[ConfigMapId("config")].resource_version = 21;
  EXPECT_THAT(Make(AutoWorkload(), {{ConfigMapId("config"), taken}}).learnt,
              ElementsAre(Pair(ConfigMapId("config"), taken)));
  const Plan by_variable = Make(AutoWorkload({{"STAKATER_CONFIG_CONFIGMAP", kAfter.ToString()}}));
  ASSERT_THAT(by_variable.learnt, SizeIs(1));
  EXPECT_EQ(by_variable.learnt[0].second.taken_at, 0U) << "the variable says it";
}

TEST_F(PlannerTest, AChangeThatIsToldOfAfterTheFirstPlanRolls) {
  Put(ConfigMapId("config"), kAfter);
  sources_[ConfigMapId("config")].resource_version = 20;
  PairMemory memory;
  Workload workload = AutoWorkload();
  workload.uid = "u";
  const Plan first = Make(workload);
  EXPECT_THAT(first.changes, IsEmpty());
  memory.Apply(workload.id, first);
  workload.annotations[std::string(kBaselineAnnotation)] = BaselineAfter(first, {});
  memory.RecordChange(workload.id, ConfigMapId("config"), kBefore, Move{kAfter, 20});
  EXPECT_THAT(Make(workload, memory.Get(workload.id).pairs).changes, SizeIs(1));
}

// The store has a change before its handlers are told of it.
TEST_F(PlannerTest, AChangeThatIsNotToldOfYetIsYoungerThanTheTemplate) {
  Put(ConfigMapId("config"), DigestOf("third"));
  sources_[ConfigMapId("config")].resource_version = 40;
  Knowledge known{.template_since = 30};
  known.pairs[ConfigMapId("config")] = {.kind = Kind::kConfirmed, .digest = kAfter};
  known.moves[ConfigMapId("config")] = {Move{kAfter, 20}};
  EXPECT_THAT(MakeWith(AutoWorkload(), known).changes, SizeIs(1));
  Put(ConfigMapId("config"), kAfter);
  sources_[ConfigMapId("config")].resource_version = 41;  // only the labels have changed
  EXPECT_THAT(MakeWith(AutoWorkload(), known).changes, IsEmpty());
}

TEST_F(PlannerTest, AVariableOfTheOtherStrategySaysNothing) {
  rules_.by_variables = false;
  Put(ConfigMapId("config"), kAfter);
  sources_[ConfigMapId("config")].resource_version = 20;
  const Plan plan = Make(AutoWorkload({{"STAKATER_CONFIG_CONFIGMAP", kBefore.ToString()}}));
  ASSERT_THAT(plan.learnt, SizeIs(1));
  EXPECT_EQ(plan.learnt[0].second.taken_at, 20U) << "nothing was known";
}

TEST_F(PlannerTest, AChangeThereAndBackIsNone) {
  Put(ConfigMapId("config"), kBefore);
  EXPECT_THAT(Make(AutoWorkload(), {{ConfigMapId("config"), {Kind::kObserved, kBefore}}}).changes,
              IsEmpty());
}

TEST_F(PlannerTest, TwoChangedSourcesAreOnePlan) {
  Put(ConfigMapId("config"), kAfter);
  Put(SecretId("password"), kAfter);
  const Plan plan = Make(AutoWorkload(), {{ConfigMapId("config"), {Kind::kObserved, kBefore}},
                                          {SecretId("password"), {Kind::kObserved, kBefore}}});
  EXPECT_EQ(plan.changes.size(), 2U);
}

TEST_F(PlannerTest, AVariableThatDiffersIsAChangeMadeWhileDown) {
  Put(ConfigMapId("config"), kAfter);
  const Plan plan = Make(AutoWorkload({{"STAKATER_CONFIG_CONFIGMAP", kBefore.ToString()}}));
  ASSERT_EQ(plan.changes.size(), 1U);
  EXPECT_EQ(plan.changes[0].value, kAfter.ToString());
}

TEST_F(PlannerTest, AVariableThatIsRightIsConfirmed) {
  Put(ConfigMapId("config"), kAfter);
  const Plan plan = Make(AutoWorkload({{"STAKATER_CONFIG_CONFIGMAP", kAfter.ToString()}}));
  EXPECT_THAT(plan.changes, IsEmpty());
  EXPECT_THAT(plan.learnt,
              ElementsAre(std::pair(ConfigMapId("config"), PairState{Kind::kConfirmed, kAfter})));
}

TEST_F(PlannerTest, AVariableSetBackBySomeoneElseIsNoChangeOfData) {
  Put(ConfigMapId("config"), kAfter);
  const Workload workload = AutoWorkload({{"STAKATER_CONFIG_CONFIGMAP", kBefore.ToString()}});
  EXPECT_THAT(Make(workload, {{ConfigMapId("config"), {Kind::kConfirmed, kAfter}}}).changes,
              IsEmpty());
}

TEST_F(PlannerTest, AnUncertainWriteIsMadeGood) {
  // The write of another digest may have arrived although its answer did not, and the data changed
  // back afterwards.
  Put(ConfigMapId("config"), kBefore);
  const Workload workload = AutoWorkload({{"STAKATER_CONFIG_CONFIGMAP", kAfter.ToString()}});
  EXPECT_EQ(Make(workload, {{ConfigMapId("config"), {Kind::kUncertain, kBefore}}}).changes.size(),
            1U);
}

/// Returns the same workload with the template of a Deployment. The record is on a Rollout.
Workload RolloutOfDeployment(std::vector<EnvVar> variables) {
  Workload workload = AutoWorkload(std::move(variables));
  workload.id.kind = WorkloadKind::kRollout;
  workload.uid = "uid";
  workload.template_ref = TemplateRef{.kind = "Deployment", .name = "web"};
  Baseline baseline{.uid = "uid"};
  baseline.Set(ConfigMapId("config"), kBefore, {});
  workload.annotations[std::string(kBaselineAnnotation)] = baseline.ToString();
  return workload;
}

Knowledge WithAttempt(Attempt attempt) {
  attempt.sources = {{ConfigMapId("config"), kAfter}};
  return {.pairs = {{ConfigMapId("config"), {Kind::kUncertain, kBefore}}}, .attempts = {attempt}};
}

// Seed 190 of the simulation: the baseline is written after the template, so it has the earlier
// data.
TEST_F(PlannerTest, AWriteOfADeploymentsTemplateWhoseAnswerWasLostIsToldByTheTemplate) {
  Put(ConfigMapId("config"), kAfter);
  Workload rollout = RolloutOfDeployment({{"STAKATER_CONFIG_CONFIGMAP", kAfter.ToString()}});
  const Plan made = MakeWith(rollout, WithAttempt({}));
  EXPECT_THAT(made.changes, IsEmpty());
  EXPECT_TRUE(made.record) << "the Rollout is to have what was written with the template";
  EXPECT_THAT(made.learnt,
              ElementsAre(Pair(ConfigMapId("config"), PairState{.kind = Kind::kConfirmed,
                                                                .digest = kAfter,
                                                                .is_ahead_of_record = true})));
  EXPECT_THAT(MakeWith(rollout, {}).changes, SizeIs(1)) << "somebody else's";
  rollout.stampers["STAKATER_CONFIG_CONFIGMAP"] = {.is_operator = false};
  EXPECT_THAT(MakeWith(rollout, WithAttempt({})).changes, SizeIs(1)) << "an undo";
  const Workload lost = RolloutOfDeployment({{"STAKATER_CONFIG_CONFIGMAP", kBefore.ToString()}});
  EXPECT_THAT(MakeWith(lost, WithAttempt({})).changes, SizeIs(1));
}

// Pods may have other data although the variable is right, and the write does not change the
// variable.
TEST_F(PlannerTest, AWriteInPlaceIsToldByItsMarkAlone) {
  Put(ConfigMapId("config"), kAfter);
  const Knowledge known = WithAttempt({.mark = "token", .is_in_place = true});
  for (Workload workload :
       {AutoWorkload({{"STAKATER_CONFIG_CONFIGMAP", kAfter.ToString()}}),
        RolloutOfDeployment({{"STAKATER_CONFIG_CONFIGMAP", kAfter.ToString()}})}) {
    EXPECT_THAT(MakeWith(workload, known).changes, SizeIs(1)) << "the request was lost";
    workload.template_annotations[std::string(kRestartedFor)] = "an earlier one";
    EXPECT_THAT(MakeWith(workload, known).changes, SizeIs(1));
    workload.template_annotations[std::string(kRestartedFor)] = "token";
    EXPECT_THAT(MakeWith(workload, known).changes, IsEmpty());
    workload.stampers[std::string(kRestartedFor)] = {.is_operator = false};
    EXPECT_THAT(MakeWith(workload, known).changes, SizeIs(1)) << "an undo brought it back";
  }
}

// Seed 110 of ten minutes: the annotation names one of the two sources of the rollout, its answer
// was lost, and people have taken the baseline away.
TEST_F(PlannerTest, AWriteForTwoSourcesIsToldByItsMarkWhereThereIsNoBaseline) {
  Put(ConfigMapId("config"), kAfter);
  rules_.by_variables = false;
  const std::string mark =
      R"({"type":"SECRET","name":"other","namespace":"ns","hash":"x","containerRefs":["app"]})";
  const Knowledge known = WithAttempt({.mark = mark});
  Workload workload = AutoWorkload();
  workload.template_annotations[std::string(kLastReloadedFrom)] = mark;
  EXPECT_THAT(MakeWith(workload, known).changes, IsEmpty());
  workload.template_annotations[std::string(kLastReloadedFrom)] = "another one's";
  EXPECT_THAT(MakeWith(workload, known).changes, SizeIs(1)) << "the request was lost";
}

TEST_F(PlannerTest, AnAttemptForOtherDataTellsNothing) {
  Put(ConfigMapId("config"), DigestOf("newest"));
  const Knowledge known = WithAttempt({.mark = "token", .is_in_place = true});
  Workload rollout =
      RolloutOfDeployment({{"STAKATER_CONFIG_CONFIGMAP", DigestOf("newest").ToString()}});
  rollout.template_annotations[std::string(kRestartedFor)] = "token";
  EXPECT_THAT(MakeWith(rollout, known).changes, SizeIs(1));
}

// Seed 250 of the simulation: the watch of a new leader is half-open, and the workload that it
// reads has been rolled.
TEST_F(PlannerTest, ARolloutOfWhichNoEventHasToldIsNotMadeAgain) {
  Put(ConfigMapId("config"), kAfter);
  const std::vector<Move> moves = {{kAfter, 5}};
  Knowledge known{.pairs = {{ConfigMapId("config"), {Kind::kConfirmed, kBefore}}},
                  .moves = {{ConfigMapId("config"), moves}},
                  .untold_stamps = {"STAKATER_CONFIG_CONFIGMAP"}};
  const Workload workload = AutoWorkload({{"STAKATER_CONFIG_CONFIGMAP", kAfter.ToString()}});
  const Plan plan = MakeWith(workload, known);
  EXPECT_THAT(plan.changes, IsEmpty());
  EXPECT_THAT(plan.learnt, IsEmpty()) << "the pods of before may still be there";
  EXPECT_THAT(plan.seen, IsEmpty()) << "the event goes by it";
  EXPECT_THAT(
      MakeWith(AutoWorkload({{"STAKATER_CONFIG_CONFIGMAP", kBefore.ToString()}}), known).changes,
      SizeIs(1))
      << "a rollout for other data";
  Knowledge told = known;
  told.untold_stamps.clear();
  EXPECT_THAT(MakeWith(workload, told).changes, SizeIs(1));
  known.moves[ConfigMapId("config")] = {{kAfter, 5}, {kBefore, 6}, {kAfter, 7}};
  EXPECT_THAT(MakeWith(workload, known).changes, SizeIs(1))
      << "some of its pods may have begun at 6";
}

// Rollouts waited while the source changed several times, and the other replica rolled for the last
// data.
TEST_F(PlannerTest, ARolloutOfWhichNoEventHasToldIsKnownAfterSeveralChangesByDataThatAreNew) {
  const SourceId id = ConfigMapId("config");
  Put(id, kAfter);
  Knowledge known{.pairs = {{id, {Kind::kConfirmed, kBefore}}},
                  .moves = {{id, {{DigestOf("1"), 5}, {DigestOf("2"), 6}, {kAfter, 7}}}},
                  .untold_stamps = {"STAKATER_CONFIG_CONFIGMAP"}};
  const Workload workload = AutoWorkload({{"STAKATER_CONFIG_CONFIGMAP", kAfter.ToString()}});
  EXPECT_THAT(MakeWith(workload, known).changes, IsEmpty());
  Knowledge more = known;
  more.moves[id].insert(more.moves[id].begin(), 5, Move{DigestOf("0"), 1});
  EXPECT_THAT(MakeWith(workload, more).changes, SizeIs(1)) << "it may have had them before these";
  known.untold_stamps.clear();
  EXPECT_THAT(MakeWith(workload, known).changes, SizeIs(1));
}

// Seed 31061 of the simulation: the rights of a replica were taken, and the list that it made after
// that told of a change of scale and of another replica's rollout at once.
TEST_F(PlannerTest, ARolloutThatAListTellsOfAmongOtherWritesIsNotMadeAgain) {
  const SourceId id = ConfigMapId("config");
  const Workload workload = AutoWorkload({{"STAKATER_CONFIG_CONFIGMAP", kAfter.ToString()}});
  Put(id, kAfter);
  sources_[id].resource_version = 7;
  PairMemory memory;
  Plan first;
  first.learnt = {{id, {Kind::kConfirmed, kBefore}}};
  memory.Apply(workload.id, first);
  memory.RecordChange(workload.id, id, kBefore, Move{DigestOf("between"), 5});
  memory.RecordChange(workload.id, id, DigestOf("between"), Move{kAfter, 7});
  const auto rolled = [&] {
    memory.TemplateChanged(workload.id, {.since = 3,
                                         .until = 20,
                                         .before = "one",
                                         .now = "two",
                                         .is_own = true,
                                         .all_stamps = {"STAKATER_CONFIG_CONFIGMAP"}});
  };
  EXPECT_THAT(MakeWith(workload, memory.Get(workload.id)).changes, SizeIs(1));
  rolled();
  EXPECT_THAT(MakeWith(workload, memory.Get(workload.id)).changes, IsEmpty());
  sources_[id].resource_version = 9;
  EXPECT_THAT(MakeWith(workload, memory.Get(workload.id)).changes, SizeIs(1))
      << "it may have had other data at 8, and pods may have begun with them";
  sources_[id].resource_version = 7;
  memory.RecordChange(workload.id, id, kBefore, Move{kAfter, 4});
  EXPECT_THAT(MakeWith(workload, memory.Get(workload.id)).changes, SizeIs(1))
      << "the rollout may have been for these data when they were there before";
  memory.BeginWrite(workload.id, {});
  EXPECT_THAT(memory.Get(workload.id).stamps_of_others, IsEmpty());
  rolled();
  memory.TemplateChanged(workload.id, {.since = 21, .before = "two", .now = "three"});
  EXPECT_THAT(memory.Get(workload.id).stamps_of_others, IsEmpty()) << "a release";
}

// Seed 84 of ten minutes of the simulation: a new leader's watch of workloads was behind, and the
// workload that it read had been rolled by the last leader, and scaled after that.
TEST_F(PlannerTest, ARolloutAmongOtherWritesOfWhichNoEventHasToldIsNotMadeAgain) {
  const SourceId id = ConfigMapId("config");
  Put(id, kAfter);
  sources_[id].resource_version = 5;
  const Workload workload = AutoWorkload({{"STAKATER_CONFIG_CONFIGMAP", kAfter.ToString()}});
  Knowledge known{.pairs = {{id, {Kind::kConfirmed, kBefore}}},
                  .moves = {{id, {{kAfter, 5}}}},
                  .untold_stamps_of_others = {"STAKATER_CONFIG_CONFIGMAP"}};
  const Plan plan = MakeWith(workload, known);
  EXPECT_THAT(plan.changes, IsEmpty());
  EXPECT_THAT(plan.learnt, IsEmpty()) << "the event tells which pods there are";
  EXPECT_THAT(plan.seen, IsEmpty()) << "the event goes by it";
  sources_[id].resource_version = 7;
  EXPECT_THAT(MakeWith(workload, known).changes, SizeIs(1))
      << "it may have had other data at 6, and pods may have begun with them";
  sources_[id].resource_version = 5;
  known.moves[id] = {{kAfter, 3}, {kBefore, 4}, {kAfter, 5}};
  EXPECT_THAT(MakeWith(workload, known).changes, SizeIs(1))
      << "the rollout may have been for these data when they were there before";
  known.moves[id] = {{kAfter, 5}};
  Put(SecretId("password"), kAfter);
  known.pairs[SecretId("password")] = {Kind::kConfirmed, kBefore};
  EXPECT_THAT(MakeWith(workload, known).changes, SizeIs(2)) << "one rollout is for both";
  known.pairs.erase(SecretId("password"));
  known.untold_stamps_of_others.clear();
  EXPECT_THAT(MakeWith(workload, known).changes, SizeIs(1));
}

// Seed 5009 of the simulation is the same with the strategy annotations.
TEST_F(PlannerTest, ARolloutThatAnAnnotationTellsOfAndNoEventIsNotMadeAgain) {
  rules_.by_variables = false;
  Put(ConfigMapId("config"), kAfter);
  Knowledge known{.pairs = {{ConfigMapId("config"), {Kind::kConfirmed, kBefore}}},
                  .moves = {{ConfigMapId("config"), {{kAfter, 5}}}},
                  .untold_stamps = {std::string(kLastReloadedFrom)}};
  Workload workload = AutoWorkload();
  const auto stamp = [&](const SourceId& source, const Digest& digest) {
    workload.template_annotations[std::string(kLastReloadedFrom)] =
        LastReloadedFrom(source, digest, "app", {});
  };
  stamp(ConfigMapId("config"), kAfter);
  EXPECT_THAT(MakeWith(workload, known).changes, IsEmpty());
  stamp(ConfigMapId("config"), kBefore);
  EXPECT_THAT(MakeWith(workload, known).changes, SizeIs(1)) << "a rollout for other data";
  stamp(SecretId("password"), kAfter);
  EXPECT_THAT(MakeWith(workload, known).changes, SizeIs(1)) << "a rollout for another source";
  stamp(ConfigMapId("config"), kAfter);
  known.moves[ConfigMapId("config")] = {{kAfter, 5}, {kBefore, 6}, {kAfter, 7}};
  EXPECT_THAT(MakeWith(workload, known).changes, SizeIs(1))
      << "some of its pods may have begun at 6";
}

TEST_F(PlannerTest, ARolloutForAnotherSourceIsForAllThatDiffer) {
  Put(ConfigMapId("config"), kAfter);
  Put(SecretId("password"), kAfter);
  const Knowledge known{.pairs = {{ConfigMapId("config"), {Kind::kConfirmed, kBefore}},
                                  {SecretId("password"), {Kind::kConfirmed, kBefore}}},
                        .moves = {{ConfigMapId("config"), {{kAfter, 5}}}},
                        .untold_stamps = {"STAKATER_CONFIG_CONFIGMAP"}};
  EXPECT_THAT(
      MakeWith(AutoWorkload({{"STAKATER_CONFIG_CONFIGMAP", kAfter.ToString()}}), known).changes,
      SizeIs(2));
}

TEST_F(PlannerTest, AnObservedChangeDoesNotHideOneMadeWhileDown) {
  // While the operator was down the variable says "old" and the data became "new". After the start,
  // the data change there and back.
  Put(ConfigMapId("config"), kAfter);
  const Workload workload = AutoWorkload({{"STAKATER_CONFIG_CONFIGMAP", kBefore.ToString()}});
  EXPECT_EQ(Make(workload, {{ConfigMapId("config"), {Kind::kObserved, kAfter}}}).changes.size(),
            1U);
}

TEST_F(PlannerTest, WithoutARuleNothingHappensAndTheStateGoes) {
  Put(ConfigMapId("config"), kAfter);
  Workload workload = AutoWorkload({{"STAKATER_CONFIG_CONFIGMAP", kBefore.ToString()}});
  workload.annotations.clear();
  const Plan plan = Make(workload, {{ConfigMapId("config"), {Kind::kObserved, kBefore}}});
  EXPECT_THAT(plan.changes, IsEmpty());
  EXPECT_THAT(plan.dropped, ElementsAre(ConfigMapId("config")));
}

TEST_F(PlannerTest, AnIgnoredSourceDoesNothing) {
  Put(ConfigMapId("config"), kAfter, /*ignore=*/true);
  EXPECT_THAT(Make(AutoWorkload(), {{ConfigMapId("config"), {Kind::kObserved, kBefore}}}).changes,
              IsEmpty());
}

TEST_F(PlannerTest, AMissingSourceDoesNothingAndIsWaitedFor) {
  const Workload workload = AutoWorkload({{"STAKATER_CONFIG_CONFIGMAP", kBefore.ToString()}});
  const PairStates states{{ConfigMapId("config"), {Kind::kObserved, kBefore}}};
  const Plan plan = Make(workload, states);
  EXPECT_THAT(plan.changes, IsEmpty());
  EXPECT_THAT(plan.dropped, IsEmpty());
  Put(ConfigMapId("config"), kAfter);
  EXPECT_EQ(Make(workload, states).changes.size(), 1U) << "made anew with other data";
}

TEST_F(PlannerTest, AutoNeedsAReference) {
  Put(ConfigMapId("other"), kAfter);
  const Plan plan = Make(AutoWorkload(), {{ConfigMapId("other"), {Kind::kObserved, kBefore}}});
  EXPECT_THAT(plan.changes, IsEmpty());
  EXPECT_EQ(plan.not_updated, 1U);
}

TEST_F(PlannerTest, AnExplicitNameNeedsNone) {
  Put(ConfigMapId("other"), kAfter);
  Workload workload = AutoWorkload();
  workload.annotations = {{"configmap.reloader.stakater.com/reload", "other"}};
  const Plan plan = Make(workload, {{ConfigMapId("other"), {Kind::kObserved, kBefore}}});
  ASSERT_EQ(plan.changes.size(), 1U);
  EXPECT_EQ(plan.changes[0].container, "sidecar");
}

TEST_F(PlannerTest, AnExplicitVariableIsCheckedWithoutAnEvent) {
  Put(ConfigMapId("my.other"), kAfter);
  Workload workload = AutoWorkload();
  workload.annotations = {{"configmap.reloader.stakater.com/reload", "my.*"}};
  EXPECT_THAT(Make(workload).changes, IsEmpty());
  workload.containers[0].variables = {{"STAKATER_MY_OTHER_CONFIGMAP", kBefore.ToString()}};
  EXPECT_EQ(Make(workload).changes.size(), 1U);
  EXPECT_EQ(name_listings_, 2) << "of the type with patterns only";
}

TEST_F(PlannerTest, ReportsABadItemOnce) {
  Put(ConfigMapId("config"), kAfter);
  Put(ConfigMapId("more"), kAfter);
  Workload workload = AutoWorkload();
  workload.annotations["configmap.reloader.stakater.com/reload"] = "(,config,more";
  EXPECT_EQ(Make(workload).bad_items.size(), 1U);
}

TEST_F(PlannerTest, WithoutContainersThereIsNothingToSet) {
  Put(ConfigMapId("config"), kAfter);
  Workload workload = AutoWorkload();
  workload.annotations = {{"configmap.reloader.stakater.com/reload", "config"}};
  workload.containers.clear();
  EXPECT_THAT(Make(workload, {{ConfigMapId("config"), {Kind::kObserved, kBefore}}}).changes,
              IsEmpty());
}

/// Sources "a-b" and "a.b" share the variable STAKATER_A_B_CONFIGMAP.
class SharedVariableTest : public PlannerTest {
 protected:
  Workload Sharing(std::vector<EnvVar> variables = {}) {
    Workload workload = AutoWorkload(std::move(variables));
    workload.containers[1].references = {{SourceType::kConfigMap, "a-b"},
                                         {SourceType::kConfigMap, "a.b"}};
    return workload;
  }
  std::string Apply(const Plan& plan) { return plan.changes.empty() ? "" : plan.changes[0].value; }
};

TEST_F(SharedVariableTest, AChangeOfEitherRollsOnceAndThenItIsQuiet) {
  Put(ConfigMapId("a-b"), kBefore);
  Put(ConfigMapId("a.b"), kAfter);
  const Plan plan = Make(Sharing(), {{ConfigMapId("a.b"), {Kind::kObserved, kBefore}}});
  ASSERT_EQ(plan.changes.size(), 1U);
  EXPECT_EQ(plan.changes[0].sources.size(), 2U);
  EXPECT_THAT(plan.changes[0].causes, ElementsAre(ConfigMapId("a.b")));
  const Workload after = Sharing({{"STAKATER_A_B_CONFIGMAP", Apply(plan)}});
  EXPECT_THAT(Make(after).changes, IsEmpty());
  Put(ConfigMapId("a-b"), kAfter);
  EXPECT_EQ(Make(after).changes.size(), 1U) << "seen even while down";
}

TEST_F(SharedVariableTest, TheOriginalsValueIsAcceptedUntilAChange) {
  Put(ConfigMapId("a-b"), kBefore);
  Put(ConfigMapId("a.b"), kAfter);
  const Workload workload = Sharing({{"STAKATER_A_B_CONFIGMAP", kAfter.ToString()}});
  EXPECT_THAT(Make(workload).changes, IsEmpty());
  EXPECT_EQ(Make(workload, {{ConfigMapId("a-b"), {Kind::kObserved, kAfter}}}).changes.size(), 1U);
}

TEST(ReloadListOf, SplitsNamesFromPatterns) {
  Workload workload;
  workload.annotations = {{"secret.reloader.stakater.com/reload", " a ,b-2,, c.d"}};
  const ReloadList list = ReloadListOf(workload, SourceType::kSecret, {});
  EXPECT_THAT(list.names, ElementsAre("a", "b-2"));
  EXPECT_TRUE(list.has_patterns);
  EXPECT_FALSE(ReloadListOf(workload, SourceType::kConfigMap, {}).has_patterns);
}

}  // namespace
}  // namespace kubexx::reloader
