#include "kubexx/reloader/model/stamps.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kubexx/reloader/model/workload.h"
#include "kubexx/reloader/plan/strategy.h"

namespace kubexx::reloader {
namespace {

using api::meta::v1::ObjectMeta;
using apimachinery::Time;
using testing::IsEmpty;
using testing::Pair;
using testing::UnorderedElementsAre;

constexpr char kStampOne[] = "STAKATER_ONE_CONFIGMAP";
constexpr char kStampTwo[] = "STAKATER_TWO_SECRET";

Workload WithVariables(std::vector<EnvVar> variables) {
  Workload workload;
  workload.containers = {{.name = "app", .variables = std::move(variables)}};
  return workload;
}

void AddOwner(ObjectMeta& metadata, std::string manager, std::int64_t at, std::string fields) {
  metadata.managed_fields.push_back(
      {.manager = std::move(manager),
       .operation = "Update",
       .time = Time{.seconds = at},
       .fields_v1 =
           apimachinery::FieldsV1{R"({"f:spec":{"f:template":)" + std::move(fields) + "}}"}});
}

/// The managed fields of a manager that owns the values of these variables.
std::string ValueFields(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) {
    text += (text.empty() ? "" : ",") + (R"("k:{\"name\":\")" + name) +
            R"(\"}":{".":{},"f:name":{},"f:value":{}})";
  }
  return R"({"f:spec":{"f:containers":{"k:{\"name\":\"app\"}":{"f:env":{)" + text + "}}}}}";
}

const Stamper kOwnStamp{.is_operator = true};

TEST(StampersOf, AreWhoeverHasTheValue) {
  const Workload workload = WithVariables({{kStampOne, "1"}, {kStampTwo, "2"}});
  ObjectMeta metadata;
  EXPECT_THAT(StampersOf(workload, metadata), IsEmpty()) << "nobody tells";
  AddOwner(metadata, "Reloader", 50, ValueFields({kStampOne, kStampTwo}));
  EXPECT_THAT(StampersOf(workload, metadata),
              UnorderedElementsAre(Pair(kStampOne, kOwnStamp), Pair(kStampTwo, kOwnStamp)));
  // A manager that changes a value leaves the list item to the manager that made it.
  metadata.managed_fields.clear();
  AddOwner(metadata, "Reloader", 50,
           R"({"f:spec":{"f:containers":{"k:{\"name\":\"app\"}":{"f:env":{)"
           R"("k:{\"name\":\"STAKATER_ONE_CONFIGMAP\"}":{".":{},"f:name":{}}}}}}})");
  AddOwner(metadata, "kubectl-rollout", 100, ValueFields({kStampOne}));
  EXPECT_THAT(StampersOf(workload, metadata),
              UnorderedElementsAre(Pair(kStampOne, Stamper{.since = Time{.seconds = 100}})));
  AddOwner(metadata, "Reloader", 70, ValueFields({kStampOne}));
  EXPECT_THAT(StampersOf(workload, metadata), UnorderedElementsAre(Pair(kStampOne, kOwnStamp)))
      << "two may own the same value";
  metadata.managed_fields.clear();
  AddOwner(metadata, "before-first-apply", 100, ValueFields({kStampOne}));
  EXPECT_THAT(StampersOf(workload, metadata), IsEmpty());
}

TEST(StampersOf, OfAWholeListAreWhoeverChangedItLast) {
  const Workload workload = WithVariables({{kStampOne, "1"}});
  ObjectMeta metadata;
  AddOwner(metadata, "undo", 100, R"({"f:spec":{"f:containers":{}}})");
  EXPECT_THAT(StampersOf(workload, metadata),
              UnorderedElementsAre(Pair(kStampOne, Stamper{.since = Time{.seconds = 100}})));
}

