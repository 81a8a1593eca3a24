#include "kubexx/apiserver/managedfields/typed.h"

#include <gtest/gtest.h>

#include <string>
#include <tuple>

#include "kubexx/api/apps/v1/types.gen.h"
#include "kubexx/api/core/v1/types.gen.h"

namespace kubexx::apiserver::managedfields {
namespace {

using codec::JsonTree;

JsonTree Json(const std::string& text) {
  auto tree = JsonTree::Parse(text);
  EXPECT_TRUE(tree) << text;
  return tree ? std::move(*tree) : JsonTree();
}

/// A schema with each kind of list and map.
const Type& Custom() {
  static const JsonTree kSchema = Json(R"({
    "type":"object",
    "properties":{
      "n":{"type":"integer"},
      "s":{"type":"string"},
      "map":{"type":"object","additionalProperties":{"type":"string"}},
      "whole":{"type":"object","x-kubernetes-map-type":"atomic",
               "properties":{"a":{"type":"string"},"b":{"type":"string"}}},
      "struct":{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"}}},
      "list":{"type":"array","items":{"type":"string"}},
      "set":{"type":"array","items":{"type":"string"},"x-kubernetes-list-type":"set"},
      "keyed":{"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["name"],
               "items":{"type":"object","properties":{
                 "name":{"type":"string"},"value":{"type":"string"},"deep":{"type":"object",
                   "properties":{"x":{"type":"integer"}}}}}},
      "ports":{"type":"array","x-kubernetes-list-type":"map",
               "x-kubernetes-list-map-keys":["port","protocol"],
               "items":{"type":"object","properties":{"port":{"type":"integer"},
                 "protocol":{"type":"string","default":"TCP"}}}},
      "any":{"x-kubernetes-preserve-unknown-fields":true}
    }})");
  static const Type kType = Type::Custom(&kSchema);
  return kType;
}

struct FieldsCase {
  const char* name;
  const char* object;
  const char* fields;
};
class FieldsTest : public ::testing::TestWithParam<FieldsCase> {};

TEST_P(FieldsTest, AreThoseOfTheObject) {
  EXPECT_EQ(FieldsOf(Custom(), Json(GetParam().object)).ToJson().ToJson(), GetParam().fields);
}

INSTANTIATE_TEST_SUITE_P(
    Objects, FieldsTest,
    ::testing::Values(
        FieldsCase{"Scalars", R"({"n":1,"s":"x"})", R"({"f:n":{},"f:s":{}})"},
        FieldsCase{"MapsHaveMembers", R"({"map":{"a":"1","b":"2"}})",
                   R"({"f:map":{"f:a":{},"f:b":{}}})"},
        FieldsCase{"EmptyMapsAreThemselves", R"({"map":{},"struct":null})",
                   R"({"f:map":{},"f:struct":{}})"},
        FieldsCase{"AtomicMapsAreThemselves", R"({"whole":{"a":"1"}})", R"({"f:whole":{}})"},
        FieldsCase{"AtomicListsAreThemselves", R"({"list":["a"]})", R"({"f:list":{}})"},
        FieldsCase{"SetsHaveValues", R"({"set":["b","a"]})",
                   R"({"f:set":{"v:\"a\"":{},"v:\"b\"":{}}})"},
        FieldsCase{"EmptySetsAreNothing", R"({"set":[]})", R"({})"},
        FieldsCase{"KeyedListsHaveElementsAndTheirFields",
                   R"({"keyed":[{"name":"a","value":"1"}]})",
                   R"({"f:keyed":{"k:{\"name\":\"a\"}":{".":{},"f:name":{},"f:value":{}}}})"},
        FieldsCase{"DuplicatesAreOneWithoutFields",
                   R"({"keyed":[{"name":"a","value":"1"},{"name":"a","value":"2"}]})",
                   R"({"f:keyed":{"k:{\"name\":\"a\"}":{}}})"},
        FieldsCase{"KeysHaveDefaults", R"({"ports":[{"port":80}]})",
                   R"({"f:ports":{"k:{\"port\":80,\"protocol\":\"TCP\"}":{".":{},"f:port":{}}}})"},
        FieldsCase{"UnknownFieldsAreWhatTheyAre", R"({"any":{"x":{"y":1},"l":[{"name":"a"}]}})",
                   R"({"f:any":{"f:l":{},"f:x":{".":{},"f:y":{}}}})"}),
    [](const auto& one) { return one.param.name; });

