#include "kubexx/apiserver/endpoints/upkeep/system_objects.h"

#include <gmock/gmock.h>

#include <chrono>
#include <stop_token>
#include <string>
#include <vector>

#include "kubexx/apiserver/endpoints/testing/api_fixture.h"
#include "kubexx/base/testing/fake_clock.h"

namespace kubexx::apiserver {
namespace {

using codec::JsonTree;

constexpr const char* kSystemService = "/api/v1/namespaces/default/services/kubernetes";
constexpr const char* kSystemEndpoints = "/api/v1/namespaces/default/endpoints/kubernetes";

struct SystemClock {
  base::testing::FakeClock system_clock_;
};

class SystemObjectsTest : SystemClock, public testing::ApiFixture {
 protected:
  SystemObjectsTest() : ApiFixture({.clock = system_clock_, .cacher = {.clock = system_clock_}}) {
    EXPECT_TRUE(api_.Publish({.address = "192.0.2.7", .port = 443}, {}));
    Tick();
  }
  void Pass(std::chrono::seconds time, const std::stop_token& stop = {}) {
    system_clock_.Advance(time);
    Tick(stop);
  }
  base::Clock& FakeClock() { return system_clock_; }
  /// Somebody empties the store, as `etcdctl del --prefix ""` does.
  void Empty() {
    std::vector<std::string> keys;
    ASSERT_TRUE(storage_->GetList("/", {},
                                  [&keys](storage::KeyValue&& kv) -> apimachinery::Result<void> {
                                    keys.push_back(kv.key);
                                    return {};
                                  },
                                  {}));
    for (const std::string& key : keys) {
      ASSERT_TRUE(storage_->Delete(key, 0, {}));
    }
  }
  int StatusOf(const std::string& namespace_) {
    return Do("GET", "/api/v1/namespaces/" + namespace_).status;
  }
};

TEST_F(SystemObjectsTest, NamespacesAreMadeAgainWithinAMinute) {
  Empty();
  EXPECT_EQ(StatusOf("kube-system"), 404);
  Pass(std::chrono::seconds(61));
  for (const char* const name : {"default", "kube-system", "kube-public", "kube-node-lease"}) {
    EXPECT_EQ(StatusOf(name), 200) << name;
  }
}

TEST_F(SystemObjectsTest, TheServiceIsMadeAgainWithItsNamespaceWithinTenSeconds) {
  Empty();
  Pass(std::chrono::seconds(9));
  EXPECT_EQ(Do("GET", kSystemService).status, 404);
  Pass(std::chrono::seconds(2));
  EXPECT_EQ(Do("GET", kSystemService).status, 200);
  EXPECT_EQ(StatusOf("default"), 200);
  EXPECT_THAT(Do("GET", kSystemEndpoints).body, ::testing::HasSubstr("192.0.2.7"));
}

TEST_F(SystemObjectsTest, WhatANamespaceSaysDoesNotMatter) {
  const auto stored = storage_->Get("/registry/namespaces/kube-public", 0, {});
  ASSERT_TRUE(stored);
  ASSERT_TRUE(storage_->CompareAndSwap(stored->key, stored->mod_revision, "damaged", {}));
  ASSERT_EQ(Do("DELETE", kSystemService).status, 200);
  Pass(std::chrono::seconds(61));
  EXPECT_EQ(Do("GET", kSystemService).status, 200);
  EXPECT_EQ(*storage_->Get(stored->key, 0, {})->value, "damaged");
}

TEST_F(SystemObjectsTest, TokensAreStillGoodForAnotherServer) {
  ASSERT_EQ(
      Do("POST", "/api/v1/namespaces/default/serviceaccounts", R"({"metadata":{"name":"robot"}})")
          .status,
      201);
  const JsonTree account = Json(Do("GET", "/api/v1/namespaces/default/serviceaccounts/robot"));
  const std::string token =
      At(Json(Do("POST", "/api/v1/namespaces/default/serviceaccounts/robot/token", "{}")),
         {"status", "token"});
  Empty();
  Pass(std::chrono::seconds(61));
  Pass(std::chrono::seconds(61));
  // The account comes back as it was.
  const std::string key = "/registry/serviceaccounts/default/robot";
  ASSERT_TRUE(storage_->Create(key, account.ToJson(), {}));
  Api other(*storage_, {.clock = FakeClock()});
  ASSERT_TRUE(other.Bootstrap({}));
  const auto who = testing::Ask(other, "POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews",
                                "{}", "application/json", {{"Authorization", "Bearer " + token}});
  EXPECT_THAT(who.body, ::testing::HasSubstr("system:serviceaccount:default:robot"));
}

TEST_F(SystemObjectsTest, WhatIsThereIsNotWritten) {
  ASSERT_EQ(
      Do("PATCH", kSystemEndpoints,
         R"({"subsets":[{"addresses":[{"ip":"192.0.2.8"}],"ports":[{"port":1}]}]})", kMergePatch)
          .status,
      200);
  const storage::Revision before = *storage_->CurrentRevision({});
  Pass(std::chrono::minutes(10));
  Pass(std::chrono::minutes(10));
  EXPECT_EQ(*storage_->CurrentRevision({}), before);
}

TEST_F(SystemObjectsTest, NothingIsMadeByAServerThatStops) {
  Empty();
  std::stop_source stop;
  stop.request_stop();
  Pass(std::chrono::minutes(2), stop.get_token());
  EXPECT_EQ(*storage_->Count("/", {}), 0);
}

}  // namespace
}  // namespace kubexx::apiserver
