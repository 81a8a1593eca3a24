#include "kubexx/apiserver/server/api_server.h"

#include <gmock/gmock.h>

#include <atomic>
#include <chrono>
#include <latch>
#include <memory>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>

#include "kubexx/apiserver/endpoints/testing/api_fixture.h"
#include "kubexx/apiserver/endpoints/testing/forwarding_storage.h"
#include "kubexx/apiserver/storage/memory.h"
#include "kubexx/base/testing/await.h"
#include "kubexx/base/testing/fake_clock.h"
#include "kubexx/base/utf8.h"
#include "kubexx/codec/json_tree.h"
#include "kubexx/http/testing/raw_connection.h"
#include "kubexx/rest/url_client.h"

namespace kubexx::apiserver {
namespace {

using codec::JsonTree;
using ::testing::HasSubstr;

/// The API without HTTP.
class ApiTest : public testing::ApiFixture {
 protected:
  http::Response Do(std::string method, const std::string& target, std::string body = {},
                    std::string content_type = "application/json", std::string accept = {}) {
    headers_.clear();
    if (!accept.empty()) {
      headers_.emplace_back("Accept", std::move(accept));
    }
    return ApiFixture::Do(std::move(method), target, std::move(body), std::move(content_type));
  }

  static constexpr const char* kMaps = "/api/v1/namespaces/default/configmaps";
  static constexpr const char* kDeployments = "/apis/apps/v1/namespaces/default/deployments";
};

TEST_F(ApiTest, CreatedObjectsAreRead) {
  const http::Response created =
      Do("POST", kMaps, R"({"metadata":{"name":"a","labels":{"x":"y"}},"data":{"k":"v"}})");
  ASSERT_EQ(created.status, 201) << created.body;
  EXPECT_NE(At(Json(created), {"metadata", "uid"}), "");
  EXPECT_NE(At(Json(created), {"metadata", "creationTimestamp"}), "");
  const http::Response got = Do("GET", std::string(kMaps) + "/a");
  EXPECT_EQ(got.status, 200);
  EXPECT_EQ(Json(got), Json(created));
  EXPECT_EQ(At(Json(got), {"data", "k"}), "v");
  EXPECT_EQ(Do("POST", kMaps, R"({"metadata":{"name":"a"}})").status, 409);
}

TEST_F(ApiTest, BadObjectsAreRefused) {
  EXPECT_EQ(Do("POST", kMaps, "nonsense").status, 400);
  EXPECT_EQ(Do("POST", kMaps, R"({"kind":"Secret"})").status, 400);
  EXPECT_EQ(Do("POST", kMaps, R"({"metadata":{"name":"A"}})").status, 422);
  EXPECT_EQ(Do("POST", kMaps, R"({"metadata":{}})").status, 422);
  EXPECT_EQ(Do("POST", kMaps, R"({"metadata":{"name":"a","namespace":"b"}})").status, 400);
  EXPECT_EQ(Do("POST", kMaps, R"({"data":{"a":1},"metadata":{"name":"a"}})").status, 400);
  EXPECT_EQ(Do("POST", kMaps, "x", "text/plain").status, 415);
  EXPECT_EQ(
      Do("POST", "/api/v1/namespaces/nowhere/configmaps", R"({"metadata":{"name":"a"}})").status,
      404);
  EXPECT_EQ(Do("GET", "/api/v1/nothings").status, 404);
  EXPECT_EQ(Do("GET", "/nowhere").status, 404);
  EXPECT_EQ(Do("BREW", kMaps).status, 405);
  EXPECT_EQ(Do("GET", kMaps, "", "", "text/html").status, 406);
}

TEST_F(ApiTest, ErrorsSayWhatTheyAreAbout) {
  const JsonTree status = Json(Do("GET", std::string(kDeployments) + "/a"));
  EXPECT_EQ(At(status, {"kind"}), "Status");
  EXPECT_EQ(At(status, {"reason"}), "NotFound");
  EXPECT_EQ(At(status, {"message"}), "deployments.apps \"a\" not found");
  EXPECT_EQ(At(status, {"details", "name"}), "a");
  EXPECT_EQ(At(status, {"details", "group"}), "apps");
  EXPECT_EQ(At(status, {"code"}), "404");
}

TEST_F(ApiTest, AGeneratedNameIsCutBetweenCharacters) {
  std::string prefix;
  for (int i = 0; i < 40; ++i) {
    prefix += "\u00e9";
  }
  const JsonTree role =
      Json(Do("POST", "/apis/rbac.authorization.k8s.io/v1/clusterroles",
              R"({"metadata":{"generateName":"a)" + prefix + R"("},"rules":[]})"));
  const std::string name = At(role, {"metadata", "name"});
  EXPECT_THAT(name, ::testing::StartsWith("a\u00e9\u00e9"));
  EXPECT_EQ(base::ToValidUtf8(name), name);
}

TEST_F(ApiTest, NamesAreGenerated) {
  const JsonTree object = Json(Do("POST", kMaps, R"({"metadata":{"generateName":"a-"}})"));
  EXPECT_THAT(At(object, {"metadata", "name"}), ::testing::MatchesRegex("a-[a-z0-9]{5}"));
}

TEST_F(ApiTest, UpdatesNeedTheLatestVersion) {
  JsonTree object = Json(Do("POST", kMaps, R"({"metadata":{"name":"a"}})"));
  const std::string path = std::string(kMaps) + "/a";
  object["data"]["k"] = "1";
  const http::Response updated = Do("PUT", path, object.ToJson());
  EXPECT_EQ(updated.status, 200) << updated.body;
  EXPECT_NE(At(Json(updated), {"metadata", "resourceVersion"}),
            At(object, {"metadata", "resourceVersion"}));
  const http::Response stale = Do("PUT", path, object.ToJson());
  EXPECT_EQ(stale.status, 409);
  EXPECT_THAT(stale.body, HasSubstr("the object has been modified"));
  // Nothing changes: nothing is written.
  EXPECT_EQ(Json(Do("PUT", path, updated.body)), Json(updated));
  EXPECT_EQ(Do("PUT", std::string(kMaps) + "/b", R"({"metadata":{"name":"b"}})").status, 404);
}

TEST_F(ApiTest, GenerationsCountChangesOfTheSpec) {
  JsonTree object = Json(Do(
      "POST", kDeployments,
      R"({"metadata":{"name":"a"},"spec":{"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}]}}}})"));
  EXPECT_EQ(At(object, {"metadata", "generation"}), "1");
  const std::string path = std::string(kDeployments) + "/a";
  const auto patch = [&](const std::string& target, const char* body) {
    return Json(Do("PATCH", target, body, "application/merge-patch+json"));
  };
  object = patch(path, R"({"metadata":{"labels":{"a":"b"}}})");
  EXPECT_EQ(At(object, {"metadata", "generation"}), "1");
  object = patch(path, R"({"spec":{"replicas":3},"status":{"replicas":7}})");
  EXPECT_EQ(At(object, {"metadata", "generation"}), "2");
  EXPECT_EQ(At(object, {"status", "replicas"}), "");
  object = patch(path + "/status", R"({"spec":{"replicas":9},"status":{"replicas":7}})");
  EXPECT_EQ(At(object, {"metadata", "generation"}), "2");
  EXPECT_EQ(At(object, {"spec", "replicas"}), "3");
  EXPECT_EQ(At(object, {"status", "replicas"}), "7");
  object = patch(path + "/scale", R"({"spec":{"replicas":4}})");
  EXPECT_EQ(At(object, {"kind"}), "Scale");
  EXPECT_EQ(At(Json(Do("GET", path)), {"spec", "replicas"}), "4");
}