struct CompareCase {
  const char* name;
  const char* before;
  const char* after;
  const char* removed;
  const char* modified;
  const char* added;
};
class CompareTest : public ::testing::TestWithParam<CompareCase> {};

TEST_P(CompareTest, TellsWhatHasChanged) {
  const CompareCase& c = GetParam();
  const Comparison result = Compare(Custom(), Json(c.before), Json(c.after));
  EXPECT_EQ(result.removed.ToJson().ToJson(), c.removed);
  EXPECT_EQ(result.modified.ToJson().ToJson(), c.modified);
  EXPECT_EQ(result.added.ToJson().ToJson(), c.added);
}

INSTANTIATE_TEST_SUITE_P(
    Objects, CompareTest,
    ::testing::Values(
        CompareCase{"Same", R"({"n":1,"list":["a"]})", R"({"list":["a"],"n":1})", "{}", "{}", "{}"},
        CompareCase{"Scalars", R"({"n":1,"s":"a"})", R"({"n":2})", R"({"f:s":{}})", R"({"f:n":{}})",
                    "{}"},
        CompareCase{"NewMapsAreAddedWithTheirMembers", "{}", R"({"struct":{"a":"1"}})", "{}", "{}",
                    R"({"f:struct":{".":{},"f:a":{}}})"},
        CompareCase{"MapsThatWereEmptyAreNotAdded", R"({"struct":{}})", R"({"struct":{"a":"1"}})",
                    "{}", "{}", R"({"f:struct":{"f:a":{}}})"},
        CompareCase{"AtomicMaps", R"({"whole":{"a":"1"}})", R"({"whole":{"a":"2","b":"3"}})", "{}",
                    R"({"f:whole":{}})", "{}"},
        CompareCase{"AtomicLists", R"({"list":["a"]})", R"({"list":["b","a"]})", "{}",
                    R"({"f:list":{}})", "{}"},
        CompareCase{"OrderOfSetsDoesNotCount", R"({"set":["a","b"]})", R"({"set":["c","b"]})",
                    R"({"f:set":{"v:\"a\"":{}}})", "{}", R"({"f:set":{"v:\"c\"":{}}})"},
        CompareCase{"KeyedElements",
                    R"({"keyed":[{"name":"a","value":"1"},{"name":"b","value":"1"}]})",
                    R"({"keyed":[{"name":"c"},{"name":"b","value":"2"}]})",
                    R"({"f:keyed":{"k:{\"name\":\"a\"}":{".":{},"f:name":{},"f:value":{}}}})",
                    R"({"f:keyed":{"k:{\"name\":\"b\"}":{"f:value":{}}}})",
                    R"({"f:keyed":{"k:{\"name\":\"c\"}":{".":{},"f:name":{}}}})"},
        CompareCase{"DuplicatesComeAndGoAsAWhole", R"({"set":["a","a","b"]})",
                    R"({"set":["a","b","b"]})", R"({"f:set":{"v:\"a\"":{},"v:\"b\"":{}}})", "{}",
                    R"({"f:set":{"v:\"a\"":{},"v:\"b\"":{}}})"},
        CompareCase{"ValuesOfAnotherShape", R"({"any":"text"})", R"({"any":{"a":1}})", "{}",
                    R"({"f:any":{}})", R"({"f:any":{"f:a":{}}})"}),
    [](const auto& one) { return one.param.name; });

