#include "kubexx/apiserver/schema/validate.h"

#include <gmock/gmock.h>

#include <string>

#include "kubexx/apiserver/schema/shape.h"
#include "kubexx/base/testing/large_input.h"

namespace kubexx::apiserver::schema {
namespace {

using apimachinery::StatusCause;
using codec::JsonTree;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

JsonTree TreeOf(std::string_view json) {
  auto tree = JsonTree::Parse(json);
  EXPECT_TRUE(tree) << json;
  return tree ? std::move(*tree) : JsonTree();
}

SchemaRef Parsed(std::string_view json) {
  auto schema = ParseSchema(TreeOf(json));
  EXPECT_TRUE(schema) << json;
  return schema ? *schema : std::make_shared<const Schema>();
}

/// A schema whose field "spec.f" has the schema `json`.
SchemaRef OfField(const std::string& json) {
  return Parsed(R"({"type":"object","properties":{"spec":{"type":"object","properties":{"f":)" +
                json + "}}}}");
}

/// "FIELD: MESSAGE" of each cause.
std::vector<std::string> Problems(const Schema& schema, std::string_view object,
                                  std::string_view old = {}) {
  std::vector<StatusCause> causes;
  const JsonTree before = old.empty() ? JsonTree() : TreeOf(old);
  Budget budget;
  Validate(schema, TreeOf(object), old.empty() ? nullptr : &before, budget, causes);
  std::vector<std::string> problems;
  for (const StatusCause& cause : causes) {
    EXPECT_NE(cause.reason, "");
    problems.push_back(cause.field + ": " + cause.message);
  }
  return problems;
}

/// With as many defaults as an object may get.
void FillIn(const Schema& schema, JsonTree& value) {
  std::size_t room = 64 << 20;
  EXPECT_TRUE(SetDefaults(schema, value, room));
}

struct Case {
  const char* name;
  const char* schema;
  const char* value;
  const char* problem;  // "" for a good value
};

class ValidateTest : public ::testing::TestWithParam<Case> {};

TEST_P(ValidateTest, SaysWhatIsWrong) {
  const SchemaRef schema = OfField(GetParam().schema);
  const auto problems =
      Problems(*schema, std::string(R"({"spec":{"f":)") + GetParam().value + "}}");
  if (*GetParam().problem == '\0') {
    EXPECT_THAT(problems, IsEmpty());
  } else {
    const std::string problem = GetParam().problem;
    EXPECT_THAT(problems, ElementsAre((problem.starts_with("<nil>") ? "" : "spec.f") + problem));
  }
}

const Case kCases[] = {
    {"Integer", R"({"type":"integer"})", "3", ""},
    {"WholeNumberIsAnInteger", R"({"type":"integer"})", "3.0", ""},
    {"IntegerIsANumber", R"({"type":"number"})", "3", ""},
    {"FractionIsNoInteger", R"({"type":"integer"})", "1.5",
     R"(: Invalid value: "number": spec.f in body must be of type integer: "number")"},
    {"StringIsNoInteger", R"({"type":"integer"})", R"("3")",
     R"(: Invalid value: "string": spec.f in body must be of type integer: "string")"},
    {"ObjectIsNoList", R"({"type":"array","items":{"type":"string"}})", "{}",
     R"(: Invalid value: "object": spec.f in body must be of type array: "object")"},
    {"NullIsNoString", R"({"type":"string"})", "null",
     R"(: Invalid value: "null": spec.f in body must be of type string: "null")"},
    {"NullWhenNullable", R"({"type":"string","nullable":true})", "null", ""},
    {"IntOrStringTakesBoth", R"({"x-kubernetes-int-or-string":true})", R"("25%")", ""},
    {"IntOrStringTakesNoBool", R"({"x-kubernetes-int-or-string":true})", "true",
     R"(: Invalid value: "boolean": spec.f in body must be of type integer,string: "boolean")"},
    {"Enum", R"({"type":"string","enum":["a","b"]})", R"("c")",
     R"(: Unsupported value: "c": supported values: "a", "b")"},
    {"EnumOfNumbers", R"({"type":"integer","enum":[1,2]})", "1", ""},
    {"Pattern", R"({"type":"string","pattern":"^[a-z]+$"})", R"("A")",
     R"(: Invalid value: "A": spec.f in body should match '^[a-z]+$')"},
    {"PatternIsFoundAnywhere", R"({"type":"string","pattern":"b"})", R"("abc")", ""},
    {"PatternWithoutBacktracking", R"({"type":"string","pattern":"^(a+)+$"})",
     R"("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab")",
     ": Invalid value: \"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab\": "
     "spec.f "
     "in body should match '^(a+)+$'"},
    {"Minimum", R"({"type":"integer","minimum":1})", "0",
     ": Invalid value: 0: spec.f in body should be greater than or equal to 1"},
    {"ExclusiveMinimum", R"({"type":"integer","minimum":1,"exclusiveMinimum":true})", "1",
     ": Invalid value: 1: spec.f in body should be greater than 1"},
    {"Maximum", R"({"type":"number","maximum":1.5})", "1.6",
     ": Invalid value: 1.6: spec.f in body should be less than or equal to 1.5"},
    {"ExclusiveMaximum", R"({"type":"integer","maximum":9,"exclusiveMaximum":true})", "9",
     ": Invalid value: 9: spec.f in body should be less than 9"},
    {"MultipleOf", R"({"type":"integer","multipleOf":3})", "4",
     ": Invalid value: 4: spec.f in body should be a multiple of 3"},
    {"MultipleOfAFraction", R"({"type":"number","multipleOf":0.1})", "0.3", ""},
    {"MinLengthCountsCharacters", R"({"type":"string","minLength":3})", R"("äö")",
     ": Invalid value: \"äö\": spec.f in body should be at least 3 chars long"},
    {"MaxLength", R"({"type":"string","maxLength":2})", R"("abc")",
     ": Too long: may not be more than 2 bytes"},
    {"MinItems", R"({"type":"array","minItems":2,"items":{"type":"integer"}})", "[1]",
     ": Invalid value: 1: spec.f in body should have at least 2 items"},
    {"MaxItems", R"({"type":"array","maxItems":1,"items":{"type":"integer"}})", "[1,2]",
     ": Too many: 2: must have at most 1 item"},
    {"MinProperties", R"({"type":"object","minProperties":1})", "{}",
     ": Invalid value: 0: spec.f in body should have at least 1 properties"},
    {"MaxProperties",
     R"({"type":"object","maxProperties":1,"additionalProperties":{"type":"integer"}})",
     R"({"a":1,"b":2})", ": Too many: 2: must have at most 1 item"},
    {"Required", R"({"type":"object","required":["a"]})", "{}", ".a: Required value"},
    {"Items", R"({"type":"array","items":{"type":"integer"}})", R"([1,"2"])",
     R"([1]: Invalid value: "string": spec.f[1] in body must be of type integer: "string")"},
    {"AdditionalProperties", R"({"type":"object","additionalProperties":{"type":"integer"}})",
     R"({"a":"b"})",
     R"(.a: Invalid value: "string": spec.f.a in body must be of type integer: "string")"},
    {"Set", R"({"type":"array","x-kubernetes-list-type":"set","items":{"type":"string"}})",
     R"(["a","b","a"])", R"([2]: Duplicate value: "a")"},
    {"AtomicListsMayRepeat", R"({"type":"array","items":{"type":"string"}})", R"(["a","a"])", ""},
    {"Map",
     R"({"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["k"],)"
     R"("items":{"type":"object","properties":{"k":{"type":"string"},"v":{"type":"string"}}}})",
     R"([{"k":"a","v":"1"},{"v":"2","k":"a"}])", R"([1]: Duplicate value: {"k":"a"})"},
    {"EmbeddedResource",
     R"({"type":"object","x-kubernetes-embedded-resource":true,)"
     R"("x-kubernetes-preserve-unknown-fields":true})",
     R"({"kind":"A"})", ".apiVersion: Required value"},
    {"DateTime", R"({"type":"string","format":"date-time"})", R"("today")",
     R"(: Invalid value: "today": spec.f in body must be of type date-time: "today")"},
    {"UnknownFormat", R"({"type":"string","format":"of-our-own"})", R"("x")", ""},
    {"Int32", R"({"type":"integer","format":"int32"})", "2147483648",
     "<nil>: Invalid value: \"\": Checked value must be of type integer with format int32 in "
     "spec.f"},
    {"Not", R"({"type":"string","not":{"pattern":"^x"}})", R"("xy")",
     R"(<nil>: Invalid value: "": "spec.f" must not validate the schema (not))"},
    {"AnyOf", R"({"type":"integer","anyOf":[{"maximum":1},{"minimum":5}]})", "5", ""},
    {"OneOfTwo", R"({"type":"integer","oneOf":[{"maximum":9},{"minimum":5}]})", "6",
     "<nil>: Invalid value: \"\": \"spec.f\" must validate one and only one schema (oneOf). Found "
     "2 "
     "valid "
     "alternatives"},
};
INSTANTIATE_TEST_SUITE_P(Cases, ValidateTest, ::testing::ValuesIn(kCases),
                         [](const auto& one) { return one.param.name; });

TEST(Validate, JunctorsNameWhatComesClosest) {
  const SchemaRef schema = OfField(R"({"type":"integer","anyOf":[{"maximum":1},{"minimum":5}]})");
  EXPECT_THAT(
      Problems(*schema, R"({"spec":{"f":3}})"),
      ElementsAre(
          "<nil>: Invalid value: \"\": \"spec.f\" must validate at least one schema (anyOf)",
          "spec.f: Invalid value: 3: spec.f in body should be less than or equal to 1"));
  const SchemaRef all = OfField(R"({"type":"integer","allOf":[{"maximum":1},{"minimum":0}]})");
  EXPECT_THAT(Problems(*all, R"({"spec":{"f":3}})"), SizeIs(2));
}

TEST(Validate, WhatHasNotChangedIsNotComplainedOf) {
  const SchemaRef schema = Parsed(
      R"({"type":"object","properties":{"a":{"type":"integer"},"b":{"type":"integer"},
          "l":{"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["k"],
               "items":{"type":"object","properties":{"k":{"type":"string"},"v":{"type":"integer"}}}}}})");
  EXPECT_THAT(Problems(*schema, R"({"a":"x","b":1})", R"({"a":"x","b":2})"), IsEmpty());
  EXPECT_THAT(Problems(*schema, R"({"a":"y","b":1})", R"({"a":"x","b":2})"), SizeIs(1));
  const char* const old = R"({"l":[{"k":"a","v":"bad"}]})";
  EXPECT_THAT(Problems(*schema, R"({"l":[{"k":"b","v":1},{"k":"a","v":"bad"}]})", old), IsEmpty());
  EXPECT_THAT(Problems(*schema, R"({"l":[{"k":"a","v":"worse"}]})", old), SizeIs(1));
}

