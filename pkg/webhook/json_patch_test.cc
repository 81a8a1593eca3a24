#include "kubexx/webhook/json_patch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace kubexx::webhook {
namespace {

std::string Patch(std::string_view before, std::string_view after) {
  const auto patch = MakeJsonPatch(before, after);
  return patch ? *patch : patch.error().ToString();
}

TEST(JsonPatchTest, SameDocumentsNeedNone) {
  EXPECT_EQ(Patch(R"({"a":1,"b":[1,{"c":null}]})", R"({ "b":[1,{"c":null}],"a":1 })"), "");
  EXPECT_EQ(Patch("[]", "[]"), "");
}

TEST(JsonPatchTest, MembersAreAddedReplacedAndRemoved) {
  EXPECT_EQ(Patch(R"({"a":1,"b":2,"c":{"d":"x"}})", R"({"a":1,"c":{"d":"y","e":[true]},"f":{}})"),
            R"([{"op":"remove","path":"/b"},)"
            R"({"op":"replace","path":"/c/d","value":"y"},)"
            R"({"op":"add","path":"/c/e","value":[true]},)"
            R"({"op":"add","path":"/f","value":{}}])");
  EXPECT_EQ(Patch(R"({"a":{}})", R"({"a":[]})"), R"([{"op":"replace","path":"/a","value":[]}])");
  EXPECT_EQ(Patch(R"({"a":1})", R"({"a":1.5})"), R"([{"op":"replace","path":"/a","value":1.5}])");
}

TEST(JsonPatchTest, NamesAreEscaped) {
  EXPECT_EQ(Patch("{}", R"({"a/b~c\"d\u0001":"v"})"),
            R"([{"op":"add","path":"/a~1b~0c\"d\u0001","value":"v"}])");
}

TEST(JsonPatchTest, ListsChangeOneByOne) {
  EXPECT_EQ(Patch("[1,2,3]", "[1,3]"), R"([{"op":"remove","path":"/1"}])");
  EXPECT_EQ(Patch("[1,3]", "[1,2,3]"), R"([{"op":"add","path":"/1","value":2}])");
  EXPECT_EQ(Patch("[1]", "[1,2,3]"),
            R"([{"op":"add","path":"/1","value":2},{"op":"add","path":"/2","value":3}])");
  EXPECT_EQ(Patch("[1,2,3]", "[4]"),
            R"([{"op":"replace","path":"/0","value":4},{"op":"remove","path":"/2"},)"
            R"({"op":"remove","path":"/1"}])");
  EXPECT_EQ(Patch(R"([{"name":"a","v":1}])", R"([{"name":"a","v":2}])"),
            R"([{"op":"replace","path":"/0/v","value":2}])");
  EXPECT_EQ(Patch(R"([{"name":"a","v":1}])", R"([{"name":"b","v":1}])"),
            R"([{"op":"replace","path":"/0","value":{"name":"b","v":1}}])")
      << "another thing, not a changed one";
}

TEST(JsonPatchTest, FieldsThatTheProgramDoesNotKnowAreLeftAlone) {
  const auto patch =
      MakeJsonPatch(R"({"x":1,"l":[{"name":"a","new":1}],"m":{"new":2}})",
                    R"({"l":[{"name":"a"}],"m":{}})", R"({"l":[{"name":"a","v":3}],"m":{"w":4}})");
  EXPECT_EQ(patch.value(),
            R"([{"op":"add","path":"/l/0/v","value":3},{"op":"add","path":"/m/w","value":4}])");
}

/// What the patch makes of `original`, of which the program does not know the members "x" and "y".
std::string Patched(std::string_view original, std::string_view before, std::string_view after) {
  return MakeJsonPatch(original, before, after).value();
}

TEST(JsonPatchTest, UnknownFieldsDoNotMoveToAnotherElement) {
  // The first one goes and another comes at the end.
  EXPECT_EQ(Patched(R"([{"key":"a","op":"E","x":1},{"key":"b","op":"E","y":2}])",
                    R"([{"key":"a","op":"E"},{"key":"b","op":"E"}])",
                    R"([{"key":"b","op":"E"},{"key":"c","op":"E"}])"),
            R"([{"op":"remove","path":"/0"},)"
            R"({"op":"add","path":"/1","value":{"key":"c","op":"E"}}])");
  // Two mounts of one volume: the same name, and still two things.
  EXPECT_EQ(Patched(R"([{"name":"v","at":"/a","x":1},{"name":"v","at":"/b"}])",
                    R"([{"name":"v","at":"/a"},{"name":"v","at":"/b"}])",
                    R"([{"name":"v","at":"/b"},{"name":"v","at":"/c"}])"),
            R"([{"op":"remove","path":"/0"},)"
            R"({"op":"add","path":"/1","value":{"name":"v","at":"/c"}}])");
  // Another thing in the same place.
  EXPECT_EQ(Patched(R"([{"key":"a","op":"E","x":1}])", R"([{"key":"a","op":"E"}])",
                    R"([{"key":"c","op":"F"}])"),
            R"([{"op":"replace","path":"/0","value":{"key":"c","op":"F"}}])");
}

