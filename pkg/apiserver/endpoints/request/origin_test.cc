#include "kubexx/apiserver/endpoints/request/origin.h"

#include <gmock/gmock.h>

#include <string>
#include <utility>
#include <vector>

#include "kubexx/apiserver/endpoints/testing/api_fixture.h"

namespace kubexx::apiserver {
namespace {

constexpr const char* kSecrets = "/api/v1/namespaces/default/secrets";

ApiOptions WithAToken() {
  ApiOptions options;
  options.token = apimachinery::Bytes(std::string("t"));
  return options;
}

class OriginTest : public testing::ApiFixture {
 protected:
  explicit OriginTest(ApiOptions options = {}) : ApiFixture(std::move(options)) {}
  int StatusFor(std::vector<std::pair<std::string, std::string>> headers) {
    headers_ = std::move(headers);
    return Do("GET", kSecrets).status;
  }
};

class TokenOriginTest : public OriginTest {
 protected:
  TokenOriginTest() : OriginTest(WithAToken()) {}
};

TEST_F(OriginTest, PagesOfOthersHaveNoAccessToAnOpenServer) {
  EXPECT_EQ(StatusFor({{"Host", "127.0.0.1:8080"}, {"Origin", "http://evil.example"}}), 403);
  EXPECT_EQ(StatusFor({{"Host", "127.0.0.1:8080"}, {"Origin", "null"}}), 403);
  EXPECT_EQ(StatusFor({{"Host", "127.0.0.1:8080"}, {"Origin", "http://127.0.0.1:9090"}}), 403);
  EXPECT_EQ(StatusFor({{"Host", "127.0.0.1:8080"}, {"Origin", "http://127.0.0.1:8080"}}), 200);
}

TEST_F(OriginTest, AnOpenServerGoesByNoNameOfOthers) {
  EXPECT_EQ(StatusFor({{"Host", "evil.example"}}), 403);
  EXPECT_EQ(StatusFor({{"Host", "evil.example:8080"}}), 403);
  // A search domain or a hosts file makes names of one label anybody's, too.
  for (const char* const bad : {"foo", "foo:8080", "kubernetes", "kubernetes.default.svc",
                                "localhost.evil.example", "xlocalhost", ":8080"}) {
    EXPECT_EQ(StatusFor({{"Host", bad}}), 403) << bad;
  }
  for (const char* const good : {"127.0.0.1:8080", "[::1]:8080", "localhost:8080", "localhost",
                                 "LocalHost", "a.localhost:80"}) {
    EXPECT_EQ(StatusFor({{"Host", good}}), 200) << good;
  }
}

ApiOptions BehindAProxy() {
  ApiOptions options;
  options.hosts = {"api.example", "k8s.example", "apiserver"};
  options.origins = {"https://Dashboard.example"};
  return options;
}

class AllowedOriginTest : public OriginTest {
 protected:
  AllowedOriginTest() : OriginTest(BehindAProxy()) {}
};

TEST_F(AllowedOriginTest, WhatIsNamedIsLetIn) {
  EXPECT_EQ(StatusFor({{"Host", "K8s.example:443"}}), 200);
  EXPECT_EQ(StatusFor({{"Host", "apiserver:8080"}}), 200);
  EXPECT_EQ(StatusFor({{"Host", "api.example"}, {"Origin", "https://dashboard.example"}}), 200);
  EXPECT_EQ(StatusFor({{"Host", "evil.example"}, {"Origin", "https://dashboard.example"}}), 403);
  for (const char* const origin :
       {"http://dashboard.example", "https://dashboard.example:8443", "https://evil.example",
        "https://dashboard.example.evil.example", "null"}) {
    EXPECT_EQ(StatusFor({{"Host", "api.example"}, {"Origin", origin}}), 403) << origin;
  }
}

TEST_F(TokenOriginTest, WhoHasATokenIsNoPage) {
  EXPECT_EQ(StatusFor({{"Host", "api.example"},
                       {"Origin", "https://dashboard.example"},
                       {"Authorization", "Bearer t"}}),
            200);
}

/// A page can have the browser send the name and the password of a URL, beside its certificate.
TEST_F(TokenOriginTest, WhoIsKnownByACertificateMayBeAPage) {
  http::Request request;
  request.path = kSecrets;
  request.peer.common_name = "jane";
  const auto status_with = [&](std::vector<std::pair<std::string, std::string>> headers) {
    request.headers = std::move(headers);
    return api_.Handle(request).status;
  };
  const std::pair<std::string, std::string> host("Host", "api.example");
  const std::pair<std::string, std::string> page("Origin", "https://evil.example");
  EXPECT_EQ(status_with({host}), 200);
  EXPECT_EQ(status_with({host, page}), 403);
  EXPECT_EQ(status_with({host, page, {"Authorization", "Basic dTpw"}}), 403);
  EXPECT_EQ(status_with({host, {"Authorization", "Basic dTpw"}}), 200);
}

TEST_F(OriginTest, BodiesOfPagesAreNotRead) {
  http::Request request;
  const std::pair<std::string, std::string> host("Host", "127.0.0.1:8080");
  request.headers = {host};
  EXPECT_TRUE(api_.Admits(request));
  request.headers = {host, {"Origin", "http://evil.example"}};
  EXPECT_FALSE(api_.Admits(request));
  request.headers = {{"Host", "evil.example"}};
  EXPECT_FALSE(api_.Admits(request));
}

TEST_F(OriginTest, ABodySaysWhatItIs) {
  http::Request request;
  request.method = "POST";
  request.path = "/api/v1/namespaces/default/configmaps";
  request.body = R"({"metadata":{"name":"m"}})";
  EXPECT_EQ(api_.Handle(request).status, 415);
  request.headers = {{"Content-Type", " "}};
  EXPECT_EQ(api_.Handle(request).status, 415);
  request.headers = {{"Content-Type", "application/json"}};
  EXPECT_EQ(api_.Handle(request).status, 201);
}

TEST_F(OriginTest, ABodyThatNoPageSendsWithoutAPreflightNeedNotSayWhatItIs) {
  // So kubectl scale --current-replicas.
  ASSERT_EQ(Do("POST", "/api/v1/namespaces/default/configmaps", R"({"metadata":{"name":"m"}})",
               "application/json")
                .status,
            201);
  http::Request request;
  request.method = "PUT";
  request.path = "/api/v1/namespaces/default/configmaps/m";
  request.body = R"({"metadata":{"name":"m"},"data":{"a":"b"}})";
  EXPECT_EQ(api_.Handle(request).status, 200);
}

TEST_F(TokenOriginTest, ABodyThatDoesNotSayWhatItIsIsJson) {
  http::Request request;
  request.method = "POST";
  request.path = "/api/v1/namespaces/default/configmaps";
  request.body = R"({"metadata":{"name":"m"}})";
  request.headers = {{"Authorization", "Bearer t"}};
  EXPECT_EQ(api_.Handle(request).status, 201);
}

TEST_F(OriginTest, ABodyIsWhatItSaysItIs) {
  const std::string map = R"({"metadata":{"name":"m"}})";
  const std::string maps = "/api/v1/namespaces/default/configmaps";
  for (const char* const type : {"text/plain", "application/x-www-form-urlencoded", "nonsense"}) {
    const http::Response refused = Do("POST", maps, map, type);
    EXPECT_EQ(refused.status, 415) << type;
    EXPECT_EQ(Message(refused),
              "the body of the request was in an unknown format - accepted media types include: "
              "application/json, application/yaml, application/vnd.kubernetes.protobuf");
    EXPECT_EQ(Do("DELETE", maps + "/m", "{}", type).status, 415) << type;
    EXPECT_EQ(Do("POST", maps, std::string("k8s\0", 4) + "x", type).status, 415) << type;
  }
  EXPECT_EQ(Do("POST", maps, std::string("k8s\0", 4) + "x", "application/json").status, 400);
  EXPECT_EQ(Do("POST", maps, map, "Application/JSON; charset=utf-8").status, 201);
  EXPECT_EQ(Do("DELETE", maps + "/m", "gracePeriodSeconds: 0\n", "application/yaml").status, 200);
}

}  // namespace
}  // namespace kubexx::apiserver
