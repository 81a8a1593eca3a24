#include "kubexx/apiserver/admission/review.h"

#include <gmock/gmock.h>

#include <string>

namespace kubexx::apiserver::admission {
namespace {

using ::testing::HasSubstr;

std::string Review(const std::string& response) {
  return R"({"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","response":)" + response +
         "}";
}

TEST(ReviewResponseTest, WhatIsNoAnswerIsSaid) {
  const auto problem = [](const std::string& body, bool mutating = true) {
    const auto verdict = ReadReviewResponse(body, "u", "w", mutating);
    return verdict ? std::string() : verdict.error().message;
  };
  EXPECT_THAT(problem("{"), HasSubstr("no JSON object"));
  EXPECT_THAT(problem("{}"), HasSubstr("webhook response was absent"));
  EXPECT_EQ(problem(Review(R"({"uid":"v"})")), R"(expected response.uid="u", got "v")");
  EXPECT_THAT(problem(R"({"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1beta1",)"
                      R"("response":{"uid":"u"}})"),
              HasSubstr("got admission.k8s.io/v1beta1, Kind=AdmissionReview"));
  EXPECT_THAT(problem(Review(R"({"uid":"u","allowed":true,"patch":"W10="})")),
              HasSubstr("not response.patchType"));
  EXPECT_THAT(problem(Review(R"({"uid":"u","allowed":true,"patchType":"JSONPatch"})")),
              HasSubstr("not response.patch"));
  const std::string other = Review(R"({"uid":"u","allowed":true,"patch":"W10=","patchType":"X"})");
  EXPECT_THAT(problem(other), HasSubstr("invalid response.patchType"));
  EXPECT_THAT(problem(other, false), HasSubstr("validating webhook may not return"));
  EXPECT_THAT(
      problem(Review(R"({"uid":"u","allowed":true,"patch":"e30=","patchType":"JSONPatch"})")),
      HasSubstr("no JSON patch"));
  EXPECT_EQ(problem(Review(R"({"uid":"u","allowed":true,"patch":"W10=","patchType":"JSONPatch"})")),
            "");
}

TEST(ReviewResponseTest, ADenialHasAMessageAndACode) {
  const auto denial = [](const std::string& status) {
    const auto verdict =
        ReadReviewResponse(Review(R"({"uid":"u","allowed":false)" + status + "}"), "u", "w", true);
    return verdict ? verdict->denial : verdict.error();
  };
  EXPECT_EQ(denial("").message, R"(admission webhook "w" denied the request without explanation)");
  EXPECT_EQ(denial("").code, 400);
  const auto full = denial(R"(,"status":{"message":"m","code":422,"reason":"Invalid","details":)"
                           R"({"kind":"k","causes":[{"field":"f","message":"c"}]}})");
  EXPECT_EQ(full.message, R"(admission webhook "w" denied the request: m)");
  EXPECT_EQ(full.code, 422);
  EXPECT_EQ(full.reason, apimachinery::Reason::kInvalid);
  EXPECT_EQ(full.details.kind, "k");
  EXPECT_EQ(full.details.causes.at(0).field, "f");
  EXPECT_EQ(denial(R"(,"status":{"reason":"Gone","code":200})").message,
            R"(admission webhook "w" denied the request: Gone)");
  EXPECT_EQ(denial(R"(,"status":{"code":200})").code, 400);
  const auto own = denial(R"(,"status":{"message":"m","code":418,"reason":"Teapot"})");
  EXPECT_EQ(own.ToString(), R"(Teapot: admission webhook "w" denied the request: m)");
  EXPECT_EQ(full.other_reason, "");
}

}  // namespace
}  // namespace kubexx::apiserver::admission
