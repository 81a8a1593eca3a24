// Tests the planner with pod templates that others have changed: rollouts that were undone, and
// releases.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <string>

#include "kubexx/reloader/model/baseline_owner.h"
#include "kubexx/reloader/plan/planner.h"
#include "kubexx/reloader/plan/strategy.h"

namespace kubexx::reloader {
namespace {

using testing::Contains;
using testing::IsEmpty;
using testing::Key;
using testing::SizeIs;

const Digest kGood = DigestOf("good");
const Digest kBad = DigestOf("bad");
const SourceId kUndoneConfig{SourceType::kConfigMap, {"ns", "config"}};
constexpr char kUndoneVariable[] = "STAKATER_CONFIG_CONFIGMAP";
constexpr PairState::Kind kSure = PairState::Kind::kConfirmed;

class PlannerUndoTest : public testing::Test, public DigestsOver {
 protected:
  PlannerUndoTest() {
    workload_.id = {WorkloadKind::kDeployment, {"ns", "web"}};
    workload_.uid = "uid-1";
    workload_.annotations = {{"reloader.stakater.com/auto", "true"}};
    workload_.containers = {{.name = "app", .references = {{SourceType::kConfigMap, "config"}}}};
  }
  std::optional<Digest> Over(const SourceId&, std::string_view) override { return std::nullopt; }
  std::optional<apimachinery::Time> WrittenAt(const SourceId&) override {
    ++asked_;
    return written_at_;
  }

  /// Sets the data and the version at which they were written.
  void Put(const Digest& digest, std::uint64_t version = 0) {
    source_ = {.id = kUndoneConfig, .digest = digest, .resource_version = version};
  }
  void Record(const Digest& digest) {
    workload_.annotations[std::string(kBaselineAnnotation)] =
        Baseline{.uid = "uid-1", .digests = {{kUndoneConfig, digest}}}.ToString();
  }
  void SetVariable(const Digest& digest) {
    workload_.containers[0].variables = {{kUndoneVariable, digest.ToString()}};
  }
  Plan Make(const Knowledge& known = {}) {
    const auto get = [this](const SourceId&) { return std::optional(source_); };
    const auto names = [](SourceType) { return std::vector<std::string>(); };
    return MakePlan(workload_, SourceLookup{get, names, this}, known, rules_, patterns_);
  }
  /// Applies the operator's write, with or without a rollout.
  void Write(const Plan& plan) {
    const std::string before = workload_.annotations[std::string(kBaselineAnnotation)];
    const std::string now = BaselineAfter(plan, plan.changes);
    workload_.annotations[std::string(kBaselineAnnotation)] = now;
    if (now != before) {
      workload_.baseline_restored.reset();  // who changes a value owns it
    }
    for (const Change& change : plan.changes) {
      workload_.containers[0].variables = {{change.variable, change.value}};
    }
  }
  /// Does what kubectl rollout undo does to a Deployment: it restores the template and the
  /// annotations of the revision before.
  void UndoTo(const Digest& digest, std::int64_t at) {
    SetVariable(digest);
    Record(digest);
    workload_.baseline_restored = apimachinery::Time{.seconds = at};
  }