struct MergeCase {
  const char* name;
  const char* live;
  const char* config;
  const char* result;
};
class MergeTest : public ::testing::TestWithParam<MergeCase> {};

TEST_P(MergeTest, PutsTheConfigIntoTheObject) {
  const auto merged = MergeConfig(Custom(), Json(GetParam().live), Json(GetParam().config));
  ASSERT_TRUE(merged) << merged.error().message;
  EXPECT_EQ(merged->ToJson(), GetParam().result);
}

INSTANTIATE_TEST_SUITE_P(
    Objects, MergeTest,
    ::testing::Values(
        MergeCase{"Scalars", R"({"n":1,"s":"a"})", R"({"n":2})", R"({"n":2,"s":"a"})"},
        MergeCase{"GranularMaps", R"({"map":{"a":"1","b":"2"}})", R"({"map":{"b":"3","c":"4"}})",
                  R"({"map":{"a":"1","b":"3","c":"4"}})"},
        MergeCase{"AtomicMaps", R"({"whole":{"a":"1"}})", R"({"whole":{"b":"2"}})",
                  R"({"whole":{"b":"2"}})"},
        MergeCase{"AtomicLists", R"({"list":["a","b"]})", R"({"list":["c"]})", R"({"list":["c"]})"},
        MergeCase{"SetsGrow", R"({"set":["a","b"]})", R"({"set":["c"]})",
                  R"({"set":["a","b","c"]})"},
        MergeCase{"SharedElementsAreInTheOrderOfTheConfig", R"({"set":["a","b","c"]})",
                  R"({"set":["c","a"]})", R"({"set":["b","c","a"]})"},
        MergeCase{"OthersKeepTheirPlace", R"({"set":["x","a","y","b","z"]})",
                  R"({"set":["a","n","b"]})", R"({"set":["x","a","y","n","b","z"]})"},
        MergeCase{
            "KeyedElementsAreMerged", R"({"keyed":[{"name":"a","value":"1"},{"name":"b"}]})",
            R"({"keyed":[{"name":"b","value":"2"},{"name":"a","deep":{"x":1}}]})",
            R"({"keyed":[{"name":"b","value":"2"},{"name":"a","value":"1","deep":{"x":1}}]})"},
        MergeCase{"EmptyStaysEmpty", R"({"map":{},"set":[]})", R"({"n":1})",
                  R"({"map":{},"set":[],"n":1})"},
        MergeCase{"AnotherShapeReplaces", R"({"any":[1]})", R"({"any":{"a":1}})",
                  R"({"any":{"a":1}})"}),
    [](const auto& one) { return one.param.name; });

TEST(ValidateTest, FaultsHaveTheirPath) {
  const struct {
    const char* object;
    const char* fault;  // "" for none
  } cases[] = {
      {R"({"n":1,"metadata":{"name":"a"},"apiVersion":"v1","kind":"X","any":{"x":[{}]}})", ""},
      {R"({"none":1})", ".none: field not declared in schema"},
      {R"({"struct":{"c":1}})", ".struct.c: field not declared in schema"},
      {R"({"n":"x"})", R"(.n: expected numeric (int or float), got "x")"},
      {R"({"s":1})", ".s: expected string, got 1"},
      {R"({"map":[]})", ".map: expected map, got []"},
      {R"({"list":{}})", ".list: expected list, got {}"},
      {R"({"set":["a","a"]})", R"(.set: duplicate entries for key [="a"])"},
      {R"({"keyed":[{"name":"a","value":2}]})",
       R"(.keyed[name="a"].value: expected string, got 2)"},
      {R"({"keyed":[{"value":"x"}]})",
       ".keyed: element 0: associative list with keys has an element that omits all key fields "
       "[\"name\"] (and doesn't have default values for any key fields)"},
      {R"({"metadata":{"nome":"a"}})", ".metadata.nome: field not declared in schema"},
      {R"({"none":1,"s":1})",
       "errors:\n  .none: field not declared in schema\n  .s: expected string, got 1"},
  };
  for (const auto& c : cases) {
    const auto verdict = Validate(Custom(), Json(c.object));
    EXPECT_EQ(verdict ? "" : verdict.error().message, c.fault) << c.object;
  }
}

