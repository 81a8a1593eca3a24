#include "kubexx/apiserver/endpoints/patch/patch.h"

#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <string>

#include "kubexx/api/core/v1/types.gen.h"
#include "kubexx/api/meta/v1/types.gen.h"
#include "kubexx/api/policy/v1/types.gen.h"
#include "kubexx/base/testing/large_input.h"
#include "kubexx/codec/schema.h"

namespace kubexx::apiserver {
namespace {

using api::core::v1::Container;
using codec::JsonTree;
using managedfields::Type;

JsonTree Json(const std::string& text) {
  auto tree = JsonTree::Parse(text);
  EXPECT_TRUE(tree) << text;
  return tree ? std::move(*tree) : JsonTree();
}

/// Returns the type of a built-in struct.
template <typename T>
Type TypeOf() {
  return Type::Builtin(codec::SchemaOf<T>());
}

struct Case {
  const char* name;
  const char* object;
  const char* patch;
  const char* result;  // "" for an error
  // The type of the object that a strategic merge patch changes.
  const codec::TypeSchema* type = &codec::SchemaOf<api::core::v1::Pod>();
};

std::string NameOf(const ::testing::TestParamInfo<Case>& info) { return info.param.name; }

class JsonPatchTest : public ::testing::TestWithParam<Case> {};

TEST_P(JsonPatchTest, IsRfc6902) {
  const Case& c = GetParam();
  const auto result = ApplyJsonPatch(Json(c.object), Json(c.patch));
  ASSERT_EQ(result.has_value(), *c.result != '\0');
  if (result) {
    EXPECT_EQ(*result, Json(c.result)) << result->ToJson();
  }
}

INSTANTIATE_TEST_SUITE_P(
    Patches, JsonPatchTest,
    ::testing::Values(
        Case{"Adds", R"({"a":1})", R"([{"op":"add","path":"/b","value":2}])", R"({"a":1,"b":2})"},
        Case{"Inserts", R"({"a":[1,3]})", R"([{"op":"add","path":"/a/1","value":2}])",
             R"({"a":[1,2,3]})"},
        Case{"Appends", R"({"a":[1]})", R"([{"op":"add","path":"/a/-","value":2}])",
             R"({"a":[1,2]})"},
        Case{"NegativeIndicesCountFromTheEnd", R"({"a":[1,2,{"b":[3]}]})",
             R"([{"op":"test","path":"/a/-1/b/-1","value":3},{"op":"remove","path":"/a/-3"},)"
             R"({"op":"replace","path":"/a/-2","value":4},{"op":"add","path":"/a/-1","value":5},)"
             R"({"op":"add","path":"/a/-4","value":6}])",
             R"({"a":[6,4,{"b":[3]},5]})"},
        Case{"NothingIsThatFarFromTheEnd", R"({"a":[1]})", R"([{"op":"remove","path":"/a/-2"}])",
             ""},
        Case{"NothingIsAddedThatFarFromTheEnd", R"({"a":[1]})",
             R"([{"op":"add","path":"/a/-3","value":1}])", ""},
        Case{"Removes", R"({"a":[1,2],"b":1})",
             R"([{"op":"remove","path":"/a/0"},{"op":"remove","path":"/b"}])", R"({"a":[2]})"},
        Case{"Escapes", R"({"a/b":{"~c":1}})", R"([{"op":"replace","path":"/a~1b/~0c","value":2}])",
             R"({"a/b":{"~c":2}})"},
        Case{"EscapedTildeOne", R"({"~1":1})", R"([{"op":"remove","path":"/~01"}])", R"({})"},
        Case{"MovesAndCopies", R"({"a":1})",
             R"([{"op":"copy","from":"/a","path":"/b"},{"op":"move","from":"/a","path":"/c"}])",
             R"({"b":1,"c":1})"},
        Case{"TestHolds", R"({"a":1})", R"([{"op":"test","path":"/a","value":1}])", R"({"a":1})"},
        Case{"TestFails", R"({"a":1})", R"([{"op":"test","path":"/a","value":2}])", ""},
        Case{"NothingToRemove", R"({})", R"([{"op":"remove","path":"/a"}])", ""},
        Case{"ReplacesWhatIsNotThere", R"({})", R"([{"op":"replace","path":"/a","value":1}])",
             R"({"a":1})"},
        Case{"NothingToReplace", R"({"a":[]})", R"([{"op":"replace","path":"/a/0","value":1}])",
             ""},
        Case{"CopiesNullForAMemberThatIsNotThere", R"({"a":{"b":1}})",
             R"([{"op":"move","from":"/a/b","path":"/c"},{"op":"copy","from":"/a/b","path":"/d"}])",
             R"({"a":{},"c":1,"d":null})"},
        Case{"NothingToCopyFrom", R"({})", R"([{"op":"copy","from":"/a/b","path":"/c"}])", ""},
        Case{"NoElementToCopy", R"({"a":[]})", R"([{"op":"copy","from":"/a/0","path":"/c"}])", ""},
        Case{"NothingToMove", R"({})", R"([{"op":"move","from":"/a","path":"/c"}])", ""},
        Case{"UnknownOperation", R"({})", R"([{"op":"x","path":"/a"}])", ""},
        Case{"NoPointer", R"({})", R"([{"op":"add","path":"a","value":1}])", ""},
        Case{"NoArray", R"({})", R"({"op":"add"})", ""}),
    NameOf);

TEST(MergePatchTest, IsRfc7386) {
  EXPECT_EQ(ApplyMergePatch(Json(R"({"a":{"b":1,"c":2},"d":[1]})"),
                            Json(R"({"a":{"b":null,"e":{"f":null,"g":1}},"d":[2]})")),
            Json(R"({"a":{"c":2,"e":{"g":1}},"d":[2]})"));
  EXPECT_EQ(ApplyMergePatch(Json("1"), Json(R"({"a":1})")), Json(R"({"a":1})"));
}

class StrategicMergeTest : public ::testing::TestWithParam<Case> {};

TEST_P(StrategicMergeTest, MergesListsByTheirKeys) {
  const Case& c = GetParam();
  const auto result =
      ApplyStrategicMergePatch(Json(c.object), Json(c.patch), Type::Builtin(*c.type));
  ASSERT_EQ(result.has_value(), *c.result != '\0');
  if (result) {
    EXPECT_EQ(*result, Json(c.result)) << result->ToJson();
  }
}

INSTANTIATE_TEST_SUITE_P(
    Patches, StrategicMergeTest,
    ::testing::Values(
        Case{"Container", R"({"spec":{"containers":[{"name":"a","image":"1"},{"name":"b"}]}})",
             R"({"spec":{"containers":[{"name":"a","image":"2"},{"name":"c"}]}})",
             R"({"spec":{"containers":[{"name":"a","image":"2"},{"name":"b"},{"name":"c"}]}})"},
        Case{"DeletesElement", R"({"spec":{"containers":[{"name":"a"},{"name":"b"}]}})",
             R"({"spec":{"containers":[{"name":"a","$patch":"delete"}]}})",
             R"({"spec":{"containers":[{"name":"b"}]}})"},
        Case{"ReplacesList", R"({"spec":{"containers":[{"name":"a"},{"name":"b"}]}})",
             R"({"spec":{"containers":[{"$patch":"replace"},{"name":"c"}]}})",
             R"({"spec":{"containers":[{"name":"c"}]}})"},
        Case{"ReplacesMap", R"({"a":{"b":1}})", R"({"a":{"$patch":"replace","c":1}})",
             R"({"a":{"c":1}})"},
        Case{"ServicePorts", R"({"spec":{"ports":[{"port":80,"name":"x"}]}})",
             R"({"spec":{"ports":[{"port":80,"name":"y"},{"port":81}]}})",
             R"({"spec":{"ports":[{"port":80,"name":"y"},{"port":81}]}})",
             &codec::SchemaOf<api::core::v1::Service>()},
        Case{"KeysAreThoseOfTheType", R"({"spec":{"ports":[{"port":80,"name":"x"}]}})",
             R"({"spec":{"ports":[{"port":81}]}})", R"({"spec":{"ports":[{"port":81}]}})"},
        Case{"ResourceClaims", R"({"spec":{"resourceClaims":[{"name":"a"}]}})",
             R"({"spec":{"resourceClaims":[{"name":"b"}]}})",
             R"({"spec":{"resourceClaims":[{"name":"a"},{"name":"b"}]}})"},
        Case{"PodCidrsAreASet", R"({"spec":{"podCIDRs":["a"]}})", R"({"spec":{"podCIDRs":["b"]}})",
             R"({"spec":{"podCIDRs":["a","b"]}})", &codec::SchemaOf<api::core::v1::Node>()},
        Case{"SelectorsOfBudgetsAreReplaced", R"({"spec":{"selector":{"matchLabels":{"a":"1"}}}})",
             R"({"spec":{"selector":{"matchLabels":{"b":"2"}}}})",
             R"({"spec":{"selector":{"matchLabels":{"b":"2"}}}})",
             &codec::SchemaOf<api::policy::v1::PodDisruptionBudget>()},
        Case{"SelectorsOfBudgetsAreMergedIntoNothing", R"({"spec":{}})",
             R"({"spec":{"selector":{"matchLabels":{"b":"2","c":null}}}})",
             R"({"spec":{"selector":{"matchLabels":{"b":"2"}}}})",
             &codec::SchemaOf<api::policy::v1::PodDisruptionBudget>()},
        Case{"WhatIsUnknownIsReplaced", R"({"spec":{"widgets":[{"name":"a"}]}})",
             R"({"spec":{"widgets":[{"name":"b"}]}})", R"({"spec":{"widgets":[{"name":"b"}]}})"},
        Case{"PlainListsAreReplaced", R"({"spec":{"args":["a"]}})", R"({"spec":{"args":["b"]}})",
             R"({"spec":{"args":["b"]}})"},
        Case{"FinalizersAreASet", R"({"metadata":{"finalizers":["a"]}})",
             R"({"metadata":{"finalizers":["a","b"],"$deleteFromPrimitiveList/finalizers":["a"]}})",
             R"({"metadata":{"finalizers":["b"]}})"},
        Case{"Order", R"({"spec":{"containers":[{"name":"a"},{"name":"b"}]}})",
             R"({"spec":{"$setElementOrder/containers":[{"name":"b"},{"name":"a"}]}})",
             R"({"spec":{"containers":[{"name":"b"},{"name":"a"}]}})"},
        Case{"RetainKeys", R"({"strategy":{"type":"a","rollingUpdate":{}}})",
             R"({"strategy":{"$retainKeys":["type"],"type":"b"}})", R"({"strategy":{"type":"b"}})"},
        Case{"OrderThatIsNoList", R"({"spec":{"containers":[{"name":"a"}]}})",
             R"({"spec":{"$setElementOrder/containers":{"name":"a"}}})", ""},
        Case{"OrderOfNoList", R"({"spec":{"a":1}})", R"({"$setElementOrder/spec":[]})", ""},
        Case{"OrderOfNoListInThePatch", R"({})", R"({"a":{},"$setElementOrder/a":[]})", ""},
        Case{"RetainKeysThatAreNoList", R"({"a":{"b":1}})", R"({"a":{"$retainKeys":{"b":1}}})", ""},
        Case{"RetainKeysWithoutWhatChanges", R"({"a":{}})",
             R"({"a":{"$retainKeys":["type"],"type":"b","c":1}})", ""},
        Case{"RetainKeysWithoutWhatIsErased", R"({"a":{"c":1}})",
             R"({"a":{"$retainKeys":["type"],"type":"b","c":null}})", R"({"a":{"type":"b"}})"},
        Case{"NullErases", R"({"a":1,"b":1})", R"({"a":null})", R"({"b":1})"},
        Case{"NullErasesInAnElement",
             R"({"env":[{"name":"a","valueFrom":{"fieldRef":{"fieldPath":"metadata.name"}}}]})",
             R"({"env":[{"name":"a","value":"1","valueFrom":null},)"
             R"({"name":"b","value":"2","valueFrom":null}]})",
             R"({"env":[{"name":"a","value":"1"},{"name":"b","value":"2"}]})",
             &codec::SchemaOf<Container>()},
        Case{"NullAddsNothing", R"({})", R"({"env":[{"name":"a","value":"1","valueFrom":null}]})",
             R"({"env":[{"name":"a","value":"1"}]})", &codec::SchemaOf<Container>()},
        Case{"UnknownDirective", R"({"a":{}})", R"({"a":{"$patch":"x"}})", ""}),
    NameOf);

std::string Repeated(std::string_view text, std::size_t times) {
  std::string all;
  for (std::size_t i = 0; i < times; ++i) {
    all += (i == 0 ? "" : ",") + std::string(text);
  }
  return "[" + all + "]";
}

TEST(JsonPatch, DoesNotGrowWithoutBound) {
  // Each operation doubles the object.
  std::string doubling =
      R"({"op":"copy","from":"","path":"/a"},{"op":"copy","from":"/a","path":"/b"})";
  const auto grown = ApplyJsonPatch(Json(R"({"x":1})"), Json(Repeated(doubling, 100)));
  ASSERT_FALSE(grown);
  EXPECT_EQ(grown.error().code, 413);
  const auto many =
      ApplyJsonPatch(Json("{}"), Json(Repeated(R"({"op":"add","path":"/a","value":1})", 10001)));
  ASSERT_FALSE(many);
  EXPECT_EQ(many.error().code, 413);
}

// The work that a patch may cause. It is less where each step takes longer.
constexpr PatchBudget kPatchBudget(base::testing::LargeInput(PatchBudget::kMaxWork));

TEST(JsonPatch, MovesOnlySoManyElements) {
  constexpr int kElements = base::testing::LargeInput(60'000);
  JsonTree object = JsonTree::Object();
  for (int i = 0; i < kElements; ++i) {
    object["a"].Append(i);
  }
  const auto few =
      ApplyJsonPatch(object, Json(Repeated(R"({"op":"remove","path":"/a/0"})", 100)), kPatchBudget);
  ASSERT_TRUE(few);
  EXPECT_EQ(few->Find("a")->size(), static_cast<std::size_t>(kElements - 100));
  for (const char* const operation :
       {R"({"op":"remove","path":"/a/0"})", R"({"op":"add","path":"/a/0","value":1})",
        R"({"op":"move","from":"/a/0","path":"/a/1"})"}) {
    EXPECT_TRUE(ApplyJsonPatch(object, Json(Repeated(operation, 10)), kPatchBudget)) << operation;
    const auto refused = ApplyJsonPatch(object, Json(Repeated(operation, 2000)), kPatchBudget);
    ASSERT_FALSE(refused) << operation;
    EXPECT_EQ(refused.error().code, 413);
  }
}

// Code that looks at each member for each operation would not finish in a test's time.
TEST(JsonPatch, LooksAtOnlySoManyMembers) {
  constexpr int kMembers = base::testing::LargeInput(300'000);
  std::vector<JsonTree::Member> members;
  for (int i = 0; i < kMembers; ++i) {
    members.push_back({.key = "k" + std::to_string(i), .value = i});
  }
  JsonTree object = JsonTree::Object();
  object["a"] = JsonTree::Object(std::move(members));
  const std::string last = "/a/k" + std::to_string(kMembers - 1);
  const std::string value = std::to_string(kMembers - 1);
  for (const std::string& operation :
       {R"({"op":"add","path":")" + last + R"(","value":1})",
        R"({"op":"test","path":")" + last + R"(","value":)" + value + "}",
        R"({"op":"replace","path":")" + last + R"(","value":1})",
        R"({"op":"move","from":")" + last + R"(","path":")" + last + R"("})",
        std::string(
            R"({"op":"move","from":"/a","path":"/b"},{"op":"move","from":"/b","path":"/a"})"),
        R"({"op":"copy","from":")" + last + R"(","path":"/a/k0"})"}) {
    const auto few = ApplyJsonPatch(object, Json(Repeated(operation, 5)), kPatchBudget);
    EXPECT_TRUE(few) << operation;
    const auto refused = ApplyJsonPatch(object, Json(Repeated(operation, 5'000)), kPatchBudget);
    ASSERT_FALSE(refused) << operation;
    EXPECT_EQ(refused.error().code, 413);
  }
}

TEST(JsonPatch, HasManyOperationsOnManyMembers) {
  const auto members = [](const char* operation) {
    std::string all;
    for (int i = 0; i < 1'000; ++i) {
      all += (i == 0 ? "" : ",") + std::string(R"({"op":")") + operation + R"(","path":"/a/k)" +
             std::to_string(i) + R"(","value":1})";
    }
    return all;
  };
  const auto added = ApplyJsonPatch(Json(R"({"a":{}})"), Json(Repeated(members("add"), 10)));
  ASSERT_TRUE(added) << added.error().message;
  EXPECT_EQ(added->Find("a")->size(), 1'000U);
  const auto removed = ApplyJsonPatch(*added, Json("[" + members("remove") + "]"));
  ASSERT_TRUE(removed);
  EXPECT_EQ(*removed, Json(R"({"a":{}})"));
}

TEST(JsonPatch, DoesNotNestDeeperThanWhatIsRead) {
  std::string deep = "1";
  for (int i = 0; i < 300; ++i) {
    deep = R"({"a":)" + deep + "}";
  }
  std::string path;
  for (int i = 0; i < 300; ++i) {
    path += "/a";
  }
  const JsonTree object = Json(deep);
  EXPECT_FALSE(
      ApplyJsonPatch(object, Json(R"([{"op":"copy","from":"","path":")" + path + R"("}])")));
  EXPECT_TRUE(ApplyJsonPatch(object, Json(R"([{"op":"copy","from":"/a","path":"/b"}])")));
}

// There are so many members and elements that comparing each with each would not finish in a test's
// time.
TEST(MergePatchTest, TakesObjectsOfAnySize) {
  constexpr int kMembers = base::testing::LargeInput(300'000);
  std::vector<JsonTree::Member> up;
  std::vector<JsonTree::Member> down;
  for (int i = 0; i < kMembers; ++i) {
    up.push_back({.key = std::to_string(i), .value = i});
    const int back = kMembers - i;  // one of them is new
    down.push_back({.key = std::to_string(back), .value = back == 7 ? JsonTree() : JsonTree("x")});
  }
  const JsonTree object = JsonTree::Object(std::move(up));
  const JsonTree patch = JsonTree::Object(std::move(down));
  const auto strategic = ApplyStrategicMergePatch(object, patch, Type::Anything());
  const JsonTree merged = ApplyMergePatch(object, patch);
  ASSERT_TRUE(strategic);
  for (const JsonTree& one : {merged, *strategic}) {
    ASSERT_EQ(one.size(), static_cast<std::size_t>(kMembers));
    EXPECT_EQ(one.members()[0].key, "0");
    EXPECT_EQ(one.members()[0].value, JsonTree(0));
    EXPECT_EQ(one.members()[7].key, "8");
    EXPECT_EQ(one.members()[7].value, JsonTree("x"));
    EXPECT_EQ(one.members().back().key, std::to_string(kMembers));
  }
}

TEST(StrategicMerge, TakesListsOfAnySize) {
  constexpr int kElements = base::testing::LargeInput(30'000);
  JsonTree object = JsonTree::Object();
  JsonTree patch = JsonTree::Object();
  for (int i = 0; i < kElements; ++i) {
    JsonTree old = JsonTree::Object();
    old["name"] = std::to_string(i);
    JsonTree change = JsonTree::Object();
    change["name"] = std::to_string(kElements - 1 - i);
    patch["$setElementOrder/env"].Append(change);
    change["value"] = "x";
    object["env"].Append(std::move(old));
    patch["env"].Append(std::move(change));
  }
  const auto merged = ApplyStrategicMergePatch(object, patch, TypeOf<Container>());
  ASSERT_TRUE(merged);
  EXPECT_EQ(*merged->Find("env"), *patch.Find("env"));
}

// Each element of the patch is merged into the same large element.
TEST(StrategicMerge, MergesOnlySoMuch) {
  constexpr int kMembers = 1'000;
  constexpr std::size_t kBudget = 300'000;
  const Type spec = TypeOf<api::core::v1::PodSpec>();
  std::vector<JsonTree::Member> large;
  large.push_back({.key = "name", .value = "a"});
  JsonTree ports = JsonTree::Array();
  JsonTree finalizers = JsonTree::Array();
  for (int i = 0; i < kMembers; ++i) {
    large.push_back({.key = "k" + std::to_string(i), .value = i});
    JsonTree port = JsonTree::Object();
    port["containerPort"] = i;
    ports.Append(std::move(port));
    finalizers.Append("e.x/" + std::to_string(i));
  }
  large.push_back({.key = "ports", .value = ports});
  large.push_back({.key = "finalizers", .value = finalizers});
  JsonTree object = JsonTree::Object();
  object["containers"].Append(JsonTree::Object(std::move(large)));
  for (const char* const element :
       {R"({"name":"a","k1":2})", R"({"name":"a","ports":[{"containerPort":1}]})",
        R"({"name":"a","finalizers":["x"]})", R"({"name":"a","$setElementOrder/ports":[]})",
        R"({"name":"a","$deleteFromPrimitiveList/finalizers":["x"]})"}) {
    const auto patch = [element](std::size_t times) {
      return Json(R"({"containers":)" + Repeated(element, times) + "}");
    };
    EXPECT_TRUE(ApplyStrategicMergePatch(object, patch(3), spec, PatchBudget(kBudget))) << element;
    const auto refused = ApplyStrategicMergePatch(object, patch(200), spec, PatchBudget(kBudget));
    ASSERT_FALSE(refused) << element;
    EXPECT_EQ(refused.error().code, 413);
  }
}

// A value that is as large as an object may be is looked at for each element of the patch.
TEST(StrategicMerge, ALargeValueCountsEachTimeItIsLookedAt) {
  const Type spec = TypeOf<api::core::v1::PodSpec>();
  JsonTree object = JsonTree::Object();
  JsonTree container = JsonTree::Object();
  container["name"] = "a";
  container["args"].Append(std::string(1'000'000, 'x'));
  container["env"].Append(*JsonTree::Parse(R"({"name":")" + std::string(1'000'000, 'y') + "\"}"));
  object["containers"].Append(std::move(container));
  for (const char* const element :
       {R"({"name":"a","$deleteFromPrimitiveList/args":["z"]})",
        R"({"name":"a","$setElementOrder/args":["z"]})", R"({"name":"a","env":[{"name":"z"}]})"}) {
    const auto patch = [element](std::size_t times) {
      return Json(R"({"containers":)" + Repeated(element, times) + "}");
    };
    EXPECT_TRUE(ApplyStrategicMergePatch(object, patch(3), spec, PatchBudget(1'000'000)))
        << element;
    const auto refused = ApplyStrategicMergePatch(object, patch(50), spec, PatchBudget(1'000'000));
    ASSERT_FALSE(refused) << element;
    EXPECT_EQ(refused.error().code, 413);
  }
}

// The content of a merged list's elements is neither copied nor lost.
TEST(StrategicMerge, ALargeElementStaysAsItIs) {
  JsonTree object = JsonTree::Object();
  JsonTree container = JsonTree::Object();
  container["name"] = "a";
  container["args"] = *JsonTree::Parse(R"(["x","y"])");
  object["containers"].Append(container);
  const auto merged = ApplyStrategicMergePatch(
      object, Json(R"({"containers":[{"name":"a","image":"i"},{"name":"b"}]})"),
      TypeOf<api::core::v1::PodSpec>());
  ASSERT_TRUE(merged);
  EXPECT_EQ(*merged, Json(R"({"containers":[{"name":"a","args":["x","y"],"image":"i"},)"
                          R"({"name":"b"}]})"));
}

TEST(StrategicMerge, AllElementsWithAKeyAreDeleted) {
  const auto merged = ApplyStrategicMergePatch(
      Json(R"({"env":[{"name":"a","value":"1"},{"name":"b"},{"name":"a"}]})"),
      Json(R"({"env":[{"name":"a","$patch":"delete"}]})"), TypeOf<Container>());
  ASSERT_TRUE(merged);
  EXPECT_EQ(*merged, Json(R"({"env":[{"name":"b"}]})"));
}

/// Returns the result of "one" for each number, with commas in between.
std::string List(int count, const std::function<std::string(int)>& one) {
  std::string text;
  for (int i = 0; i < count; ++i) {
    text += (i == 0 ? "" : ",") + one(i);
  }
  return text;
}

// A body has room for this many. Code whose time grows with the square of their number would not
// finish.
constexpr int kMany = base::testing::LargeInput(100'000);

TEST(LargePatchTest, ManyElementsAreMergedDeletedAndOrdered) {
  const auto name = [](int i) { return R"("name":"v)" + std::to_string(i) + '"'; };
  const std::string last = "v" + std::to_string(kMany - 1);
  const auto merged = ApplyStrategicMergePatch(
      Json("{}"),
      Json(R"({"env":[)" + List(kMany, [&](int i) { return "{" + name(i) + R"(,"value":"x"})"; }) +
           "]}"),
      TypeOf<Container>());
  ASSERT_TRUE(merged);
  EXPECT_EQ(merged->Find("env")->size(), std::size_t{kMany});
  const auto backwards = ApplyStrategicMergePatch(
      *merged,
      Json(R"({"$setElementOrder/env":[)" +
           List(kMany, [&](int i) { return "{" + name(kMany - 1 - i) + "}"; }) + "]}"),
      TypeOf<Container>());
  ASSERT_TRUE(backwards);
  EXPECT_EQ(backwards->Find("env")->elements()[0].TextAt("name"), last);
  const auto one = ApplyStrategicMergePatch(
      *backwards,
      Json(R"({"env":[)" +
           List(kMany - 1, [&](int i) { return "{" + name(i) + R"(,"$patch":"delete"})"; }) + "]}"),
      TypeOf<Container>());
  ASSERT_TRUE(one);
  EXPECT_EQ(one->ToJson(), R"({"env":[{"name":")" + last + R"(","value":"x"}]})");
}

TEST(LargePatchTest, ManyStringsAreASet) {
  const std::string all = List(kMany, [](int i) { return "\"f" + std::to_string(i) + '"'; });
  const auto set = ApplyStrategicMergePatch(Json(R"({"finalizers":["f1","other"]})"),
                                            Json(R"({"finalizers":[)" + all + "]}"),
                                            TypeOf<api::meta::v1::ObjectMeta>());
  ASSERT_TRUE(set);
  EXPECT_EQ(set->Find("finalizers")->size(), std::size_t{kMany + 1});
  const auto left = ApplyStrategicMergePatch(
      *set, Json(R"({"$deleteFromPrimitiveList/finalizers":[)" + all + "]}"),
      TypeOf<api::meta::v1::ObjectMeta>());
  ASSERT_TRUE(left);
  EXPECT_EQ(left->ToJson(), R"({"finalizers":["other"]})");
}

TEST(LargePatchTest, ManyMembersAreMergedAndRemoved) {
  const auto members = [](const std::string& value) {
    return R"({"data":{)" +
           List(kMany, [&](int i) { return "\"k" + std::to_string(i) + "\":" + value; }) + "}}";
  };
  const JsonTree merged = ApplyMergePatch(Json("{}"), Json(members("1")));
  EXPECT_EQ(merged, Json(members("1.0")));
  EXPECT_EQ(ApplyMergePatch(merged, Json(members("null"))), Json(R"({"data":{}})"));
  const auto strategic = ApplyStrategicMergePatch(merged, Json(members("null")), Type::Anything());
  ASSERT_TRUE(strategic);
  EXPECT_EQ(*strategic, Json(R"({"data":{}})"));
}

TEST(LargePatchTest, EqualKeysAreFoundHoweverTheyAreWritten) {
  const auto merged = ApplyStrategicMergePatch(
      Json(R"({"spec":{"ports":[{"port":80,"a":1},{"port":443}]}})"),
      Json(R"({"spec":{"ports":[{"port":8e1,"a":2},{"port":443.0,"$patch":"delete"}]}})"),
      TypeOf<api::core::v1::Service>());
  ASSERT_TRUE(merged);
  EXPECT_EQ(*merged, Json(R"({"spec":{"ports":[{"port":80,"a":2}]}})"));
}

}  // namespace
}  // namespace kubexx::apiserver
