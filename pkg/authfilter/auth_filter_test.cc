#include "kubexx/authfilter/auth_filter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "kubexx/api/authentication/v1/types.gen.h"
#include "kubexx/api/authorization/v1/types.gen.h"
#include "kubexx/authfilter/internal/expiring_map.h"
#include "kubexx/base/testing/fake_clock.h"
#include "kubexx/codec/codec.h"
#include "kubexx/codec/envelope.h"
#include "kubexx/rest/testing/client.h"
#include "kubexx/rest/testing/fake_server.h"

namespace kubexx::authfilter {
namespace {

using api::authentication::v1::TokenReview;
using api::authorization::v1::SubjectAccessReview;

template <class T>
T DecodeBody(const std::string& body) {
  auto decoded = codec::DecodeJson<T>(body);
  if (body.starts_with(codec::kEnvelopeMagic)) {
    decoded = codec::DecodeProtobuf<T>(codec::ReadEnvelope(body)->raw);
  }
  EXPECT_TRUE(decoded) << decoded.error().ToString();
  return std::move(*decoded);
}

/// An API server that knows the token "good" of user "reader" and "other" of "stranger", and lets
/// only "reader" get /metrics.
class AuthFilterTest : public ::testing::Test {
 protected:
  void Answer(rest::testing::FakeConnection& connection) {
    while (const auto request = connection.ReadRequest()) {
      if (broken_) {
        connection.Respond(500, "text/plain", "broken");
      } else if (request->target == "/apis/authentication.k8s.io/v1/tokenreviews") {
        ++token_reviews_;
        auto review = DecodeBody<TokenReview>(request->body);
        review.status.authenticated = review.spec.token == "good" || review.spec.token == "other";
        review.status.user.username = review.spec.token == "good" ? "reader" : "stranger";
        review.status.user.groups = {"g"};
        review.status.user.extra = {{"k", {"v"}}};
        review.status.audiences = {"us"};
        connection.Respond(201, "application/json", codec::EncodeJson(review));
      } else if (request->target == "/apis/authorization.k8s.io/v1/subjectaccessreviews") {
        ++access_reviews_;
        auto review = DecodeBody<SubjectAccessReview>(request->body);
        review.status.allowed = review.spec.user == "reader" &&
                                review.spec.groups == std::vector<std::string>{"g"} &&
                                review.spec.extra.contains("k") &&
                                review.spec.non_resource_attributes->path == "/metrics" &&
                                review.spec.non_resource_attributes->verb == "get";
        connection.Respond(201, "application/json", codec::EncodeJson(review));
      } else {
        connection.Respond(404, "text/plain", request->target);
      }
    }
  }

  /// The status code; 200 when the request passes.
  static int Try(const AuthFilter& filter, std::string authorization, std::string path = "/metrics",
                 std::string method = "GET") {
    http::Request request{.path = std::move(path), .method = std::move(method)};
    if (!authorization.empty()) {
      request.headers = {{"Authorization", std::move(authorization)}};
    }
    const auto response = filter.Filter()(request);
    return response ? response->status : 200;
  }

  AuthFilter::Options Defaults() { return {.clock = clock_}; }

