// Checks that would cost much more than what is checked has bytes: they end. Where that fails, the
// test does not.
#include "kubexx/apiserver/schema/budget.h"

#include <gmock/gmock.h>

#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "kubexx/apiserver/schema/cause_list.h"
#include "kubexx/apiserver/schema/definition.h"
#include "kubexx/apiserver/schema/structural.h"
#include "kubexx/apiserver/schema/validate.h"
#include "kubexx/base/testing/large_input.h"

namespace kubexx::apiserver::schema {
namespace {

using apimachinery::StatusCause;
using base::testing::LargeInput;
using codec::JsonTree;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

std::string Times(int count, const std::string& text) {
  std::string list;
  for (int i = 0; i < count; ++i) {
    list.append(i == 0 ? "" : ",").append(text);
  }
  return list;
}

SchemaRef SchemaFrom(const std::string& json) { return *ParseSchema(*JsonTree::Parse(json)); }

JsonTree ListOfOnes(int count) { return *JsonTree::Parse("[" + Times(count, "1") + "]"); }

std::vector<StatusCause> CausesOf(const Schema& schema, const JsonTree& value, Budget& budget,
                                  const JsonTree* old = nullptr) {
  std::vector<StatusCause> causes;
  Validate(schema, value, old, budget, causes);
  return causes;
}

/// Schemas of a few kilobytes that say much of each element.
struct CostlyCase {
  const char* name;
  std::string schema;
};
class CostlyTest : public ::testing::TestWithParam<CostlyCase> {};

TEST_P(CostlyTest, Ends) {
  const SchemaRef schema = SchemaFrom(GetParam().schema);
  // A tenth of what the server allows, and of what it takes to use that up.
  Budget budget({}, Budget::kMaxSteps / 10);
  const auto causes = CausesOf(*schema, ListOfOnes(50'000), budget);
  EXPECT_TRUE(budget.spent());
  ASSERT_THAT(causes, Not(IsEmpty()));
  EXPECT_EQ(causes.back().message, "Invalid value: \"\": " + std::string(kTooMuchWork));
  // Few elements are no work.
  Budget other;
  CausesOf(*schema, ListOfOnes(3), other);
  EXPECT_FALSE(other.ended());
}

/// A junctor of such that look at each element.
std::string Junctor(const std::string& name, const std::string& one) {
  return R"({"type":"array","items":{"type":"integer"},")" + name + R"(":[)" +
         Times(5'000, R"({"items":)" + one + "}") + "]}";
}

INSTANTIATE_TEST_SUITE_P(
    Cases, CostlyTest,
    ::testing::Values(CostlyCase{"AllOf", Junctor("allOf", R"({"minimum":0})")},
                      CostlyCase{"OneOf", Junctor("oneOf", R"({"minimum":0})")},
                      CostlyCase{"Enums", R"({"type":"array","items":{"type":"integer","enum":[)" +
                                              Times(5'000, "2") + ",1]}}"},
                      CostlyCase{"AnyOfOfElements", R"({"type":"array","items":{"anyOf":[)" +
                                                        Times(5'000, R"({"maximum":0})") +
                                                        R"(,{"minimum":0}]}})"},
                      CostlyCase{"UniqueItems",
                                 R"({"type":"array","items":{"type":"integer"},"allOf":[)" +
                                     Times(5'000, R"({"anyOf":[{"not":{"uniqueItems":true}}]})") +
                                     "]}"}),
    [](const auto& one) { return one.param.name; });

// A match cannot be ended.
TEST(BudgetTest, AMatchThatMightTakeAllOfABudgetIsNotBegun) {
  const SchemaRef schema = SchemaFrom(R"({"type":"string","pattern":"^([ab]{90}){10}"})");
  Budget budget;
  CausesOf(*schema, std::string(3'000'000, 'a'), budget);
  EXPECT_TRUE(budget.spent());
}

TEST(BudgetTest, PatternsOfTheUsualSizeAreLittleWork) {
  // As many addresses as fit into an object, with a pattern of the usual size.
  const SchemaRef addresses =
      SchemaFrom(R"({"type":"array","items":{"type":"string","pattern":)"
                 R"("^((25[0-5]|(2[0-4]|1[0-9]|[1-9]|)[0-9])(\\.|$)){4}|)"
                 R"((([0-9a-fA-F]{1,4}:){7}[0-9a-fA-F]{1,4}|([0-9a-fA-F]{1,4}:){1,7}:)$"}})");
  const JsonTree list =
      *JsonTree::Parse("[" + Times(40'000, R"("2001:0db8:85a3:0000:0000:8a2e:0370:7334")") + "]");
  Budget usual;
  EXPECT_THAT(CausesOf(*addresses, list, usual), IsEmpty());
}

// A match is charged for what it took, not for what it might have taken.
TEST(BudgetTest, ManyTextsWithAPatternOfManyInstructionsAreChecked) {
  const SchemaRef schema =
      SchemaFrom(R"({"type":"array","items":{"type":"string","pattern":"^.{0,1000}$"}})");
  const std::string text = "\"" + std::string(1'000, 'a') + "\"";
  Budget budget;
  EXPECT_THAT(CausesOf(*schema, *JsonTree::Parse("[" + Times(300, text) + "]"), budget), IsEmpty());
}

TEST(BudgetTest, WhatWasNotLookedAtIsNotCalledWrong) {
  const SchemaRef schema =
      SchemaFrom(R"({"type":"array","items":{"type":"string","pattern":"^([ab]{90}){10}"}})");
  Budget budget;
  const auto causes = CausesOf(
      *schema, *JsonTree::Parse("[\"" + std::string(3'000'000, 'a') + "\",\"c\",\"d\"]"), budget);
  ASSERT_THAT(causes, ::testing::SizeIs(1));
  EXPECT_THAT(causes.front().message, ::testing::HasSubstr(std::string(kTooMuchWork)));
}

TEST(BudgetTest, WhatHasNotChangedIsLittleWork) {
  const SchemaRef keyed = SchemaFrom(
      R"({"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["k"],)"
      R"("items":{"type":"object","additionalProperties":{"type":"integer"},"allOf":[)" +
      Times(1'000, R"({"properties":{"k":{"minimum":0}}})") + "]}}");
  std::string list;
  for (int i = 0; i < LargeInput(100'000); ++i) {
    list += (i == 0 ? "" : ",") + (R"({"k":)" + std::to_string(i) + R"(,"v":1})");
  }
  const JsonTree old = *JsonTree::Parse("[" + list + "]");
  JsonTree changed = old;
  changed.elements().back()["v"] = 2;
  Budget budget;
  EXPECT_THAT(CausesOf(*keyed, changed, budget, &old), IsEmpty());  // The others stay unchecked.
  Budget all;
  CausesOf(*keyed, changed, all);
  EXPECT_TRUE(all.spent());
}

/// At each level what is below is compared with what it was.
TEST(BudgetTest, ComparingAtEachLevelCounts) {
  std::string schema = R"({"type":"array","items":{"type":"integer"}})";
  std::string old = "[" + Times(500'000, "1");
  std::string changed = old + ",2]";
  old += ",1]";
  for (int i = 0; i < 150; ++i) {
    schema = R"({"type":"object","properties":{"a":)" + schema + "}}";
    old = R"({"a":)" + old + "}";
    changed = R"({"a":)" + changed + "}";
  }
  const JsonTree before = *JsonTree::Parse(old);
  Budget budget;
  CausesOf(*SchemaFrom(schema), *JsonTree::Parse(changed), budget, &before);
  EXPECT_TRUE(budget.spent());
}

TEST(BudgetTest, StopsWhenItIsTold) {
  const SchemaRef schema = SchemaFrom(Junctor("allOf", R"({"minimum":0})"));
  std::stop_source source;
  source.request_stop();
  Budget budget(source.get_token());
  EXPECT_THAT(CausesOf(*schema, ListOfOnes(500'000), budget), IsEmpty());
  EXPECT_TRUE(budget.stopped());
  EXPECT_FALSE(budget.spent());
}

TEST(BudgetTest, AsksForAStopNowAndThen) {
  std::stop_source source;
  Budget budget(source.get_token());
  budget.Spend(10);
  source.request_stop();
  EXPECT_FALSE(budget.ended());
  budget.Spend(1'000'000);
  EXPECT_TRUE(budget.stopped());
}

TEST(BudgetTest, AlternativesCollectFewCauses) {
  const SchemaRef schema =
      SchemaFrom(R"({"type":"array","items":{"type":"integer"},"anyOf":[{"items":{"minimum":2}},)"
                 R"({"items":{"maximum":0}}]})");
  Budget budget;
  EXPECT_THAT(CausesOf(*schema, ListOfOnes(500'000), budget), SizeIs(100));
  EXPECT_FALSE(budget.spent());
}

std::vector<StatusCause> OfSchema(const std::string& json) {
  std::vector<StatusCause> causes;
  CauseList list(causes);
  Budget work;
  DefinitionBudget budget(work);
  CheckStructural(*JsonTree::Parse(json), "s", budget, list);
  return causes;
}

/// "k0":VALUE and so on.
std::string Members(int count, const std::string& value) {
  std::string members;
  for (int i = 0; i < count; ++i) {
    members += (i == 0 ? "\"k" : ",\"k") + std::to_string(i) + "\":" + value;
  }
  return members;
}

/// The path of each field has it.
const std::string& LongKey() {
  static const std::string kKey(1'000'000, 'x');
  return kKey;
}

TEST(BudgetTest, ManyCausesWithLongPaths) {
  const auto causes =
      OfSchema(R"({"type":"object","properties":{")" + LongKey() +
               R"(":{"type":"object","properties":{)" + Members(50'000, "{}") + "}}}}");
  std::size_t bytes = 0;
  for (const StatusCause& cause : causes) {
    bytes += cause.field.size() + cause.message.size();
  }
  EXPECT_GT(bytes, 0U);
  EXPECT_LT(bytes, 4'000'000U);
}

TEST(BudgetTest, ManyFieldsWithLongPaths) {
  EXPECT_THAT(OfSchema(R"({"type":"object","properties":{")" + LongKey() +
                       R"(":{"type":"object","properties":{)" +
                       Members(LargeInput(200'000), R"({"type":"string"})") + "}}}}"),
              IsEmpty());
}

TEST(BudgetTest, ManyAlternativesOfManyFields) {
  std::string alternatives;
  for (int i = 0; i < LargeInput(200'000); ++i) {
    alternatives += (i == 0 ? "" : ",") + (R"({"properties":{"k)" + std::to_string(i) + "\":{}}}");
  }
  EXPECT_THAT(OfSchema(R"({"type":"object","properties":{)" +
                       Members(LargeInput(200'000), R"({"type":"string"})") + R"(},"anyOf":[)" +
                       alternatives + "]}"),
              IsEmpty());
}

TEST(BudgetTest, ManyDefaultsWithLongPaths) {
  const std::string schema = R"({"type":"object","properties":{")" + LongKey() +
                             R"(":{"type":"object","properties":{)" +
                             Members(100'000, R"({"type":"string","default":"d"})") + "}}}}";
  JsonTree definition = *JsonTree::Parse(
      R"({"spec":{"versions":[{"name":"v1","storage":true,"schema":{"openAPIV3Schema":)" + schema +
      "}}]}}");
  std::vector<StatusCause> causes;
  Budget budget;
  CheckDefinition(definition, budget, causes);
  EXPECT_TRUE(budget.spent());
  EXPECT_THAT(causes, Not(IsEmpty()));
}

TEST(BudgetTest, ManyVersionsOfManyNames) {
  std::string versions;
  for (int i = 1; i <= 5'000; ++i) {
    versions += (i == 1 ? "" : ",") + (R"({"name":"v)" + std::to_string(i) + R"(","storage":)" +
                                       (i == 1 ? "true" : "false") +
                                       R"(,"schema":{"openAPIV3Schema":{"type":"object"}}})");
  }
  const auto problems = [&](int names) {
    const JsonTree definition = *JsonTree::Parse(
        R"({"metadata":{"name":"as.e.x"},"spec":{"group":"e.x","scope":"Cluster",)"
        R"("conversion":{"strategy":"None"},"names":{"plural":"as","singular":"a","kind":"A",)"
        R"("listKind":"AList","categories":[)" +
        Times(names, R"("a")") + R"(]},"versions":[)" + versions + "]}}");
    std::vector<StatusCause> causes;
    Budget budget;
    CheckDefinition(definition, budget, causes);
    return causes;
  };
  EXPECT_THAT(problems(10), IsEmpty());
  const auto causes = problems(100'000);
  ASSERT_THAT(causes, SizeIs(1));
  EXPECT_EQ(causes[0].field, "spec.versions");
  EXPECT_EQ(causes[0].reason, "FieldValueForbidden");
}

TEST(BudgetTest, ManyWrongNames) {
  const JsonTree definition =
      *JsonTree::Parse(R"({"spec":{"names":{"shortNames":[)" + Times(300'000, R"("")") + "]}}}");
  std::vector<StatusCause> causes;
  Budget budget;
  CheckDefinition(definition, budget, causes);
  EXPECT_THAT(causes, SizeIs(100));
}

}  // namespace
}  // namespace kubexx::apiserver::schema
