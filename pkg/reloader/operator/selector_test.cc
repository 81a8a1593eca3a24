#include "kubexx/reloader/operator/selector.h"

#include <gtest/gtest.h>

namespace kubexx::reloader {
namespace {

struct SelectorCase {
  std::string name{};
  std::vector<std::string> elements{};
  std::string want{};
};

class SelectorTable : public testing::TestWithParam<SelectorCase> {};

TEST_P(SelectorTable, ReadsTheFlagAsTheOriginal) {
  const auto selector = LabelSelectorOf(GetParam().elements);
  ASSERT_TRUE(selector) << selector.error().ToString();
  EXPECT_EQ(*selector, GetParam().want);
}

INSTANTIATE_TEST_SUITE_P(
    Selectors, SelectorTable,
    testing::Values(
        SelectorCase{.name = "None"},
        SelectorCase{.name = "Colon", .elements = {"team:a"}, .want = "team=a"},
        SelectorCase{.name = "ColonStar", .elements = {"team:*"}, .want = "team"},
        SelectorCase{.name = "PartsAfterTheSecond", .elements = {"team:a:b"}, .want = "team=a"},
        SelectorCase{.name = "Equals", .elements = {"team=a"}, .want = "team=a"},
        SelectorCase{.name = "EqualsStar", .elements = {"team=*"}, .want = "team"},
        SelectorCase{.name = "NotEquals", .elements = {"team!=a"}, .want = "team!=a"},
        SelectorCase{.name = "Absent", .elements = {"!team"}, .want = "!team"},
        SelectorCase{
            .name = "SetSplitByTheCsv", .elements = {"team in (a", "b)"}, .want = "team in (a,b)"},
        SelectorCase{.name = "SetInQuotes",
                     .elements = {"team in (a,b),env:*"},
                     .want = "env,team in (a,b)"},
        SelectorCase{
            .name = "SeveralInQuotes", .elements = {"team:a,env:prod"}, .want = "env=prod,team=a"},
        SelectorCase{
            .name = "StarInQuotes", .elements = {"team:*,env:prod"}, .want = "env=prod,team"},
        SelectorCase{.name = "Several", .elements = {"a:1", "b=2"}, .want = "a=1,b=2"}),
    [](const auto& row) { return row.param.name; });

TEST(LabelSelectorOf, NamesWhatItCannotRead) {
  const auto selector = LabelSelectorOf({"a=1", "???"});
  ASSERT_FALSE(selector);
  EXPECT_EQ(selector.error().reason, apimachinery::Reason::kInvalidConfig);
  EXPECT_NE(selector.error().message.find("a=1,???"), std::string::npos);
}

}  // namespace
}  // namespace kubexx::reloader
