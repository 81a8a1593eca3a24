// Who deletes a namespace or a definition waits for little of what goes with it, and others for
// nothing of it.
#include <gmock/gmock.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <future>
#include <latch>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "kubexx/apiserver/endpoints/testing/api_fixture.h"
#include "kubexx/apiserver/endpoints/testing/forwarding_storage.h"
#include "kubexx/apiserver/endpoints/testing/webhook_fixture.h"
#include "kubexx/base/mutex.h"
#include "kubexx/base/testing/await.h"

namespace kubexx::apiserver {
namespace {

using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;
using codec::JsonTree;
using ::testing::IsEmpty;

constexpr const char* kReapedTeam = "/api/v1/namespaces/team";
constexpr const char* kReapedMaps = "/api/v1/namespaces/team/configmaps";
constexpr const char* kReapedCrds = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
constexpr const char* kReapedConverter = "https://converter/";

/// With the versions v1 and v2, of which `stored` is stored.
std::string DefinitionOf(const std::string& plural, const std::string& stored) {
  const auto version = [&](const std::string& name) {
    return R"({"name":")" + name + R"(","served":true,"storage":)" +
           (name == stored ? "true" : "false") +
           R"(,"schema":{"openAPIV3Schema":{"type":"object"}}})";
  };
  return R"({"metadata":{"name":")" + plural +
         R"(.e.x"},"spec":{"group":"e.x","scope":"Namespaced",)" + R"("names":{"plural":")" +
         plural + R"(","kind":"K)" + plural + R"("},)" +
         R"("conversion":{"strategy":"Webhook","webhook":{"conversionReviewVersions":["v1"],)" +
         R"("clientConfig":{"url":"https://converter/"}}},"versions":[)" + version("v1") + "," +
         version("v2") + "]}}";
}

class ReapingTest : public testing::WebhookFixture {
 protected:
  ReapingTest() {
    EXPECT_EQ(Do("POST", "/api/v1/namespaces", R"({"metadata":{"name":"team"}})").status, 201);
  }
  void MakeMaps(int count) {
    for (int i = 0; i < count; ++i) {
      ASSERT_EQ(Do("POST", kReapedMaps, ConfigMap("m" + std::to_string(i))).status, 201);
    }
  }
  void Define(const std::string& plural, const std::string& stored) {
    const http::Response made = Do("POST", kReapedCrds, DefinitionOf(plural, stored));
    ASSERT_EQ(made.status, 201) << made.body;
  }
  int Make(const std::string& plural, const std::string& version, const std::string& name,
           const std::string& more = {}) {
    return Do("POST", "/apis/e.x/" + version + "/namespaces/team/" + plural,
              R"({"apiVersion":"e.x/)" + version + R"(","kind":"K)" + plural +
                  R"(","metadata":{"name":")" + name + "\"" + more + "}}")
        .status;
  }
  std::size_t Count(const std::string& path) {
    const JsonTree list = Json(Do("GET", path));
    const JsonTree* const items = list.Find("items");
    return items == nullptr ? 0 : items->size();
  }
};

TEST_F(ReapingTest, ManyObjectsOfANamespaceGoAfterTheAnswer) {
  MakeMaps(300);
  EXPECT_EQ(At(Json(Do("DELETE", kReapedTeam)), {"status", "phase"}), "Terminating");
  EXPECT_GE(Count(kReapedMaps), 200U);
  EXPECT_EQ(Do("GET", kReapedTeam).status, 200);
  Tick();
  EXPECT_EQ(Count(kReapedMaps), 0U);
  EXPECT_EQ(Do("GET", kReapedTeam).status, 404);
}

TEST_F(ReapingTest, ManyObjectsOfADefinitionGoAfterTheAnswer) {
  Define("ks", "v1");
  for (int i = 0; i < 300; ++i) {
    ASSERT_EQ(Make("ks", "v1", "k" + std::to_string(i)), 201);
  }
  EXPECT_EQ(Do("DELETE", std::string(kReapedCrds) + "/ks.e.x").status, 200);
  EXPECT_GE(Count("/apis/e.x/v1/namespaces/team/ks"), 200U);
  Tick();
  EXPECT_EQ(Do("GET", std::string(kReapedCrds) + "/ks.e.x").status, 404);
  EXPECT_EQ(Do("GET", "/apis/e.x/v1/namespaces/team/ks").status, 404);
}

