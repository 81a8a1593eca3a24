#include "kubexx/apiserver/endpoints/checks/same_value.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "kubexx/base/testing/large_input.h"

namespace kubexx::apiserver {
namespace {

using codec::JsonTree;

bool AreSame(const std::string& a, const std::string& b) {
  const auto one = JsonTree::Parse(a);
  const auto other = JsonTree::Parse(b);
  EXPECT_TRUE(one && other) << a << b;
  return one && other && SameValue(*one, *other) && SameValue(*other, *one);
}

TEST(SameValueTest, QuantitiesAreComparedByTheirAmount) {
  EXPECT_TRUE(AreSame(R"({"resources":{"requests":{"storage":"1Gi"}}})",
                      R"({"resources":{"requests":{"storage":"1073741824"}}})"));
  EXPECT_TRUE(AreSame(R"([{"limits":{"cpu":"1","memory":"1e3"}}])",
                      R"([{"limits":{"memory":"1k","cpu":"1000m"}}])"));
  EXPECT_TRUE(
      AreSame(R"({"emptyDir":{"sizeLimit":"1Ki"}})", R"({"emptyDir":{"sizeLimit":"1024"}})"));
  EXPECT_FALSE(AreSame(R"({"limits":{"cpu":"1"}})", R"({"limits":{"cpu":"2"}})"));
  EXPECT_FALSE(AreSame(R"({"limits":{"cpu":"1"}})", R"({"limits":{"memory":"1"}})"));
}

TEST(SameValueTest, OtherTextsAreWhatTheyAre) {
  EXPECT_FALSE(AreSame(R"({"name":"1Ki"})", R"({"name":"1024"})"));
  EXPECT_FALSE(AreSame(R"({"labels":{"divisor":"1Ki"}})", R"({"labels":{"divisor":"1024"}})"));
  EXPECT_FALSE(
      AreSame(R"({"parameters":{"sizeLimit":"1Ki"}})", R"({"parameters":{"sizeLimit":"1024"}})"));
  EXPECT_FALSE(AreSame(R"({"port":"80"})", R"({"port":80})"));
}

TEST(SameValueTest, NothingIsNullOrAnEmptyList) {
  EXPECT_TRUE(AreSame(R"({"a":null,"b":[],"c":1})", R"({"c":1})"));
  EXPECT_FALSE(AreSame(R"({"emptyDir":{}})", "{}"));
  EXPECT_FALSE(AreSame(R"({"a":[1]})", R"({"a":[1,2]})"));
  EXPECT_FALSE(AreSame(R"({"a":1})", R"({"b":1})"));
}

TEST(SameValueTest, MetadataAndStatusAreNotOfTheSpec) {
  const auto a = JsonTree::Parse(
      R"({"metadata":{"name":"a"},"spec":{"limits":{"cpu":"1"}},"status":{"x":1}})");
  const auto b = JsonTree::Parse(R"({"metadata":{},"spec":{"limits":{"cpu":"1000m"}}})");
  const auto c = JsonTree::Parse(R"({"metadata":{},"spec":{"limits":{"cpu":"2"}}})");
  ASSERT_TRUE(a && b && c);
  EXPECT_TRUE(SameSpecValue(*a, *b));
  EXPECT_FALSE(SameSpecValue(*a, *c));
}

TEST(SameValueTest, AMissingMemberIsLikeOneThatIsNull) {
  const JsonTree null;
  const JsonTree list = JsonTree::Array();
  const JsonTree one(1);
  const JsonTree same(1);
  EXPECT_TRUE(SameMember(nullptr, &null));
  EXPECT_TRUE(SameMember(&one, &same));
  EXPECT_FALSE(SameMember(nullptr, &one));
  EXPECT_FALSE(SameMember(&one, &null));
  EXPECT_FALSE(SameMember(nullptr, &list));
}

/// Code whose time grows with the square of the number of members would not finish.
TEST(SameValueTest, ManyMembersAreComparedOnceEach) {
  constexpr int kMembers = base::testing::LargeInput(300'000);
  const auto object = [](bool backwards) {
    std::vector<JsonTree::Member> members;
    for (int i = 0; i < kMembers; ++i) {
      members.push_back(
          {.key = "k" + std::to_string(backwards ? kMembers - 1 - i : i), .value = "v"});
    }
    return JsonTree::Object(std::move(members));
  };
  EXPECT_TRUE(SameSpecValue(object(false), object(true)));
}

}  // namespace
}  // namespace kubexx::apiserver
