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

Phase PhaseWith(const std::string& status) { return PhaseOfCustom(Worker(), ObjectWith(status)); }

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
  EXPECT_EQ(PhaseOfCustom(Worker(), *JsonTree::Parse(R"({"metadata":{"generation":1}})")),
            Phase::kUnseen);
  EXPECT_EQ(PhaseOfCustom({}, *JsonTree::Parse(R"({"metadata":{"generation":1}})")),
            Phase::kComplete)
      << "nothing is asked for";
}

TEST(PhaseOfCustomTest, AStatusOfBeforeTheTemplateIsOld) {
  const auto phase = [](const std::string& status_time, const std::string& template_time,
                        const std::string& more = "") {
    return PhaseOfCustom(
        {.pod_template = {"spec", "pool", "pods"}, .done = {{.condition = "Ready"}}},
        *JsonTree::Parse(
            R"({"metadata":{"generation":3,"managedFields":[{"manager":"c","time":")" +
            status_time +
            R"(","fieldsV1":{"f:status":{"f:conditions":{}}}},{"manager":"Reloader","time":")" +
            template_time +
            R"(","fieldsV1":{"f:spec":{"f:pool":{"f:pods":{}}}}},{"manager":"x","time":)"
            R"("2027-01-01T00:00:00Z","fieldsV1":{"f:spec":{"f:pool":{"f:size":{}}}}}]},)"
            R"("status":{)" +
            more + kIsReady + "}}"));
  };
  EXPECT_EQ(phase("2026-01-01T00:00:00Z", "2026-01-01T00:00:01Z"), Phase::kUnseen);
  EXPECT_EQ(phase("2026-01-01T00:00:01Z", "2026-01-01T00:00:01Z"), Phase::kComplete);
  EXPECT_EQ(phase("2026-01-01T00:00:02Z", "2026-01-01T00:00:01Z"), Phase::kComplete);
  EXPECT_EQ(phase("2026-01-01T00:00:00Z", "2026-01-01T00:00:01Z", R"("observedGeneration":3,)"),
            Phase::kComplete)
      << "the controller says that it is of now";
  EXPECT_EQ(phase("2026-01-01T00:00:00Z", "2026-01-01T00:00:01Z", R"("observedGeneration":"3",)"),
            Phase::kComplete);
  EXPECT_EQ(phase("2026-01-01T00:00:02Z", "2026-01-01T00:00:01Z", R"("observedGeneration":"2",)"),
            Phase::kUnseen);
  EXPECT_EQ(phase("2026-01-01T00:00:02Z", "2026-01-01T00:00:01Z", R"("observedGeneration":null,)"),
            Phase::kComplete);
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