TEST_F(ApiTest, FinalizersHoldADeletionBack) {
  Do("POST", kMaps, R"({"metadata":{"name":"a","finalizers":["x/y"]}})");
  const std::string path = std::string(kMaps) + "/a";
  const JsonTree waiting = Json(Do("DELETE", path));
  EXPECT_NE(At(waiting, {"metadata", "deletionTimestamp"}), "");
  EXPECT_EQ(Do("GET", path).status, 200);
  EXPECT_EQ(Do("PATCH", path, R"({"metadata":{"finalizers":null}})", "application/merge-patch+json")
                .status,
            200);
  EXPECT_EQ(Do("GET", path).status, 404);
}

TEST_F(ApiTest, DeletionsHavePreconditions) {
  const JsonTree object = Json(Do("POST", kMaps, R"({"metadata":{"name":"a"}})"));
  const std::string path = std::string(kMaps) + "/a";
  EXPECT_EQ(Do("DELETE", path, R"({"preconditions":{"uid":"other"}})").status, 409);
  EXPECT_EQ(Do("DELETE", path + "?dryRun=All").status, 200);
  const JsonTree status = Json(Do(
      "DELETE", path, R"({"preconditions":{"uid":")" + At(object, {"metadata", "uid"}) + "\"}}"));
  EXPECT_EQ(At(status, {"status"}), "Success");
  EXPECT_EQ(At(status, {"details", "kind"}), "configmaps");
  EXPECT_EQ(Do("DELETE", path).status, 404);
}

