// Admission requests as the API server sends them, without a network.
#include "kubexx/webhook/admission.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <utility>

#include "kubexx/api/core/v1/types.gen.h"
#include "kubexx/codec/codec.h"
#include "kubexx/webhook/internal/review.h"

namespace kubexx::webhook {
namespace {

using api::admission::v1::AdmissionResponse;
using api::admission::v1::AdmissionReview;
using api::core::v1::ConfigMap;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

constexpr const char* kObject =
    R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","future":true},"data":{"k":"v"}})";

std::string ReviewOf(const std::string& object, const std::string& more = "") {
  return R"({"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"uid":"u1",)"
         R"("kind":{"group":"","version":"v1","kind":"ConfigMap"},"operation":"UPDATE",)"
         R"("userInfo":{"username":"bob"},"object":)" +
         object + more + "}}";
}

http::Response Send(const std::function<Response(const Call&)>& handler, std::string body,
                    std::string query = "", std::string content_type = "application/json") {
  http::Request request{.path = "/hook", .query = std::move(query), .method = "POST"};
  request.body = std::move(body);
  request.headers = {{"content-type", std::move(content_type)}};
  return internal::Respond(request, handler);
}

template <class F>
std::function<Response(const Call&)> Typed(F handler) {
  return [handler](const Call& call) { return internal::Admit<ConfigMap>(call, handler); };
}

AdmissionResponse Answer(const http::Response& response) {
  EXPECT_EQ(response.status, 200) << response.body;
  EXPECT_EQ(response.content_type, "application/json");
  auto review = codec::DecodeJson<AdmissionReview>(response.body);
  EXPECT_TRUE(review) << response.body;
  EXPECT_TRUE(review->response.has_value()) << response.body;
  EXPECT_EQ(review->response->uid, "u1");
  return std::move(*review->response);
}

TEST(AdmissionTest, ChangesBecomeAPatch) {
  const auto response = Answer(Send(Typed([](Review<ConfigMap>& review) {
                                      review.object.data["k2"] = "w";
                                      review.object.metadata.labels["l"] =
                                          review.call.request.user_info.username;
                                      return Response::Allowed();
                                    }),
                                    ReviewOf(kObject)));
  EXPECT_TRUE(response.allowed);
  EXPECT_EQ(response.patch_type, "JSONPatch");
  EXPECT_EQ(response.patch.view(),
            R"([{"op":"add","path":"/data/k2","value":"w"},)"
            R"({"op":"add","path":"/metadata/labels","value":{"l":"bob"}}])");
}

TEST(AdmissionTest, AllowsWithWarningsAndAuditAnnotations) {
  const auto response = Answer(Send(Typed([](const Review<ConfigMap>& review) {
                                      Response answer = Response::Allowed();
                                      answer.warnings = {"old: " + review.old_object->data.at("k")};
                                      answer.audit_annotations = {{"why", "because"}};
                                      return answer;
                                    }),
                                    ReviewOf(kObject, R"(,"oldObject":)" + std::string(kObject))));
  EXPECT_TRUE(response.allowed);
  EXPECT_FALSE(response.status.has_value());
  EXPECT_FALSE(response.patch_type.has_value());
  EXPECT_THAT(response.warnings, ElementsAre("old: v"));
  EXPECT_THAT(response.audit_annotations, ElementsAre(Pair("why", "because")));
}

TEST(AdmissionTest, DenialsTellWhyAndPatchNothing) {
  const auto response = Answer(Send(Typed([](Review<ConfigMap>& review) {
                                      review.object.data.clear();
                                      return Response::Denied("not on Fridays");
                                    }),
                                    ReviewOf(kObject)));
  EXPECT_FALSE(response.allowed);
  EXPECT_TRUE(response.patch.empty());
  EXPECT_EQ(response.status->message, "not on Fridays");
  EXPECT_EQ(response.status->reason, "Forbidden");
  EXPECT_EQ(response.status->code, 403);
}

TEST(AdmissionTest, AGivenPatchWins) {
  const auto response = Answer(Send(Typed([](Review<ConfigMap>& review) {
                                      review.object.data["k2"] = "w";
                                      Response answer = Response::Allowed();
                                      answer.patch = R"([{"op":"remove","path":"/data"}])";
                                      return answer;
                                    }),
                                    ReviewOf(kObject)));
  EXPECT_EQ(response.patch.view(), R"([{"op":"remove","path":"/data"}])");
}

TEST(AdmissionTest, DeletionsHaveTheOldObjectOnly) {
  const auto response = Answer(Send(Typed([](Review<ConfigMap>& review) {
                                      EXPECT_EQ(review.object, ConfigMap());
                                      EXPECT_EQ(review.old_object->metadata.name, "a");
                                      review.object.data["ignored"] = "x";
                                      return Response::Allowed();
                                    }),
                                    ReviewOf("null", R"(,"oldObject":)" + std::string(kObject))));
  EXPECT_TRUE(response.allowed);
  EXPECT_TRUE(response.patch.empty());
}

TEST(AdmissionTest, ObjectsOfAnotherTypeAreDenied) {
  const auto never = Typed([](Review<ConfigMap>&) {
    ADD_FAILURE() << "called";
    return Response::Allowed();
  });
  for (const std::string& object :
       {std::string(R"({"apiVersion":"v1","kind":"Secret"})"), std::string(R"({"data":[]})")}) {
    const auto response = Answer(Send(never, ReviewOf(object)));
    EXPECT_FALSE(response.allowed);
    EXPECT_EQ(response.status->code, 400);
    EXPECT_THAT(response.status->message, HasSubstr("object is no core.v1.ConfigMap: "));
  }
}

TEST(AdmissionTest, DryRunAndDeadlineArePassedOn) {
  bool dry_run = false;
  base::TimePoint deadline = base::TimePoint::max();
  const auto look = [&](const Call& call) {
    dry_run = call.dry_run;
    deadline = call.deadline;
    return Response::Allowed();
  };
  Answer(Send(look, ReviewOf(kObject, R"(,"dryRun":true)"), "timeout=5s"));
  EXPECT_TRUE(dry_run);
  EXPECT_LE(deadline, std::chrono::steady_clock::now() + std::chrono::seconds(5));
  Answer(Send(look, ReviewOf(kObject), "timeout=nonsense"));
  EXPECT_FALSE(dry_run);
  EXPECT_EQ(deadline, base::TimePoint::max());
}

TEST(AdmissionTest, WhatIsNoReviewIsRefused) {
  const auto never = [](const Call&) {
    ADD_FAILURE() << "called";
    return Response::Allowed();
  };
  for (const std::string& body :
       {std::string(), std::string("{"), std::string("[]"), std::string("{}"),
        std::string(R"({"apiVersion":"v1","kind":"Pod"})"), std::string(R"({"request":{}})"),
        std::string(R"({"request":null})"),
        std::string(R"({"apiVersion":"admission.k8s.io/v1beta1","kind":"AdmissionReview",)"
                    R"("request":{"uid":"u"}})")}) {
    EXPECT_EQ(Send(never, body).status, 400) << body;
  }
  EXPECT_EQ(Send(never, ReviewOf(kObject), "", "text/plain").status, 415);
  EXPECT_EQ(Send(never, ReviewOf(kObject), "", "").status, 415);
}

TEST(AdmissionTest, ContentTypeMayHaveParameters) {
  const auto response = Send([](const Call&) { return Response::Allowed(); }, ReviewOf(kObject), "",
                             "application/json; charset=utf-8");
  EXPECT_TRUE(Answer(response).allowed);
}

TEST(TimeoutOfTest, ReadsTheQuery) {
  EXPECT_EQ(internal::TimeoutOf("timeout=10s"), std::chrono::seconds(10));
  EXPECT_EQ(internal::TimeoutOf("a=b&timeout=1m30s&c"), std::chrono::seconds(90));
  for (const std::string_view none : {"", "timeout=", "timeout=-1s", "timeout=0s", "xtimeout=1s"}) {
    EXPECT_EQ(internal::TimeoutOf(none), std::nullopt) << none;
  }
}

}  // namespace
}  // namespace kubexx::webhook
