// Tests the answers to service accounts while the store cannot say whether their tokens are valid.
#include <gmock/gmock.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <utility>

#include "kubexx/apiserver/endpoints/handlers/api.h"
#include "kubexx/apiserver/endpoints/testing/api_fixture.h"
#include "kubexx/apiserver/endpoints/testing/forwarding_storage.h"
#include "kubexx/apiserver/storage/memory.h"

namespace kubexx::apiserver {
namespace {

using apimachinery::Fail;
using apimachinery::Reason;
using ::testing::HasSubstr;

/// A storage that does not return service accounts.
class AccountlessStorage final : public testing::ForwardingStorage {
 public:
  using ForwardingStorage::ForwardingStorage;

  Result<storage::KeyValue> Get(std::string_view key, storage::Revision revision,
                                std::stop_token stop) override {
    if (is_away && key.contains("serviceaccounts/")) {
      return Fail(Reason::kUnavailable, "the storage has no leader");
    }
    return ForwardingStorage::Get(key, revision, std::move(stop));
  }
  std::atomic<bool> is_away = false;
};

class TokenOutageTest : public ::testing::Test {
 protected:
  TokenOutageTest() {
    EXPECT_TRUE(api_.Bootstrap({}));
    const std::string accounts = "/api/v1/namespaces/default/serviceaccounts";
    EXPECT_EQ(Do("admin-token", "POST", accounts, R"({"metadata":{"name":"robot"}})").status, 201);
    const auto made =
        codec::JsonTree::Parse(Do("admin-token", "POST", accounts + "/robot/token", "{}").body);
    token_ = made ? made->At({"status", "token"})->AsString()->c_str() : "";
  }
  static ApiOptions Options() {
    ApiOptions options;
    options.token = apimachinery::Bytes(std::string("admin-token"));
    options.cacher.patience = std::chrono::minutes(1);
    return options;
  }
  http::Response Do(const std::string& token, std::string method, const std::string& path,
                    std::string body = {}) {
    return testing::Ask(api_, std::move(method), path, std::move(body), "application/json",
                        {{"Authorization", "Bearer " + token}});
  }
  http::Response Review() {
    return Do("admin-token", "POST", "/apis/authentication.k8s.io/v1/tokenreviews",
              R"({"spec":{"token":")" + token_ + "\"}}");
  }

  std::unique_ptr<storage::MemoryStorage> memory_ = *storage::NewMemoryStorage({});
  AccountlessStorage storage_{*memory_};
  Api api_{storage_, Options()};
  std::string token_{};
};

/// Clients take 401 for a final answer, and throw their token away.
TEST_F(TokenOutageTest, NobodyIsRefusedByAnAccountThatWasNotRead) {
  ASSERT_EQ(Do(token_, "GET", "/api/v1/namespaces/default").status, 200);
  storage_.is_away = true;
  const http::Response answer = Do(token_, "GET", "/api/v1/namespaces/default");
  EXPECT_EQ(answer.status, 503) << answer.body;
  EXPECT_THAT(answer.body, HasSubstr("the storage has no leader"));
  EXPECT_EQ(Do("nonsense", "GET", "/api/v1/namespaces/default").status, 401);
  storage_.is_away = false;
  EXPECT_EQ(Do(token_, "GET", "/api/v1/namespaces/default").status, 200);
}

TEST_F(TokenOutageTest, AReviewSaysWhyItDoesNotKnow) {
  EXPECT_THAT(Review().body, HasSubstr(R"("authenticated":true)"));
  storage_.is_away = true;
  const http::Response review = Review();
  EXPECT_EQ(review.status, 201) << review.body;
  EXPECT_THAT(review.body, ::testing::Not(HasSubstr(R"("authenticated":true)")));
  EXPECT_THAT(review.body, HasSubstr("the storage has no leader"));
}

}  // namespace
}  // namespace kubexx::apiserver
