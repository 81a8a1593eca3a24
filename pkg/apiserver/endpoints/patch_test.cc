#include "kubexx/apiserver/endpoints/patch.h"

#include <gtest/gtest.h>

#include <string>

namespace kubexx::apiserver {
namespace {

using codec::JsonTree;

JsonTree Json(const std::string& text) {
  auto tree = JsonTree::Parse(text);
  EXPECT_TRUE(tree) << text;
  return tree ? std::move(*tree) : JsonTree();
}

struct Case {
  const char* name;
  const char* object;
  const char* patch;
  const char* result;  // "" for an error
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
  const auto result = ApplyStrategicMergePatch(Json(c.object), Json(c.patch));
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
             R"({"spec":{"ports":[{"port":80,"name":"y"},{"port":81}]}})"},
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
        Case{"NullErases", R"({"a":1,"b":1})", R"({"a":null})", R"({"b":1})"},
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

TEST(JsonPatch, MovesOnlySoManyElements) {
  JsonTree object = JsonTree::Object();
  for (int i = 0; i < 60'000; ++i) {
    object["a"].Append(i);
  }
  const auto few = ApplyJsonPatch(object, Json(Repeated(R"({"op":"remove","path":"/a/0"})", 100)));
  ASSERT_TRUE(few);
  EXPECT_EQ(few->Find("a")->size(), 59'900U);
  for (const char* const operation :
       {R"({"op":"remove","path":"/a/0"})", R"({"op":"add","path":"/a/0","value":1})",
        R"({"op":"move","from":"/a/0","path":"/a/1"})"}) {
    const auto refused = ApplyJsonPatch(object, Json(Repeated(operation, 2000)));
    ASSERT_FALSE(refused) << operation;
    EXPECT_EQ(refused.error().code, 413);
  }
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

}  // namespace
}  // namespace kubexx::apiserver
