#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>

#include "kubexx/apiserver/endpoints/handlers/api.h"
#include "kubexx/apiserver/endpoints/testing/api_fixture.h"
#include "kubexx/apiserver/endpoints/testing/fake_webhooks.h"
#include "kubexx/apiserver/endpoints/testing/forwarding_storage.h"
#include "kubexx/apiserver/storage/memory.h"
#include "kubexx/base/mutex.h"
#include "kubexx/base/testing/await.h"
#include "kubexx/codec/json_tree.h"

namespace kubexx::apiserver {
namespace {

using apimachinery::Result;
using codec::JsonTree;

constexpr const char* kRestoredMaps = "/api/v1/namespaces/default/configmaps";

/// A storage like an etcd that is stopped and comes back at once with the data of a copy. Watches
/// of it are cut off, and may begin again at once.
class RestoredStorage final : public testing::ForwardingStorage {
 public:
  using ForwardingStorage::ForwardingStorage;

  Result<void> Watch(std::string_view prefix, const storage::WatchOptions& options, EventSink sink,
                     std::stop_token stop) override {
    std::stop_source both;
    std::stop_token cut;
    {
      base::MutexLock lock(mu_);
      cut = cut_.get_token();
    }
    const auto end = [&both] { both.request_stop(); };
    const std::stop_callback by_caller(stop, end);
    const std::stop_callback by_restore(cut, end);
    const Result<void> ended = ForwardingStorage::Watch(prefix, options, sink, both.get_token());
    if (cut.stop_requested() && !stop.stop_requested()) {
      return apimachinery::Fail(apimachinery::Reason::kUnavailable, "connection lost");
    }
    return ended;
  }

  void Restore(storage::Storage& copy) {
    PassOnTo(copy);
    std::stop_source before;
    {
      base::MutexLock lock(mu_);
      before = std::exchange(cut_, std::stop_source());
    }
    before.request_stop();
  }

 private:
  base::Mutex mu_;
  std::stop_source cut_ KX_GUARDED_BY(mu_);
};

class OtherHistoryTest : public ::testing::Test {
 protected:
  OtherHistoryTest() {
    Make(*first_, "before", 50);
    Make(*copy_, "after", 2);
    EXPECT_TRUE(api_.Bootstrap({}));
  }

  // Makes so many ConfigMaps through a server of its own.
  static void Make(storage::Storage& storage, const std::string& name, int count) {
    Api api(storage, {});
    EXPECT_TRUE(api.Bootstrap({}));
    for (int i = 0; i < count; ++i) {
      EXPECT_EQ(testing::Ask(api, "POST", kRestoredMaps,
                             R"({"metadata":{"name":")" + name + std::to_string(i) + "\"}}")
                    .status,
                201);
    }
  }

  int StatusOf(std::string method, const std::string& target, std::string body = {}) {
    return testing::Ask(api_, std::move(method), target, std::move(body)).status;
  }

  // Returns the names of the ConfigMaps in a list.
  std::string Names(const std::string& query) {
    const auto response = testing::Ask(api_, "GET", kRestoredMaps + ("?" + query));
    const auto tree = JsonTree::Parse(response.body);
    if (response.status != 200 || !tree) {
      return std::to_string(response.status);
    }
    std::string names;
    for (const JsonTree& item : tree->Find("items")->elements()) {
      names += std::string(item.Find("metadata")->TextAt("name")) + " ";
    }
    return names;
  }

  // Waits until the cache has noticed.
  void AwaitNames(const std::string& query, const std::string& names) {
    KX_AWAIT_EQ(Names(query), names);
  }

  std::unique_ptr<storage::MemoryStorage> first_ = *storage::NewMemoryStorage({});
  std::unique_ptr<storage::MemoryStorage> copy_ = *storage::NewMemoryStorage({});
  RestoredStorage storage_{*first_};
  std::shared_ptr<testing::FakeWebhooks> hooks_ = std::make_shared<testing::FakeWebhooks>();
  Api api_{storage_,
           {.cacher = {.patience = std::chrono::seconds(1)},
            .shared_storage = true,
            .webhook_caller = hooks_}};
};

TEST_F(OtherHistoryTest, ListsAreOfTheNewOneAlsoWhenThatHasCaughtUp) {
  EXPECT_NE(Names("resourceVersion=0"), "");
  storage_.Restore(*copy_);
  EXPECT_EQ(Names(""), "after0 after1 ");
  AwaitNames("resourceVersion=0", "after0 after1 ");
  for (int i = 0; i < 60; ++i) {  // now its versions reach those of the old one
    EXPECT_EQ(
        StatusOf("POST", kRestoredMaps, R"({"metadata":{"name":"new)" + std::to_string(i) + "\"}}"),
        201);
  }
  EXPECT_EQ(Names("fieldSelector=metadata.name%3Dbefore7"), "");
  const std::string all = Names("");
  EXPECT_EQ(all.find("before"), std::string::npos);
  EXPECT_NE(all.find("new59 "), std::string::npos);
  AwaitNames("resourceVersion=0", all);
}

TEST_F(OtherHistoryTest, WebhooksAreThoseOfTheNewOne) {
  const std::string webhook =
      R"({"metadata":{"name":"w"},"webhooks":[{"name":"w.example.com","sideEffects":"None",)"
      R"("admissionReviewVersions":["v1"],"timeoutSeconds":1,)"
      R"("clientConfig":{"url":"https://127.0.0.1:1/"},"rules":[{"apiGroups":[""],)"
      R"("apiVersions":["v1"],"operations":["CREATE"],"resources":["secrets"]}]}]})";
  ASSERT_EQ(
      StatusOf("POST", "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations",
               webhook),
      201);
  const auto make = [this] {
    return StatusOf("POST", "/api/v1/namespaces/default/secrets?dryRun=All",
                    R"({"metadata":{"name":"s"}})");
  };
  EXPECT_EQ(make(), 500);
  storage_.Restore(*copy_);
  api_.Tick({});
  EXPECT_EQ(make(), 201);
}

}  // namespace
}  // namespace kubexx::apiserver
