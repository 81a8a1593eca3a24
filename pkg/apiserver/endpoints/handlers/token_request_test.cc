#include <gmock/gmock.h>

#include <string>

#include "kubexx/apiserver/endpoints/authn/jwt.h"
#include "kubexx/apiserver/endpoints/testing/api_fixture.h"
#include "kubexx/base/testing/fake_clock.h"

namespace kubexx::apiserver {
namespace {

using codec::JsonTree;
using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr const char* kAccounts = "/api/v1/namespaces/default/serviceaccounts";
constexpr const char* kToken = "/api/v1/namespaces/default/serviceaccounts/robot/token";
constexpr const char* kReviews = "/apis/authentication.k8s.io/v1/tokenreviews";
constexpr const char* kWho = "/apis/authentication.k8s.io/v1/selfsubjectreviews";
constexpr const char* kUsual = "https://kubernetes.default.svc.cluster.local";

ApiOptions Options(base::Clock& clock) {
  ApiOptions options{.clock = clock};
  options.token = apimachinery::Bytes(std::string("admin-token"));
  return options;
}

/// Makes the clock before the Api.
struct WithClock {
  base::testing::FakeClock clock_{};
};

class TokenRequestTest : private WithClock, public testing::ApiFixture {
 protected:
  TokenRequestTest() : ApiFixture(Options(clock_)) {
    As("admin-token");
    EXPECT_EQ(Do("POST", kAccounts, R"({"metadata":{"name":"robot"}})").status, 201);
  }
  void As(const std::string& token) { headers_ = {{"Authorization", "Bearer " + token}}; }
  void Pass(base::Duration time) { clock_.Advance(time); }
  base::Clock& FakeClock() { return clock_; }

