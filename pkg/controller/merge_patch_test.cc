#include "kubexx/controller/merge_patch.h"

#include <gtest/gtest.h>

#include <string>

#include "kubexx/api/core/v1/types.gen.h"
#include "kubexx/base/testing/large_input.h"
#include "kubexx/codec/schema.h"

namespace kubexx::controller {
namespace {

struct Case {
  const char* name;
  const char* from;
  const char* to;
  const char* patch;
};

class MergePatchTest : public ::testing::TestWithParam<Case> {};

TEST_P(MergePatchTest, SaysWhatChanges) {
  const auto patch = MergePatchBetween(GetParam().from, GetParam().to);
  ASSERT_TRUE(patch) << patch.error().ToString();
  EXPECT_EQ(*patch, GetParam().patch);
}

INSTANTIATE_TEST_SUITE_P(
    Objects, MergePatchTest,
    ::testing::Values(
        Case{"NothingForEqualObjects", R"({"a":{"b":[1,2]}})", R"({ "a": {"b": [1, 2]} })", "{}"},
        Case{"NewMember", R"({"a":1})", R"({"a":1,"b":"x"})", R"({"b":"x"})"},
        Case{"RemovedMember", R"({"a":1,"b":2})", R"({"a":1})", R"({"b":null})"},
        Case{"ChangedDeepInside", R"({"a":{"b":{"c":1,"d":2}}})", R"({"a":{"b":{"c":3,"d":2}}})",
             R"({"a":{"b":{"c":3}}})"},
        Case{"ListAsAWhole", R"({"a":[1,2]})", R"({"a":[1,2,3]})", R"({"a":[1,2,3]})"},
        Case{"AnotherKindOfValue", R"({"a":{"b":1}})", R"({"a":"b"})", R"({"a":"b"})"},
        Case{"NullIsAbsent", R"({"a":null,"b":1})", R"({"b":1,"c":null})", "{}"},
        Case{"NullRemoves", R"({"a":1})", R"({"a":null})", R"({"a":null})"},
        Case{"NamesAreEscaped", R"({})", R"({"q\"\\\n":1})", R"({"q\"\\\n":1})"},
        Case{"Both", R"({"a":1,"b":2})", R"({"b":3,"c":4})", R"({"b":3,"c":4,"a":null})"}),
    [](const auto& param_info) { return param_info.param.name; });

struct ListCase {
  const char* name;
  const char* from;
  const char* to;
  const char* patch;
};

class MergePatchListsTest : public ::testing::TestWithParam<ListCase> {};

TEST_P(MergePatchListsTest, AListIsReplacedInTheVersionThatWasReadOnly) {
  const auto patch = MergePatchKeepingLists(GetParam().from, GetParam().to);
  ASSERT_TRUE(patch) << patch.error().ToString();
  EXPECT_EQ(*patch, GetParam().patch);
}

INSTANTIATE_TEST_SUITE_P(
    Objects, MergePatchListsTest,
    ::testing::Values(
        ListCase{"NoListNoVersion", R"({"metadata":{"resourceVersion":"7"},"l":[1],"a":1})",
                 R"({"metadata":{"resourceVersion":"7"},"l":[1],"a":2})", R"({"a":2})"},
        ListCase{"Changed", R"({"metadata":{"resourceVersion":"7"},"spec":{"l":[{"a":1}]}})",
                 R"({"metadata":{"resourceVersion":"7"},"spec":{"l":[{"a":2}]}})",
                 R"({"spec":{"l":[{"a":2}]},"metadata":{"resourceVersion":"7"}})"},
        ListCase{"ChangedInMetadata", R"({"metadata":{"finalizers":["a"],"resourceVersion":"7"}})",
                 R"({"metadata":{"finalizers":["b"],"resourceVersion":"7"}})",
                 R"({"metadata":{"finalizers":["b"],"resourceVersion":"7"}})"},
        ListCase{"NewAndDeepInside", R"({"metadata":{"resourceVersion":"7"}})",
                 R"({"metadata":{"resourceVersion":"7"},"spec":{"a":{"l":[]}}})",
                 R"({"spec":{"a":{"l":[]}},"metadata":{"resourceVersion":"7"}})"},
        ListCase{"Removed", R"({"metadata":{"resourceVersion":"7"},"spec":{"l":[1]}})",
                 R"({"metadata":{"resourceVersion":"7"},"spec":{}})",
                 R"({"spec":{"l":null},"metadata":{"resourceVersion":"7"}})"},
        ListCase{"AnObjectWithoutAVersion", R"({"l":[1]})", R"({"l":[2]})", R"({"l":[2]})"},
        ListCase{"NothingForEqualObjects", R"({"metadata":{"resourceVersion":"7"},"l":[1]})",
                 R"({"metadata":{"resourceVersion":"7"},"l":[1]})", "{}"}),
    [](const auto& param_info) { return param_info.param.name; });

/// What the program may have removed from a Pod that was read with other content.
class MergePatchMapsTest : public ::testing::TestWithParam<ListCase> {};

TEST_P(MergePatchMapsTest, AMapIsRemovedKeyByKey) {
  const auto patch = MergePatchKeepingLists(GetParam().from, GetParam().to,
                                            &codec::SchemaOf<api::core::v1::Pod>());
  ASSERT_TRUE(patch) << patch.error().ToString();
  EXPECT_EQ(*patch, GetParam().patch);
}

INSTANTIATE_TEST_SUITE_P(
    Objects, MergePatchMapsTest,
    ::testing::Values(
        ListCase{"InMetadata", R"({"metadata":{"labels":{"a":"1","b":"2"},"name":"n"}})",
                 R"({"metadata":{"name":"n"}})", R"({"metadata":{"labels":{"a":null,"b":null}}})"},
        ListCase{"InTheSpec", R"({"spec":{"nodeSelector":{"a":"1"},"nodeName":"n"}})",
                 R"({"spec":{"nodeName":"n"}})", R"({"spec":{"nodeSelector":{"a":null}}})"},
        ListCase{"OneKey", R"({"metadata":{"labels":{"a":"1","b":"2"}}})",
                 R"({"metadata":{"labels":{"b":"2"}}})", R"({"metadata":{"labels":{"a":null}}})"},
        ListCase{"AnEmptyOneIsNoDifference", R"({"metadata":{"labels":{},"name":"n"}})",
                 R"({"metadata":{"name":"n"}})", "{}"},
        // Its fields are one value: without them the object would be there, and empty.
        ListCase{"AStructIsRemovedWhole", R"({"spec":{"securityContext":{"runAsUser":1}}})",
                 R"({"spec":{}})", R"({"spec":{"securityContext":null}})"},
        ListCase{"AStructWithAMapIsRemovedWhole",
                 R"({"spec":{"overhead":{"cpu":"1"}},"metadata":{"labels":{"a":"1"}}})", R"({})",
                 R"({"spec":null,"metadata":null})"},
        ListCase{"AnUnknownFieldIsRemovedWhole", R"({"spec":{"new":{"a":"1"}}})", R"({"spec":{}})",
                 R"({"spec":{"new":null}})"}),
    [](const auto& param_info) { return param_info.param.name; });

TEST(MergePatchErrorTest, WhatIsNoObjectIsRefused) {
  for (const char* bad : {"", "[]", "{", "1", "{\"a\":}"}) {
    EXPECT_FALSE(MergePatchBetween(bad, "{}")) << bad;
    EXPECT_FALSE(MergePatchBetween("{}", bad)) << bad;
  }
}

/// Code whose time grows with the square of the number of members would not finish.
TEST(MergePatchSizeTest, ManyMembersAreLookedUpOnceEach) {
  constexpr int kMembers = base::testing::LargeInput(200'000);
  std::string from = "{";
  std::string to = "{";
  for (int i = 0; i < kMembers; ++i) {
    const std::string comma = i == 0 ? "" : ",";
    from += comma + "\"" + std::to_string(i) + "\":1";
    to += comma + "\"" + std::to_string(kMembers - i) + "\":1";
  }
  EXPECT_EQ(MergePatchBetween(from + "}", to + "}").value(),
            "{\"" + std::to_string(kMembers) + "\":1,\"0\":null}");
}

}  // namespace
}  // namespace kubexx::controller
