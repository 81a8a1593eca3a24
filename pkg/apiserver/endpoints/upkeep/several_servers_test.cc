// Tests what holds when several servers share a store, as those of one etcd do. What does not is in
// docs/apiserver.md.
#include <gmock/gmock.h>

#include <chrono>
#include <initializer_list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "kubexx/apiserver/endpoints/authn/token_file.h"
#include "kubexx/apiserver/endpoints/handlers/api.h"
#include "kubexx/apiserver/endpoints/testing/api_fixture.h"
#include "kubexx/apiserver/storage/memory.h"
#include "kubexx/base/testing/await.h"

namespace kubexx::apiserver {
namespace {

using codec::JsonTree;
using ::testing::HasSubstr;

constexpr const char* kSharedMaps = "/api/v1/namespaces/default/configmaps";
constexpr const char* kLeases = "/apis/coordination.k8s.io/v1/namespaces/default/leases";

/// Two servers of one store.
class SeveralServersTest : public ::testing::Test {
 protected:
  SeveralServersTest() {
    EXPECT_TRUE(one_.Bootstrap({}));
    EXPECT_TRUE(two_.Bootstrap({}));
  }
  static ApiOptions Options() {
    ApiOptions options;
    options.token = apimachinery::Bytes(std::string("admin-token"));
    options.tokens = *ParseTokenFile("jane-token,jane,1\n");
    options.rbac = true;
    options.shared_storage = true;
    options.cacher.patience = std::chrono::minutes(1);
    return options;
  }
  static http::Response Do(Api& api, std::string method, const std::string& target,
                           std::string body = {}, const std::string& token = "admin-token",
                           const std::string& content_type = "application/json") {
    return testing::Ask(api, std::move(method), target, std::move(body), content_type,
                        {{"Authorization", "Bearer " + token}});
  }
  static std::string At(const http::Response& response,
                        std::initializer_list<std::string_view> path) {
    const auto tree = JsonTree::Parse(response.body);
    const JsonTree* const found = tree ? tree->At(path) : nullptr;
    return found == nullptr || found->AsString() == nullptr ? "" : *found->AsString();
  }
  /// Does what the servers' own threads do in about a second.
  void Tick() {
    for (Api* const api : {&one_, &two_}) {
      api->Tick();
      while (api->Reap()) {
      }
    }
  }
  static std::string Definition(const std::string& plural, const std::string& kind) {
    return R"({"metadata":{"name":")" + plural +
           R"(.example.com"},"spec":{"group":"example.com","scope":"Namespaced","names":{"plural":")" +
           plural + R"(","singular":")" + plural + R"(x","kind":")" + kind +
           R"("},"versions":[{"name":"v1","served":true,"storage":true,)"
           R"("schema":{"openAPIV3Schema":{"type":"object"}}}]}})";
  }

  std::unique_ptr<storage::MemoryStorage> storage_ = *storage::NewMemoryStorage({});
  Api one_{*storage_, Options()};
  Api two_{*storage_, Options()};
};

TEST_F(SeveralServersTest, AWatchThroughOneTellsWhatIsWrittenThroughTheOthers) {
  const std::string begin = At(Do(one_, "POST", kSharedMaps, R"({"metadata":{"name":"a"}})"),
                               {"metadata", "resourceVersion"});
  ASSERT_NE(begin, "");
  const http::Response watch =
      Do(two_, "GET", std::string(kSharedMaps) + "?watch=1&resourceVersion=" + begin);
  ASSERT_NE(watch.stream, nullptr) << watch.body;
  const std::string first = std::string(kSharedMaps) + "/a";
  const char* const type = "application/merge-patch+json";
  ASSERT_EQ(Do(one_, "PATCH", first, R"({"data":{"k":"1"}})", "admin-token", type).status, 200);
  ASSERT_EQ(Do(two_, "PATCH", first, R"({"data":{"k":"2"}})", "admin-token", type).status, 200);
  ASSERT_EQ(Do(one_, "DELETE", first).status, 200);
  std::vector<http::BodyStream::Chunk> chunks;
  KX_UNTIL(chunks.size() >= 3) {
    ASSERT_TRUE(watch.stream->Take(chunks));
  }
  ASSERT_EQ(chunks.size(), 3U);
  EXPECT_THAT(*chunks[0], AllOf(HasSubstr("MODIFIED"), HasSubstr(R"("k":"1")")));
  EXPECT_THAT(*chunks[1], AllOf(HasSubstr("MODIFIED"), HasSubstr(R"("k":"2")")));
  EXPECT_THAT(*chunks[2], HasSubstr("DELETED"));
  watch.stream->Closed();
}

TEST_F(SeveralServersTest, EachReadsWhatWasWrittenThroughTheOthers) {
  for (int i = 0; i < 20; ++i) {
    const std::string name = "m" + std::to_string(i);
    ASSERT_EQ(Do(one_, "POST", kSharedMaps, R"({"metadata":{"name":")" + name + "\"}}").status,
              201);
    EXPECT_EQ(Do(two_, "GET", std::string(kSharedMaps) + "/" + name).status, 200);
    EXPECT_THAT(Do(two_, "GET", kSharedMaps).body, HasSubstr("\"" + name + "\""));
  }
}

/// Leader election goes by this.
TEST_F(SeveralServersTest, OneOfTwoThatWriteALeaseWins) {
  const http::Response made =
      Do(one_, "POST", kLeases, R"({"metadata":{"name":"l"},"spec":{"holderIdentity":"a"}})");
  ASSERT_EQ(made.status, 201) << made.body;
  EXPECT_EQ(Do(two_, "POST", kLeases, R"({"metadata":{"name":"l"}})").status, 409);
  const std::string lease = std::string(kLeases) + "/l";
  const auto take = [&](Api& api, const std::string& holder) {
    return Do(api, "PUT", lease,
              R"({"metadata":{"name":"l","resourceVersion":")" +
                  At(made, {"metadata", "resourceVersion"}) + R"("},"spec":{"holderIdentity":")" +
                  holder + "\"}}")
        .status;
  };
  EXPECT_EQ(take(two_, "b"), 200);
  EXPECT_EQ(take(one_, "c"), 409);
  EXPECT_EQ(At(Do(one_, "GET", lease), {"spec", "holderIdentity"}), "b");
}