  Workload workload_;
  Source source_;
  std::optional<apimachinery::Time> written_at_;
  int asked_ = 0;  ///< how often somebody wanted to know that
  DecisionRules rules_;
  PatternCache patterns_;
};

TEST_F(PlannerUndoTest, DataMendedAfterAnUndoRollThoughTheVariableIsRight) {
  Put(kGood);
  UndoTo(kGood, 100);
  const Plan plan = Make({.pairs = {{kUndoneConfig, {kSure, kBad}}}});
  ASSERT_EQ(plan.changes.size(), 1U);
  const WorkloadWrite write =
      MakeWrite(workload_, plan.changes, ReloadStrategy::kEnvVars, base::WallTime{});
  EXPECT_THAT(write.template_annotations, Contains(Key(kRestartedFor)))
      << "the variable alone would change nothing";
  Write(plan);
  EXPECT_THAT(Make({.pairs = {{kUndoneConfig, {kSure, kGood}}}}).changes, IsEmpty());
  EXPECT_THAT(Make().changes, IsEmpty()) << "after a restart";
}

// There is no record, and a process that did not roll the workload itself has only seen the data
// change: it is a standby that takes over, or has started since the undo.
TEST_F(PlannerUndoTest, DataMendedAfterAnUndoThatOnlyTheirChangeTellsOfRoll) {
  constexpr auto kSeen = PairState::Kind::kObserved;
  const Knowledge known{.pairs = {{kUndoneConfig, {kSeen, kBad}}}};
  Put(kGood);
  SetVariable(kGood);
  workload_.stampers = {{kUndoneVariable, {.since = {.seconds = 100}}}};
  EXPECT_EQ(Make(known).changes.size(), 1U);
  EXPECT_THAT(Make({.pairs = {{kUndoneConfig, {kSeen, kGood}}}}).changes, IsEmpty());
  EXPECT_THAT(Make().changes, IsEmpty());
  workload_.stampers = {{kUndoneVariable, {.is_operator = true}}};
  EXPECT_THAT(Make(known).changes, IsEmpty()) << "another replica has rolled it";
  workload_.stampers = {{kUndoneVariable, {.is_tool = true}}};
  EXPECT_THAT(Make(known).changes, IsEmpty());
  workload_.stampers.clear();
  EXPECT_THAT(Make(known).changes, IsEmpty()) << "it is not known who wrote it";
  workload_.containers[0].variables.clear();
  rules_.by_variables = false;
  workload_.template_annotations = {
      {std::string(kLastReloadedFrom), LastReloadedFrom(kUndoneConfig, kGood, "app", {})}};
  EXPECT_THAT(Make(known).changes, IsEmpty());
  workload_.stampers = {{std::string(kLastReloadedFrom), {.since = {.seconds = 100}}}};
  EXPECT_EQ(Make(known).changes.size(), 1U);
  EXPECT_THAT(Make().changes, IsEmpty());
  Record(kGood);
  EXPECT_THAT(Make(known).changes, IsEmpty()) << "what is recorded is told of these pods";
  Record(kBad);
  EXPECT_EQ(Make(known).changes.size(), 1U);
}

// Seed 488 of 400 hours of the simulation: a Rollout was made anew that names a Deployment, whose
// template had the variable of the last rollout from before.
TEST_F(PlannerUndoTest, PodsThatBeganWithAVariableOfBeforeHaveTheDataFromBeforeTheirBeginning) {
  workload_.id.kind = WorkloadKind::kRollout;
  workload_.template_ref = TemplateRef{.kind = "Deployment", .name = "base"};
  workload_.stampers[kUndoneVariable] = {.is_operator = true};
  workload_.own_written = apimachinery::Time{.seconds = 50};
  workload_.created = apimachinery::Time{.seconds = 100};
  SetVariable(kBad);
  Put(kGood);
  written_at_ = apimachinery::Time{.seconds = 99};
  const Plan plan = Make();
  EXPECT_THAT(plan.changes, IsEmpty());
  EXPECT_TRUE(plan.record);
  written_at_ = apimachinery::Time{.seconds = 100};
  EXPECT_THAT(Make().changes, SizeIs(1)) << "times are whole seconds";
  written_at_ = apimachinery::Time{.seconds = 99};
  workload_.own_written = apimachinery::Time{.seconds = 100};
  EXPECT_THAT(Make().changes, SizeIs(1)) << "the operator has rolled it since it was made";
}

TEST_F(PlannerUndoTest, AnOrdinaryRolloutSetsTheVariableAlone) {
  SetVariable(kGood);
  Put(kBad);
  const Plan plan = Make({.pairs = {{kUndoneConfig, {kSure, kGood}}}});
  ASSERT_EQ(plan.changes.size(), 1U);
  EXPECT_THAT(MakeWrite(workload_, plan.changes, ReloadStrategy::kEnvVars, base::WallTime{})
                  .template_annotations,
              IsEmpty());
}

// The baseline stays, and there was no rollout for data that changed meanwhile.
// Seed 1460 of ten minutes: an undo to a template from before the first baseline brought another
// source's variable back, and nobody recorded anything before the next operator began.
TEST_F(PlannerUndoTest, AnUndoOfAnotherSourcesVariableBeganPodsWithTheDataOfThen) {
  Put(kGood);
  SetVariable(kBad);
  workload_.stampers = {{kUndoneVariable, {.is_operator = true}},
                        {"STAKATER_OTHER_CONFIGMAP", {.since = {.seconds = 100}}}};
  written_at_ = apimachinery::Time{.seconds = 99};
  EXPECT_THAT(Make().changes, SizeIs(1)) << "nothing tells when it was rolled";
  workload_.own_written = apimachinery::Time{.seconds = 98};
  EXPECT_THAT(Make().changes, IsEmpty());
  workload_.own_written = apimachinery::Time{.seconds = 100};
  EXPECT_THAT(Make().changes, SizeIs(1)) << "a key was removed since, which has no time";
  workload_.own_written = apimachinery::Time{.seconds = 98};
  written_at_ = apimachinery::Time{.seconds = 100};
  EXPECT_THAT(Make().changes, SizeIs(1)) << "in the same second the pods may be older";
  rules_.by_variables = false;
  workload_.template_annotations = {
      {std::string(kLastReloadedFrom), LastReloadedFrom(kUndoneConfig, kBad, "app", {})}};
  EXPECT_THAT(Make().changes, SizeIs(1));
  written_at_ = apimachinery::Time{.seconds = 99};
  EXPECT_THAT(Make().changes, IsEmpty());
}

TEST_F(PlannerUndoTest, AnUndoThatBringsNoBaselineBackStaysUndoneAfterARestart) {
  workload_.id.kind = WorkloadKind::kDaemonSet;
  workload_.containers[0].variables = {{kUndoneVariable, kBad.ToString()},
                                       {"STAKATER_OTHER_CONFIGMAP", "x"}};
  workload_.stampers = {{kUndoneVariable, {.is_operator = true}},
                        {"STAKATER_OTHER_CONFIGMAP", {.since = {.seconds = 100}}}};
  Record(kBad);
  Put(kGood);
  written_at_ = apimachinery::Time{.seconds = 99};
  const Plan plan = Make();
  EXPECT_THAT(plan.changes, IsEmpty());
  EXPECT_TRUE(plan.record);
  written_at_ = apimachinery::Time{.seconds = 100};
  EXPECT_EQ(Make().changes.size(), 1U) << "perhaps after the undo";
  written_at_ = apimachinery::Time{.seconds = 99};
  workload_.stampers["STAKATER_OTHER_CONFIGMAP"].is_tool = true;
  EXPECT_EQ(Make().changes.size(), 1U);
  workload_.stampers["STAKATER_OTHER_CONFIGMAP"] = {};
  EXPECT_EQ(Make().changes.size(), 1U) << "nobody knows when";
  workload_.stampers["STAKATER_OTHER_CONFIGMAP"] = {.since = {.seconds = 100}};
  workload_.id.kind = WorkloadKind::kCronJob;
  EXPECT_EQ(Make().changes.size(), 1U);
}

// Somebody has removed a key, which leaves no time in the managed fields. The leader has died
// before the rollout, or its write was not made.
TEST_F(PlannerUndoTest, AChangeThatThisProcessHasSeenIsNotOlderThanAnUndo) {
  workload_.id.kind = WorkloadKind::kDaemonSet;
  workload_.containers[0].variables = {{kUndoneVariable, kGood.ToString()}};
  workload_.stampers = {{kUndoneVariable, {.since = {.seconds = 100}}}};
  Record(kGood);
  Put(kBad, 43);
  written_at_ = apimachinery::Time{.seconds = 90};
  for (const auto kind : {PairState::Kind::kObserved, PairState::Kind::kUncertain}) {
    EXPECT_EQ(Make({.pairs = {{kUndoneConfig, {kind, kGood}}}}).changes.size(), 1U);
    EXPECT_THAT(Make({.pairs = {{kUndoneConfig, {kind, kGood}}}, .template_since = 44}).changes,
                IsEmpty())
        << "it saw the undo, too";
    EXPECT_THAT(Make({.pairs = {{kUndoneConfig, {kind, kBad}}}}).changes, IsEmpty())
        << "no change that it knows of";
  }
  workload_.id.kind = WorkloadKind::kDeployment;
  UndoTo(kGood, 100);
  EXPECT_EQ(Make({.pairs = {{kUndoneConfig, {PairState::Kind::kObserved, kGood}}}}).changes.size(),
            1U);
}

// A watch is behind a workload that was just read, so the knowledge is about the pods before it.
TEST_F(PlannerUndoTest, AnUndoOfWhichNoEventHasToldStaysUndone) {
  workload_.containers[0].variables = {{kUndoneVariable, kGood.ToString()}};
  workload_.stampers = {{kUndoneVariable, {.since = {.seconds = 100}}}};
  Put(kBad, 43);
  for (const auto kind :
       {PairState::Kind::kConfirmed, PairState::Kind::kObserved, PairState::Kind::kUncertain}) {
    Knowledge known{.pairs = {{kUndoneConfig, {kind, kGood}}}, .has_untold_template = true};
    written_at_ = apimachinery::Time{.seconds = 99};
    const Plan plan = Make(known);
    EXPECT_THAT(plan.changes, IsEmpty());
    EXPECT_THAT(plan.learnt, IsEmpty()) << "the event tells of the pods";
    written_at_ = apimachinery::Time{.seconds = 100};
    EXPECT_EQ(Make(known).changes.size(), 1U) << "perhaps after the undo";
    written_at_ = apimachinery::Time{.seconds = 99};
    known.has_untold_template = false;
    EXPECT_EQ(Make(known).changes.size(), 1U);
  }
}

// Each such question is a request to the API server for each workload whenever a process starts.
TEST_F(PlannerUndoTest, WhereTheRecordIsRightNobodyAsksWhenTheDataWereWritten) {
  workload_.id.kind = WorkloadKind::kDaemonSet;
  workload_.stampers = {{kUndoneVariable, {.since = {.seconds = 100}}}};
  Record(kGood);
  Put(kGood);
  EXPECT_THAT(Make().changes, IsEmpty());
  EXPECT_EQ(asked_, 0);
  Put(kBad);
  EXPECT_EQ(Make().changes.size(), 1U);
  EXPECT_EQ(asked_, 1);
}

TEST_F(PlannerUndoTest, AnUndoStaysUndoneAfterARestart) {
  Put(kBad);
  written_at_ = apimachinery::Time{.seconds = 90};
  UndoTo(kGood, 100);
  const Plan plan = Make();
  EXPECT_THAT(plan.changes, IsEmpty());
  EXPECT_TRUE(plan.record);
  Write(plan);
  EXPECT_THAT(Make().changes, IsEmpty()) << "after another restart";
  Put(kGood);
  EXPECT_EQ(Make().changes.size(), 1U) << "mended: the pods have the bad data";
}

TEST_F(PlannerUndoTest, DataWrittenAfterAnUndoRollAfterARestart) {
  UndoTo(kGood, 100);
  for (const auto& written :
       {std::optional(apimachinery::Time{.seconds = 100}),
        std::optional(apimachinery::Time{.seconds = 110}), std::optional<apimachinery::Time>()}) {
    written_at_ = written;
    Put(kBad);
    EXPECT_EQ(Make().changes.size(), 1U);
    Put(kGood);
    EXPECT_EQ(Make().changes.size(), 1U) << "the pods began with other data";
  }
}

TEST_F(PlannerUndoTest, ARolloutThatIsDueAfterAnUndoIsNotForgottenWhenItIsHeld) {
  UndoTo(kGood, 100);
  Put(kGood);
  written_at_ = apimachinery::Time{.seconds = 110};
  Plan plan = Make();
  ASSERT_EQ(plan.changes.size(), 1U);
  ASSERT_TRUE(plan.record);
  plan.changes.clear();  // a policy holds the rollout back, so only the baseline is written
  Write(plan);
  plan = Make();
  ASSERT_EQ(plan.changes.size(), 1U);
  Write(plan);
  EXPECT_THAT(Make().changes, IsEmpty());
}

TEST_F(PlannerUndoTest, WritingTheSameBaselineAgainMakesItTheOperatorsOwn) {
  UndoTo(kGood, 100);
  Put(kGood);
  written_at_ = apimachinery::Time{.seconds = 90};
  const Plan plan = Make();
  EXPECT_TRUE(plan.record);
  Write(plan);
  EXPECT_FALSE(workload_.baseline_restored);
  EXPECT_FALSE(Make().record);
}

TEST_F(PlannerUndoTest, OneReleaseOfDataAndTemplateRollsNothingMore) {
  SetVariable(kGood);
  Record(kGood);
  Put(kBad, 41);
  const Knowledge known{.pairs = {{kUndoneConfig, {kSure, kGood}}}, .template_since = 42};
  const Plan plan = Make(known);
  EXPECT_THAT(plan.changes, IsEmpty());
  EXPECT_TRUE(plan.record);
  EXPECT_EQ(plan.learnt[0].second.digest, kBad);
  EXPECT_TRUE(plan.learnt[0].second.is_ahead_of_record);
}

TEST_F(PlannerUndoTest, DataWrittenAfterTheTemplateRoll) {
  Put(kBad, 43);
  Knowledge known{.pairs = {{kUndoneConfig, {kSure, kGood}}}, .template_since = 42};
  EXPECT_EQ(Make(known).changes.size(), 1U);
  Put(kBad, 42);
  EXPECT_EQ(Make(known).changes.size(), 1U) << "two writes never have one version";
  Put(kBad);
  EXPECT_EQ(Make(known).changes.size(), 1U) << "not known when";
  Put(kBad, 41);
  known.template_since = 0;
  EXPECT_EQ(Make(known).changes.size(), 1U) << "not known when";
}

TEST_F(PlannerUndoTest, ACronJobsTemplateStartsNothing) {
  workload_.id.kind = WorkloadKind::kCronJob;
  Put(kBad, 41);
  const Knowledge known{.pairs = {{kUndoneConfig, {kSure, kGood}}}, .template_since = 42};
  EXPECT_EQ(Make(known).changes.size(), 1U);
}

api::meta::v1::ManagedFieldsEntry WrittenBy(std::string manager, std::int64_t at,
                                            std::string fields) {
  api::meta::v1::ManagedFieldsEntry entry;
  entry.manager = std::move(manager);
  entry.operation = "Update";
  entry.time = apimachinery::Time{.seconds = at};
  entry.fields_v1 = apimachinery::FieldsV1{std::move(fields)};
  return entry;
}

TEST(BaselineOwner, IsTheOneWhoChangedItLast) {
  const std::string annotation =
      R"({"f:metadata":{"f:annotations":{"f:reloader.kubexx.io/baseline":{}}})";
  const std::string fields = annotation + R"(,"f:spec":{"f:template":{}}})";
  api::meta::v1::ObjectMeta metadata;
  EXPECT_FALSE(BaselineRestoredAt(metadata, true)) << "nobody says";
  metadata.managed_fields = {WrittenBy("helm", 50, R"({"f:spec":{}})")};
  EXPECT_FALSE(BaselineRestoredAt(metadata, true));
  metadata.managed_fields.push_back(WrittenBy("kubectl-rollout", 100, fields));
  ASSERT_TRUE(BaselineRestoredAt(metadata, true));
  EXPECT_EQ(BaselineRestoredAt(metadata, true)->seconds, 100);
  metadata.managed_fields.back() = WrittenBy(
      "kubectl-rollout", 100, annotation + R"(,"f:spec":{"f:paused":{},"f:template":{}}})");
  EXPECT_TRUE(BaselineRestoredAt(metadata, true)->IsZero())
      << "another write of its may be the later one";
  metadata.managed_fields.back() = WrittenBy(
      "ui", 100,
      R"({"f:metadata":{"f:annotations":{"f:reloader.kubexx.io/baseline":{}},"f:labels":{"f:a":{}}})"
      R"(,"f:spec":{"f:template":{}}})");
  EXPECT_TRUE(BaselineRestoredAt(metadata, true)->IsZero()) << "so may that of a label";
  metadata.managed_fields.back() = WrittenBy("kubectl", 100, annotation + "}");
  ASSERT_TRUE(BaselineRestoredAt(metadata, false)) << "an undo that only takes a variable away";
  EXPECT_EQ(BaselineRestoredAt(metadata, false)->seconds, 100);
  ASSERT_TRUE(BaselineRestoredAt(metadata, true)) << "one that leaves an older rollout's variable";
  EXPECT_EQ(BaselineRestoredAt(metadata, true)->seconds, 100);
  metadata.managed_fields.back() =
      WrittenBy("kubectl", 100,
                R"({"f:metadata":{"f:annotations":{"f:reloader.kubexx.io/baseline":{},)"
                R"("f:kubectl.kubernetes.io/last-applied-configuration":{}}}})");
  ASSERT_TRUE(BaselineRestoredAt(metadata, true));
  EXPECT_TRUE(BaselineRestoredAt(metadata, true)->IsZero())
      << "a manifest, by an old kubectl, and an undo perhaps";
  metadata.managed_fields.back() = WrittenBy("kubectl-annotate", 100, annotation + "}");
  EXPECT_FALSE(BaselineRestoredAt(metadata, true)) << "a person who writes an annotation";
  metadata.managed_fields.back() = WrittenBy("argocd", 100, annotation + "}");
  EXPECT_FALSE(BaselineRestoredAt(metadata, true)) << "no pods began then";
  metadata.managed_fields.back() = WrittenBy("before-first-apply", 100, fields);
  EXPECT_FALSE(BaselineRestoredAt(metadata, true));
  metadata.managed_fields.back() = WrittenBy("kubectl-rollout", 100, fields);
  metadata.managed_fields.push_back(WrittenBy("Reloader", 70, fields));
  EXPECT_FALSE(BaselineRestoredAt(metadata, true)) << "two may own the same value";
}

TEST(UndoneAt, IsWhenACommandToUndoRolloutsWroteThePodTemplate) {
  const std::string pods = R"({"f:spec":{"f:template":{"f:spec":{}}}})";
  api::meta::v1::ObjectMeta metadata;
  metadata.managed_fields = {WrittenBy("helm", 90, pods), WrittenBy("kubectl-edit", 91, pods),
                             WrittenBy("kubectl", 92, pods),
                             WrittenBy("kubectl-rollout", 95, R"({"f:spec":{"f:paused":{}}})")};
  metadata.managed_fields[2].operation = "Apply";  // kubectl apply --server-side
  EXPECT_FALSE(UndoneAt(metadata));
  metadata.managed_fields.push_back(WrittenBy("kubectl", 50, pods));
  ASSERT_TRUE(UndoneAt(metadata));
  EXPECT_EQ(UndoneAt(metadata)->seconds, 50);
  metadata.managed_fields.push_back(WrittenBy("kubectl-argo-rollouts", 60, pods));
  EXPECT_EQ(UndoneAt(metadata)->seconds, 60);
  metadata.managed_fields = {WrittenBy(
      "kubectl", 70, R"({"f:metadata":{"f:annotations":{"f:reloader.kubexx.io/baseline":{}}}})")};
  EXPECT_EQ(UndoneAt(metadata)->seconds, 70) << "it took a variable away";
}

TEST(TemplateWrittenAt, IsWhenOthersLastWroteThePodTemplateOtherThanToUndoARollout) {
  const std::string pods = R"({"f:spec":{"f:template":{"f:spec":{}}}})";
  api::meta::v1::ObjectMeta metadata;
  EXPECT_FALSE(TemplateWrittenAt(metadata));
  metadata.managed_fields = {WrittenBy("helm", 50, pods), WrittenBy("ci", 40, pods),
                             WrittenBy("Reloader", 60, pods), WrittenBy("kubectl", 70, pods),
                             WrittenBy("autoscaler", 80, R"({"f:spec":{"f:replicas":{}}})")};
  ASSERT_TRUE(TemplateWrittenAt(metadata));
  EXPECT_EQ(TemplateWrittenAt(metadata)->seconds, 50);
  metadata.managed_fields[3].operation = "Apply";  // kubectl apply --server-side
  EXPECT_EQ(TemplateWrittenAt(metadata)->seconds, 70);
}

TEST(OwnWrittenAt, IsWhenTheOperatorLastWroteAnObjectWhoseTemplateItHasWritten) {
  const std::string pods = R"({"f:spec":{"f:template":{"f:spec":{}}}})";
  api::meta::v1::ObjectMeta metadata;
  metadata.managed_fields = {
      WrittenBy("helm", 90, pods),
      WrittenBy("Reloader", 80, R"({"f:metadata":{"f:annotations":{"f:x":{}}}})")};
  EXPECT_FALSE(OwnWrittenAt(metadata)) << "a baseline makes no pods";
  metadata.managed_fields.push_back(WrittenBy("Reloader", 70, pods));
  ASSERT_TRUE(OwnWrittenAt(metadata));
  EXPECT_EQ(OwnWrittenAt(metadata)->seconds, 70);
  metadata.managed_fields.push_back(WrittenBy("Reloader-records", 90, pods));
  EXPECT_EQ(OwnWrittenAt(metadata)->seconds, 70) << "a record makes no pods";
  metadata.managed_fields.push_back(WrittenBy("Reloader", 95, R"({"f:spec":{"f:restartAt":{}}})"));
  EXPECT_EQ(OwnWrittenAt(metadata)->seconds, 95) << "Argo Rollouts makes pods then";
  metadata.managed_fields = {WrittenBy(
      "Reloader", 75, R"({"f:metadata":{"f:annotations":{"f:kubexx.io/rolled-for":{}}}})")};
  ASSERT_TRUE(OwnWrittenAt(metadata));
  EXPECT_EQ(OwnWrittenAt(metadata)->seconds, 75) << "a Job of a CronJob is a rollout, too";
}

TEST(IsBaselineForeign, GoesByTheManagedFields) {
  const std::string annotation =
      R"({"f:metadata":{"f:annotations":{"f:reloader.kubexx.io/baseline":{}}}})";
  api::meta::v1::ObjectMeta metadata;
  EXPECT_FALSE(IsBaselineForeign(metadata)) << "nobody says";
  metadata.managed_fields = {WrittenBy("helm", 50, R"({"f:spec":{}})")};
  EXPECT_FALSE(IsBaselineForeign(metadata));
  metadata.managed_fields.push_back(WrittenBy("argocd", 60, annotation));
  EXPECT_TRUE(IsBaselineForeign(metadata));
  metadata.managed_fields.push_back(WrittenBy("Reloader", 70, annotation));
  EXPECT_FALSE(IsBaselineForeign(metadata)) << "two may own the same value";
  metadata.managed_fields = {WrittenBy("before-first-apply", 60, annotation)};
  EXPECT_FALSE(IsBaselineForeign(metadata));
}

TEST(IsMadeWithBaseline, OfWhatTheOperatorItselfHasCreated) {
  const std::string all = R"({"f:metadata":{"f:annotations":{"f:reloader.kubexx.io/baseline":{}}},)"
                          R"("f:spec":{"f:template":{"f:spec":{}}}})";
  api::meta::v1::ObjectMeta metadata;
  metadata.creation_timestamp = apimachinery::Time{.seconds = 100};
  EXPECT_FALSE(IsMadeWithBaseline(metadata)) << "nobody says";
  metadata.managed_fields = {WrittenBy("kubectl-create", 100, all)};
  EXPECT_FALSE(IsMadeWithBaseline(metadata)) << "a copy";
  metadata.managed_fields = {WrittenBy("Reloader", 100, all)};
  EXPECT_TRUE(IsMadeWithBaseline(metadata));
  metadata.managed_fields[0].time->seconds = 60;
  EXPECT_TRUE(IsMadeWithBaseline(metadata)) << "admission took a while";
  metadata.managed_fields[0].time->seconds = 10;
  EXPECT_FALSE(IsMadeWithBaseline(metadata)) << "a backup that was restored";
  metadata.managed_fields = {
      WrittenBy("Reloader", 100, R"({"f:spec":{"f:template":{"f:spec":{}}}})"),
      WrittenBy("kubectl-annotate", 120,
                R"({"f:metadata":{"f:annotations":{"f:reloader.kubexx.io/baseline":{}}}})")};
  EXPECT_FALSE(IsMadeWithBaseline(metadata)) << "somebody else has written another";
}

TEST(LastWritten, IsAboutDataOnly) {
  api::meta::v1::ObjectMeta metadata;
  EXPECT_FALSE(LastWritten(metadata));
  metadata.managed_fields = {WrittenBy("helm", 50, R"({"f:data":{"f:key":{}}})"),
                             WrittenBy("labeller", 90, R"({"f:metadata":{"f:labels":{}}})")};
  EXPECT_EQ(LastWritten(metadata)->seconds, 50);
  metadata.creation_timestamp = apimachinery::Time{.seconds = 60};
  EXPECT_EQ(LastWritten(metadata)->seconds, 60);
}

TEST(KeysLastWritten, TellsWhoeverWroteEachKey) {
  api::meta::v1::ObjectMeta metadata;
  EXPECT_THAT(KeysLastWritten(metadata), IsEmpty());
  metadata.managed_fields = {
      WrittenBy("helm", 50, R"({"f:data":{".":{},"f:config":{},"f:status":{}}})"),
      WrittenBy("ticker", 90, R"({"f:data":{"f:status":{}},"f:binaryData":{"f:beat":{}}})"),
      WrittenBy("labeller", 95, R"({"f:metadata":{"f:labels":{"f:x":{}}}})")};
  const auto keys = KeysLastWritten(metadata);
  ASSERT_EQ(keys.size(), 3U);
  EXPECT_EQ(keys.at("config").seconds, 50);
  EXPECT_EQ(keys.at("status").seconds, 90);
  EXPECT_EQ(keys.at("beat").seconds, 90);
  metadata.creation_timestamp = apimachinery::Time{.seconds = 60};
  EXPECT_EQ(KeysLastWritten(metadata).at("config").seconds, 60);
}

}  // namespace
}  // namespace kubexx::reloader
