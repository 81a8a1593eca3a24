#include "kubexx/apiserver/managedfields/field_set.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

namespace kubexx::apiserver::managedfields {
namespace {

using codec::JsonTree;

FieldSet Set(const std::string& json) {
  const auto tree = JsonTree::Parse(json);
  EXPECT_TRUE(tree) << json;
  const auto set = FieldSet::FromJson(tree ? *tree : JsonTree());
  EXPECT_TRUE(set) << json;
  return set ? *set : FieldSet();
}

TEST(PathElementTest, HasTheFormOfFieldsV1) {
  for (const char* const text :
       {"f:spec", "f:", "f:a.b/c", R"(k:{"name":"a"})",
        R"(k:{"containerPort":80,"protocol":"TCP"})", R"(v:"x")", "v:1", "v:true", "i:0", "i:12"}) {
    const auto element = PathElement::Parse(text);
    ASSERT_TRUE(element) << text;
    EXPECT_EQ(element->Serialized(), text);
  }
  for (const char* const bad : {"", "f", "x:a", "k:1", "k:{", "v:", "i:x", "i:1x", "spec"}) {
    EXPECT_FALSE(PathElement::Parse(bad)) << bad;
  }
}

TEST(PathElementTest, KeysOfAnyOrderAreOne) {
  EXPECT_EQ(*PathElement::Parse(R"(k:{"b":1,"a":"x"})"),
            *PathElement::Parse(R"(k:{"a":"x","b":1})"));
}

TEST(PathElementTest, FieldsComeBeforeKeysValuesAndIndexes) {
  const std::vector<const char*> ascending = {
      "f:a",          "f:b",    R"(k:{"a":2})", R"(k:{"a":10})", R"(k:{"a":10,"b":1})",
      R"(k:{"b":1})", "v:2",    "v:10",         R"(v:"a")",      R"(v:"b")",
      "v:false",      "v:true", "i:2",          "i:10"};
  for (std::size_t i = 1; i < ascending.size(); ++i) {
    EXPECT_LT(*PathElement::Parse(ascending[i - 1]), *PathElement::Parse(ascending[i]))
        << ascending[i];
  }
}

TEST(PathElementTest, PathsAreReadable) {
  const Path path = {*PathElement::Parse("f:spec"),
                     *PathElement::Parse("f:ports"),
                     *PathElement::Parse(R"(k:{"port":80,"protocol":"TCP"})"),
                     *PathElement::Parse("f:args"),
                     *PathElement::Parse(R"(v:"x")"),
                     *PathElement::Parse("i:3")};
  EXPECT_EQ(ToString(path), R"(.spec.ports[port=80,protocol="TCP"].args[="x"][3])");
}

TEST(FieldSetTest, JsonIsCanonical) {
  const char* const json =
      R"({"f:metadata":{"f:labels":{".":{},"f:app":{}}},"f:spec":{"f:containers":{"k:{\"name\":\"a\"}":{".":{},"f:image":{}}}}})";
  EXPECT_EQ(Set(json).ToJson().ToJson(), json);
  EXPECT_EQ(Set(json).size(), 4U);
  EXPECT_EQ(Set(R"({"f:b":{},"f:a":{}})").ToJson().ToJson(), R"({"f:a":{},"f:b":{}})");
  EXPECT_EQ(Set("{}").ToJson().ToJson(), "{}");
  EXPECT_TRUE(Set("null").empty());
}

TEST(FieldSetTest, UnknownKindsOfStepsAreLeftOut) {
  EXPECT_EQ(Set(R"({"x:later":{"f:a":{}},"f:a":{}})"), Set(R"({"f:a":{}})"));
}

TEST(FieldSetTest, BadJsonIsRefused) {
  for (const char* const bad : {"1", "[]", R"({"a":{}})", R"({"f:a":{"k:x":{}}})"}) {
    EXPECT_FALSE(FieldSet::FromJson(*JsonTree::Parse(bad))) << bad;
  }
}

TEST(FieldSetTest, ContainersAreNotInItForTheirFields) {
  FieldSet set;
  const Path spec = {PathElement::Field("spec")};
  const Path replicas = {PathElement::Field("spec"), PathElement::Field("replicas")};
  set.Insert(replicas);
  EXPECT_TRUE(set.Has(replicas));
  EXPECT_FALSE(set.Has(spec));
  set.Insert(spec);
  EXPECT_TRUE(set.Has(spec));
  EXPECT_EQ(set.size(), 2U);
  EXPECT_FALSE(set.Has({}));
  set.Insert({});
  EXPECT_EQ(set.size(), 2U);
}

TEST(FieldSetTest, DifferencesTakeAwayOneLevelOrAll) {
  const FieldSet set = Set(R"({"f:a":{".":{},"f:b":{},"f:c":{}},"f:d":{}})");
  EXPECT_EQ(set.Difference(Set(R"({"f:a":{}})")), Set(R"({"f:a":{"f:b":{},"f:c":{}},"f:d":{}})"));
  EXPECT_EQ(set.RecursiveDifference(Set(R"({"f:a":{}})")), Set(R"({"f:d":{}})"));
  EXPECT_EQ(set.RecursiveDifference(Set(R"({"f:a":{"f:b":{}}})")),
            Set(R"({"f:a":{".":{},"f:c":{}},"f:d":{}})"));
}

