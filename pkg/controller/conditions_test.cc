#include "kubexx/controller/conditions.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kubexx/api/apps/v1/types.gen.h"
#include "kubexx/api/meta/v1/types.gen.h"

namespace kubexx::controller {
namespace {

using api::meta::v1::Condition;
using apimachinery::Time;

Condition Ready(const std::string& status, const std::string& reason) {
  Condition condition;
  condition.type = "Ready";
  condition.status = status;
  condition.reason = reason;
  return condition;
}

TEST(SetConditionTest, ANewOneHoldsSinceNow) {
  std::vector<Condition> conditions;
  EXPECT_TRUE(SetCondition(conditions, Ready("True", "Made"), Time{100}));
  ASSERT_EQ(conditions.size(), 1U);
  EXPECT_EQ(conditions[0].last_transition_time, Time{100});
}

TEST(SetConditionTest, TheTimeChangesWithTheStatusOnly) {
  std::vector<Condition> conditions{Ready("True", "Made")};
  conditions[0].last_transition_time = Time{100};
  EXPECT_TRUE(SetCondition(conditions, Ready("True", "Kept"), Time{200}));
  EXPECT_EQ(conditions[0].reason, "Kept");
  EXPECT_EQ(conditions[0].last_transition_time, Time{100});
  EXPECT_TRUE(SetCondition(conditions, Ready("False", "Lost"), Time{300}));
  EXPECT_EQ(conditions[0].last_transition_time, Time{300});
  EXPECT_EQ(conditions.size(), 1U);
}

TEST(SetConditionTest, WhatSaysTheSameChangesNothing) {
  std::vector<Condition> conditions{Ready("True", "Made")};
  conditions[0].last_transition_time = Time{100};
  const std::vector<Condition> before = conditions;
  EXPECT_FALSE(SetCondition(conditions, Ready("True", "Made"), Time{200}));
  EXPECT_EQ(conditions, before);
}

TEST(SetConditionTest, AListThatIsMissingIsMade) {
  std::optional<std::vector<Condition>> conditions;
  EXPECT_EQ(FindCondition(conditions, "Ready"), nullptr);
  EXPECT_EQ(ConditionStatus(conditions, "Ready"), "");
  EXPECT_FALSE(RemoveCondition(conditions, "Ready"));
  EXPECT_FALSE(conditions.has_value());
  EXPECT_TRUE(SetCondition(conditions, Ready("True", "Made"), Time{100}));
  EXPECT_FALSE(SetCondition(conditions, Ready("True", "Made"), Time{200}));
  ASSERT_TRUE(conditions.has_value());
  EXPECT_EQ(FindCondition(conditions, "Ready"), &conditions->front());
  EXPECT_TRUE(IsConditionTrue(conditions, "Ready"));
  EXPECT_TRUE(RemoveCondition(conditions, "Ready"));
  EXPECT_TRUE(conditions.has_value() && conditions->empty());
}

TEST(SetConditionTest, AListThatIsNullIsMade) {
  using Nullable = std::optional<std::optional<std::vector<Condition>>>;
  for (Nullable conditions :
       {Nullable(), Nullable(std::in_place), Nullable(std::vector<Condition>())}) {
    EXPECT_EQ(FindCondition(conditions, "Ready"), nullptr);
    EXPECT_EQ(ConditionStatus(conditions, "Ready"), "");
    EXPECT_FALSE(IsConditionTrue(conditions, "Ready"));
    EXPECT_FALSE(RemoveCondition(conditions, "Ready"));
    EXPECT_TRUE(SetCondition(conditions, Ready("True", "Made"), Time{100}));
    EXPECT_FALSE(SetCondition(conditions, Ready("True", "Made"), Time{200}));
    ASSERT_TRUE(conditions && *conditions);
    EXPECT_EQ(FindCondition(conditions, "Ready"), &(*conditions)->front());
    EXPECT_TRUE(IsConditionTrue(conditions, "Ready"));
    EXPECT_TRUE(RemoveCondition(conditions, "Ready"));
    EXPECT_TRUE((*conditions)->empty());
  }
}

TEST(SetConditionTest, OtherTypesStayWhereTheyAre) {
  std::vector<api::apps::v1::DeploymentCondition> conditions(2);
  conditions[0].type = "Available";
  conditions[1].type = "Progressing";
  api::apps::v1::DeploymentCondition available;
  available.type = "Available";
  available.status = "True";
  EXPECT_TRUE(SetCondition(conditions, available, Time{1}));
  EXPECT_EQ(conditions[0].status, "True");
  EXPECT_EQ(conditions[1].type, "Progressing");
}

TEST(FindConditionTest, IsNullForATypeThatIsNotThere) {
  const std::vector<Condition> conditions{Ready("False", "Lost")};
  EXPECT_EQ(FindCondition(conditions, "Ready"), conditions.data());
  EXPECT_EQ(FindCondition(conditions, "Degraded"), nullptr);
  EXPECT_EQ(ConditionStatus(conditions, "Ready"), "False");
  EXPECT_EQ(ConditionStatus(conditions, "Degraded"), "");
  EXPECT_FALSE(IsConditionTrue(conditions, "Ready"));
}

TEST(RemoveConditionTest, TellsWhetherItWasThere) {
  std::vector<Condition> conditions{Ready("True", "Made")};
  EXPECT_FALSE(RemoveCondition(conditions, "Degraded"));
  EXPECT_TRUE(RemoveCondition(conditions, "Ready"));
  EXPECT_TRUE(conditions.empty());
}

}  // namespace
}  // namespace kubexx::controller