TEST(StampersOf, TimeIsNotKnownOfAManagerThatWroteMoreThanAnUndoDoes) {
  const Workload workload = WithVariables({{kStampOne, "1"}});
  const auto since = [&](const std::string& metadata_fields) {
    ObjectMeta metadata;
    AddOwner(metadata, "ui", 300, ValueFields({kStampOne}));
    metadata.managed_fields.back().fields_v1->raw.insert(
        1, R"("f:metadata":)" + metadata_fields + ",");
    return StampersOf(workload, metadata).at(kStampOne).since;
  };
  EXPECT_EQ(since(R"({"f:annotations":{"f:kubernetes.io/change-cause":{}}})"),
            (Time{.seconds = 300}))
      << "an undo of a Deployment brings annotations back";
  EXPECT_EQ(since(R"({"f:labels":{"f:tier":{}}})"), Time{})
      << "it may have set a label after its undo";
  EXPECT_EQ(since(R"({"f:annotations":{"f:a":{}},"f:ownerReferences":{}})"), Time{});
  EXPECT_EQ(since("{}"), Time{}) << "all of it";
}

TEST(StampersOf, AlsoOfAnnotations) {
  Workload workload;
  workload.template_annotations = {{std::string(kRestartedFor), "x"}, {"other", "y"}};
  ObjectMeta metadata;
  AddOwner(
      metadata, "Reloader", 50,
      R"({"f:metadata":{"f:annotations":{"f:reloader.kubexx.io/restarted-for":{},"f:other":{}}}})");
  EXPECT_THAT(StampersOf(workload, metadata),
              UnorderedElementsAre(Pair(std::string(kRestartedFor), kOwnStamp)));
}

// Seed 6 of the simulation. When others have written everything in a map, its first manager keeps
// the rest of the map, and that looks like a map that is written as a whole.
TEST(StampersOf, AreNotThoseWhoMadeTheMapAroundTheValue) {
  Workload workload;
  workload.template_annotations = {{std::string(kLastReloadedFrom), "x"}};
  ObjectMeta metadata;
  AddOwner(metadata, "kubectl", 100,
           R"({"f:metadata":{"f:annotations":{"f:reloader.stakater.com/last-reloaded-from":{}}}})");
  for (const char* left : {R"({"f:metadata":{"f:annotations":{}}})", R"({"f:metadata":{}})"}) {
    AddOwner(metadata, "Reloader", 50, left);
  }
  const Stamper undone{.since = Time{.seconds = 100}};
  EXPECT_THAT(StampersOf(workload, metadata),
              UnorderedElementsAre(Pair(std::string(kLastReloadedFrom), undone)));
  std::ranges::reverse(metadata.managed_fields);
  EXPECT_THAT(StampersOf(workload, metadata),
              UnorderedElementsAre(Pair(std::string(kLastReloadedFrom), undone)));
}

// Seed 317 of 400 hours of the simulation: a copy of a whole workload, which had been undone, was
// rolled by an operator that began after it, though its pods had begun with the present data.
TEST(StampersOf, NobodyHasBroughtAStampBackBeforeTheWorkloadWasMade) {
  const Workload workload = WithVariables({{kStampOne, "1"}});
  ObjectMeta metadata;
  metadata.creation_timestamp = Time{.seconds = 70};
  // Whoever owns a label, too, may have written that later than the template.
  AddOwner(metadata, "kubectl", 100, ValueFields({kStampOne}));
  metadata.managed_fields.back().fields_v1->raw.insert(1,
                                                       R"("f:metadata":{"f:labels":{"f:a":{}}},)");
  EXPECT_THAT(StampersOf(workload, metadata),
              UnorderedElementsAre(Pair(kStampOne, Stamper{.since = Time{.seconds = 70}})));
}

