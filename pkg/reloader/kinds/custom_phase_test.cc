#include "kubexx/reloader/kinds/custom_phase.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

namespace kubexx::reloader {
namespace {

using codec::JsonTree;
using reloadpolicy::Phase;

JsonTree ObjectWith(const std::string& status) {
  return *JsonTree::Parse(
      R"({"metadata":{"generation":3},"spec":{"replicas":2,"free":0},"status":)" + status + "}");
}

/// A kind that is done when all replicas are updated and Ready, and failed when it crashes.
CustomKind Worker() {
  return {.done = {{.field = {"status", "updated"}, .same_as = {"spec", "replicas"}},
                   {.condition = "Ready"}},
          .failed = {{.condition = "Ready", .status = "False", .reason = "Crashing"},
                     {.field = {"status", "phase"}, .value = "Bad"}}};
}

Phase PhaseWith(const std::string& status) {
  return PhaseOfCustom(Worker(), ObjectWith(status)).phase;
}

constexpr char kIsReady[] = R"("conditions":[{"type":"Other","status":"False"},)"
                            R"({"type":"Ready","status":"True","reason":"AllThere"}])";

TEST(PhaseOfCustomTest, IsThroughWhenAllRulesHold) {
  const std::string ready(kIsReady);
  EXPECT_EQ(PhaseWith(R"({"updated":2,)" + ready + "}"), Phase::kComplete);
  EXPECT_EQ(PhaseWith(R"({"observedGeneration":3,"updated":2,)" + ready + "}"), Phase::kComplete);
  EXPECT_EQ(PhaseWith(R"({"updated":1,)" + ready + "}"), Phase::kUpdating);
  EXPECT_EQ(PhaseWith(R"({"updated":"2",)" + ready + "}"), Phase::kUpdating);
  EXPECT_EQ(PhaseWith(R"({"updated":2})"), Phase::kUpdating);
  EXPECT_EQ(PhaseWith(R"({"updated":2,"conditions":[{"type":"Ready","status":"Unknown"}]})"),
            Phase::kUpdating);
}

TEST(PhaseOfCustomTest, IsUnseenWhileTheStatusIsOld) {
  EXPECT_EQ(PhaseWith(R"({"observedGeneration":2,"updated":2,)" + std::string(kIsReady) + "}"),
            Phase::kUnseen);
  const JsonTree without = *JsonTree::Parse(R"({"metadata":{"generation":1}})");
  EXPECT_EQ(PhaseOfCustom(Worker(), without), CustomPhase{Phase::kUnseen});
  EXPECT_EQ(PhaseOfCustom({}, without), CustomPhase{Phase::kComplete}) << "nothing is asked for";
}

/// A kind whose objects are done when the two fields are the same.
CustomKind Twin() {
  return {.done = {{.field = {"status", "ready"}, .same_as = {"spec", "size"}}}};
}

TEST(PhaseOfCustomTest, AnEmptyStatusTellsNothing) {
  for (const char* status : {"", R"(,"status":null)", R"(,"status":{})"}) {
    const std::string text =
        R"({"metadata":{"generation":1},"spec":{})" + std::string(status) + "}";
    EXPECT_EQ(PhaseOfCustom(Twin(), *JsonTree::Parse(text)), CustomPhase{Phase::kUnseen}) << text;
  }
}

/// An object that the operator rolls, or has rolled.
struct RolledObject {
  std::string status = R"({"phase":"Running"})";
  std::string status_time = "2026-01-01T00:00:00Z";
  std::string template_time = "2026-01-01T00:00:00Z";
  std::string state{};
  std::string mark{};
  std::string more_status_fields{};

  JsonTree Tree() const {
    return *JsonTree::Parse(
        R"({"metadata":{"generation":3,"uid":"u","annotations":{"reloader.kubexx.io/rollout-state":")" +
        state + R"(","reloader.kubexx.io/status-before":")" + mark +
        R"("},"managedFields":[{"manager":"c","time":")" + status_time +
        R"(","fieldsV1":{"f:status":{"f:phase":{}})" + more_status_fields +
        R"(}},{"manager":"argocd","time":")" + template_time +
        R"(","fieldsV1":{"f:metadata":{"f:labels":{}},"f:spec":{"f:template":{}}}}]},"spec":{},"status":)" +
        status + "}");
  }
};

CustomKind Runner() { return {.done = {{.field = {"status", "phase"}, .value = "Running"}}}; }

CustomPhase PhaseOfRolled(const RolledObject& object) {
  return PhaseOfCustom(Runner(), object.Tree());
}

/// The object right after the write that rolls it.
RolledObject JustRolled() {
  RolledObject object;
  object.mark = StatusMark(Runner(), object.Tree()).value_or("none");
  object.state = "started u";
  return object;
}

TEST(PhaseOfCustomTest, AStatusThatIsAsBeforeARolloutMayBeOfBeforeOrAfter) {
  const CustomPhase may_be_through{Phase::kUnseen, Phase::kComplete};
  RolledObject object = JustRolled();
  EXPECT_EQ(PhaseOfRolled(object), may_be_through);
  object.state = "failed u";
  EXPECT_EQ(PhaseOfRolled(object), may_be_through);
  object.status_time = "2026-01-01T00:00:01Z";
  EXPECT_EQ(PhaseOfRolled(object), CustomPhase{Phase::kComplete})
      << "it has come back to what it was";
  object = JustRolled();
  object.status = R"({"phase":"Starting"})";
  EXPECT_EQ(PhaseOfRolled(object), CustomPhase{Phase::kUpdating});
  object = JustRolled();
  object.status = R"({"phase":"Running","observedGeneration":3})";
  EXPECT_EQ(PhaseOfRolled(object), CustomPhase{Phase::kComplete}) << "it says so itself";
  object.status = R"({"phase":"Running","observedGeneration":"2"})";
  EXPECT_EQ(PhaseOfRolled(object), CustomPhase{Phase::kUnseen});
}

