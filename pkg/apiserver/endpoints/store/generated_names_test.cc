// Names that somebody has taken already: those that the server makes, and that of an update.
#include <gmock/gmock.h>

#include <memory>
#include <string>
#include <utility>

#include "kubexx/apiserver/endpoints/handlers/api.h"
#include "kubexx/apiserver/endpoints/testing/fake_webhooks.h"
#include "kubexx/apiserver/endpoints/testing/forwarding_storage.h"
#include "kubexx/apiserver/storage/memory.h"

namespace kubexx::apiserver {
namespace {

using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;

/// Where the next names below a prefix are taken.
class CrowdedStorage final : public testing::ForwardingStorage {
 public:
  using ForwardingStorage::ForwardingStorage;

  Result<storage::KeyValue> Create(std::string_view key, std::string value,
                                   std::stop_token stop) override {
    if (taken > 0 && key.starts_with("/registry/configmaps/")) {
      --taken;
      return Fail(Reason::kAlreadyExists, "key exists");
    }
    if (raced && key.starts_with("/registry/roles/default/")) {  // somebody else is faster
      raced = false;
      EXPECT_TRUE(ForwardingStorage::Create(key, value, stop));
      return Fail(Reason::kAlreadyExists, "key exists");
    }
    return ForwardingStorage::Create(key, std::move(value), std::move(stop));
  }
  int taken = 0;
  bool raced = false;
};

class GeneratedNamesTest : public ::testing::Test {
 protected:
  GeneratedNamesTest() { EXPECT_TRUE(api_.Bootstrap({})); }
  int Post(const std::string& path, const std::string& body) { return Send("POST", path, body); }
  int Send(const std::string& method, const std::string& path, const std::string& body) {
    http::Request request;
    request.method = method;
    request.path = path;
    request.headers = {{"Content-Type", "application/json"}};
    request.body = body;
    return api_.Handle(request).status;
  }
  int Make(const std::string& metadata) {
    return Post("/api/v1/namespaces/default/configmaps", R"({"metadata":)" + metadata + "}");
  }
  static ApiOptions OptionsWith(const std::shared_ptr<testing::FakeWebhooks>& hooks) {
    ApiOptions options;
    options.webhook_caller = hooks;
    return options;
  }

  std::shared_ptr<testing::FakeWebhooks> hooks_ = std::make_shared<testing::FakeWebhooks>();
  std::unique_ptr<storage::MemoryStorage> memory_ = *storage::NewMemoryStorage({});
  CrowdedStorage storage_{*memory_};
  Api api_{storage_, OptionsWith(hooks_)};
};

TEST_F(GeneratedNamesTest, AreMadeEightTimes) {
  storage_.taken = 7;
  EXPECT_EQ(Make(R"({"generateName":"a-"})"), 201);
  storage_.taken = 8;
  EXPECT_EQ(Make(R"({"generateName":"a-"})"), 409);
  EXPECT_EQ(storage_.taken, 0);
}

TEST_F(GeneratedNamesTest, OnesOwnIsTriedOnce) {
  storage_.taken = 2;
  EXPECT_EQ(Make(R"({"name":"a"})"), 409);
  EXPECT_EQ(storage_.taken, 1);
}

/// Webhooks may decide by it.
TEST_F(GeneratedNamesTest, EachIsShownToWebhooks) {
  ASSERT_EQ(Post("/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations",
                 R"({"metadata":{"name":"v"},"webhooks":[{"name":"a.b.c",
                     "clientConfig":{"url":"https://names/"},"admissionReviewVersions":["v1"],
                     "sideEffects":"None","rules":[{"operations":["CREATE"],"apiGroups":[""],
                      "apiVersions":["v1"],"resources":["configmaps"]}]}]})"),
            201);
  hooks_->Handle("https://names/", [](const codec::JsonTree&) -> Result<codec::JsonTree> {
    return testing::FakeWebhooks::Allowed();
  });
  storage_.taken = 2;
  EXPECT_EQ(Make(R"({"generateName":"a-"})"), 201);
  const auto asked = hooks_->Asked("https://names/");
  ASSERT_EQ(asked.size(), 3U);
  for (const codec::JsonTree& request : asked) {
    EXPECT_EQ(request.TextAt("name"), *request.At({"object", "metadata", "name"})->AsString());
  }
}

TEST_F(GeneratedNamesTest, AnUpdateThatCreatesAndComesSecondUpdates) {
  storage_.raced = true;
  EXPECT_EQ(Send("PUT", "/apis/rbac.authorization.k8s.io/v1/namespaces/default/roles/r",
                 R"({"metadata":{"name":"r"},"rules":[]})"),
            200);
  EXPECT_FALSE(storage_.raced);
}

}  // namespace
}  // namespace kubexx::apiserver