TEST_F(SeveralServersTest, ATokenOfOneIsGoodForTheOthersAsLongAsItsAccountIsThere) {
  const std::string accounts = "/api/v1/namespaces/default/serviceaccounts";
  ASSERT_EQ(Do(one_, "POST", accounts, R"({"metadata":{"name":"robot"}})").status, 201);
  const std::string token =
      At(Do(one_, "POST", accounts + "/robot/token", "{}"), {"status", "token"});
  ASSERT_NE(token, "");
  const std::string review = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
  const std::string asked = R"({"spec":{"nonResourceAttributes":{"path":"/","verb":"get"}}})";
  EXPECT_EQ(Do(two_, "POST", review, asked, token).status, 201);
  ASSERT_EQ(Do(one_, "DELETE", accounts + "/robot").status, 200);
  EXPECT_EQ(Do(two_, "POST", review, asked, token).status, 401);
}

TEST_F(SeveralServersTest, ARightThatIsGivenThroughOneIsAtOnceGoodForTheOthers) {
  const std::string maps = kSharedMaps;
  EXPECT_EQ(Do(two_, "GET", maps, "", "jane-token").status, 403);
  ASSERT_EQ(
      Do(one_, "POST", testing::kBindings,
         R"({"metadata":{"name":"b"},"roleRef":{"kind":"ClusterRole","name":"view",)"
         R"("apiGroup":"rbac.authorization.k8s.io"},"subjects":[{"kind":"User","name":"jane",)"
         R"("apiGroup":"rbac.authorization.k8s.io"}]})")
          .status,
      201);
  EXPECT_EQ(Do(two_, "GET", maps, "", "jane-token").status, 200);
  ASSERT_EQ(Do(one_, "DELETE", std::string(testing::kBindings) + "/b").status, 200);
  KX_AWAIT(Do(two_, "GET", maps, "", "jane-token").status == 403);
}

TEST_F(SeveralServersTest, DefinitionsOfAllAreServedByAllAndTheNamesOfOneAreTakenForAll) {
  ASSERT_EQ(Do(one_, "POST", testing::kDefinitions, Definition("widgets", "Widget")).status, 201);
  const std::string gadgets = std::string(testing::kDefinitions) + "/gadgets.example.com";
  const http::Response second =
      Do(two_, "POST", testing::kDefinitions, Definition("gadgets", "Widget"));
  ASSERT_EQ(second.status, 201) << second.body;
  EXPECT_THAT(second.body, HasSubstr(R"("reason":"ListKindConflict")"));
  const std::string widgets = "/apis/example.com/v1/namespaces/default/widgets";
  KX_UNTIL(Do(two_, "GET", widgets).status == 200) {
    Tick();
  }
  EXPECT_EQ(Do(one_, "GET", "/apis/example.com/v1/namespaces/default/gadgets").status, 404);
  ASSERT_EQ(Do(two_, "DELETE", std::string(testing::kDefinitions) + "/widgets.example.com").status,
            200);
  KX_UNTIL(Do(one_, "GET", "/apis/example.com/v1/namespaces/default/gadgets").status == 200) {
    Tick();
  }
  EXPECT_EQ(Do(one_, "GET", widgets).status, 404);
}

TEST_F(SeveralServersTest, ANamespaceThatOneIsToldToDeleteGoesForAll) {
  ASSERT_EQ(Do(one_, "POST", "/api/v1/namespaces", R"({"metadata":{"name":"n"}})").status, 201);
  ASSERT_EQ(
      Do(two_, "POST", "/api/v1/namespaces/n/configmaps", R"({"metadata":{"name":"m"}})").status,
      201);
  ASSERT_EQ(Do(two_, "DELETE", "/api/v1/namespaces/n").status, 200);
  KX_UNTIL(Do(one_, "GET", "/api/v1/namespaces/n").status == 404) {
    Tick();
  }
  EXPECT_EQ(
      Do(one_, "POST", "/api/v1/namespaces/n/configmaps", R"({"metadata":{"name":"m"}})").status,
      404);
}

}  // namespace
}  // namespace kubexx::apiserver