TEST_F(ApiTest, ListsAreSelectedAndPaged) {
  for (const char* const name : {"a", "b", "c", "d"}) {
    Do("POST", kMaps,
       std::string(R"({"metadata":{"name":")") + name + R"(","labels":{"odd":")" +
           (*name % 2 == 1 ? "yes" : "no") + "\"}}}");
  }
  const auto names = [&](const std::string& query) {
    std::string text;
    const JsonTree list = Json(Do("GET", kMaps + query));
    for (const JsonTree& item : list.Find("items")->elements()) {
      text += At(item, {"metadata", "name"});
    }
    const std::string next = At(list, {"metadata", "continue"});
    return text + (next.empty() ? "" : "+" + At(list, {"metadata", "remainingItemCount"}));
  };
  EXPECT_EQ(names(""), "abcd");
  EXPECT_EQ(names("?resourceVersion=0"), "abcd");
  EXPECT_EQ(names("?labelSelector=odd%3Dyes"), "ac");
  EXPECT_EQ(names("?labelSelector=odd%3Dyes&resourceVersion=0"), "ac");
  EXPECT_EQ(names("?fieldSelector=metadata.name%3Db"), "b");
  EXPECT_EQ(names("?limit=3"), "abc+1");
  EXPECT_EQ(names("?labelSelector=odd%3Dyes&limit=1"), "a+");
  const JsonTree page = Json(Do("GET", std::string(kMaps) + "?limit=3"));
  Do("DELETE", std::string(kMaps) + "/d");
  EXPECT_EQ(names("?limit=3&continue=" + At(page, {"metadata", "continue"})), "d");
  EXPECT_EQ(names(""), "abc");
  EXPECT_EQ(Do("GET", std::string(kMaps) + "?fieldSelector=data%3Db").status, 400);
  EXPECT_EQ(Do("GET", std::string(kMaps) + "?labelSelector=!!").status, 400);
  EXPECT_EQ(Do("GET", std::string(kMaps) + "?resourceVersionMatch=Exact").status, 422);
  EXPECT_EQ(Do("GET", std::string(kMaps) + "?continue=x").status, 400);
  EXPECT_EQ(Do("GET", std::string(kMaps) + "?resourceVersion=x").status, 400);
}

TEST_F(ApiTest, CollectionsAreDeleted) {
  Do("POST", kMaps, R"({"metadata":{"name":"a","labels":{"x":"1"}}})");
  Do("POST", kMaps, R"({"metadata":{"name":"b"}})");
  EXPECT_EQ(Do("DELETE", std::string(kMaps) + "?labelSelector=x%3D1").status, 200);
  EXPECT_EQ(Do("GET", std::string(kMaps) + "/a").status, 404);
  EXPECT_EQ(Do("GET", std::string(kMaps) + "/b").status, 200);
}

TEST_F(ApiTest, TablesAreMadeForThoseWhoAsk) {
  Do("POST", kMaps, R"({"metadata":{"name":"a"},"data":{"k":"v"}})");
  const http::Response response =
      Do("GET", kMaps, "", "", "application/json;as=Table;v=v1;g=meta.k8s.io,application/json");
  const JsonTree table = Json(response);
  EXPECT_EQ(At(table, {"kind"}), "Table");
  EXPECT_EQ(At(table, {"columnDefinitions", "1", "name"}), "Data");
  EXPECT_EQ(At(table, {"rows", "0", "cells", "0"}), "a");
  EXPECT_EQ(At(table, {"rows", "0", "cells", "1"}), "1");
}

TEST_F(ApiTest, DryRunsWriteNothing) {
  EXPECT_EQ(Do("POST", std::string(kMaps) + "?dryRun=All", R"({"metadata":{"name":"a"}})").status,
            201);
  EXPECT_EQ(Do("GET", std::string(kMaps) + "/a").status, 404);
}

TEST_F(ApiTest, WatchesTellOfChanges) {
  Do("POST", kMaps, R"({"metadata":{"name":"a"}})");
  const http::Response response = Do("GET", std::string(kMaps) + "?watch=1&resourceVersion=0");
  ASSERT_EQ(response.status, 200);
  ASSERT_NE(response.stream, nullptr);
  std::vector<http::BodyStream::Chunk> chunks;
  EXPECT_TRUE(response.stream->Take(chunks));
  ASSERT_EQ(chunks.size(), 1U);
  const auto frame = JsonTree::Parse(*chunks[0]);
  ASSERT_TRUE(frame);
  EXPECT_EQ(At(*frame, {"type"}), "ADDED");
  EXPECT_EQ(At(*frame, {"object", "metadata", "name"}), "a");
  response.stream->Closed();
}