/// Objects that wait are no reason to leave those behind them alone.
TEST_F(ReapingTest, ManyObjectsThatWaitHoldBackNoOthers) {
  for (int i = 0; i < 2'100; ++i) {
    ASSERT_EQ(Do("POST", kReapedMaps,
                 R"({"metadata":{"name":"a)" + std::to_string(i) + R"(","finalizers":["e.x/f"]}})")
                  .status,
              201);
  }
  MakeMaps(10);
  EXPECT_EQ(Do("DELETE", kReapedTeam).status, 200);
  Tick();
  Tick();
  EXPECT_EQ(Count(kReapedMaps), 2'100U);
}

TEST_F(ReapingTest, NoWebhookIsAskedForWhatIsDeleted) {
  Define("ks", "v1");
  Define("ls", "v1");
  hooks_->Handle(kReapedConverter, [](const JsonTree&) -> Result<JsonTree> {
    return Fail(Reason::kUnavailable, "it is down");
  });
  for (const char* const plural : {"ks", "ls"}) {
    ASSERT_EQ(Make(plural, "v1", "a"), 201);
    ASSERT_EQ(Make(plural, "v1", "b", R"(,"finalizers":["e.x/f"])"), 201);
    ASSERT_EQ(Do("PUT", std::string(kReapedCrds) + "/" + plural + ".e.x",
                 [&] {
                   JsonTree definition =
                       Json(Do("GET", std::string(kReapedCrds) + "/" + plural + ".e.x"));
                   definition["spec"]["versions"].elements()[0]["storage"] = false;
                   definition["spec"]["versions"].elements()[1]["storage"] = true;
                   return definition.ToJson();
                 }())
                  .status,
              200);
  }
  hooks_->Forget();
  EXPECT_EQ(Do("DELETE", std::string(kReapedCrds) + "/ls.e.x").status, 200);
  EXPECT_EQ(Do("DELETE", kReapedTeam).status, 200);
  Tick();
  EXPECT_THAT(hooks_->Urls(), IsEmpty());
  for (const char* const plural : {"ks", "ls"}) {
    EXPECT_EQ(Do("GET", "/apis/e.x/v1/namespaces/team/" + std::string(plural) + "/a").status, 404);
    const JsonTree left =
        Json(Do("GET", "/apis/e.x/v1/namespaces/team/" + std::string(plural) + "/b"));
    EXPECT_NE(At(left, {"metadata", "deletionTimestamp"}), "") << left.ToJson();
  }
}

/// A create that waits for its webhook, in the namespace or of another definition.
class HangingWebhookTest : public ReapingTest {
 protected:
  /// Creates an object in another version than that of the storage, has the webhook hang when it is
  /// to convert to `version`, and deletes meanwhile what the object is in.
  void DeleteWhileItConvertsTo(const std::string& version, int status) {
    Define("ks", "v1");
    Define("ls", "v1");
    ASSERT_EQ(Make("ls", "v1", "l"), 201);
    std::latch asked(1);
    std::latch release(1);
    hooks_->Handle(kReapedConverter, [&](const JsonTree& request) -> Result<JsonTree> {
      if (request.TextAt("desiredAPIVersion") == version) {
        asked.count_down();
        KX_AWAIT(release.try_wait());
      }
      return testing::FakeWebhooks::Converted(request);
    });
    std::jthread creator([&] {
      http::Request request;
      request.method = "POST";
      request.path = "/apis/e.x/v2/namespaces/team/ks";
      request.headers = {{"Content-Type", "application/json"}};
      request.body = R"({"apiVersion":"e.x/v2","kind":"Kks","metadata":{"name":"k"}})";
      EXPECT_EQ(api_.Handle(request).status, status);
    });
    KX_AWAIT(asked.try_wait());
    std::promise<void> done;
    std::jthread deleter([&] {
      EXPECT_EQ(Do("DELETE", std::string(kReapedCrds) + "/ls.e.x").status, 200);
      EXPECT_EQ(Do("DELETE", kReapedTeam).status, 200);
      Tick();
      EXPECT_EQ(Do("GET", std::string(kReapedCrds) + "/ls.e.x").status, 404);
      EXPECT_EQ(Do("GET", kReapedTeam).status, 404);
      done.set_value();
    });
    EXPECT_EQ(done.get_future().wait_for(std::chrono::minutes(1)), std::future_status::ready);
    release.count_down();
  }
};

TEST_F(HangingWebhookTest, HoldsBackNoDeletionWhenItIsToStoreWhatIsNew) {
  DeleteWhileItConvertsTo("e.x/v1", 404);
}

TEST_F(HangingWebhookTest, HoldsBackNoDeletionWhenItIsToAnswer) {
  DeleteWhileItConvertsTo("e.x/v2", 201);
}

/// A storage that takes its time to delete below a prefix, and one write of which is done and not
/// acknowledged.
class BadStorage final : public testing::ForwardingStorage {
 public:
  using ForwardingStorage::ForwardingStorage;

  /// `hold` is called before a deletion below `prefix`.
  void HoldDeletions(std::string prefix, std::function<void()> hold) {
    base::MutexLock lock(mu_);
    prefix_ = std::move(prefix);
    hold_ = std::move(hold);
  }
  void LoseAnswer(std::string key) {
    base::MutexLock lock(mu_);
    lost_ = std::move(key);
  }

  Result<storage::Deleted> Delete(std::string_view key, storage::Revision expected,
                                  std::stop_token stop) override {
    if (refuses_deletions && key.starts_with("/registry/configmaps/")) {
      return Fail(Reason::kInternalError, "the disk is full");
    }
    std::function<void()> hold;
    {
      base::MutexLock lock(mu_);
      if (hold_ && key.starts_with(prefix_)) {
        hold = hold_;
      }
    }
    if (hold) {
      hold();
    }
    return ForwardingStorage::Delete(key, expected, std::move(stop));
  }
  Result<storage::Swap> CompareAndSwap(std::string_view key, storage::Revision expected,
                                       std::string value, std::stop_token stop) override {
    auto swap = ForwardingStorage::CompareAndSwap(key, expected, std::move(value), std::move(stop));
    base::MutexLock lock(mu_);
    if (key == lost_) {
      lost_.clear();
      return Fail(Reason::kCancelled, "the client has gone");
    }
    return swap;
  }
  std::atomic<bool> refuses_deletions = false;

 private:
  base::Mutex mu_;
  std::string prefix_ KX_GUARDED_BY(mu_);
  std::function<void()> hold_ KX_GUARDED_BY(mu_);
  std::string lost_ KX_GUARDED_BY(mu_);
};

class BadStorageTest : public ::testing::Test {
 protected:
  BadStorageTest() { EXPECT_TRUE(api_.Bootstrap({})); }
  void MakeTeamWithMaps(int count) {
    ASSERT_EQ(
        testing::Ask(api_, "POST", "/api/v1/namespaces", R"({"metadata":{"name":"team"}})").status,
        201);
    for (int i = 0; i < count; ++i) {
      ASSERT_EQ(testing::Ask(api_, "POST", kReapedMaps,
                             R"({"metadata":{"name":"m)" + std::to_string(i) + R"("}})")
                    .status,
                201);
    }
  }
  /// Lets the server's threads work until the namespace has gone.
  static void AwaitGone(Api& api, const std::string& path) {
    KX_UNTIL(testing::Ask(api, "GET", path).status == 404) {
      api.Tick();
      api.Reap();
    }
  }

  std::unique_ptr<storage::MemoryStorage> memory_ = *storage::NewMemoryStorage({});
  BadStorage storage_{*memory_};
  Api api_{storage_, {.shared_storage = true}};
};

TEST_F(BadStorageTest, DefinitionsAreWrittenWhileObjectsOfOthersGo) {
  ASSERT_EQ(testing::Ask(api_, "POST", kReapedCrds, DefinitionOf("ks", "v1")).status, 201);
  ASSERT_EQ(testing::Ask(api_, "POST", "/apis/e.x/v1/namespaces/default/ks",
                         R"({"apiVersion":"e.x/v1","kind":"Kks","metadata":{"name":"k"}})")
                .status,
            201);
  std::latch held(1);
  std::latch release(1);
  storage_.HoldDeletions("/registry/e.x/ks/", [&] {
    held.count_down();
    KX_AWAIT(release.try_wait());
  });
  std::jthread deleter([&] {
    EXPECT_EQ(testing::Ask(api_, "DELETE", std::string(kReapedCrds) + "/ks.e.x").status, 200);
  });
  KX_AWAIT(held.try_wait());
  auto made = std::async(std::launch::async, [&] {
    const int status = testing::Ask(api_, "POST", kReapedCrds, DefinitionOf("ls", "v1")).status;
    return std::pair(status, testing::Ask(api_, "GET", "/apis/e.x/v1/ls").status);
  });
  EXPECT_EQ(made.wait_for(std::chrono::minutes(1)), std::future_status::ready);
  release.count_down();
  EXPECT_EQ(made.get(), std::pair(201, 200));
}

TEST_F(BadStorageTest, WhatCannotBeDeletedIsNotTriedAgainAtOnce) {
  MakeTeamWithMaps(2'100);
  storage_.refuses_deletions = true;
  EXPECT_EQ(testing::Ask(api_, "DELETE", kReapedTeam).status, 200);
  EXPECT_FALSE(api_.Reap());
  storage_.refuses_deletions = false;
  EXPECT_TRUE(api_.Reap());
  AwaitGone(api_, kReapedTeam);
}

/// Nor do those behind it wait.
TEST_F(BadStorageTest, WhatCannotBeDeletedHoldsBackNoOthers) {
  MakeTeamWithMaps(2'100);
  const std::string secrets = std::string(kReapedTeam) + "/secrets";
  ASSERT_EQ(testing::Ask(api_, "POST", secrets, R"({"metadata":{"name":"s"}})").status, 201);
  storage_.refuses_deletions = true;
  EXPECT_EQ(testing::Ask(api_, "DELETE", kReapedTeam).status, 200);
  api_.Reap();
  EXPECT_EQ(testing::Ask(api_, "GET", secrets + "/s").status, 404);
}

TEST_F(BadStorageTest, ADeletionWhoseAnswerWasLostIsDone) {
  ASSERT_EQ(
      testing::Ask(api_, "POST", "/api/v1/namespaces", R"({"metadata":{"name":"team"}})").status,
      201);
  storage_.LoseAnswer("/registry/namespaces/team");
  EXPECT_NE(testing::Ask(api_, "DELETE", kReapedTeam).status, 200);
  AwaitGone(api_, kReapedTeam);
}

TEST_F(BadStorageTest, ANamespaceThatAnotherServerEndsGoes) {
  ASSERT_EQ(
      testing::Ask(api_, "POST", "/api/v1/namespaces", R"({"metadata":{"name":"team"}})").status,
      201);
  const std::string map = std::string(kReapedMaps) + "/m";
  ASSERT_EQ(
      testing::Ask(api_, "POST", kReapedMaps, R"({"metadata":{"name":"m","finalizers":["e.x/f"]}})")
          .status,
      201);
  {
    Api other(*memory_, {});
    ASSERT_TRUE(other.Bootstrap({}));
    EXPECT_EQ(testing::Ask(other, "DELETE", kReapedTeam).status, 200);
  }
  EXPECT_EQ(testing::Ask(api_, "PATCH", map, R"({"metadata":{"finalizers":null}})",
                         "application/merge-patch+json")
                .status,
            200);
  AwaitGone(api_, kReapedTeam);
}

}  // namespace
}  // namespace kubexx::apiserver