TEST(PhaseOfCustomTest, OnlyARolloutMakesAStatusOld) {
  RolledObject object = JustRolled();
  object.state = "completed u";
  object.template_time = "2026-01-02T00:00:00Z";  // somebody who owns the template sets a label
  EXPECT_EQ(PhaseOfRolled(object), CustomPhase{Phase::kComplete});
  object.state = "started of-another";
  EXPECT_EQ(PhaseOfRolled(object), CustomPhase{Phase::kComplete}) << "a copy";
  object.state = "";
  EXPECT_EQ(PhaseOfRolled(object), CustomPhase{Phase::kComplete});
}

TEST(PhaseOfCustomTest, TheTimeOfAManagerOfOtherFieldsSaysNothingOfTheStatus) {
  RolledObject object;
  object.more_status_fields = R"(,"f:metadata":{"f:finalizers":{}})";
  object.mark = StatusMark(Runner(), object.Tree()).value_or("none");
  object.state = "started u";
  object.status_time = "2026-01-01T00:00:01Z";
  EXPECT_EQ(PhaseOfRolled(object), (CustomPhase{Phase::kUnseen, Phase::kComplete}));
}

TEST(PhaseOfCustomTest, AConditionOfThePresentGenerationNeedsNoMark) {
  const auto phase = [](const std::string& generation) {
    const CustomKind kind{.done = {{.condition = "Ready"}},
                          .failed = {{.condition = "Ready", .status = "False"}}};
    RolledObject object = JustRolled();
    object.status = R"({"conditions":[{"type":"Ready","status":"True")" + generation + "}]}";
    object.mark = StatusMark(kind, object.Tree()).value_or("none");
    return PhaseOfCustom(kind, object.Tree());
  };
  EXPECT_EQ(phase(R"(,"observedGeneration":3)"), CustomPhase{Phase::kComplete});
  EXPECT_EQ(phase(""), (CustomPhase{Phase::kUnseen, Phase::kComplete}));
}

TEST(StatusMarkTest, AKindThatTellsItsGenerationOrHasNoRulesNeedsNone) {
  RolledObject object;
  EXPECT_TRUE(StatusMark(Runner(), object.Tree()));
  EXPECT_FALSE(StatusMark({}, object.Tree()));
  object.status = R"({"observedGeneration":0})";
  EXPECT_FALSE(StatusMark(Runner(), object.Tree()));
}

TEST(PhaseOfCustomTest, AConditionOfAnEarlierGenerationDoesNotHold) {
  const auto phase = [](const char* generation) {
    return PhaseWith(R"({"updated":2,"conditions":[{"type":"Ready","status":"True",)"
                     R"("observedGeneration":)" +
                     std::string(generation) + "}]}");
  };
  EXPECT_EQ(phase("2"), Phase::kUpdating);
  EXPECT_EQ(phase("3"), Phase::kComplete);
}

TEST(PhaseOfCustomTest, HasFailedWhenOneRuleHolds) {
  EXPECT_EQ(PhaseWith(R"({"conditions":[{"type":"Ready","status":"False","reason":"Crashing"}]})"),
            Phase::kFailed);
  EXPECT_EQ(PhaseWith(R"({"conditions":[{"type":"Ready","status":"False","reason":"Starting"}]})"),
            Phase::kUpdating);
  EXPECT_EQ(PhaseWith(R"({"updated":2,"phase":"Bad",)" + std::string(kIsReady) + "}"),
            Phase::kFailed);
  EXPECT_EQ(PhaseWith(R"({"observedGeneration":2,"phase":"Bad"})"), Phase::kUnseen)
      << "it is about an earlier rollout";
}

TEST(HoldsTest, AFieldThatIsNotThereIsZeroAndFalse) {
  const JsonTree object = ObjectWith(R"({"zero":0,"null":null,"text":"","no":false})");
  const auto is_same = [&](FieldPath a, FieldPath b) {
    return Holds({.field = std::move(a), .same_as = std::move(b)}, object);
  };
  EXPECT_TRUE(is_same({"status", "updated"}, {"spec", "free"}));
  EXPECT_TRUE(is_same({"status", "zero"}, {"spec", "none"}));
  EXPECT_TRUE(is_same({"status", "null"}, {"spec", "none"}));
  EXPECT_FALSE(is_same({"status", "updated"}, {"spec", "replicas"}));
  EXPECT_FALSE(is_same({"status", "text"}, {"spec", "none"}));
  EXPECT_TRUE(is_same({"status", "no"}, {"spec", "none"}));
  const auto has = [&](FieldPath field, std::string value) {
    return Holds({.field = std::move(field), .value = std::move(value)}, object);
  };
  EXPECT_TRUE(has({"status", "updated"}, "0"));
  EXPECT_TRUE(has({"status", "updating"}, "false"));
  EXPECT_FALSE(has({"status", "updating"}, "true"));
  EXPECT_TRUE(has({"status", "no"}, "false"));
  EXPECT_TRUE(has({"spec", "replicas"}, "2"));
  EXPECT_FALSE(has({"status", "updated"}, ""));
  EXPECT_FALSE(has({"spec", "replicas", "more"}, "2"));
}

}  // namespace
}  // namespace kubexx::reloader