  /// Returns the token for a request with this spec. headers_ stay as they are.
  std::string TokenFor(const std::string& spec = "{}") {
    const http::Response response = Do("POST", kToken, R"({"spec":)" + spec + "}");
    EXPECT_EQ(response.status, 201) << response.body;
    return At(Json(response), {"status", "token"});
  }
  /// Returns the user for whom the server takes the holder of a token, or "" for nobody.
  std::string NameOf(const std::string& token) {
    const auto before = headers_;
    As(token);
    const http::Response response = Do("POST", kWho, "{}");
    headers_ = before;
    return response.status == 401 ? "" : At(Json(response), {"status", "userInfo", "username"});
  }
  /// Whether the server would read the body of the holder's request.
  bool IsTrusted(const std::string& token) {
    http::Request request;
    request.headers = {{"Authorization", "Bearer " + token}};
    return api_.Admits(request).has_value();
  }
  JsonTree Review(const std::string& token, const std::string& audiences = "[]") {
    return Json(Do("POST", kReviews,
                   R"({"spec":{"token":")" + token + R"(","audiences":)" + audiences + "}}"));
  }
};

TEST_F(TokenRequestTest, ATokenIsOfItsAccount) {
  const http::Response response = Do("POST", kToken, "{}");
  ASSERT_EQ(response.status, 201) << response.body;
  const JsonTree answer = Json(response);
  EXPECT_EQ(At(answer, {"kind"}), "TokenRequest");
  EXPECT_EQ(At(answer, {"metadata", "name"}), "robot");
  EXPECT_EQ(At(answer, {"spec", "expirationSeconds"}), "3600");
  EXPECT_EQ(At(answer, {"spec", "audiences", "0"}), kUsual);
  const std::string token = At(answer, {"status", "token"});
  EXPECT_EQ(NameOf(token), "system:serviceaccount:default:robot");
  const JsonTree review = Review(token);
  EXPECT_EQ(At(review, {"status", "authenticated"}), "true");
  EXPECT_EQ(At(review, {"status", "audiences", "0"}), kUsual);
  EXPECT_EQ(
      At(review, {"status", "user", "groups"}),
      R"(["system:serviceaccounts","system:serviceaccounts:default","system:authenticated"])");
}

TEST_F(TokenRequestTest, ItEndsAfterItsTime) {
  const std::string token = TokenFor(R"({"expirationSeconds":600})");
  Pass(std::chrono::seconds(599));
  EXPECT_NE(NameOf(token), "");
  Pass(std::chrono::seconds(1));
  EXPECT_EQ(NameOf(token), "");
  EXPECT_EQ(At(Review(token), {"status", "authenticated"}), "");
}

TEST_F(TokenRequestTest, ItEndsWithItsAccount) {
  const std::string token = TokenFor();
  EXPECT_EQ(Do("DELETE", std::string(kAccounts) + "/robot").status, 200);
  EXPECT_EQ(NameOf(token), "");
  EXPECT_EQ(Do("POST", kAccounts, R"({"metadata":{"name":"robot"}})").status, 201);
  EXPECT_EQ(NameOf(token), "");  // it is another account of the same name
}

TEST_F(TokenRequestTest, AudiencesAreKept) {
  const std::string token = TokenFor(R"({"audiences":["vault","other"]})");
  EXPECT_EQ(NameOf(token), "");
  EXPECT_EQ(At(Review(token, R"(["vault","third"])"), {"status", "audiences"}), R"(["vault"])");
  EXPECT_EQ(At(Review(token, R"(["third"])"), {"status", "user", "username"}), "");
  // The administrator's token is valid only for the API.
  EXPECT_EQ(At(Review("admin-token", R"(["vault"])"), {"status", "user", "username"}), "");
  EXPECT_EQ(At(Review("admin-token"), {"status", "user", "username"}), "admin");
}

TEST_F(TokenRequestTest, ItEndsWithWhatItIsBoundTo) {
  const std::string secrets = "/api/v1/namespaces/default/secrets";
  EXPECT_EQ(Do("POST", secrets, R"({"metadata":{"name":"s"}})").status, 201);
  const std::string token =
      TokenFor(R"({"boundObjectRef":{"kind":"Secret","apiVersion":"v1","name":"s"}})");
  EXPECT_NE(NameOf(token), "");
  EXPECT_EQ(Do("DELETE", secrets + "/s").status, 200);
  EXPECT_EQ(NameOf(token), "");
}

/// A user who may add a finalizer cannot make a token last longer.
TEST_F(TokenRequestTest, ItEndsAMinuteAfterADeletionThatWaits) {
  const std::string secret = "/api/v1/namespaces/default/secrets/s";
  EXPECT_EQ(Do("POST", "/api/v1/namespaces/default/secrets", R"({"metadata":{"name":"s"}})").status,
            201);
  const std::string bound =
      TokenFor(R"({"boundObjectRef":{"kind":"Secret","apiVersion":"v1","name":"s"}})");
  const std::string free = TokenFor();
  const auto begin_deletion = [this](const std::string& path) {
    EXPECT_EQ(
        Do("PATCH", path, R"({"metadata":{"finalizers":["example.com/f"]}})", kMergePatch).status,
        200);
    EXPECT_EQ(Do("DELETE", path).status, 200);
    EXPECT_EQ(Do("GET", path).status, 200);
  };
  begin_deletion(secret);
  Pass(std::chrono::seconds(60));
  EXPECT_NE(NameOf(bound), "");
  Pass(std::chrono::seconds(1));
  EXPECT_EQ(NameOf(bound), "");
  EXPECT_NE(NameOf(free), "");
  begin_deletion(std::string(kAccounts) + "/robot");
  Pass(std::chrono::seconds(60));
  EXPECT_NE(NameOf(free), "");
  Pass(std::chrono::seconds(1));
  EXPECT_EQ(NameOf(free), "");
  EXPECT_EQ(At(Review(free), {"status", "authenticated"}), "");
}

TEST_F(TokenRequestTest, WhatCannotBeIsRefused) {
  const auto ask = [this](const std::string& body) { return Do("POST", kToken, body); };
  http::Response refused = ask(R"({"spec":{"expirationSeconds":599}})");
  EXPECT_EQ(refused.status, 422);
  EXPECT_THAT(Message(refused), HasSubstr("may not specify a duration less than 10 minutes"));
  EXPECT_EQ(ask(R"({"spec":{"expirationSeconds":4294967297}})").status, 422);
  refused = ask(R"({"metadata":{"name":"other"}})");
  EXPECT_EQ(refused.status, 400);
  EXPECT_THAT(Message(refused), AllOf(HasSubstr("(other)"), HasSubstr("(robot)")));
  EXPECT_EQ(ask(R"({"spec":{"boundObjectRef":{"kind":"Node","apiVersion":"v1"}}})").status, 400);
  const std::string to_secret = R"({"spec":{"boundObjectRef":{"kind":"Secret","apiVersion":"v1",)";
  EXPECT_EQ(ask(to_secret + R"("name":"none"}}})").status, 404);
  EXPECT_EQ(Do("POST", "/api/v1/namespaces/default/secrets", R"({"metadata":{"name":"s"}})").status,
            201);
  EXPECT_EQ(ask(to_secret + R"("name":"s","uid":"another"}}})").status, 409);
  EXPECT_EQ(Do("POST", "/api/v1/namespaces/default/pods",
               R"({"metadata":{"name":"p"},"spec":{"containers":[{"name":"c","image":"i"}]}})")
                .status,
            201);
  refused = ask(R"({"spec":{"boundObjectRef":{"kind":"Pod","apiVersion":"v1","name":"p"}}})");
  EXPECT_EQ(refused.status, 400);
  EXPECT_THAT(Message(refused), HasSubstr("different serviceaccount name"));
  EXPECT_EQ(Do("POST", std::string(kAccounts) + "/nobody/token", "{}").status, 404);
  EXPECT_EQ(Do("GET", kToken).status, 405);
}

TEST_F(TokenRequestTest, AnotherServerOfTheStoreKnowsTheToken) {
  const std::string token = TokenFor();
  Api other(*storage_, Options(FakeClock()));
  ASSERT_TRUE(other.Bootstrap({}));
  http::Request request;
  request.method = "POST";
  request.path = kWho;
  request.headers = {{"Authorization", "Bearer " + token}, {"Content-Type", "application/json"}};
  request.body = "{}";
  EXPECT_EQ(other.Handle(request).status, 201);
  // A server with another store does not accept it, although the two look the same.
  const auto elsewhere = *storage::NewMemoryStorage({});
  Api stranger(*elsewhere, Options(FakeClock()));
  ASSERT_TRUE(stranger.Bootstrap({}));
  EXPECT_EQ(stranger.Handle(request).status, 401);
}

/// Others verify tokens with the public key.
TEST_F(TokenRequestTest, WhatOthersNeedToVerifyTokensIsThere) {
  ASSERT_TRUE(api_.Publish({.address = "2001:db8::1", .port = 6443}, {}));
  const http::Response page = Do("GET", "/.well-known/openid-configuration");
  EXPECT_EQ(page.status, 200);
  EXPECT_EQ(page.content_type, "application/json");
  EXPECT_EQ(page.body,
            R"({"issuer":"https://kubernetes.default.svc.cluster.local",)"
            R"("jwks_uri":"https://[2001:db8::1]:6443/openid/v1/jwks",)"
            R"("response_types_supported":["id_token"],"subject_types_supported":["public"],)"
            R"("id_token_signing_alg_values_supported":["ES256"]})");
  const http::Response set = Do("GET", "/openid/v1/jwks");
  EXPECT_EQ(set.status, 200);
  EXPECT_EQ(set.content_type, "application/jwk-set+json");
  const JsonTree keys = Json(set);
  EXPECT_EQ(At(keys, {"keys", "0", "alg"}), "ES256");
  EXPECT_EQ(At(keys, {"keys", "0", "d"}), "") << "the secret number";
  const std::string token = TokenFor();
  const auto header = FromBase64Url(token.substr(0, token.find('.')));
  ASSERT_TRUE(header);
  EXPECT_EQ(*header, R"({"alg":"ES256","kid":")" + At(keys, {"keys", "0", "kid"}) + "\"}");
  EXPECT_EQ(Do("POST", "/openid/v1/jwks").status, 404);
}

TEST_F(TokenRequestTest, ATokenOfAnEarlierVersionStaysValid) {
  const std::string token = TokenFor();
  const std::size_t dot = token.find('.');
  const auto claims = FromBase64Url(token.substr(dot + 1, token.rfind('.') - dot - 1));
  ASSERT_TRUE(claims);
  const auto seed = storage_->Get("/kubexx/service-account-key", 0, {});
  ASSERT_TRUE(seed);
  EXPECT_TRUE(IsTrusted(SignJwt(*JsonTree::Parse(*claims), *seed->value)));
  EXPECT_FALSE(IsTrusted(SignJwt(*JsonTree::Parse(*claims), "another")));
}

TEST(SigningKeyTest, IsThatOfItsSeed) {
  const auto one = SigningKey::FromSeed("seed");
  const auto two = SigningKey::FromSeed("seed");
  const auto other = SigningKey::FromSeed("another seed");
  ASSERT_TRUE(one && two && other);
  EXPECT_EQ(one->PublicJwk(), two->PublicJwk());
  EXPECT_NE(one->PublicJwk(), other->PublicJwk());
}

TEST(SigningKeyTest, KnowsWhatItHasSignedAndNothingElse) {
  const auto key = SigningKey::FromSeed("seed");
  ASSERT_TRUE(key);
  JsonTree claims = JsonTree::Object();
  claims["sub"] = "someone";
  const auto token = key->SignJwt(claims);
  ASSERT_TRUE(token);
  const auto known = key->VerifyJwt(*token);
  ASSERT_TRUE(known);
  EXPECT_EQ(known->TextAt("sub"), "someone");
  EXPECT_FALSE(SigningKey::FromSeed("another seed")->VerifyJwt(*token));
  for (std::size_t i = 0; i < token->size(); ++i) {
    std::string changed = *token;
    changed[i] = changed[i] == 'A' ? 'B' : 'A';
    EXPECT_FALSE(key->VerifyJwt(changed)) << i;
    EXPECT_FALSE(key->VerifyJwt(token->substr(0, i))) << i;
  }
  EXPECT_FALSE(key->VerifyJwt(*token + "A"));
  EXPECT_FALSE(key->VerifyJwt("eyJhbGciOiJub25lIn0.eyJzdWIiOiJzb21lb25lIn0."));
}

TEST(JwtTest, OnlyWhatWasSignedWithTheKeyIsKnown) {
  JsonTree claims = JsonTree::Object();
  claims["sub"] = "someone";
  const std::string token = SignJwt(claims, "key");
  const auto known = VerifyJwt(token, "key");
  ASSERT_TRUE(known);
  EXPECT_EQ(known->TextAt("sub"), "someone");
  EXPECT_FALSE(VerifyJwt(token, "another"));
  for (std::size_t i = 0; i < token.size(); ++i) {
    std::string changed = token;
    changed[i] = changed[i] == 'A' ? 'B' : 'A';
    EXPECT_FALSE(VerifyJwt(changed, "key")) << i;
    EXPECT_FALSE(VerifyJwt(token.substr(0, i), "key")) << i;
  }
  EXPECT_FALSE(VerifyJwt("eyJhbGciOiJub25lIn0.eyJzdWIiOiJzb21lb25lIn0.", "key"));
  EXPECT_FALSE(VerifyJwt(token + "A", "key"));
}

TEST_F(TokenRequestTest, WhoseTokenIsOverIsNotTrustedAnyMore) {
  const std::string token = TokenFor(R"({"expirationSeconds":600})");
  EXPECT_TRUE(IsTrusted(token));
  Pass(std::chrono::seconds(601));
  EXPECT_EQ(NameOf(token), "");
  EXPECT_FALSE(IsTrusted(token));
}

TEST_F(TokenRequestTest, WhoseTokenIsForOthersIsNotTrusted) {
  EXPECT_FALSE(IsTrusted(TokenFor(R"({"audiences":["vault"]})")));
  EXPECT_TRUE(IsTrusted(TokenFor(R"({"audiences":["vault",")" + std::string(kUsual) + R"("]})")));
}

/// Servers with the same store have clocks of their own.
TEST_F(TokenRequestTest, WhoseTokenBeginsInAMinuteIsTrusted) {
  base::testing::FakeClock slow;
  Api other(*storage_, Options(slow));
  ASSERT_TRUE(other.Bootstrap({}));
  Pass(std::chrono::seconds(60));
  http::Request request;
  request.headers = {{"Authorization", "Bearer " + TokenFor()}};
  EXPECT_TRUE(other.Admits(request));
  Pass(std::chrono::seconds(1));
  request.headers = {{"Authorization", "Bearer " + TokenFor()}};
  EXPECT_FALSE(other.Admits(request));
}

TEST_F(TokenRequestTest, WhoseTokenBeginsLaterIsNotTrustedYet) {
  Pass(std::chrono::hours(1));
  const std::string token = TokenFor();
  EXPECT_TRUE(IsTrusted(token));
  base::testing::FakeClock past;
  Api earlier(*storage_, Options(past));
  ASSERT_TRUE(earlier.Bootstrap({}));
  http::Request request;
  request.headers = {{"Authorization", "Bearer " + token}};
  EXPECT_FALSE(earlier.Admits(request));
}

}  // namespace
}  // namespace kubexx::apiserver
