// Tests the planner with a Rollout whose pod template is a Deployment's, which is written before
// the baseline on the Rollout, as in seed 30111 of the simulation.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "kubexx/apimachinery/time.h"
#include "kubexx/reloader/model/annotations.h"
#include "kubexx/reloader/plan/planner.h"
#include "kubexx/reloader/plan/strategy.h"

namespace kubexx::reloader {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Key;
using testing::Not;
using testing::SizeIs;

const Digest kOfFirst = DigestOf("first");
const Digest kOfSecond = DigestOf("second");
const SourceId kLentConfig{SourceType::kConfigMap, {"ns", "config"}};
const SourceId kLentSecret{SourceType::kSecret, {"ns", "password"}};

class PlannerReferenceTest : public testing::TestWithParam<ReloadStrategy> {
 protected:
  /// A Rollout that an operator has recorded, with both sources at their first data.
  PlannerReferenceTest() {
    rollout_.id = {WorkloadKind::kRollout, {"ns", "web"}};
    rollout_.uid = "uid-1";
    rollout_.annotations = {{"reloader.stakater.com/auto", "true"}};
    rollout_.template_ref = TemplateRef{.kind = "Deployment", .name = "base"};
    rollout_.containers = {
        {.name = "app",
         .references = {{SourceType::kConfigMap, "config"}, {SourceType::kSecret, "password"}}}};
    rollout_.template_written = apimachinery::Time{.seconds = 100};
    rules_.by_variables = GetParam() == ReloadStrategy::kEnvVars;
    Put(kLentConfig, kOfFirst, 5);
    Put(kLentSecret, kOfFirst, 6);
    WriteBaseline(Make());
  }
  void Put(const SourceId& id, const Digest& digest, std::uint64_t version) {
    sources_[id] = {.id = id, .digest = digest, .resource_version = version};
  }
  Plan Make(const Knowledge& known = {}) {
    const auto get = [this](const SourceId& id) { return std::optional(sources_.at(id)); };
    const auto names = [](SourceType) { return std::vector<std::string>(); };
    return MakePlan(rollout_, SourceLookup{get, names}, known, rules_, patterns_);
  }
  /// The first of the two writes of a rollout.
  void WriteTemplate(const Plan& plan) {
    const WorkloadWrite write = MakeWrite(rollout_, plan.changes, GetParam(), base::WallTime{});
    for (const VariableEdit& edit : write.variables) {
      rollout_.containers[0].variables = {{edit.name, *edit.value}};
      rollout_.stampers[edit.name] = {.is_operator = true};
    }
    for (const auto& [key, value] : write.template_annotations) {
      rollout_.template_annotations[key] = *value;
      rollout_.stampers[key] = {.is_operator = true};
    }
  }
  /// The second one.
  void WriteBaseline(const Plan& plan) {
    rollout_.annotations[std::string(kBaselineAnnotation)] = BaselineAfter(plan, plan.changes);
  }