  std::atomic<bool> broken_ = false;
  std::atomic<int> token_reviews_ = 0;
  std::atomic<int> access_reviews_ = 0;
  base::testing::FakeClock clock_;
  rest::testing::FakeServer server_{
      [this](rest::testing::FakeConnection& connection) { Answer(connection); }};
  std::shared_ptr<rest::RESTClient> client_ = rest::testing::NewClient(server_.Url());
};

TEST_F(AuthFilterTest, LetsThroughWhoIsAllowed) {
  const AuthFilter filter(client_, Defaults());
  EXPECT_EQ(Try(filter, "Bearer good"), 200);
  EXPECT_EQ(Try(filter, "bearer   good "), 200);
}

TEST_F(AuthFilterTest, Needs401And403) {
  const AuthFilter filter(client_, Defaults());
  EXPECT_EQ(Try(filter, ""), 401);
  EXPECT_EQ(Try(filter, "Basic Z29vZA=="), 401);
  EXPECT_EQ(Try(filter, "Bearer "), 401);
  EXPECT_EQ(token_reviews_, 0) << "without a token nobody is asked";
  EXPECT_EQ(Try(filter, "Bearer unknown"), 401);
  EXPECT_EQ(Try(filter, "Bearer other"), 403);
  EXPECT_EQ(Try(filter, "Bearer good", "/debug"), 403) << "each path has its own decision";
  EXPECT_EQ(Try(filter, "Bearer good", "/metrics", "POST"), 403) << "and each method";
  EXPECT_EQ(Try(filter, "Bearer good"), 200);
}

TEST_F(AuthFilterTest, AnswersAreKeptForTheirTime) {
  const AuthFilter filter(client_, Defaults());
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(Try(filter, "Bearer good"), 200);
    EXPECT_EQ(Try(filter, "Bearer unknown"), 401);
    EXPECT_EQ(Try(filter, "Bearer other"), 403);
  }
  EXPECT_EQ(token_reviews_, 3);
  EXPECT_EQ(access_reviews_, 2);
  clock_.Advance(std::chrono::seconds(11));
  EXPECT_EQ(Try(filter, "Bearer unknown"), 401);
  EXPECT_EQ(Try(filter, "Bearer good"), 200);
  EXPECT_EQ(token_reviews_, 4) << "an unknown token is asked for again after 10 s";
  clock_.Advance(std::chrono::seconds(20));
  EXPECT_EQ(Try(filter, "Bearer other"), 403);
  EXPECT_EQ(access_reviews_, 3) << "a denial after 30 s";
  clock_.Advance(std::chrono::seconds(30));
  EXPECT_EQ(Try(filter, "Bearer good"), 200);
  EXPECT_EQ(token_reviews_, 5) << "a known token after a minute";
  EXPECT_EQ(access_reviews_, 3) << "a permission is good for 5";
  clock_.Advance(std::chrono::minutes(5));
  EXPECT_EQ(Try(filter, "Bearer good"), 200);
  EXPECT_EQ(access_reviews_, 4);
}

TEST_F(AuthFilterTest, BrokenApiServerIs500AndNotRemembered) {
  const AuthFilter filter(client_, Defaults());
  broken_ = true;
  EXPECT_EQ(Try(filter, "Bearer good"), 500);
  broken_ = false;
  EXPECT_EQ(Try(filter, "Bearer good"), 200);
  broken_ = true;
  EXPECT_EQ(Try(filter, "Bearer good"), 200) << "what is known needs no API server";
  EXPECT_EQ(Try(filter, "Bearer good", "/new"), 500);
}

TEST_F(AuthFilterTest, TokenHasToBeMeantForUs) {
  AuthFilter::Options options = Defaults();
  options.audiences = {"them", "us"};
  EXPECT_EQ(Try(AuthFilter(client_, options), "Bearer good"), 200);
  options.audiences = {"them"};
  EXPECT_EQ(Try(AuthFilter(client_, options), "Bearer good"), 401);
}

TEST_F(AuthFilterTest, AReviewTellsWhoseTheTokenIs) {
  const AuthFilter filter(client_, Defaults());
  const auto review = [&](const std::string& token) {
    return filter.Review({.path = "/metrics", .headers = {{"Authorization", "Bearer " + token}}});
  };
  EXPECT_EQ(review("good").user, "reader");
  EXPECT_FALSE(review("good").refusal);
  EXPECT_EQ(review("other").user, "stranger");
  EXPECT_EQ(review("other").refusal->status, 403);
  EXPECT_EQ(review("unknown").user, "");
  EXPECT_EQ(review("unknown").refusal->status, 401);
}

TEST_F(AuthFilterTest, DenialNamesTheUserOnly) {
  const AuthFilter filter(client_, Defaults());
  const auto response =
      filter.Filter()({.path = "/metrics", .headers = {{"authorization", "Bearer other"}}});
  ASSERT_TRUE(response);
  EXPECT_EQ(response->body, "Authorization denied for user stranger\n");
}

TEST(ExpiringMapTest, IsBounded) {
  base::testing::FakeClock clock;
  internal::ExpiringMap<int> map(2, clock);
  for (int i = 0; i < 5; ++i) {
    map.Put(std::to_string(i), i, std::chrono::seconds(1));
    map.Put(std::to_string(i), i, std::chrono::seconds(1));
  }
  EXPECT_EQ(map.size(), 2U);
  EXPECT_EQ(map.Find("2"), std::nullopt);
  EXPECT_EQ(map.Find("3"), 3);
  clock.Advance(std::chrono::seconds(1));
  EXPECT_EQ(map.Find("4"), std::nullopt);
}

}  // namespace
}  // namespace kubexx::authfilter
