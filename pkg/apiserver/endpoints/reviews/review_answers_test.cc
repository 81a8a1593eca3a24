#include "kubexx/apiserver/endpoints/reviews/review_answers.h"

#include <gmock/gmock.h>

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kubexx::apiserver {
namespace {

using codec::JsonTree;
using ::testing::ElementsAre;

/// Allows everything to alice, and nothing to others.
class AliceReview final : public ReviewContext {
 public:
  const User& sender() const override { return sender_; }
  std::string_view namespace_of_url() const override { return "own"; }
  apimachinery::Result<rbac::Decision> Decide(const User& user,
                                              const rbac::Request& request) override {
    asked.push_back(user.name + " " + request.verb + " " +
                    (request.is_path ? request.path : request.resource));
    return rbac::Decision{.allowed = user.name == "alice"};
  }
  apimachinery::Result<rbac::HeldRules> RulesIn(std::string_view namespace_) override {
    asked.push_back("rules in " + std::string(namespace_));
    return rbac::HeldRules{};
  }
  apimachinery::Result<std::optional<TokenOwner>> FindToken(
      std::string_view token, std::vector<std::string> audiences) override {
    if (token == "unknown") {
      return apimachinery::Fail(apimachinery::Reason::kUnavailable, "no leader");
    }
    if (token != "good") {
      return std::optional<TokenOwner>();
    }
    return std::optional<TokenOwner>({.user = sender_, .audiences = std::move(audiences)});
  }

  std::vector<std::string> asked{};

 private:
  User sender_{.name = "alice", .groups = {"g"}, .uid = "u"};
};

using AnswerFunction = apimachinery::Result<void> (*)(ReviewContext& context, const JsonTree& spec,
                                                      JsonTree& status);

class ReviewAnswersTest : public ::testing::Test {
 protected:
  /// The status in JSON, or the message of the error.
  std::string Ask(AnswerFunction answer, std::string_view spec) {
    const auto parsed = JsonTree::Parse(spec);
    EXPECT_TRUE(parsed) << spec;
    JsonTree status = JsonTree::Object();
    const auto answered = answer(context_, parsed.value_or(JsonTree()), status);
    return answered ? status.ToJson() : answered.error().message;
  }

  AliceReview context_{};
};

TEST_F(ReviewAnswersTest, AReviewOfAccessIsAboutTheUserThatItNames) {
  constexpr std::string_view kGet = R"({"user":"bob","resourceAttributes":{"verb":"get",)"
                                    R"("resource":"pods"}})";
  EXPECT_EQ(Ask(AnswerAccessReview, kGet), R"({"allowed":false})");
  EXPECT_EQ(Ask(AnswerSelfAccessReview, kGet), R"({"allowed":true})");
  EXPECT_EQ(Ask(AnswerAccessReview,
                R"({"user":"alice","nonResourceAttributes":{"verb":"get","path":"/x"}})"),
            R"({"allowed":true})");
  EXPECT_THAT(context_.asked, ElementsAre("bob get pods", "alice get pods", "alice get /x"));
}

TEST_F(ReviewAnswersTest, WhoAsksAboutOneNamespaceDoesNotLearnAboutOthers) {
  EXPECT_EQ(Ask(AnswerLocalAccessReview,
                R"({"user":"alice","resourceAttributes":{"namespace":"own","verb":"get"}})"),
            R"({"allowed":true})");
  EXPECT_EQ(
      Ask(AnswerLocalAccessReview,
          R"({"user":"alice","resourceAttributes":{"namespace":"other","verb":"get"}})"),
      R"(.authorization.k8s.io "" is invalid: spec.resourceAttributes.namespace: Invalid value: )"
      R"("other": must match metadata.namespace)");
  EXPECT_EQ(
      Ask(AnswerLocalAccessReview, R"({"user":"alice","nonResourceAttributes":{}})"),
      R"(.authorization.k8s.io "" is invalid: spec.nonResourceAttributes: Invalid value: {}: )"
      R"(disallowed on this kind of request)");
  EXPECT_EQ(context_.asked.size(), 1U);
}

TEST_F(ReviewAnswersTest, AnAnswerNeedsOneQuestionAndAUser) {
  EXPECT_THAT(Ask(AnswerAccessReview, R"({"user":"bob"})"),
              ::testing::HasSubstr("exactly one of nonResourceAttributes or resourceAttributes"));
  EXPECT_THAT(Ask(AnswerAccessReview,
                  R"({"user":"bob","nonResourceAttributes":{},"resourceAttributes":{}})"),
              ::testing::HasSubstr("cannot be specified in combination"));
  EXPECT_THAT(Ask(AnswerAccessReview, R"({"resourceAttributes":{}})"),
              ::testing::HasSubstr("at least one of user or group"));
  EXPECT_THAT(Ask(AnswerRulesReview, "{}"), "no namespace on request");
  EXPECT_TRUE(context_.asked.empty());
}

TEST_F(ReviewAnswersTest, ATokenHasAnOwnerOrIsNotValid) {
  EXPECT_EQ(Ask(AnswerTokenReview, R"({"token":"good","audiences":["a"]})"),
            R"({"authenticated":true,"user":{"username":"alice","uid":"u","groups":["g"]},)"
            R"("audiences":["a"]})");
  EXPECT_EQ(Ask(AnswerTokenReview, R"({"token":"bad"})"), R"({"authenticated":false})");
  EXPECT_EQ(Ask(AnswerTokenReview, R"({"token":"unknown"})"),
            R"({"authenticated":false,"error":"no leader"})");
  EXPECT_EQ(Ask(AnswerSelfReview, "{}"),
            R"({"userInfo":{"username":"alice","uid":"u","groups":["g"]}})");
}

}  // namespace
}  // namespace kubexx::apiserver
