#include "kubexx/discovery/discovery_client.h"

#include <gmock/gmock.h>

#include <string>

#include "kubexx/codec/codec.h"
#include "kubexx/codec/envelope.h"
#include "kubexx/discovery/testing/documents.h"
#include "kubexx/rest/testing/recorder.h"

namespace kubexx::discovery {
namespace {

using apimachinery::Reason;
using rest::testing::FakeConnection;
using rest::testing::FakeRequest;
using rest::testing::Recorder;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

TEST(DiscoveryClientTest, ReadsAggregatedDiscoveryInTwoRequests) {
  Recorder server([](FakeConnection& connection, const FakeRequest& request) {
    const GroupList list =
        testing::Groups(request.target == "/api" ? testing::CoreGroup() : testing::AppsGroup());
    std::string body;
    codec::WriteEnvelope(codec::SchemaOf<GroupList>(), codec::EncodeProtobuf(list), body);
    connection.Respond(200,
                       "application/vnd.kubernetes.protobuf;g=apidiscovery.k8s.io;v=v2;"
                       "as=APIGroupDiscoveryList",
                       body);
  });
  const auto groups = DiscoveryClient(server.client()).Groups();
  ASSERT_TRUE(groups) << groups.error().ToString();
  EXPECT_EQ(*groups, testing::Groups(testing::CoreGroup(), testing::AppsGroup()));
  EXPECT_THAT(server.targets(), ElementsAre("/api", "/apis"));
  EXPECT_EQ(server.last().headers.at("accept"),
            "application/vnd.kubernetes.protobuf;g=apidiscovery.k8s.io;v=v2;"
            "as=APIGroupDiscoveryList,"
            "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList");
}

TEST(DiscoveryClientTest, ReadsAggregatedJson) {
  Recorder server([](FakeConnection& connection, const FakeRequest& request) {
    if (request.target == "/api") {
      connection.Respond(404, "text/plain", "no core group here");
      return;
    }
    connection.Respond(200, "application/json",
                       codec::EncodeJson(testing::Groups(testing::AppsGroup())));
  });
  const auto groups = DiscoveryClient(server.client()).Groups();
  ASSERT_TRUE(groups) << groups.error().ToString();
  EXPECT_EQ(*groups, testing::Groups(testing::AppsGroup()));
}

// An old server: documents by path; it ignores or refuses the aggregated form.
void AnswerAsOldServer(FakeConnection& connection, const FakeRequest& request, bool refuses) {
  if (refuses && request.headers.at("accept").find("APIGroupDiscoveryList") != std::string::npos) {
    connection.Respond(406, "text/plain", "only known types");
  } else if (const std::string body = testing::LegacyDocument(request.target); !body.empty()) {
    connection.Respond(200, "application/json", body);
  } else {
    connection.Respond(503, "text/plain", "the server behind it is down");
  }
}

class LegacyDiscoveryTest : public ::testing::TestWithParam<bool> {};

TEST_P(LegacyDiscoveryTest, FallsBackToADocumentForEachVersion) {
  Recorder server([](FakeConnection& connection, const FakeRequest& request) {
    AnswerAsOldServer(connection, request, GetParam());
  });
  const auto groups = DiscoveryClient(server.client()).Groups();
  ASSERT_TRUE(groups) << groups.error().ToString();
  GroupList expected = testing::Groups(testing::CoreGroup(), testing::AppsGroup());
  auto& down = expected.items.emplace_back();
  down.metadata.name = "metrics.example.com";
  down.versions.resize(1);
  down.versions[0].version = "v1";
  down.versions[0].freshness = "Stale";
  EXPECT_EQ(*groups, expected) << codec::EncodeJson(*groups);
}

INSTANTIATE_TEST_SUITE_P(Servers, LegacyDiscoveryTest, ::testing::Bool(),
                         [](const ::testing::TestParamInfo<bool>& server) {
                           return server.param ? "Refuses" : "Ignores";
                         });

TEST(DiscoveryClientTest, OtherErrorsAreReturned) {
  Recorder server([](FakeConnection& connection, const FakeRequest&) {
    connection.Respond(401, "text/plain", "who are you");
  });
  const auto groups = DiscoveryClient(server.client()).Groups();
  ASSERT_FALSE(groups);
  EXPECT_EQ(groups.error().reason, Reason::kUnauthorized);
}

TEST(DiscoveryClientTest, ReadsTheVersion) {
  Recorder server([](FakeConnection& connection, const FakeRequest&) {
    connection.Respond(200, "application/json",
                       R"({"major":"1","minor":"36","gitVersion":"v1.36.3","platform":"linux"})");
  });
  const auto version = DiscoveryClient(server.client()).Version();
  ASSERT_TRUE(version) << version.error().ToString();
  EXPECT_EQ(
      *version,
      (ServerVersion{.major = "1", .minor = "36", .git_version = "v1.36.3", .platform = "linux"}));
  EXPECT_EQ(server.last().target, "/version");
}

TEST(DiscoveryClientTest, FetchesOpenApi) {
  Recorder server([](FakeConnection& connection, const FakeRequest& request) {
    connection.Respond(
        200, "application/json",
        request.target == "/openapi/v3"
            ? R"({"paths":{"api/v1":{"serverRelativeURL":"/openapi/v3/api/v1?hash=AB12&x"}}})"
            : R"({"openapi":"3.0.0"})");
  });
  const DiscoveryClient client(server.client());
  const auto paths = client.OpenApiPaths();
  ASSERT_TRUE(paths) << paths.error().ToString();
  EXPECT_THAT(*paths, ElementsAre(Pair("api/v1", "/openapi/v3/api/v1?hash=AB12&x")));
  const auto document = client.OpenApiDocument(paths->at("api/v1"));
  ASSERT_TRUE(document) << document.error().ToString();
  EXPECT_EQ(*document, R"({"openapi":"3.0.0"})");
  EXPECT_EQ(server.last().target, "/openapi/v3/api/v1?hash=AB12&x=");
}

TEST(DiscoveryClientTest, MalformedDocumentsNameTheRequest) {
  Recorder server([](FakeConnection& connection, const FakeRequest&) {
    connection.Respond(200, "application/json", "{");
  });
  const DiscoveryClient client(server.client());
  const auto version = client.Version();
  ASSERT_FALSE(version);
  EXPECT_EQ(version.error().reason, Reason::kMalformed);
  EXPECT_THAT(version.error().message, HasSubstr("GET /version"));
  EXPECT_FALSE(client.OpenApiPaths());
  EXPECT_FALSE(client.Groups());
}

}  // namespace
}  // namespace kubexx::discovery