TEST(Validate, ManyProblemsAreCutOff) {
  std::string list = "[0";
  for (int i = 0; i < 1000; ++i) {
    list += ",\"x\"";
  }
  const SchemaRef schema = OfField(R"({"type":"array","items":{"type":"integer"}})");
  EXPECT_THAT(Problems(*schema, R"({"spec":{"f":)" + list + "]}}"), SizeIs(100));
}

/// What takes time by the square of their number does not end.
TEST(Validate, ManyMembersAreComparedWithWhatTheyWere) {
  const SchemaRef schema =
      Parsed(R"({"type":"object","additionalProperties":{"type":"string","maxLength":1}})");
  std::vector<JsonTree::Member> members;
  for (int i = 0; i < 200'000; ++i) {
    members.push_back({.key = "k" + std::to_string(i), .value = "too long"});
  }
  const JsonTree old = JsonTree::Object(std::move(members));
  JsonTree object = old;
  object.members().back().value = "long";
  std::vector<StatusCause> causes;
  Budget budget;
  Validate(*schema, object, &old, budget, causes);
  ASSERT_THAT(causes, SizeIs(1));
  EXPECT_EQ(causes[0].field, "k199999");
}

TEST(Validate, ManyMembersAreRequired) {
  std::vector<JsonTree::Member> members;
  std::string required;
  for (int i = 0; i < 200'000; ++i) {
    members.push_back({.key = "k" + std::to_string(i), .value = "v"});
    required += (i == 0 ? "\"k" : ",\"k") + std::to_string(i) + '"';
  }
  const SchemaRef schema = Parsed(R"({"type":"object","required":[)" + required + "]}");
  std::vector<StatusCause> causes;
  Budget budget;
  Validate(*schema, JsonTree::Object(std::move(members)), nullptr, budget, causes);
  EXPECT_THAT(causes, IsEmpty());
}