TEST(StampersOf, ToolsKeepWhatIsDescribedElsewhere) {
  const Workload workload = WithVariables({{kStampOne, "1"}});
  const auto is_tool = [&](const std::vector<std::string>& managers, const char* operation) {
    ObjectMeta metadata;
    for (const std::string& manager : managers) {
      AddOwner(metadata, manager, 100, ValueFields({kStampOne}));
      metadata.managed_fields.back().operation = operation;
    }
    return StampersOf(workload, metadata).at(kStampOne).is_tool;
  };
  EXPECT_FALSE(is_tool({"kubectl-rollout"}, "Update"));
  EXPECT_FALSE(is_tool({"some-ui"}, "Update"));
  EXPECT_TRUE(is_tool({"some-ui"}, "Apply"));
  EXPECT_TRUE(is_tool({"argocd-controller"}, "Update"));
  EXPECT_TRUE(is_tool({"kubectl-replace"}, "Update"));
  EXPECT_FALSE(is_tool({"argocd-controller", "kubectl-rollout"}, "Update"))
      << "somebody brought it back to what the tool has";
}

TEST(IsUndo, IsWhatNoDescriptionOfTheWorkloadHas) {
  const Workload before = WithVariables({{kStampOne, "2"}});
  Workload now = WithVariables({{kStampOne, "1"}});
  now.stampers = {{kStampOne, Stamper{}}};
  EXPECT_TRUE(IsUndo(before, now));
  now.stampers = {{kStampOne, {.is_tool = true}}};
  EXPECT_FALSE(IsUndo(before, now));
  now = WithVariables({});
  EXPECT_FALSE(IsUndo(before, now)) << "who takes something away is not named";
  now.undone = Time{.seconds = 100};
  EXPECT_TRUE(IsUndo(before, now));
  Workload undone_before = before;
  undone_before.undone = Time{.seconds = 100};
  EXPECT_FALSE(IsUndo(undone_before, now));
}

TEST(MayHaveGoneThereAndBack, IsWhatSomebodyHasWrittenMoreThanOnce) {
  Workload before = WithVariables({{kStampOne, "1"}});
  before.template_version = {.generation = 4, .digest = "one"};
  before.template_written = Time{.seconds = 100};
  Workload now = before;
  EXPECT_FALSE(MayHaveGoneThereAndBack(before, now));
  now.template_version.generation = 6;
  EXPECT_FALSE(MayHaveGoneThereAndBack(before, now)) << "it was scaled";
  now.template_written = Time{.seconds = 101};
  EXPECT_TRUE(MayHaveGoneThereAndBack(before, now));
  now.template_version.generation = 5;
  EXPECT_FALSE(MayHaveGoneThereAndBack(before, now)) << "one write does not do it";
  now.template_version = {.generation = 6, .digest = "two"};
  EXPECT_FALSE(MayHaveGoneThereAndBack(before, now)) << "it did not come back";
  now = before;
  now.template_version.generation = 6;
  now.undone = Time{.seconds = 101};
  EXPECT_TRUE(MayHaveGoneThereAndBack(before, now));
  now.id.kind = before.id.kind = WorkloadKind::kCronJob;
  EXPECT_FALSE(MayHaveGoneThereAndBack(before, now)) << "its template begins nothing";
}

TEST(Stampers, ReadBackWhatTheyAreWrittenAs) {
  const Workload workload = WithVariables({{kStampOne, "1"}, {kStampTwo, "2"}});
  for (const Stampers& stampers :
       {Stampers{}, Stampers{{kStampOne, kOwnStamp}, {kStampTwo, kOwnStamp}},
        Stampers{{kStampOne, kOwnStamp}},
        Stampers{{kStampOne, kOwnStamp}, {kStampTwo, {.since = Time{.seconds = 100}}}},
        Stampers{{kStampOne, {.is_tool = true, .since = Time{.seconds = 100}}},
                 {kStampTwo, {.is_tool = true}}},
        Stampers{{kStampTwo, Stamper{}}}}) {
    EXPECT_EQ(StampersFrom(TextOf(stampers, workload), workload), stampers);
  }
  EXPECT_THAT(StampersFrom("x = =y a=z", workload), IsEmpty());
}

/// A template that the operator has rolled, at this generation.
Workload Rolled(std::int64_t generation, std::string value, bool is_operator = true) {
  Workload workload = WithVariables({{kStampOne, value}, {kStampTwo, "as before"}});
  workload.uid = "uid";
  workload.template_version = {generation, std::move(value)};
  workload.stampers = {{kStampOne, {.is_operator = is_operator}}, {kStampTwo, kOwnStamp}};
  return workload;
}

