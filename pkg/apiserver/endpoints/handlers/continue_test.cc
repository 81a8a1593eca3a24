#include <gmock/gmock.h>

#include <string>

#include "kubexx/apiserver/endpoints/authn/jwt.h"
#include "kubexx/apiserver/endpoints/handlers/continue_token.h"
#include "kubexx/apiserver/endpoints/testing/api_fixture.h"
#include "kubexx/base/testing/fake_clock.h"

namespace kubexx::apiserver {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

ApiOptions WithoutTime(base::Clock& clock) { return {.clock = clock, .cacher = {.clock = clock}}; }

struct StoppedClock {
  base::testing::FakeClock fake_clock_;
};

class ContinueTest : StoppedClock, public testing::ApiFixture {
 protected:
  ContinueTest() : ApiFixture(WithoutTime(fake_clock_)) {}
};

TEST_F(ContinueTest, AnExpiredTokenComesWithOneThatGoesOn) {
  const std::string maps = "/api/v1/namespaces/default/configmaps";
  for (const char* const name : {"a", "b", "c"}) {
    ASSERT_EQ(Do("POST", maps, R"({"metadata":{"name":")" + std::string(name) + "\"}}").status,
              201);
  }
  const codec::JsonTree page = Json(Do("GET", maps + "?limit=1"));
  ASSERT_EQ(Do("POST", maps, R"({"metadata":{"name":"d"}})").status, 201);
  ASSERT_TRUE(storage_->Compact(*storage_->CurrentRevision({}), {}));
  const http::Response expired =
      Do("GET", maps + "?limit=2&continue=" + At(page, {"metadata", "continue"}));
  EXPECT_EQ(expired.status, 410);
  EXPECT_EQ(At(Json(expired), {"reason"}), "Expired");
  EXPECT_THAT(Message(expired),
              StartsWith("The provided continue parameter is too old to display a "
                         "consistent list result."));
  const std::string token = At(Json(expired), {"metadata", "continue"});
  const codec::JsonTree second = Json(Do("GET", maps + "?limit=2&continue=" + token));
  EXPECT_EQ(At(second, {"items", "0", "metadata", "name"}), "b");
  EXPECT_EQ(At(second, {"items", "1", "metadata", "name"}), "c");
  const codec::JsonTree third =
      Json(Do("GET", maps + "?limit=2&continue=" + At(second, {"metadata", "continue"})));
  EXPECT_EQ(At(third, {"items", "0", "metadata", "name"}), "d");
  EXPECT_EQ(At(third, {"metadata", "continue"}), "");
}

TEST_F(ContinueTest, TokensHaveKubernetesForm) {
  const ContinueToken token{.revision = 7, .key = "default/a"};
  // {"v":"meta.k8s.io/v1","rv":7,"start":"default/a\u0000"}
  EXPECT_EQ(token.Encode(),
            "eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6Nywic3RhcnQiOiJkZWZhdWx0L2FcdTAwMDAifQ");
  const auto read = ContinueToken::Decode(token.Encode());
  ASSERT_TRUE(read);
  EXPECT_EQ(read->revision, 7);
  EXPECT_EQ(read->key, "default/a");
  const auto foreign = ContinueToken::Decode(
      ToBase64Url(R"({"v":"meta.k8s.io/v1","rv":196,"start":"/default\u0000"})"));
  ASSERT_TRUE(foreign);
  EXPECT_EQ(foreign->key, "default");
}

TEST_F(ContinueTest, WhatIsNoTokenIsRefused) {
  const auto of = [](const std::string& json) { return ToBase64Url(json); };
  for (const auto& [token, why] :
       {std::pair(std::string("7:default/a"), ": illegal base64 data"),
        std::pair(of("[]"), ": it holds no JSON object"),
        std::pair(of(R"({"v":"v2","rv":1,"start":"a"})"),
                  ": server does not recognize this encoded version v2"),
        std::pair(of(R"({"v":"meta.k8s.io/v1","start":"a"})"),
                  ": incorrect encoded start resourceVersion (version meta.k8s.io/v1)"),
        std::pair(of(R"({"v":"meta.k8s.io/v1","rv":1})"),
                  ": encoded start key empty (version meta.k8s.io/v1)"),
        std::pair(of(R"({"v":"meta.k8s.io/v1","rv":1,"start":"../secrets/a"})"),
                  ": ../secrets/a")}) {
    const http::Response refused =
        Do("GET", "/api/v1/namespaces/default/configmaps?limit=1&continue=" + token);
    EXPECT_EQ(refused.status, 400) << token;
    EXPECT_EQ(Message(refused),
              std::string("invalid continue token: continue key is not valid") + why);
  }
}

TEST_F(ContinueTest, AVersionThatIsForgottenIsTold) {
  const std::int64_t old = *storage_->CurrentRevision({});
  ASSERT_EQ(
      Do("POST", "/api/v1/namespaces/default/configmaps", R"({"metadata":{"name":"a"}})").status,
      201);
  ASSERT_TRUE(storage_->Compact(*storage_->CurrentRevision({}), {}));
  const http::Response expired = Do(
      "GET", "/api/v1/namespaces/default/configmaps?resourceVersionMatch=Exact&resourceVersion=" +
                 std::to_string(old));
  EXPECT_EQ(expired.status, 410);
  EXPECT_EQ(Message(expired), "The resourceVersion for the provided list is too old.");
}

TEST_F(ContinueTest, AVersionOfTheFutureIsNotWaitedFor) {
  // The clock stands still: whoever waits, waits for ever.
  const http::Response refused =
      Do("GET", "/api/v1/namespaces/default/configmaps?resourceVersion=999999999");
  EXPECT_EQ(refused.status, 504);
  EXPECT_THAT(Message(refused), HasSubstr("Too large resource version: 999999999"));
}

}  // namespace
}  // namespace kubexx::apiserver