TEST(SetDefaults, FillsInManyMembers) {
  constexpr int kMembers = base::testing::LargeInput(200'000);
  std::string properties;
  for (int i = 0; i < kMembers; ++i) {
    properties += (i == 0 ? "\"k" : ",\"k") + std::to_string(i) + R"(":{"default":"d"})";
  }
  const SchemaRef schema = Parsed(R"({"type":"object","properties":{)" + properties + "}}");
  JsonTree value = TreeOf(R"({"k1":null,"k0":"own"})");
  FillIn(*schema, value);
  EXPECT_EQ(value.size(), static_cast<std::size_t>(kMembers));
  EXPECT_EQ(value.TextAt("k0"), "own");
  EXPECT_EQ(value.TextAt("k1"), "d");
}

TEST(SetDefaults, DropsManyNulls) {
  std::string properties;
  std::vector<JsonTree::Member> members;
  for (int i = 0; i < base::testing::LargeInput(200'000); ++i) {
    properties += (i == 0 ? "\"k" : ",\"k") + std::to_string(i) + R"(":{"type":"string"})";
    members.push_back({.key = "k" + std::to_string(i), .value = JsonTree()});
  }
  members.push_back({.key = "other", .value = "x"});
  const SchemaRef schema = Parsed(R"({"type":"object","properties":{)" + properties + "}}");
  JsonTree value = JsonTree::Object(std::move(members));
  FillIn(*schema, value);
  EXPECT_EQ(value, TreeOf(R"({"other":"x"})"));
}