TEST_F(ApiTest, DiscoveryNamesEverything) {
  const std::string aggregated =
      "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
  EXPECT_THAT(Do("GET", "/apis", "", "", aggregated).body,
              HasSubstr(R"("resource":"deployments")"));
  EXPECT_THAT(Do("GET", "/api", "", "", aggregated).body, HasSubstr(R"("resource":"configmaps")"));
  EXPECT_THAT(Do("GET", "/apis").body, HasSubstr(R"("groupVersion":"apps/v1")"));
  EXPECT_THAT(Do("GET", "/api/v1").body, HasSubstr(R"("name":"pods/status")"));
  EXPECT_THAT(Do("GET", "/apis/apps/v1").body, HasSubstr(R"("name":"deployments/scale")"));
  EXPECT_EQ(Do("GET", "/apis/apps/v2").status, 404);
  EXPECT_THAT(Do("GET", "/openapi/v3").body, HasSubstr("/openapi/v3/apis/apps/v1"));
  EXPECT_THAT(Do("GET", "/openapi/v3/apis/apps/v1").body, HasSubstr("io.k8s.api.core.v1.PodSpec"));
  EXPECT_EQ(Do("GET", "/readyz").body, "ok");
}

TEST(ApiServerTest, TokensAreAskedFor) {
  auto storage = storage::NewMemoryStorage({});
  ASSERT_TRUE(storage);
  ApiOptions options;
  options.token = apimachinery::Bytes(std::string("secret"));
  Api api(**storage, std::move(options));
  http::Request request;
  request.path = "/api/v1/namespaces";
  EXPECT_EQ(api.Handle(request).status, 401);
  request.headers = {{"Authorization", "Bearer wrong!"}};
  EXPECT_EQ(api.Handle(request).status, 401);
  request.headers = {{"Authorization", "Bearer secret"}};
  EXPECT_EQ(api.Handle(request).status, 200);
}

/// Counts how often it is asked for its health.
class AskedStorage final : public testing::ForwardingStorage {
 public:
  using ForwardingStorage::ForwardingStorage;
  storage::StorageHealth CheckHealth(base::Duration /*timeout*/,
                                     std::stop_token /*stop*/) override {
    ++asked;
    return {};
  }
  std::atomic<int> asked{0};
};

TEST(ApiServerTest, LooksAfterTheStoreEveryTwoSeconds) {
  const auto memory = storage::NewMemoryStorage({});
  ASSERT_TRUE(memory);
  auto storage = std::make_unique<AskedStorage>(**memory);
  AskedStorage& asked_storage = *storage;
  base::testing::FakeClock clock;
  ApiServerOptions options{.plain_http = true, .clock = clock};
  ApiServer server(std::move(storage), std::move(options));
  ASSERT_TRUE(server.Start());
  for (int times = 0; times < 3; ++times) {
    KX_AWAIT_GT(asked_storage.asked, times);
    EXPECT_EQ(asked_storage.asked, times + 1);
    clock.AdvanceToSleeper(std::chrono::seconds(2));
  }
}

/// Otherwise a client would not learn whether what it has asked for is done.
TEST(ApiServerTest, WhoHasAskedForSomethingIsAnsweredByAServerThatStops) {
  auto storage = storage::NewMemoryStorage({});
  ASSERT_TRUE(storage);
  std::latch asked(1);
  std::latch answer(1);
  ApiServerOptions options{.plain_http = true};
  options.around = [&](const http::Request& request, const http::Handler& next) {
    http::Response response = next(request);
    if (request.method == "POST") {
      asked.count_down();
      KX_AWAIT(answer.try_wait());
    }
    return response;
  };
  ApiServer server(std::move(*storage), std::move(options));
  ASSERT_TRUE(server.Start());
  const std::string maps = "/api/v1/namespaces/default/configmaps";
  http::testing::RawConnection watching(server.port());
  watching.Send("GET " + maps + "?watch=true HTTP/1.1\r\nHost: localhost\r\n\r\n");
  watching.ReadUntil("chunked");
  http::testing::RawConnection writing(server.port());
  const std::string body = R"({"metadata":{"name":"m"}})";
  writing.Send("POST " + maps +
               " HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
               "Content-Length: " +
               std::to_string(body.size()) + "\r\n\r\n" + body);
  KX_AWAIT(asked.try_wait());
  std::jthread stops([&server] { server.Stop(); });
  EXPECT_THAT(watching.ReadAll(), ::testing::EndsWith("0\r\n\r\n")) << "its watch ends in order";
  answer.count_down();
  EXPECT_THAT(writing.ReadAll(), ::testing::StartsWith("HTTP/1.1 201 "));
}