  Workload rollout_;
  std::map<SourceId, Source> sources_;
  DecisionRules rules_;
  PatternCache patterns_;
};

INSTANTIATE_TEST_SUITE_P(Both, PlannerReferenceTest,
                         testing::Values(ReloadStrategy::kEnvVars, ReloadStrategy::kAnnotations));

TEST_P(PlannerReferenceTest, WhoBeginsBetweenTheTwoWritesRecordsWhatTheTemplateWasWrittenFor) {
  Put(kLentConfig, kOfSecond, 8);
  WriteTemplate(Make());  // and then the operator is killed
  const Plan plan = Make();
  EXPECT_THAT(plan.changes, IsEmpty());
  EXPECT_TRUE(plan.record);
  EXPECT_TRUE(plan.is_news) << "it does not wait";
  WriteBaseline(plan);
  EXPECT_FALSE(Make().record);
  Put(kLentConfig, kOfFirst, 9);
  EXPECT_THAT(Make().changes, SizeIs(1)) << "the next change";
}

TEST_P(PlannerReferenceTest, AReplicaThatHasSeenTheChangeKnowsItFromTheTemplateToo) {
  Put(kLentConfig, kOfSecond, 8);
  WriteTemplate(Make());
  EXPECT_THAT(Make({.pairs = {{kLentConfig, {PairState::Kind::kObserved, kOfFirst}}}}).changes,
              IsEmpty());
}

// Seed 713 of ten minutes: a replica that knows what the pods had before begins to lead, and the
// event of the other one's template is on its way.
TEST_P(PlannerReferenceTest, AReplicaThatReadsTheTemplateBeforeItsEventDoesNotRollAgain) {
  const Knowledge known{.pairs = {{kLentConfig, {PairState::Kind::kConfirmed, kOfFirst}},
                                  {kLentSecret, {PairState::Kind::kConfirmed, kOfFirst}}},
                        .has_later_deployment = true};
  Put(kLentConfig, kOfSecond, 8);
  EXPECT_THAT(Make(known).changes, SizeIs(1)) << "the template has been written for something else";
  WriteTemplate(Make());
  const Plan plan = Make(known);
  EXPECT_THAT(plan.changes, IsEmpty());
  EXPECT_THAT(plan.learnt, Not(Contains(Key(kLentConfig)))) << "its event tells the memory";
  EXPECT_EQ(plan.baseline.digests.at(kLentConfig), kOfFirst);

  Put(kLentSecret, kOfSecond, 9);
  const Plan both = Make(known);
  EXPECT_THAT(both.changes, SizeIs(2)) << "a rollout that is made anyway names both";
  Put(kLentSecret, kOfFirst, 10);
  Put(kLentConfig, kOfSecond, 11);
  EXPECT_THAT(Make(known).changes, SizeIs(1)) << "it may have been others in between";
}

TEST_P(PlannerReferenceTest, WhatIsKnownOfTheTemplateThatEventsHaveToldOfCountsMore) {
  const Knowledge known{.pairs = {{kLentConfig, {PairState::Kind::kConfirmed, kOfFirst}}}};
  Put(kLentConfig, kOfSecond, 8);
  WriteTemplate(Make());
  EXPECT_THAT(Make(known).changes, SizeIs(1));
}

TEST_P(PlannerReferenceTest, ASecondSourceIsRolledForAsBefore) {
  Put(kLentConfig, kOfSecond, 8);
  WriteTemplate(Make());
  Put(kLentSecret, kOfSecond, 9);
  const Plan plan = Make();
  ASSERT_THAT(plan.changes, SizeIs(1));
  EXPECT_THAT(plan.changes[0].causes, ElementsAre(kLentSecret));
}

// The data may have been others when the template began pods, and have come back.
TEST_P(PlannerReferenceTest, ASourceThatWasWrittenSinceLeavesADoubt) {
  Put(kLentConfig, kOfSecond, 8);
  WriteTemplate(Make());
  Put(kLentConfig, kOfSecond, 10);
  const std::string before = rollout_.template_annotations.at(std::string(kRestartedFor));
  const Plan plan = Make();
  ASSERT_THAT(plan.changes, SizeIs(1));
  WriteTemplate(plan);
  EXPECT_NE(rollout_.template_annotations.at(std::string(kRestartedFor)), before)
      << "the template would not change, and no pods begin";
  EXPECT_THAT(Make().changes, IsEmpty());
}

TEST_P(PlannerReferenceTest, WhatSomebodyHasBroughtBackTellsNothing) {
  Put(kLentConfig, kOfSecond, 8);
  WriteTemplate(Make());
  for (auto& [stamp, stamper] : rollout_.stampers) {
    stamper.is_operator = false;
  }
  EXPECT_THAT(Make().changes, SizeIs(1));
}

TEST_P(PlannerReferenceTest, OfAnotherVersionThatBeginsAlikeNothingIsTold) {
  Put(kLentConfig, kOfSecond, 81);
  WriteTemplate(Make());
  Put(kLentConfig, kOfSecond, 8);
  EXPECT_THAT(Make().changes, SizeIs(1));
}

TEST_P(PlannerReferenceTest, ATemplateOfItsOwnIsWrittenWithTheBaselineAndNamesNoVersion) {
  rollout_.template_ref.reset();
  Put(kLentConfig, kOfSecond, 8);
  const WorkloadWrite write = MakeWrite(rollout_, Make().changes, GetParam(), base::WallTime{});
  EXPECT_THAT(write.template_annotations, Not(Contains(Key(std::string(kRestartedFor)))));
}

TEST_P(PlannerReferenceTest, AWriteThatWasLostIsNotTakenForMadeSinceItNamesVersions) {
  Put(kLentConfig, kOfSecond, 8);
  const Plan plan = Make();
  const WorkloadWrite write = MakeWrite(rollout_, plan.changes, GetParam(), base::WallTime{});
  const Attempt attempt = AttemptOf(rollout_, write);
  EXPECT_FALSE(attempt.is_in_place) << "the template tells of it";
  EXPECT_FALSE(HasMark(rollout_, attempt));
  WriteTemplate(plan);
  EXPECT_TRUE(HasMark(rollout_, attempt));
}

}  // namespace
}  // namespace kubexx::reloader
