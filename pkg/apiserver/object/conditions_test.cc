#include "kubexx/apiserver/object/conditions.h"

#include <gtest/gtest.h>

#include <string>

namespace kubexx::apiserver {
namespace {

using codec::JsonTree;

JsonTree WithReady(bool holds, std::string_view since) {
  JsonTree object = JsonTree::Object();
  SetCondition(ConditionTree("Ready", holds, "Made", "it is made", since), object);
  return object;
}

TEST(ConditionsTest, AConditionIsFoundByItsType) {
  const JsonTree object = WithReady(true, "t1");
  ASSERT_NE(FindCondition(object, "Ready"), nullptr);
  EXPECT_EQ(
      FindCondition(object, "Ready")->ToJson(),
      R"({"type":"Ready","status":"True","lastTransitionTime":"t1","reason":"Made","message":"it is made"})");
  EXPECT_TRUE(ConditionHolds(object, "Ready"));
  EXPECT_FALSE(ConditionHolds(object, "Degraded"));
  EXPECT_FALSE(ConditionHolds(WithReady(false, "t1"), "Ready"));
  EXPECT_EQ(FindCondition(JsonTree::Object(), "Ready"), nullptr);
}

TEST(ConditionsTest, TheTimeChangesWithTheStatusOnly) {
  JsonTree object = WithReady(true, "t1");
  SetCondition(ConditionTree("Ready", true, "Kept", "", "t2"), object);
  EXPECT_EQ(FindCondition(object, "Ready")->TextAt("lastTransitionTime"), "t1");
  EXPECT_EQ(FindCondition(object, "Ready")->TextAt("reason"), "Kept");
  SetCondition(ConditionTree("Ready", false, "Lost", "", "t3"), object);
  EXPECT_EQ(FindCondition(object, "Ready")->TextAt("lastTransitionTime"), "t3");
  EXPECT_EQ(object.At({"status", "conditions"})->size(), 1U);
}

TEST(ConditionsTest, AnotherTypeComesLast) {
  JsonTree object = WithReady(true, "t1");
  SetCondition(ConditionTree("Degraded", false, "None", "", "t2"), object);
  ASSERT_EQ(object.At({"status", "conditions"})->size(), 2U);
  EXPECT_EQ(object.At({"status", "conditions", "1"}), FindCondition(object, "Degraded"));
}

TEST(ConditionsTest, APodConditionHasATimeOfAProbeAndOnlyWhatIsSaid) {
  EXPECT_EQ(
      PodConditionTree("PodScheduled", true, "", "", "t1").ToJson(),
      R"({"type":"PodScheduled","status":"True","lastProbeTime":null,"lastTransitionTime":"t1"})");
  EXPECT_EQ(
      PodConditionTree("PodScheduled", false, "Gated", "it waits", "").ToJson(),
      R"({"type":"PodScheduled","status":"False","lastProbeTime":null,"lastTransitionTime":null,"reason":"Gated","message":"it waits"})");
}

TEST(ConditionsTest, TimesThatAClientLeavesOutAreThoseOfTheSameConditionBefore) {
  const JsonTree old = WithReady(true, "t1");
  JsonTree object = old;
  JsonTree& conditions = object["status"]["conditions"];
  conditions.elements()[0].Erase("lastTransitionTime");
  conditions.Append(ConditionTree("Degraded", true, "Slow", "", ""));
  conditions.Append(ConditionTree("Full", true, "Small", "", "t0"));
  SetConditionTimes(old, "t2", object);
  EXPECT_EQ(FindCondition(object, "Ready")->TextAt("lastTransitionTime"), "t1");
  EXPECT_EQ(FindCondition(object, "Ready")->TextAt("lastUpdateTime"), "t2");
  EXPECT_EQ(FindCondition(object, "Degraded")->TextAt("lastTransitionTime"), "t2");
  EXPECT_EQ(FindCondition(object, "Full")->TextAt("lastTransitionTime"), "t0");
  JsonTree without = JsonTree::Object();
  SetConditionTimes(old, "t2", without);
  EXPECT_EQ(without.ToJson(), "{}");
}

}  // namespace
}  // namespace kubexx::apiserver