TEST(FieldSetTest, EveryPathIsVisitedOnce) {
  const FieldSet set = Set(R"({"f:a":{".":{},"f:b":{}},"f:c":{}})");
  std::vector<std::string> paths;
  set.ForEach([&paths](const Path& path) { paths.push_back(ToString(path)); });
  EXPECT_EQ(paths, (std::vector<std::string>{".a", ".c", ".a.b"}));
}

/// Sets of up to 40 random paths of few steps, so that they have some in common.
class FieldSetLaws : public ::testing::TestWithParam<unsigned> {
 protected:
  FieldSetLaws() : random_(GetParam()) {}

  FieldSet Random() {
    FieldSet set;
    for (auto count = random_() % 40; count > 0; --count) {
      Path path;
      for (auto length = 1 + random_() % 4; length > 0; --length) {
        path.push_back(RandomStep());
      }
      set.Insert(path);
    }
    return set;
  }

 private:
  PathElement RandomStep() {
    const auto n = random_() % 4;
    switch (random_() % 4) {
      case 0: {
        JsonTree key = JsonTree::Object();
        key["name"] = n;
        return PathElement::Key(key);
      }
      case 1:
        return PathElement::Value(std::string(1, static_cast<char>('a' + n)));
      case 2:
        return PathElement::Index(static_cast<std::int64_t>(n));
      default:
        return PathElement::Field(std::string(1, static_cast<char>('a' + n)));
    }
  }

  std::mt19937 random_;
};

TEST_P(FieldSetLaws, Hold) {
  const FieldSet a = Random();
  const FieldSet b = Random();
  const FieldSet c = Random();
  const FieldSet nothing;
  EXPECT_EQ(a.Union(a), a);
  EXPECT_EQ(a.Union(nothing), a);
  EXPECT_EQ(a.Union(b), b.Union(a));
  EXPECT_EQ(a.Union(b).Union(c), a.Union(b.Union(c)));
  EXPECT_EQ(a.Intersection(a), a);
  EXPECT_EQ(a.Intersection(nothing), nothing);
  EXPECT_EQ(a.Intersection(b), b.Intersection(a));
  EXPECT_EQ(a.Intersection(b.Union(c)), a.Intersection(b).Union(a.Intersection(c)));
  EXPECT_EQ(a.Difference(a), nothing);
  EXPECT_EQ(a.Difference(nothing), a);
  EXPECT_EQ(a.Difference(b).Union(a.Intersection(b)), a);
  EXPECT_EQ(a.Difference(b).Intersection(b), nothing);
  EXPECT_EQ(a.Union(b).Difference(b), a.Difference(b));
  EXPECT_EQ(a.Difference(b.Union(c)), a.Difference(b).Difference(c));
  EXPECT_EQ(a.size() + b.size(), a.Union(b).size() + a.Intersection(b).size());
  EXPECT_EQ(a.RecursiveDifference(b).Difference(a), nothing);
  EXPECT_EQ(a.RecursiveDifference(b).Difference(b), a.RecursiveDifference(b));
  FieldSet rest = a;
  rest.Subtract(b);
  EXPECT_EQ(rest, a.Difference(b));
  rest = a;
  rest.SubtractRecursively(b);
  EXPECT_EQ(rest, a.RecursiveDifference(b));
  const auto again = FieldSet::FromJson(a.ToJson());
  ASSERT_TRUE(again);
  EXPECT_EQ(*again, a);
  a.ForEach([&](const Path& path) {
    EXPECT_TRUE(a.Has(path));
    EXPECT_EQ(a.Intersection(b).Has(path), b.Has(path));
    EXPECT_NE(a.Difference(b).Has(path), b.Has(path));
  });
}

INSTANTIATE_TEST_SUITE_P(Seeds, FieldSetLaws, ::testing::Range(1U, 201U));

TEST(FieldSetTest, StepsComeInAnyOrder) {
  std::vector<JsonTree::Member> members;
  constexpr int kSteps = 200000;  // Too many to make room for each.
  for (int i = kSteps; i > 0; --i) {
    members.push_back({.key = "f:" + std::to_string(i), .value = JsonTree::Object()});
  }
  const auto set = FieldSet::FromJson(JsonTree::Object(std::move(members)));
  ASSERT_TRUE(set);
  EXPECT_EQ(set->size(), static_cast<std::size_t>(kSteps));
  EXPECT_TRUE(std::ranges::is_sorted(
      set->nodes(), {}, [](const FieldSet::Node& node) { return node.element.text(); }));
  // Keys that differ in their text only are one step.
  const auto same = FieldSet::FromJson(*JsonTree::Parse(
      R"({"k:{\"b\":1,\"a\":2}":{"f:x":{}},"f:a":{},"k:{\"a\":2,\"b\":1}":{".":{}}})"));
  ASSERT_TRUE(same);
  EXPECT_EQ(same->ToJson().ToJson(), R"({"f:a":{},"k:{\"a\":2,\"b\":1}":{".":{},"f:x":{}}})");
}

TEST(FieldSetTest, TheUnionOfManyIsThatOfEach) {
  EXPECT_TRUE(FieldSet::UnionOf({}).empty());
  EXPECT_EQ(FieldSet::UnionOf(
                {Set(R"({"f:a":{}})"), Set(R"({"f:b":{"f:c":{}}})"), Set(R"({"f:b":{".":{}}})")}),
            Set(R"({"f:a":{},"f:b":{".":{},"f:c":{}}})"));
}

}  // namespace
}  // namespace kubexx::apiserver::managedfields
