#include "kubexx/apiserver/endpoints/checks/label_problems.h"

#include <gmock/gmock.h>

#include <string>

#include "kubexx/apimachinery/labels.h"
#include "kubexx/apiserver/endpoints/testing/api_fixture.h"

namespace kubexx::apiserver {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

const std::string kSixtyFour(64, 'a');

TEST(LabelProblemsTest, ThePartThatIsWrongIsTold) {
  EXPECT_THAT(LabelKeyProblems("a b"), ElementsAre(StartsWith("name part has to be of letters")));
  EXPECT_THAT(LabelKeyProblems(""),
              ElementsAre("name part must be non-empty", StartsWith("name part has to be")));
  EXPECT_THAT(LabelKeyProblems("/a"), ElementsAre("prefix part must be non-empty"));
  EXPECT_THAT(LabelKeyProblems("A.b/c"), ElementsAre(StartsWith("prefix part has to be a DNS")));
  EXPECT_THAT(LabelKeyProblems("-/_"), ElementsAre(StartsWith("prefix"), StartsWith("name")));
  EXPECT_THAT(LabelKeyProblems("a/b/c"), ElementsAre(HasSubstr("at most one '/'")));
  EXPECT_THAT(LabelKeyProblems("a/" + kSixtyFour),
              ElementsAre("name part must be no more than 63 bytes"));
  EXPECT_THAT(LabelKeyProblems(std::string(254, 'a') + "/b"),
              ElementsAre("prefix part must be no more than 253 bytes"));
  EXPECT_THAT(LabelValueProblems(kSixtyFour), ElementsAre("must be no more than 63 bytes"));
  EXPECT_THAT(LabelValueProblems("-"), ElementsAre(HasSubstr(", or empty")));
}

TEST(LabelProblemsTest, GoodOnesHaveNone) {
  for (const char* const key : {"a", "a.b/c", "A_b-c.d", "1/2"}) {
    EXPECT_THAT(LabelKeyProblems(key), IsEmpty());
  }
  for (const char* const value : {"", "a", "A_b-c.d", "1"}) {
    EXPECT_THAT(LabelValueProblems(value), IsEmpty());
  }
}

TEST(LabelProblemsTest, WhatHasProblemsIsNoLabel) {
  constexpr std::string_view kLetters = "aB1-_./ ";
  std::string text;
  for (std::size_t number = 0; number < 8 * 8 * 8 * 8; ++number) {
    text.clear();
    for (std::size_t rest = number; rest > 0; rest /= kLetters.size()) {
      text.push_back(kLetters[rest % kLetters.size()]);
    }
    EXPECT_EQ(LabelKeyProblems(text).empty(), apimachinery::IsValidLabelKey(text)) << text;
    EXPECT_EQ(LabelValueProblems(text).empty(), apimachinery::IsValidLabelValue(text)) << text;
  }
}

class LabelRefusalTest : public testing::ApiFixture {};

TEST_F(LabelRefusalTest, AnErrorSaysWhereAndWhat) {
  const http::Response refused =
      Do("POST", "/api/v1/namespaces/default/configmaps",
         R"({"metadata":{"name":"x","labels":{"a b":"c d"},"annotations":{"/A":"any thing"},)"
         R"("finalizers":["orphan","foregroundDeletion","-"]}})");
  EXPECT_EQ(refused.status, 422);
  for (const char* const told :
       {"metadata.labels: Invalid value: \"a b\": name part",
        "metadata.labels: Invalid value: \"c d\": has to be",
        "metadata.annotations: Invalid value: \"/A\": prefix part must be non-empty",
        "metadata.finalizers: Invalid value: \"-\": name part",
        "metadata.finalizers[2]: Invalid value: \"-\": name is neither",
        "orphan and foregroundDeletion exclude each other"}) {
    EXPECT_THAT(Message(refused), HasSubstr(told));
  }
}

}  // namespace
}  // namespace kubexx::apiserver
