// Watch caches that cannot begin: those of custom resources whose webhook does not convert.
#include <gmock/gmock.h>

#include <functional>
#include <latch>
#include <string>
#include <utility>

#include "kubexx/apiserver/endpoints/testing/webhook_fixture.h"
#include "kubexx/base/testing/await.h"

namespace kubexx::apiserver {
namespace {

using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;
using codec::JsonTree;
using testing::FakeWebhooks;

constexpr const char* kColdConverter = "https://cold/";
constexpr const char* kColdV2 = "/apis/c.x/v2/namespaces/default/colds";

/// One object that is stored as v1.
class ColdCacheTest : public testing::WebhookFixture {
 protected:
  void SetUp() override {
    const http::Response defined =
        Do("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
           R"({"metadata":{"name":"colds.c.x"},"spec":{"group":"c.x","scope":"Namespaced",
             "names":{"plural":"colds","kind":"Cold"},
             "conversion":{"strategy":"Webhook","webhook":{"conversionReviewVersions":["v1"],
              "clientConfig":{"url":"https://cold/"}}},
             "versions":[
              {"name":"v1","served":true,"storage":true,
               "schema":{"openAPIV3Schema":{"type":"object"}}},
              {"name":"v2","served":true,"storage":false,
               "schema":{"openAPIV3Schema":{"type":"object"}}}]}})");
    ASSERT_EQ(defined.status, 201) << defined.body;
    ASSERT_EQ(Do("POST", "/apis/c.x/v1/namespaces/default/colds",
                 R"({"apiVersion":"c.x/v1","kind":"Cold","metadata":{"name":"a"}})")
                  .status,
              201);
  }
};

TEST_F(ColdCacheTest, WhoeverNeedsOneIsToldToComeAgain) {
  hooks_->Handle(kColdConverter, [](const JsonTree&) -> Result<JsonTree> {
    return Fail(Reason::kUnavailable, "connection refused");
  });
  for (const char* const query :
       {"?resourceVersion=0", "?watch=true", "?watch=true&resourceVersion=0",
        "?watch=true&sendInitialEvents=true&allowWatchBookmarks=true"
        "&resourceVersionMatch=NotOlderThan"}) {
    const http::Response refused = Do("GET", std::string(kColdV2) + query);
    EXPECT_EQ(refused.status, 429) << query << refused.body;
    EXPECT_EQ(refused.stream, nullptr);
    EXPECT_EQ(Message(refused), "storage is (re)initializing");
    EXPECT_EQ(At(Json(refused), {"details", "retryAfterSeconds"}), "1");
  }
  // What is read from the storage says why.
  EXPECT_EQ(Do("GET", kColdV2).status, 500);
}

TEST_F(ColdCacheTest, WhoeverWaitsForOneLeavesOthersTheThread) {
  std::latch release(1);
  hooks_->Handle(kColdConverter, [&](const JsonTree& request) {
    KX_AWAIT(release.try_wait());
    return testing::FakeWebhooks::Converted(request);
  });
  http::Request request;
  request.method = "GET";
  request.path = kColdV2;
  request.query = "resourceVersion=0";
  bool told = false;
  request.on_wait = [&](bool begins) {
    if (begins && !std::exchange(told, true)) {
      release.count_down();
    }
    return true;
  };
  EXPECT_EQ(api_.Handle(request).status, 200);
  EXPECT_TRUE(told);
}

}  // namespace
}  // namespace kubexx::apiserver
