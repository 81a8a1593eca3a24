#include "kubexx/rest/request.h"

#include <gmock/gmock.h>

#include <string>
#include <utility>
#include <vector>

#include "kubexx/rest/testing/client.h"
#include "kubexx/rest/testing/fake_server.h"

namespace kubexx::rest {
namespace {

using apimachinery::Reason;
using codec::Encoding;
using testing::ClientFor;
using ::testing::Contains;
using testing::FakeConnection;
using testing::FakeRequest;
using testing::FakeServer;
using ::testing::HasSubstr;
using testing::kConfigMaps;
using testing::kDeployments;
using ::testing::Key;
using testing::kNodes;
using testing::NewClient;
using ::testing::Not;
using ::testing::Pair;

std::shared_ptr<RESTClient> NowhereClient(const std::string& prefix = "") {
  return NewClient("http://127.0.0.1:1" + prefix);
}

TEST(RequestTest, BuildsPathsOfResources) {
  const auto client = NowhereClient();
  EXPECT_EQ(client->Get().Resource(kConfigMaps).ToString(), "GET /api/v1/configmaps");
  EXPECT_EQ(client->Get().Resource(kConfigMaps).Namespace("a").Name("b").ToString(),
            "GET /api/v1/namespaces/a/configmaps/b");
  EXPECT_EQ(client->Put()
                .Resource(kDeployments)
                .Namespace("a")
                .Name("b")
                .SubResource("status")
                .ToString(),
            "PUT /apis/apps/v1/namespaces/a/deployments/b/status");
  EXPECT_EQ(client->Delete().Resource(kNodes).Name("n").ToString(), "DELETE /api/v1/nodes/n");
  EXPECT_EQ(client->Get().AbsPath("/version").ToString(), "GET /version");
}

TEST(RequestTest, PutsThePathOfTheServerUrlInFront) {
  const auto client = NowhereClient("/k8s/clusters/c-1/");
  EXPECT_EQ(client->Get().Resource(kNodes).ToString(), "GET /k8s/clusters/c-1/api/v1/nodes");
  EXPECT_EQ(client->Get().AbsPath("/healthz").ToString(), "GET /k8s/clusters/c-1/healthz");
}

TEST(RequestTest, EscapesNamesAndQueries) {
  const auto client = NowhereClient();
  EXPECT_EQ(client->Get().Resource(kNodes).Name("system:a b\xc3\xa9?#").ToString(),
            "GET /api/v1/nodes/system:a%20b%C3%A9%3F%23");
  EXPECT_EQ(client->Get().Resource(kNodes).Param("labelSelector", "a in (b,c),!d&e=+f").ToString(),
            "GET /api/v1/nodes?labelSelector=a%20in%20%28b%2Cc%29%2C%21d%26e%3D%2Bf");
}

TEST(RequestTest, TurnsListOptionsIntoParameters) {
  const apimachinery::ListOptions options{.label_selector = "a=b",
                                          .field_selector = "metadata.name=x",
                                          .resource_version = "5",
                                          .resource_version_match = "NotOlderThan",
                                          .limit = 500,
                                          .continue_ = "tok==",
                                          .timeout = std::chrono::seconds(300),
                                          .allow_watch_bookmarks = true,
                                          .send_initial_events = false};
  EXPECT_EQ(NowhereClient()->Get().Resource(kNodes).Watch().Options(options).ToString(),
            "GET "
            "/api/v1/"
            "nodes?watch=true&labelSelector=a%3Db&fieldSelector=metadata.name%3Dx&resourceVersion=5"
            "&resourceVersionMatch=NotOlderThan&continue=tok%3D%3D&limit=500&timeoutSeconds=300"
            "&allowWatchBookmarks=true&sendInitialEvents=false");
  EXPECT_EQ(NowhereClient()->Get().Resource(kNodes).Options({}).ToString(), "GET /api/v1/nodes");
}

struct BadRequestCase {
  std::string name;
  std::function<void(Request&)> build;
  std::string message;
};

class BadRequestTest : public ::testing::TestWithParam<BadRequestCase> {};

TEST_P(BadRequestTest, IsRefusedBeforeAnythingIsSent) {
  FakeServer server([](FakeConnection& connection) { connection.AwaitPeer(); });
  const auto client = NewClient(server.Url());
  Request request = client->Get();
  GetParam().build(request);
  const auto result = request.Do();
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().reason, Reason::kBadRequest);
  EXPECT_THAT(result.error().message, HasSubstr(GetParam().message));
  const auto stream =
      request.Stream([](const auto&) -> apimachinery::Result<void> { return {}; },
                     [](std::string_view) -> apimachinery::Result<void> { return {}; }, {});
  ASSERT_FALSE(stream);
  EXPECT_EQ(stream.error(), result.error());
  EXPECT_EQ(server.connections(), 0);
}

const apimachinery::ResourceInfo kBadGroup{"a/b", "v1", "X", "xs", true};

INSTANTIATE_TEST_SUITE_P(
    Table, BadRequestTest,
    ::testing::Values(
        BadRequestCase{"NoResource", [](Request&) {}, "needs a resource"},
        BadRequestCase{"EmptyName", [](Request& r) { r.Resource(kNodes).Name(""); },
                       "name \"\" must not be empty"},
        BadRequestCase{"DotName", [](Request& r) { r.Resource(kNodes).Name("."); },
                       "must not be \".\""},
        BadRequestCase{"DotDotName", [](Request& r) { r.Resource(kNodes).Name(".."); },
                       "must not be \"..\""},
        BadRequestCase{"SlashInName", [](Request& r) { r.Resource(kNodes).Name("a/b"); },
                       "must not contain"},
        BadRequestCase{"PercentInName", [](Request& r) { r.Resource(kNodes).Name("a%2fb"); },
                       "must not contain"},
        BadRequestCase{"SlashInNamespace",
                       [](Request& r) { r.Resource(kConfigMaps).Namespace("a/../b"); },
                       "namespace \"a/../b\""},
        BadRequestCase{"SlashInGroup", [](Request& r) { r.Resource(kBadGroup); }, "group \"a/b\""},
        BadRequestCase{"SlashInSubResource",
                       [](Request& r) { r.Resource(kNodes).Name("a").SubResource("b/c"); },
                       "subresource"},
        BadRequestCase{"SubResourceWithoutName",
                       [](Request& r) { r.Resource(kNodes).SubResource("status"); },
                       "needs a name"},
        BadRequestCase{"NamespaceOfClusterScoped",
                       [](Request& r) { r.Resource(kNodes).Namespace("a"); },
                       "nodes are cluster-scoped"},
        BadRequestCase{"NameWithoutNamespace",
                       [](Request& r) { r.Resource(kConfigMaps).Name("a"); },
                       "configmaps are namespaced"},
        BadRequestCase{"RelativePath", [](Request& r) { r.AbsPath("version"); }, "must begin with"},
        BadRequestCase{"PathWithQuery", [](Request& r) { r.AbsPath("/a?b"); }, "must begin with"},
        BadRequestCase{"HeaderInjection",
                       [](Request& r) { r.AbsPath("/a").Header("X-A", "b\r\nX-C: d"); },
                       "header X-A has control characters"},
        BadRequestCase{"HeaderName", [](Request& r) { r.AbsPath("/a").Header("X A", "b"); },
                       "not an HTTP token"},
        BadRequestCase{"NothingAccepted", [](Request& r) { r.AbsPath("/a").Accept({}); },
                       "no encoding"},
        BadRequestCase{"FirstErrorStays",
                       [](Request& r) { r.Resource(kNodes).Name("a/b").Name("."); },
                       "name \"a/b\""}),
    [](const auto& param) { return param.param.name; });

// Returns the request as a server sees it.
FakeRequest Sent(const std::function<Request(RESTClient&)>& build, Config config = {}) {
  FakeRequest seen;
  FakeServer server([&seen](FakeConnection& connection) {
    if (auto request = connection.ReadRequest()) {
      seen = *request;
      connection.Respond(200, "application/json", "{}");
    }
  });
  config.host = server.Url();
  const auto client = ClientFor(std::move(config));
  const auto result = build(*client).Do();
  EXPECT_TRUE(result) << result.error().ToString();
  return seen;
}

TEST(RequestTest, NegotiatesEncodings) {
  const FakeRequest plain = Sent([](RESTClient& c) { return c.Get().Resource(kNodes); });
  EXPECT_THAT(plain.headers, Contains(Pair("accept", "application/json")));
  EXPECT_THAT(plain.headers, Not(Contains(Key("accept-encoding"))));
  EXPECT_THAT(plain.headers, Not(Contains(Key("content-type"))));
  EXPECT_THAT(plain.headers,
              Contains(Pair("user-agent", ::testing::MatchesRegex("kubexx/.+ \\(linux/amd64\\)"))));
  const FakeRequest list = Sent([](RESTClient& c) {
    return c.Get().Resource(kNodes).Accept({Encoding::kProtobuf, Encoding::kJson});
  });
  EXPECT_THAT(list.headers,
              Contains(Pair("accept", "application/vnd.kubernetes.protobuf,application/json")));
  const FakeRequest watch = Sent([](RESTClient& c) {
    return c.Get()
        .Resource(kNodes)
        .Param("watch", "1")
        .Accept({Encoding::kProtobuf, Encoding::kJson});
  });
  EXPECT_THAT(
      watch.headers,
      Contains(
          Pair("accept",
               "application/vnd.kubernetes.protobuf;stream=watch,application/json;stream=watch")));
}

TEST(RequestTest, AsksForOtherRepresentationsInEveryEncoding) {
  FakeServer server([](FakeConnection& connection) {
    while (const auto request = connection.ReadRequest()) {
      connection.Respond(200, "text/plain", request->headers.at("accept"));
    }
  });
  const auto client = NewClient(server.Url());
  rest::Request request = client->Get();
  request.Resource(kNodes)
      .Accept({Encoding::kProtobuf, Encoding::kJson})
      .AcceptParameters("as=PartialObjectMetadata;g=meta.k8s.io;v=v1");
  const auto response = request.Do();
  ASSERT_TRUE(response) << response.error().ToString();
  EXPECT_EQ(response->body,
            "application/vnd.kubernetes.protobuf;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,"
            "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1");
  EXPECT_FALSE(client->Get().Resource(kNodes).AcceptParameters("a\r\nb").Do());
}

TEST(RequestTest, SendsBodiesWithTheirContentType) {
  const std::string binary("k8s\0\x01\xff", 6);
  const FakeRequest post = Sent([&](RESTClient& c) {
    return c.Post().Resource(kConfigMaps).Namespace("a").Body(Encoding::kProtobuf, binary);
  });
  EXPECT_EQ(post.method, "POST");
  EXPECT_EQ(post.body, binary);
  EXPECT_THAT(post.headers, Contains(Pair("content-type", "application/vnd.kubernetes.protobuf")));
  const FakeRequest removal = Sent([](RESTClient& c) {
    return c.Delete().Resource(kNodes).Name("a").Body(Encoding::kJson, "{}");
  });
  EXPECT_EQ(removal.body, "{}");
  EXPECT_THAT(removal.headers, Contains(Pair("content-type", "application/json")));
}

TEST(RequestTest, SendsEachPatchTypeWithItsContentType) {
  const std::vector<std::pair<PatchType, std::string>> cases = {
      {PatchType::kJson, "application/json-patch+json"},
      {PatchType::kMerge, "application/merge-patch+json"},
      {PatchType::kStrategicMerge, "application/strategic-merge-patch+json"},
      {PatchType::kApply, "application/apply-patch+yaml"}};
  for (const auto& [type, content_type] : cases) {
    const FakeRequest request = Sent([type](RESTClient& c) {
      return c.Patch(type).Resource(kNodes).Name("a").Body(Encoding::kJson, "[]");
    });
    EXPECT_EQ(request.method, "PATCH");
    EXPECT_THAT(request.headers, Contains(Pair("content-type", content_type)));
  }
}

TEST(RequestTest, SendsCredentialsAndOwnHeaders) {
  const auto build = [](RESTClient& c) { return c.Get().AbsPath("/x").Header("X-Own", "y"); };
  const FakeRequest token = Sent(build, {.bearer_token = "abc", .user_agent = "mine/1"});
  EXPECT_THAT(token.headers, Contains(Pair("authorization", "Bearer abc")));
  EXPECT_THAT(token.headers, Contains(Pair("user-agent", "mine/1")));
  EXPECT_THAT(token.headers, Contains(Pair("x-own", "y")));
  const FakeRequest basic = Sent(build, {.username = "me", .password = "p:w"});
  EXPECT_THAT(basic.headers, Contains(Pair("authorization", "Basic bWU6cDp3")));
  const FakeRequest own =
      Sent([](RESTClient& c) { return c.Get().AbsPath("/x").Header("authorization", "Other z"); },
           {.bearer_token = "abc"});
  EXPECT_THAT(own.headers, Contains(Pair("authorization", "Other z")));
}

TEST(RequestTest, ReadsEncodingFromContentType) {
  FakeServer server([](FakeConnection& connection) {
    while (auto request = connection.ReadRequest()) {
      connection.Respond(201,
                         request->target == "/pb" ? "application/vnd.kubernetes.protobuf;as=x"
                                                  : "application/json",
                         "body");
    }
  });
  const auto client = NewClient(server.Url());
  const auto protobuf = client->Get().AbsPath("/pb").Do();
  ASSERT_TRUE(protobuf) << protobuf.error().ToString();
  EXPECT_EQ(protobuf->code, 201);
  EXPECT_EQ(protobuf->encoding, Encoding::kProtobuf);
  EXPECT_EQ(protobuf->body, "body");
  const auto json = client->Get().AbsPath("/json").Do();
  ASSERT_TRUE(json);
  EXPECT_EQ(json->encoding, Encoding::kJson);
}

TEST(RequestTest, UsesConnectionsAgain) {
  FakeServer server([](FakeConnection& connection) {
    while (connection.ReadRequest()) {
      connection.Respond(200, "application/json", "{}");
    }
  });
  const auto client = NewClient(server.Url());
  for (int i = 0; i < 100; ++i) {
    ASSERT_TRUE(client->Get().AbsPath("/x").Do());
  }
  // One connection would be enough, but the next request may start a moment before the connection
  // of the last one is back in the pool.
  EXPECT_LE(server.connections(), 10);
}

TEST(RequestTest, DoesNotFollowRedirects) {
  FakeServer server([](FakeConnection& connection) {
    while (connection.ReadRequest()) {
      connection.Respond(302, "text/plain", "elsewhere", {{"Location", "http://127.0.0.1:1/"}});
    }
  });
  const auto result = NewClient(server.Url())->Get().AbsPath("/x").Do();
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, 302);
  EXPECT_EQ(server.connections(), 1);
}

}  // namespace
}  // namespace kubexx::rest
