#include "kubexx/apiserver/endpoints/authn/authenticator.h"

#include <gmock/gmock.h>

#include <string>
#include <utility>

#include "kubexx/apiserver/endpoints/authn/token_file.h"
#include "kubexx/apiserver/endpoints/testing/api_fixture.h"

namespace kubexx::apiserver {
namespace {

constexpr const char* kSelfReviews = "/apis/authentication.k8s.io/v1/selfsubjectreviews";

ApiOptions WithTokensOfOthers() {
  ApiOptions options;
  options.tokens = *ParseTokenFile("jane-token,jane,1\n");
  return options;
}

/// A server without an administrator's token.
class OpenServerTest : public testing::ApiFixture {
 protected:
  explicit OpenServerTest(ApiOptions options = {}) : ApiFixture(std::move(options)) {}

  /// Returns "200 NAME", or the code of a refusal. "" sends no header.
  std::string WhoIs(const std::string& authorization) {
    headers_.clear();
    if (!authorization.empty()) {
      headers_.emplace_back("Authorization", authorization);
    }
    const http::Response response =
        Do("POST", kSelfReviews,
           R"({"apiVersion":"authentication.k8s.io/v1","kind":"SelfSubjectReview"})");
    return response.status == 201 ? "201 " + At(Json(response), {"status", "userInfo", "username"})
                                  : std::to_string(response.status);
  }
  /// Whether the server would read the request's body.
  bool IsTrusted(const std::string& authorization) {
    http::Request request;
    if (!authorization.empty()) {
      request.headers.emplace_back("Authorization", authorization);
    }
    return api_.Admits(request).has_value();
  }
};

/// The server also has tokens of other users.
class TokenFileServerTest : public OpenServerTest {
 protected:
  TokenFileServerTest() : OpenServerTest(WithTokensOfOthers()) {}
};

TEST_F(OpenServerTest, WhoShowsNothingIsTheAdministrator) {
  EXPECT_EQ(WhoIs(""), "201 admin");
  EXPECT_TRUE(IsTrusted(""));
}

TEST_F(OpenServerTest, WhatIsShownHasToBeGood) {
  for (const char* const bad :
       {"Bearer nonsense", "bearer nonsense", "Bearer ", "Bearer", "Basic YTpi", "nonsense"}) {
    EXPECT_EQ(WhoIs(bad), "401") << bad;
    EXPECT_FALSE(IsTrusted(bad)) << bad;
  }
}

TEST_F(OpenServerTest, ACertificateThatIsNotGoodIsNobodys) {
  http::Request request;
  request.path = "/api/v1/namespaces";
  EXPECT_EQ(api_.Handle(request).status, 200);
  EXPECT_TRUE(api_.Admits(request));
  request.peer.refused = true;
  EXPECT_EQ(api_.Handle(request).status, 401);
  EXPECT_FALSE(api_.Admits(request));
}

TEST_F(TokenFileServerTest, ATokenCountsBesideACertificateThatIsNotGood) {
  http::Request request;
  request.path = "/api/v1/namespaces";
  request.peer.refused = true;
  EXPECT_EQ(api_.Handle(request).status, 401);
  request.headers.emplace_back("Authorization", "Bearer jane-token");
  EXPECT_EQ(api_.Handle(request).status, 200);
}

TEST_F(OpenServerTest, TheTokenOfADeletedAccountIsNobodys) {
  ASSERT_EQ(Do("POST", "/api/v1/namespaces/default/serviceaccounts", R"({"metadata":{"name":"a"}})")
                .status,
            201);
  const http::Response made =
      Do("POST", "/api/v1/namespaces/default/serviceaccounts/a/token", "{}");
  ASSERT_EQ(made.status, 201) << made.body;
  const std::string token = "Bearer " + At(Json(made), {"status", "token"});
  EXPECT_EQ(WhoIs(token), "201 system:serviceaccount:default:a");
  EXPECT_TRUE(IsTrusted(token));
  headers_.clear();
  ASSERT_EQ(Do("DELETE", "/api/v1/namespaces/default/serviceaccounts/a").status, 200);
  EXPECT_EQ(WhoIs(token), "401");
}

TEST_F(TokenFileServerTest, NobodyIsTheAdministrator) {
  EXPECT_EQ(WhoIs(""), "401");
  EXPECT_FALSE(IsTrusted(""));
  EXPECT_EQ(WhoIs("Bearer nonsense"), "401");
  EXPECT_EQ(WhoIs("jane-token"), "401");
}

TEST_F(TokenFileServerTest, TheSchemeIsBearerInAnyCase) {
  for (const char* const scheme : {"Bearer", "bearer", "BEARER"}) {
    EXPECT_EQ(WhoIs(std::string(scheme) + " jane-token"), "201 jane");
    EXPECT_TRUE(IsTrusted(std::string(scheme) + " jane-token"));
  }
  EXPECT_EQ(WhoIs("Bearer jane-tokens"), "401");
}

/// A user has one share of the server, whatever credentials are used.
TEST_F(TokenFileServerTest, AnAdmittedClientHasOneName) {
  http::Request request;
  for (const char* const shown :
       {"Bearer jane-token", "bearer jane-token", "Bearer jane-token 1"}) {
    request.headers = {{"Authorization", shown}};
    EXPECT_EQ(api_.Admits(request), "jane") << shown;
  }
  request.peer.common_name = "joe";
  EXPECT_EQ(api_.Admits(request), "joe");
}

TEST_F(OpenServerTest, AnAccountHasOneNameWhateverItsTokens) {
  ASSERT_EQ(Do("POST", "/api/v1/namespaces/default/serviceaccounts", R"({"metadata":{"name":"a"}})")
                .status,
            201);
  for (int i = 0; i < 2; ++i) {
    const http::Response made =
        Do("POST", "/api/v1/namespaces/default/serviceaccounts/a/token", "{}");
    http::Request request;
    request.headers = {{"Authorization", "Bearer " + At(Json(made), {"status", "token"})}};
    EXPECT_EQ(api_.Admits(request), "system:serviceaccount:default:a");
  }
}

/// Code that compares the whole text with each token would not finish in a test's time.
TEST(ManyTokensTest, ALongTokenIsSoonNobodys) {
  std::string file;
  for (int i = 0; i < 5'000; ++i) {
    const std::string number = std::to_string(i);
    file += "token-of-user-" + number + ",user-" + number + "," + number + "\n";
  }
  const auto storage = storage::NewMemoryStorage({});
  ASSERT_TRUE(storage);
  ApiOptions options;
  options.tokens = *ParseTokenFile(file);
  const Api api(**storage, std::move(options));
  http::Request request;
  request.headers = {{"Authorization", "Bearer " + std::string(128 << 10, 'x')}};
  for (int i = 0; i < 1'000; ++i) {
    ASSERT_FALSE(api.Admits(request));
  }
  request.headers = {{"Authorization", "Bearer token-of-user-4999"}};
  EXPECT_TRUE(api.Admits(request));
}

}  // namespace
}  // namespace kubexx::apiserver
