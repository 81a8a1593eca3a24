// Tests the answers while nobody can say what users may do.
#include <gmock/gmock.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <utility>

#include "kubexx/apiserver/endpoints/authn/token_file.h"
#include "kubexx/apiserver/endpoints/handlers/api.h"
#include "kubexx/apiserver/endpoints/testing/forwarding_storage.h"
#include "kubexx/apiserver/storage/memory.h"

namespace kubexx::apiserver {
namespace {

using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;

constexpr const char* kOutageRbac = "/apis/rbac.authorization.k8s.io/v1/";

/// A storage that does not return lists of Roles, or does not tell its revision.
class FailingStorage final : public testing::ForwardingStorage {
 public:
  using ForwardingStorage::ForwardingStorage;

  Result<storage::ListResult> GetList(std::string_view prefix, const storage::ListOptions& options,
                                      ItemSink sink, std::stop_token stop) override {
    if (no_roles && (prefix.contains("roles/") || prefix.contains("rolebindings/"))) {
      return Fail(Reason::kUnavailable, "the storage has no leader");
    }
    return ForwardingStorage::GetList(prefix, options, sink, std::move(stop));
  }
  Result<storage::Revision> CurrentRevision(std::stop_token stop) override {
    if (no_revision) {
      return Fail(Reason::kUnavailable, "the storage has no leader");
    }
    return ForwardingStorage::CurrentRevision(std::move(stop));
  }
  std::atomic<bool> no_roles = false;
  std::atomic<bool> no_revision = false;
};

class AuthorizerOutageTest : public ::testing::Test {
 protected:
  AuthorizerOutageTest() {
    storage_.no_roles = true;
    EXPECT_TRUE(api_.Bootstrap({}));
  }
  static ApiOptions Options() {
    ApiOptions options;
    options.token = apimachinery::Bytes(std::string("admin-token"));
    options.tokens = *ParseTokenFile("jane-token,jane,1\n");
    options.rbac = true;
    options.cacher.patience = std::chrono::minutes(1);
    return options;
  }
  http::Response Do(const std::string& user, std::string method, std::string path,
                    std::string body = {}) {
    http::Request request;
    request.method = std::move(method);
    request.path = std::move(path);
    request.body = std::move(body);
    request.headers = {{"Authorization", "Bearer " + user + "-token"},
                       {"Content-Type", "application/json"}};
    return api_.Handle(request);
  }

  std::unique_ptr<storage::MemoryStorage> memory_ = *storage::NewMemoryStorage({});
  FailingStorage storage_{*memory_};
  Api api_{storage_, Options()};
};

/// Clients take "Forbidden" for a final answer.
TEST_F(AuthorizerOutageTest, NobodyIsRefusedByRolesThatWereNotRead) {
  const http::Response answer = Do("jane", "GET", "/api/v1/namespaces/default/configmaps/m");
  EXPECT_EQ(answer.status, 429) << answer.body;
  EXPECT_EQ(Do("admin", "GET", "/api/v1/namespaces/default").status, 200);
  const http::Response review =
      Do("admin", "POST", "/apis/authorization.k8s.io/v1/subjectaccessreviews",
         R"({"spec":{"user":"jane","resourceAttributes":{"verb":"get","resource":"pods"}}})");
  EXPECT_EQ(review.status, 429) << review.body;
}

/// The store logs that, once. Otherwise every type and every attempt would log it here.
TEST_F(AuthorizerOutageTest, WhoFollowsTheStoreDoesNotLogThatItIsAway) {
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(Do("jane", "GET", "/api/v1/namespaces/default/configmaps/m").status, 429);
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
}

TEST_F(AuthorizerOutageTest, NobodyIsRefusedByRolesOfBefore) {
  storage_.no_roles = false;
  const std::string everybody =
      R"("roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole","name":"view"}})";
  ASSERT_EQ(
      Do("admin", "POST", std::string(kOutageRbac) + "namespaces/default/rolebindings",
         R"({"metadata":{"name":"b"},"subjects":[{"kind":"User","name":"jane"}],)" + everybody)
          .status,
      201);
  EXPECT_EQ(Do("jane", "GET", "/api/v1/namespaces/default/configmaps/m").status, 404);
  EXPECT_EQ(Do("jane", "GET", "/api/v1/namespaces/default/secrets/s").status, 403);
  storage_.no_revision = true;
  EXPECT_EQ(Do("jane", "GET", "/api/v1/namespaces/default/configmaps/m").status, 404);
  EXPECT_GE(Do("jane", "GET", "/api/v1/namespaces/default/secrets/s").status, 500);
}

}  // namespace
}  // namespace kubexx::apiserver