TEST(StampsOfOneRollout, AreThoseThatTheOnlyWriteHasSet) {
  const Workload before = Rolled(7, "1");
  EXPECT_THAT(StampsOfOneRollout(before, Rolled(8, "2")),
              UnorderedElementsAre(Pair(kStampOne, "2")));
  EXPECT_THAT(StampsOfOneRollout(before, Rolled(9, "2")), IsEmpty())
      << "a release may have come after it, whose pods have something else";
  EXPECT_THAT(StampsOfRollouts(before, Rolled(9, "2")), UnorderedElementsAre(kStampOne));
  EXPECT_THAT(StampsOfRollouts(before, Rolled(9, "2", false)), IsEmpty());
  EXPECT_THAT(StampsOfOneRollout(before, Rolled(7, "2")), IsEmpty()) << "a default";
  EXPECT_THAT(StampsOfOneRollout(before, Rolled(8, "1")), IsEmpty()) << "scaled";
  EXPECT_THAT(StampsOfOneRollout(before, Rolled(8, "2", false)), IsEmpty()) << "an undo";
}

TEST(StampsOfOneRollout, AreAnnotationsThatTellOfData) {
  const auto at = [](std::int64_t generation, const std::string& value) {
    Workload workload;
    workload.uid = "uid";
    workload.template_version = {generation, value};
    for (const std::string_view key : {kLastReloadedFrom, kRestartedFor}) {
      workload.template_annotations[std::string(key)] = value;
      workload.stampers[std::string(key)] = kOwnStamp;
    }
    return workload;
  };
  EXPECT_THAT(StampsOfOneRollout(at(7, "1"), at(8, "2")),
              UnorderedElementsAre(Pair(std::string(kLastReloadedFrom), "2")));
}

TEST(StampsOfOneRollout, AreNoneWhereTheTemplateDoesNotTell) {
  const Workload before = Rolled(7, "1");
  Workload now = Rolled(8, "2");
  now.uid = "another";
  EXPECT_THAT(StampsOfOneRollout(before, now), IsEmpty());
  now = Rolled(8, "2");
  now.stampers.clear();
  EXPECT_THAT(StampsOfOneRollout(before, now), IsEmpty());
  now = Rolled(8, "2");
  now.id.kind = WorkloadKind::kCronJob;
  EXPECT_THAT(StampsOfOneRollout(before, now), IsEmpty());
  now = Rolled(8, "2");
  now.template_ref = TemplateRef{.kind = "Deployment", .name = "base"};
  EXPECT_THAT(StampsOfOneRollout(before, now), IsEmpty()) << "the generation is the Rollout's";
}

TEST(WriterOfTemplate, GoesByTheStampsThatHaveChanged) {
  const Workload before = WithVariables({{kStampOne, "1"}, {kStampTwo, "2"}});
  Workload now = WithVariables({{kStampOne, "other"}, {kStampTwo, "2"}});
  EXPECT_EQ(WriterOfTemplate(before, now), TemplateWriter::kUnknown) << "nobody tells";
  now.stampers = {{kStampOne, kOwnStamp}, {kStampTwo, Stamper{}}};
  EXPECT_EQ(WriterOfTemplate(before, now), TemplateWriter::kOperator);
  now.stampers = {{kStampOne, Stamper{}}, {kStampTwo, kOwnStamp}};
  EXPECT_EQ(WriterOfTemplate(before, now), TemplateWriter::kOther);
  EXPECT_EQ(WriterOfTemplate(now, now), TemplateWriter::kOther) << "a release";
  EXPECT_EQ(WriterOfTemplate(before, WithVariables({{kStampTwo, "2"}})), TemplateWriter::kUnknown)
      << "what is gone has no owner";
}

}  // namespace
}  // namespace kubexx::reloader