TEST(WithoutTest, TakesFieldsOutAndLeavesTheRest) {
  const JsonTree object = Json(
      R"({"n":1,"map":{"a":"1","b":"2"},"set":["a","b"],"keyed":[{"name":"a","value":"1"},{"name":"b"}]})");
  const auto fields = FieldSet::FromJson(Json(
      R"({"f:n":{},"f:map":{"f:a":{}},"f:set":{"v:\"a\"":{}},"f:keyed":{"k:{\"name\":\"a\"}":{"f:value":{}},"k:{\"name\":\"b\"}":{}}})"));
  ASSERT_TRUE(fields);
  EXPECT_EQ(Without(Custom(), object, *fields).ToJson(),
            R"({"map":{"b":"2"},"set":["b"],"keyed":[{"name":"a"}]})");
}

TEST(TypeTest, BuiltinListsAreMergedAsTheApiSays) {
  const Type pod = Type::Builtin(codec::SchemaOf<api::core::v1::Pod>());
  EXPECT_EQ(
      FieldsOf(pod, Json(R"({"metadata":{"finalizers":["x"],"ownerReferences":[{"uid":"u"}]},
        "spec":{"containers":[{"name":"a","args":["x"],"ports":[{"containerPort":80}],
                "env":[{"name":"E","valueFrom":{"secretKeyRef":{"name":"s","key":"k"}}}],
                "resources":{"limits":{"cpu":"1"}}}],
        "nodeSelector":{"a":"b"},"tolerations":[{"key":"x"}],
        "topologySpreadConstraints":[{"topologyKey":"z","maxSkew":1}]}})"))
          .ToJson()
          .ToJson(),
      R"({"f:metadata":{"f:finalizers":{"v:\"x\"":{}},"f:ownerReferences":{"k:{\"uid\":\"u\"}":{}}},)"
      R"("f:spec":{"f:containers":{"k:{\"name\":\"a\"}":{".":{},"f:args":{},"f:env":{"k:{\"name\":\"E\"}":{".":{},"f:name":{},"f:valueFrom":{"f:secretKeyRef":{}}}},)"
      R"("f:name":{},"f:ports":{"k:{\"containerPort\":80,\"protocol\":\"TCP\"}":{".":{},"f:containerPort":{}}},"f:resources":{"f:limits":{"f:cpu":{}}}}},)"
      R"("f:nodeSelector":{},"f:tolerations":{},"f:topologySpreadConstraints":{"k:{\"topologyKey\":\"z\",\"whenUnsatisfiable\":\"\"}":{".":{},"f:maxSkew":{},"f:topologyKey":{}}}}})");
  EXPECT_EQ(FieldsOf(pod, Json(R"({"spec":{"ephemeralContainers":[{"name":"d",
      "env":[{"name":"A"}]}]}})"))
                .ToJson()
                .ToJson(),
            R"({"f:spec":{"f:ephemeralContainers":{"k:{\"name\":\"d\"}":{".":{},)"
            R"("f:env":{"k:{\"name\":\"A\"}":{".":{},"f:name":{}}},"f:name":{}}}}})");
  const Type deployment = Type::Builtin(codec::SchemaOf<api::apps::v1::Deployment>());
  EXPECT_EQ(FieldsOf(deployment, Json(R"({"spec":{"selector":{"matchLabels":{"a":"b"}}}})"))
                .ToJson()
                .ToJson(),
            R"({"f:spec":{"f:selector":{}}})");
}