TEST(JsonPatchTest, AChangedElementKeepsItsUnknownFieldsInAnotherPlace) {
  EXPECT_EQ(Patched(R"([{"name":"a"},{"name":"b","v":1,"x":1}])",
                    R"([{"name":"a"},{"name":"b","v":1}])", R"([{"name":"b","v":2}])"),
            R"([{"op":"remove","path":"/0"},{"op":"replace","path":"/0/v","value":2}])");
  EXPECT_EQ(
      Patched(R"([{"k":1,"l":1,"m":1,"x":1},{"k":2,"l":2,"m":2,"y":1}])",
              R"([{"k":1,"l":1,"m":1},{"k":2,"l":2,"m":2}])",
              R"([{"k":0},{"k":1,"l":1,"m":3},{"k":2,"l":2,"m":3}])"),
      R"([{"op":"add","path":"/0","value":{"k":0}},)"
      R"({"op":"replace","path":"/1/m","value":3},{"op":"replace","path":"/2/m","value":3}])");
  EXPECT_EQ(Patched(R"([[{"k":1,"l":1,"x":1}],[1]])", R"([[{"k":1,"l":1}],[1]])",
                    R"([[{"k":1,"l":2}],[2]])"),
            R"([{"op":"replace","path":"/0/0/l","value":2},)"
            R"({"op":"replace","path":"/1/0","value":2}])");
}

TEST(JsonPatchTest, AnElementThatChangesPlacesIsMovedWithItsUnknownFields) {
  EXPECT_EQ(Patched(R"([{"name":"a","x":1},{"name":"b"},{"name":"c"}])",
                    R"([{"name":"a"},{"name":"b"},{"name":"c"}])",
                    R"([{"name":"b"},{"name":"c"},{"name":"a"}])"),
            R"([{"op":"move","from":"/0","path":"/2"}])");
  EXPECT_EQ(Patched(R"([{"name":"a","v":1,"x":1},{"name":"b","v":1,"y":2}])",
                    R"([{"name":"a","v":1},{"name":"b","v":1}])",
                    R"([{"name":"b","v":2},{"name":"new"},{"name":"a","v":3}])"),
            R"([{"op":"add","path":"/2","value":{"name":"new"}},)"
            R"({"op":"move","from":"/0","path":"/2"},)"
            R"({"op":"replace","path":"/2/v","value":3},)"
            R"({"op":"replace","path":"/0/v","value":2}])")
      << "changed ones, too";
  EXPECT_EQ(Patched(R"([{"k":1,"x":1},{"k":2},{"k":3}])", R"([{"k":1},{"k":2},{"k":3}])",
                    R"([{"k":3},{"k":4},{"k":1}])"),
            R"([{"op":"remove","path":"/1"},)"
            R"({"op":"add","path":"/2","value":{"k":4}},)"
            R"({"op":"move","from":"/0","path":"/2"}])")
      << "equal ones without a name";
  EXPECT_EQ(Patched(R"([{"k":1,"l":1,"x":1},{"k":2,"l":2}])", R"([{"k":1,"l":1},{"k":2,"l":2}])",
                    R"([{"k":1,"l":3},{"k":2,"l":2},{"k":1,"l":1}])"),
            R"([{"op":"add","path":"/1","value":{"k":1,"l":3}},)"
            R"({"op":"move","from":"/0","path":"/2"}])")
      << "not a changed one where it was";
}

TEST(JsonPatchTest, OfSeveralElementsOfANameNoneIsMoved) {
  EXPECT_EQ(Patched(R"([{"name":"v","at":"/a","x":1},{"name":"w"}])",
                    R"([{"name":"v","at":"/a"},{"name":"w"}])",
                    R"([{"name":"w"},{"name":"v","at":"/b"},{"name":"v","at":"/c"}])"),
            R"([{"op":"remove","path":"/0"},)"
            R"({"op":"add","path":"/1","value":{"name":"v","at":"/b"}},)"
            R"({"op":"add","path":"/2","value":{"name":"v","at":"/c"}}])");
}