TEST(SetDefaults, EndsWhereThereIsNoRoom) {
  const SchemaRef schema =
      Parsed(R"({"type":"array","items":{"type":"object","properties":{"a":{"default":"xxxx"}}}})");
  JsonTree value = TreeOf("[{},{}]");
  std::size_t room = 22;  // "a":"xxxx", twice
  EXPECT_TRUE(SetDefaults(*schema, value, room));
  EXPECT_EQ(room, 0U);
  EXPECT_TRUE(SetDefaults(*schema, value, room));  // Nothing is missing.
  value.Append(JsonTree::Object());
  EXPECT_FALSE(SetDefaults(*schema, value, room));
  const SchemaRef nulls = Parsed(R"({"type":"array","items":{"type":"string","default":"xxxx"}})");
  value = TreeOf("[null,null]");
  room = 11;
  EXPECT_FALSE(SetDefaults(*nulls, value, room));
}

/// Most properties have no defaults: they are not looked at for each element.
TEST(SetDefaults, ManyElementsOfManyProperties) {
  std::string properties = R"("d":{"default":1})";
  for (int i = 0; i < base::testing::LargeInput(20'000); ++i) {
    properties += ",\"k" + std::to_string(i) + R"(":{"type":"string"})";
  }
  const SchemaRef schema =
      Parsed(R"({"type":"array","items":{"type":"object","properties":{)" + properties + "}}}");
  JsonTree value = JsonTree::Array(std::vector<JsonTree>(
      static_cast<std::size_t>(base::testing::LargeInput(500'000)), JsonTree::Object()));
  FillIn(*schema, value);
  EXPECT_EQ(value.elements().back(), TreeOf(R"({"d":1})"));
}

TEST(ParseSchema, RefusesPatternsThatCostTooMuch) {
  EXPECT_FALSE(ParseSchema(TreeOf(R"({"type":"string","pattern":"("})")));
  std::string properties;
  for (int i = 0; i < 2000; ++i) {
    properties += (i == 0 ? "" : ",") + ("\"p" + std::to_string(i)) +
                  R"(":{"type":"string","pattern":"[a-z]{100}x)" + std::to_string(i) + "\"}";
  }
  const auto parsed = ParseSchema(TreeOf(R"({"type":"object","properties":{)" + properties + "}}"));
  ASSERT_FALSE(parsed);
  EXPECT_EQ(parsed.error().reason, apimachinery::Reason::kInvalid);
}

TEST(Prune, TakesOutWhatTheSchemaDoesNotHave) {
  const SchemaRef schema = Parsed(
      R"({"type":"object","properties":{"spec":{"type":"object","properties":{
          "a":{"type":"integer"},
          "any":{"type":"object","x-kubernetes-preserve-unknown-fields":true,
                 "properties":{"known":{"type":"object","properties":{"x":{"type":"integer"}}}}},
          "map":{"type":"object","additionalProperties":{"type":"object","properties":{"x":{"type":"integer"}}}},
          "l":{"type":"array","items":{"type":"object","properties":{"x":{"type":"integer"}}}},
          "e":{"type":"object","x-kubernetes-embedded-resource":true,"properties":{"spec":{"type":"object"}}}
          }}}})");
  JsonTree object = TreeOf(
      R"({"apiVersion":"v1","kind":"K","metadata":{"name":"n"},"other":1,"spec":{
          "a":1,"b":2,"any":{"z":1,"known":{"x":1,"y":2}},"map":{"k":{"x":1,"y":2}},
          "l":[{"x":1,"y":2}],"e":{"apiVersion":"v1","kind":"E","metadata":{"a":1},"no":1,"spec":{"q":1}}}})");
  EXPECT_TRUE(Prune(*schema, object));
  EXPECT_EQ(object, TreeOf(R"({"apiVersion":"v1","kind":"K","metadata":{"name":"n"},"spec":{
          "a":1,"any":{"z":1,"known":{"x":1}},"map":{"k":{"x":1}},"l":[{"x":1}],
          "e":{"apiVersion":"v1","kind":"E","metadata":{"a":1},"spec":{}}}})"));
  EXPECT_FALSE(Prune(*schema, object));
}

