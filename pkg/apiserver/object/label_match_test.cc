#include "kubexx/apiserver/object/label_match.h"

#include <gtest/gtest.h>

#include <string>

namespace kubexx::apiserver {
namespace {

/// Of a selector with this expression, "yes" or "no" for the labels a="", a=a, a=b and none.
std::string Selects(const std::string& expression) {
  const auto selector = codec::JsonTree::Parse(R"({"matchExpressions":[)" + expression + "]}");
  EXPECT_TRUE(selector) << expression;
  std::string answers;
  for (const apimachinery::LabelMap& labels :
       {apimachinery::LabelMap{{"a", ""}}, {{"a", "a"}}, {{"a", "b"}}, {}}) {
    answers += MatchesSelector(*selector, labels) ? "yes " : "no ";
  }
  return answers;
}

TEST(LabelMatchTest, ValuesAreWhatTheyAre) {
  EXPECT_EQ(Selects(R"({"key":"a","operator":"In","values":["a","b"]})"), "no yes yes no ");
  EXPECT_EQ(Selects(R"({"key":"a","operator":"In","values":["","a"]})"), "yes yes no no ");
  EXPECT_EQ(Selects(R"({"key":"a","operator":"In","values":["a",""]})"), "yes yes no no ");
  EXPECT_EQ(Selects(R"({"key":"a","operator":"In","values":[""]})"), "yes no no no ");
  EXPECT_EQ(Selects(R"({"key":"a","operator":"NotIn","values":["","a"]})"), "no no yes yes ");
  EXPECT_EQ(Selects(R"({"key":"a","operator":"Exists"})"), "yes yes yes no ");
  EXPECT_EQ(Selects(R"({"key":"a","operator":"DoesNotExist"})"), "no no no yes ");
}

TEST(LabelMatchTest, AnExpressionThatIsNoneSelectsNothing) {
  for (const char* const bad :
       {R"({"key":"a","operator":"In","values":["a,b"]})",
        R"({"key":"a","operator":"In","values":["b), b in (b"]})",
        R"({"key":"a","operator":"NotIn","values":["x) , a notin (x"]})",
        R"({"key":"a","operator":"In"})", R"({"key":"a","operator":"NotIn","values":[]})",
        R"({"key":"a","operator":"Exists","values":["a"]})",
        R"({"key":"a","operator":"Is","values":["a"]})", R"({"key":"a b","operator":"Exists"})",
        "{}"}) {
    EXPECT_EQ(Selects(bad), "no no no no ") << bad;
  }
}

}  // namespace
}  // namespace kubexx::apiserver