/// A list of objects without names, each with `members` members, half of them the same in any two
/// lists and the others not.
std::string Alike(int elements, int members, int version) {
  std::string list;
  for (int i = 0; i < elements; ++i) {
    list += i == 0 ? "[{" : ",{";
    for (int m = 0; m < members; ++m) {
      const int differs = m % 2 == 0 ? 0 : version;
      list += (m == 0 ? "\"m" : ",\"m") + std::to_string(m) +
              "\":" + std::to_string(1000000 * i + 1000 * m + differs);
    }
    list += "}";
  }
  return list + "]";
}

TEST(JsonPatchTest, TheListsOfAPatchHaveOneBudget) {
  // Each list takes about a quarter of it.
  std::string before;
  std::string after;
  for (int i = 0; i < 9; ++i) {
    const std::string name = (i == 0 ? "{\"l" : ",\"l") + std::to_string(i) + "\":";
    before += name + Alike(150, 20, 1);
    after += name + Alike(150, 20, 2);
  }
  const std::string patch = Patch(before + "}", after + "}");
  EXPECT_THAT(patch, ::testing::HasSubstr(R"({"op":"replace","path":"/l0/0/m1","value":1002})"));
  EXPECT_THAT(patch, ::testing::HasSubstr(R"({"op":"replace","path":"/l8/0","value":{"m0":0,)"))
      << "there is nothing left for this one";
}

TEST(JsonPatchTest, AWideChangeInTheDepthIsReplacedAsAWhole) {
  constexpr int kDepth = 900;
  constexpr int kWidth = 50000;
  std::string before;
  std::string after;
  for (int i = 0; i < kDepth; ++i) {
    before += R"({"deep":)";
  }
  after = before;
  for (int i = 0; i < kWidth; ++i) {
    before += (i == 0 ? "{\"" : ",\"") + std::to_string(i) + "\":1";
    after += (i == 0 ? "{\"" : ",\"") + std::to_string(i) + "\":2";
  }
  before += std::string(kDepth + 1, '}');
  after += std::string(kDepth + 1, '}');
  const std::string patch = Patch(before, after);
  EXPECT_LT(patch.size(), 2 * after.size()) << "the path stands there once";
  EXPECT_TRUE(patch.starts_with(R"([{"op":"replace","path":"/deep/deep/)"));
}

TEST(JsonPatchTest, LongListsArePairedByValue) {
  std::string before;
  std::string after;
  for (int i = 0; i < 2000; ++i) {
    before += (i == 0 ? "[" : ",") + std::string(R"({"k":)") + std::to_string(i) + "}";
    after += (i == 0 ? "[" : ",") + std::string(R"({"k":)") + std::to_string(i + 1) + "}";
  }
  const std::string patch = Patch(before + "]", after + "]");
  EXPECT_EQ(patch,
            R"([{"op":"remove","path":"/0"},{"op":"add","path":"/1999","value":{"k":2000}}])");
}

TEST(JsonPatchTest, WhatTheProgramMadeUpIsAddedWhole) {
  // "spec" and its empty list stand in the re-encoded object only.
  const auto patch =
      MakeJsonPatch(R"({})", R"({"spec":{"list":null,"n":0}})", R"({"spec":{"list":["a"],"n":0}})");
  EXPECT_EQ(patch.value(), R"([{"op":"add","path":"/spec","value":{"list":["a"],"n":0}}])");
  const auto unchanged = MakeJsonPatch(R"({})", R"({"spec":{},"a":1})", R"({"spec":{},"a":1})");
  EXPECT_EQ(unchanged.value(), "");
  const auto removed = MakeJsonPatch(R"({})", R"({"a":1})", R"({})");
  EXPECT_EQ(removed.value(), "") << "what is not there is not removed";
}

TEST(JsonPatchTest, BadDocumentsAreErrors) {
  EXPECT_EQ(MakeJsonPatch("{", "{}", "{}").error().reason, apimachinery::Reason::kMalformed);
  EXPECT_THAT(MakeJsonPatch("{}", "{}", "").error().message,
              ::testing::HasSubstr("changed object"));
}

}  // namespace
}  // namespace kubexx::webhook