TEST(Prune, KeepsTheOrderOfManyMembers) {
  const SchemaRef schema =
      Parsed(R"({"type":"object","properties":{"a":{"type":"integer"},"z":{"type":"integer"}}})");
  std::string json = R"({"a":1)";
  for (int i = 0; i < 20; ++i) {
    json += ",\"u" + std::to_string(i) + "\":0";
  }
  JsonTree object = TreeOf(json + R"(,"z":2})");
  Prune(*schema, object);
  EXPECT_EQ(object.ToJson(), R"({"a":1,"z":2})");
}

TEST(SetDefaults, FillsInWhatIsMissingOrNull) {
  const SchemaRef schema = Parsed(
      R"({"type":"object","properties":{
          "spec":{"type":"object","default":{},"properties":{
            "n":{"type":"integer","default":3},
            "null":{"type":"string","nullable":true,"default":"x"},
            "none":{"type":"string"},
            "l":{"type":"array","items":{"type":"object","properties":{"p":{"type":"string","default":"TCP"}}}},
            "m":{"type":"object","additionalProperties":{"type":"integer","default":7}}}}}})");
  const auto with_defaults = [&](std::string_view json) {
    JsonTree object = TreeOf(json);
    FillIn(*schema, object);
    return object;
  };
  EXPECT_EQ(with_defaults("{}"), TreeOf(R"({"spec":{"n":3,"null":"x"}})"));
  EXPECT_EQ(
      with_defaults(
          R"({"spec":{"n":null,"null":null,"none":null,"l":[{},{"p":"UDP"}],"m":{"a":null}}})"),
      TreeOf(R"({"spec":{"n":3,"null":null,"l":[{"p":"TCP"},{"p":"UDP"}],"m":{"a":7}}})"));
  EXPECT_EQ(with_defaults(R"({"spec":{"n":5,"null":"y"}})"),
            TreeOf(R"({"spec":{"n":5,"null":"y"}})"));
}

}  // namespace
}  // namespace kubexx::apiserver::schema
