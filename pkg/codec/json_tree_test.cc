#include "kubexx/codec/json_tree.h"

#include <gmock/gmock.h>

#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "kubexx/base/testing/large_input.h"

namespace kubexx::codec {
namespace {

using apimachinery::Reason;
using ::testing::ElementsAre;

JsonTree Parsed(std::string_view text) {
  auto tree = JsonTree::Parse(text);
  EXPECT_TRUE(tree) << text << ": " << tree.error().ToString();
  return tree ? *tree : JsonTree();
}

TEST(JsonTreeTest, WritesWhatItRead) {
  for (const std::string text :
       {R"(null)", R"(true)", R"(false)", R"(0)", R"(-1.50e+3)", R"("")", R"("a\"\\\n")", R"([])",
        R"({})", R"([1,[2,{}],"x",null])", R"({"b":1,"a":{"z":[{"k":false}]},"":2})",
        R"(12345678901234567890123)"}) {
    EXPECT_EQ(Parsed(text).ToJson(), text);
  }
  EXPECT_EQ(Parsed(" { \"a\" : [ 1 , { } , [ ] ] , \"b\" : \"\\u00e9\" } ").ToJson(),
            "{\"a\":[1,{},[]],\"b\":\"\xc3\xa9\"}");
}

TEST(JsonTreeTest, RefusesWhatIsNotOneValue) {
  const std::string deep(600, '[');
  for (const std::string& text :
       {std::string(), std::string("{"), std::string("{} {}"), std::string("[1,]"),
        std::string("nul"), std::string("{\"a\"}"), deep + std::string(600, ']')}) {
    const auto tree = JsonTree::Parse(text);
    ASSERT_FALSE(tree) << text;
    EXPECT_EQ(tree.error().reason, Reason::kMalformed);
  }
}

TEST(JsonTreeTest, OfDuplicateMembersTheLastCounts) {
  EXPECT_EQ(Parsed(R"({"a":1,"b":2,"a":3})").ToJson(), R"({"b":2,"a":3})");
  EXPECT_EQ(JsonTree::Object({{.key = "a", .value = 1}, {.key = "a", .value = 2}}).ToJson(),
            R"({"a":2})");
}

TEST(JsonTreeTest, ReplacesWhatIsNoUtf8) {
  const auto tree = JsonTree::Parse("{\"k\xfe\xe2\x82\":\"\xff\\n\u20ac\"}");
  ASSERT_TRUE(tree);
  EXPECT_EQ(tree->TextAt("k\ufffd\ufffd\ufffd"), "\ufffd\n\u20ac");
  EXPECT_EQ(JsonTree::Parse(tree->ToJson()), *tree);
}

TEST(JsonTreeTest, GivesTypedValues) {
  EXPECT_EQ(Parsed("true").AsBool(), true);
  EXPECT_EQ(Parsed("1").AsBool(), std::nullopt);
  EXPECT_EQ(Parsed("42").AsInt(), 42);
  EXPECT_EQ(Parsed("2e3").AsInt(), 2000);
  EXPECT_EQ(Parsed("2.5").AsInt(), std::nullopt);
  EXPECT_EQ(Parsed("9223372036854775807").AsInt(), std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(Parsed("9223372036854775808").AsInt(), std::nullopt);
  EXPECT_EQ(Parsed("1e400").AsInt(), std::nullopt);
  EXPECT_EQ(Parsed("2.5").AsDouble(), 2.5);
  EXPECT_EQ(Parsed("\"2\"").AsDouble(), std::nullopt);
  EXPECT_EQ(*Parsed(R"("\u0041")").AsString(), "A");
  EXPECT_EQ(Parsed("1").AsString(), nullptr);
}

TEST(JsonTreeTest, IsBuiltFromValues) {
  JsonTree tree;
  tree["s"] = "text";
  tree["i"] = std::int64_t{-5};
  tree["b"] = false;
  tree["d"] = 0.5;
  tree["n"] = nullptr;
  tree["l"].Append(1U);
  tree["l"].Append(JsonTree::Object());
  tree["s"] = std::string("again");
  EXPECT_EQ(tree.ToJson(), R"({"s":"again","i":-5,"b":false,"d":0.5,"n":null,"l":[1,{}]})");
  EXPECT_TRUE(tree.Erase("n"));
  EXPECT_FALSE(tree.Erase("n"));
  EXPECT_EQ(tree.size(), 5U);
  EXPECT_EQ(tree.Find("l")->size(), 2U);
}

TEST(JsonTreeTest, FollowsPaths) {
  const JsonTree tree = Parsed(R"({"spec":{"containers":[{"name":"a"},{"name":"b"}]}})");
  EXPECT_EQ(*tree.At({"spec", "containers", "1", "name"})->AsString(), "b");
  EXPECT_EQ(tree.At({}), &tree);
  EXPECT_EQ(tree.At({"spec", "containers", "2"}), nullptr);
  EXPECT_EQ(tree.At({"spec", "containers", "x"}), nullptr);
  EXPECT_EQ(tree.At({"spec", "nothing", "x"}), nullptr);
  EXPECT_EQ(tree.At({"spec", "containers", "0", "name", "deeper"}), nullptr);
}

TEST(JsonTreeTest, ComparesAsJsonValues) {
  EXPECT_EQ(Parsed(R"({"a":1,"b":[1,2]})"), Parsed(R"({"b":[1.0,2],"a":1})"));
  EXPECT_NE(Parsed(R"({"a":1})"), Parsed(R"({"a":1,"b":null})"));
  EXPECT_NE(Parsed("[1,2]"), Parsed("[2,1]"));
  EXPECT_NE(Parsed("1"), Parsed("\"1\""));
  EXPECT_NE(Parsed("1.5"), Parsed("1.25"));
  EXPECT_EQ(Parsed("null"), JsonTree());
  EXPECT_NE(Parsed("true"), Parsed("false"));
}

// So many members that looking at each for each would not end in a test's time.
TEST(JsonTreeTest, ComparesObjectsOfAnySize) {
  constexpr int kMembers = base::testing::LargeInput(300'000);
  std::vector<JsonTree::Member> up;
  std::vector<JsonTree::Member> down;
  for (int i = 0; i < kMembers; ++i) {
    up.push_back({.key = std::to_string(i), .value = i});
    down.push_back({.key = std::to_string(kMembers - 1 - i), .value = kMembers - 1 - i});
  }
  const JsonTree one = JsonTree::Object(std::move(up));
  JsonTree other = JsonTree::Object(std::move(down));
  EXPECT_TRUE(one == one);
  EXPECT_TRUE(one == other);
  other.members().back().value = -1;
  EXPECT_FALSE(one == other);
}

}  // namespace
}  // namespace kubexx::codec