TEST(ApiServerTest, ACertificateIsAskedForAtEachConnection) {
  auto storage = storage::NewMemoryStorage({});
  ASSERT_TRUE(storage);
  const auto first = http::SelfSigned({"localhost"});
  const auto second = http::SelfSigned({"localhost"});
  ASSERT_TRUE(first && second);
  std::atomic<bool> is_new = false;
  ApiServerOptions options;
  options.certificate_provider = [&] {
    return std::make_shared<const http::KeyPair>(is_new ? *second : *first);
  };
  ApiServer server(std::move(*storage), std::move(options));
  ASSERT_TRUE(server.Start());
  EXPECT_EQ(server.authority(), first->certificate);
  const auto accepts = [&](const http::KeyPair& pair) {
    rest::UrlClient::Options to{.url = "https://localhost:" + std::to_string(server.port()) +
                                       "/version"};
    to.tls.ca_data = pair.certificate;
    const auto client = rest::UrlClient::New(std::move(to));
    return client && (*client)->Get({}, 1 << 20, {}).has_value();
  };
  EXPECT_TRUE(accepts(*first));
  is_new = true;
  EXPECT_TRUE(accepts(*second));
  EXPECT_FALSE(accepts(*first));
}

/// The real clock with another date.
class ClockOfAnotherDate final : public base::Clock {
 public:
  base::TimePoint Now() const override { return base::Clock::Real().Now(); }
  base::WallTime Wall() const override { return base::Clock::Real().Wall() + offset_.load(); }
  base::Wake WaitUntil(base::Mutex& mu, base::CondVar& cv, const std::stop_token& stop,
                       base::TimePoint deadline) override KX_REQUIRES(mu) {
    return base::Clock::Real().WaitUntil(mu, cv, stop, deadline);
  }
  void SetOffset(std::chrono::hours offset) { offset_ = offset; }

 private:
  std::atomic<std::chrono::hours> offset_{};
};

/// Clients that were given its certificate at the start would not get in any more after a year.
TEST(ApiServerTest, TheCertificateThatItMakesItselfNeverEnds) {
  ClockOfAnotherDate clock;
  clock.SetOffset(std::chrono::hours(-24 * 400));
  auto storage = storage::NewMemoryStorage({});
  ASSERT_TRUE(storage);
  ApiServer server(std::move(*storage), {.clock = clock});
  ASSERT_TRUE(server.Start());
  const std::string authority = server.authority();
  const std::string kubeconfig = server.kubeconfig();
  const auto asks = [&]() -> std::string {
    rest::UrlClient::Options to{.url = "https://localhost:" + std::to_string(server.port()) +
                                       "/version"};
    to.tls.ca_data = authority;
    const auto client = rest::UrlClient::New(std::move(to));
    const auto got = client ? (*client)->Get({}, 1 << 20, {}) : Fail(client.error());
    return got ? "answered" : got.error().message;
  };
  EXPECT_THAT(asks(), HasSubstr("certificate has expired"));
  clock.SetOffset(std::chrono::hours(-24 * 60));  // It has been valid for 340 days.
  EXPECT_EQ(asks(), "answered") << "with a certificate that ends long after the first";
  EXPECT_EQ(server.authority(), authority);
  EXPECT_EQ(server.kubeconfig(), kubeconfig);
}

TEST(ApiServerTest, ServesWithTlsAndWritesAKubeconfig) {
  auto storage = storage::NewMemoryStorage({});
  ASSERT_TRUE(storage);
  ApiServerOptions options;
  options.token = apimachinery::Bytes(std::string("secret"));
  ApiServer server(std::move(*storage), std::move(options));
  ASSERT_TRUE(server.Start());
  EXPECT_NE(server.port(), 0);
  EXPECT_THAT(server.kubeconfig(), HasSubstr(server.url()));
  EXPECT_THAT(server.kubeconfig(), HasSubstr("secret"));
}

}  // namespace
}  // namespace kubexx::apiserver