TEST(TypeTest, RulesAreSortedAndKnown) {
  const auto rules = MergeRules();
  ASSERT_GT(rules.size(), 100U);
  for (std::size_t i = 1; i < rules.size(); ++i) {
    EXPECT_LT(std::tie(rules[i - 1].type, rules[i - 1].field),
              std::tie(rules[i].type, rules[i].field));
  }
}

TEST(PatchRuleTest, RulesAreSortedAndThoseOfTheGoTypes) {
  const auto rules = PatchRules();
  ASSERT_GT(rules.size(), 50U);
  for (std::size_t i = 1; i < rules.size(); ++i) {
    EXPECT_LT(std::tie(rules[i - 1].type, rules[i - 1].field),
              std::tie(rules[i].type, rules[i].field));
  }
  const PatchRule* const volumes = PatchRuleOf("core.v1.PodSpec", "volumes");
  ASSERT_NE(volumes, nullptr);
  EXPECT_EQ(volumes->strategy, "merge,retainKeys");
  EXPECT_EQ(volumes->key, "name");
  EXPECT_TRUE(volumes->Merges());
  const PatchRule* const selector = PatchRuleOf("policy.v1.PodDisruptionBudgetSpec", "selector");
  ASSERT_NE(selector, nullptr);
  EXPECT_TRUE(selector->Replaces());
  EXPECT_EQ(PatchRuleOf("core.v1.PodSpec", "tolerations"), nullptr);
}

TEST(PatchRuleTest, ATypeKnowsThoseOfItsMembersWhereverTheyStand) {
  const Type pod = Type::Builtin(codec::SchemaOf<api::core::v1::Pod>());
  const PatchRule* const ports =
      pod.Member("spec").Member("containers").Element().PatchRuleOf("ports");
  ASSERT_NE(ports, nullptr);
  EXPECT_EQ(ports->key, "containerPort");
  EXPECT_EQ(pod.Member("metadata").PatchRuleOf("labels"), nullptr);
  EXPECT_EQ(pod.PatchRuleOf("unknown"), nullptr);
  EXPECT_EQ(Type::Anything().PatchRuleOf("ports"), nullptr);
}

TEST(MakeDeclaredTest, FieldsBelowWhatIsAtomicNowAreReplacedByIt) {
  auto fields = FieldSet::FromJson(
      Json(R"({"f:whole":{"f:a":{}},"f:list":{"v:\"a\"":{}},"f:map":{"f:a":{}},"f:n":{}})"));
  MakeDeclared(Custom(), *fields);
  EXPECT_EQ(fields->ToJson().ToJson(), R"({"f:list":{},"f:map":{"f:a":{}},"f:n":{},"f:whole":{}})");
}

/// Below a name of 100,000 bytes, whose path each fault and conflict would have.
std::string ManyBelowALongName(const std::string& value) {
  std::string object = R"({"any":{")" + std::string(100000, 'x') + R"(":{)";
  for (int i = 0; i < 5000; ++i) {
    object += (i == 0 ? "\"" : ",\"") + std::to_string(i) + "\":" + value;
  }
  return object + "}}}";
}

TEST(ValidateTest, NotAllFaultsAreTold) {
  std::string object = R"({"keyed":[{"name":")" + std::string(100000, 'x') + "\"";
  for (int i = 0; i < 5000; ++i) {
    object += ",\"" + std::to_string(i) + "\":1";
  }
  const auto fault = Validate(Custom(), Json(object + "}]}"));
  ASSERT_FALSE(fault);
  EXPECT_LT(fault.error().message.size(), 1000000U);
}

TEST(LongNames, AreNotRepeated) {
  const Comparison changes =
      Compare(Custom(), Json(ManyBelowALongName("1")), Json(ManyBelowALongName("2")));
  EXPECT_EQ(changes.modified.size(), 5000U);
  EXPECT_EQ(changes.modified, Compare(Custom(), Json("{}"), Json(ManyBelowALongName("1")))
                                  .added.Intersection(changes.modified));
}

}  // namespace
}  // namespace kubexx::apiserver::managedfields
