#include "kubexx/apimachinery/labels.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace kubexx::apimachinery {
namespace {

struct MatchCase {
  std::string selector;
  LabelMap labels;
  bool matches;
};

class LabelSelectorMatch : public ::testing::TestWithParam<MatchCase> {};

TEST_P(LabelSelectorMatch, AgreesWithKubernetes) {
  const MatchCase& c = GetParam();
  const auto selector = LabelSelector::Parse(c.selector);
  ASSERT_TRUE(selector.has_value()) << selector.error().ToString();
  EXPECT_EQ(selector->Matches(c.labels), c.matches) << c.selector;
}

INSTANTIATE_TEST_SUITE_P(
    All, LabelSelectorMatch,
    ::testing::Values(
        MatchCase{"", {}, true}, MatchCase{" ", {{"a", "b"}}, true},
        MatchCase{"a=b", {{"a", "b"}}, true}, MatchCase{"a==b", {{"a", "b"}}, true},
        MatchCase{"a=b", {{"a", "c"}}, false}, MatchCase{"a=b", {}, false},
        MatchCase{"a=", {{"a", ""}}, true}, MatchCase{"a=", {}, false},
        MatchCase{"a!=b", {{"a", "c"}}, true}, MatchCase{"a!=b", {}, true},
        MatchCase{"a!=b", {{"a", "b"}}, false}, MatchCase{"a in (x,y)", {{"a", "y"}}, true},
        MatchCase{"a in (x, y)", {{"a", "z"}}, false}, MatchCase{"a in (,y)", {{"a", ""}}, true},
        MatchCase{"a notin (x,y)", {{"a", "z"}}, true}, MatchCase{"a notin (x,y)", {}, true},
        MatchCase{"a notin (x,y)", {{"a", "x"}}, false}, MatchCase{"a", {{"a", ""}}, true},
        MatchCase{"a", {}, false}, MatchCase{"!a", {}, true}, MatchCase{"! a", {{"a", "1"}}, false},
        MatchCase{"n>5", {{"n", "6"}}, true}, MatchCase{"n > 5", {{"n", "5"}}, false},
        MatchCase{"n<5", {{"n", "4"}}, true}, MatchCase{"n<5", {{"n", "four"}}, false},
        MatchCase{"in in (in)", {{"in", "in"}}, true},
        MatchCase{"a=b,c!=d,e in (x,y),!f,g", {{"a", "b"}, {"e", "x"}, {"g", ""}}, true},
        MatchCase{
            "a=b,c!=d,e in (x,y),!f,g", {{"a", "b"}, {"e", "x"}, {"g", ""}, {"f", "1"}}, false},
        MatchCase{"app.kubernetes.io/name=web", {{"app.kubernetes.io/name", "web"}}, true}));

class LabelSelectorRefusal : public ::testing::TestWithParam<std::string> {};

TEST_P(LabelSelectorRefusal, IsABadRequest) {
  const auto selector = LabelSelector::Parse(GetParam());
  ASSERT_FALSE(selector.has_value());
  EXPECT_EQ(selector.error().reason, Reason::kBadRequest);
  EXPECT_THAT(selector.error().message, ::testing::HasSubstr("at offset"));
}

INSTANTIATE_TEST_SUITE_P(All, LabelSelectorRefusal,
                         ::testing::Values(",", "a,", "a=b,", "=b", "a b", "a in x", "a in (x",
                                           "a in (x y)", "a=b c", "a=-b", "-a=b", "a/b/c", "/a",
                                           "A_b.c/x=1", "n>x", "a>", "!!a", "a=(b)", "a in",
                                           "a=\x01", std::string(64, 'a') + "=b"));

TEST(LabelSelectorTest, CanonicalTextParsesToTheSameSelector) {
  const auto selector = LabelSelector::Parse(" z , b in (y,x,y),a == 1, c!=2,!d , e notin (q)");
  ASSERT_TRUE(selector.has_value());
  EXPECT_EQ(selector->ToString(), "a=1,b in (x,y),c!=2,!d,e notin (q),z");
  EXPECT_EQ(LabelSelector::Parse(selector->ToString()).value(), *selector);
}

TEST(LabelSelectorTest, FromMapMatchesItsLabels) {
  const LabelMap labels{{"a", "1"}, {"b", ""}};
  const LabelSelector selector = LabelSelector::FromMap(labels);
  EXPECT_TRUE(selector.Matches(labels));
  EXPECT_FALSE(selector.Matches({{"a", "1"}}));
  EXPECT_EQ(selector.ToString(), "a=1,b=");
}

}  // namespace
}  // namespace kubexx::apimachinery
