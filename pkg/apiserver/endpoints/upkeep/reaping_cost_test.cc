// What it costs that objects of a namespace or a definition wait for their finalizers.
#include <gmock/gmock.h>

#include <atomic>
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
using apimachinery::Result;

/// Counts what is read and deleted one by one of ConfigMaps.
class CountingStorage final : public testing::ForwardingStorage {
 public:
  using ForwardingStorage::ForwardingStorage;

  Result<storage::KeyValue> Get(std::string_view key, storage::Revision revision,
                                std::stop_token stop) override {
    reads += key.starts_with("/registry/configmaps/") ? 1 : 0;
    return ForwardingStorage::Get(key, revision, std::move(stop));
  }
  Result<storage::Deleted> Delete(std::string_view key, storage::Revision expected,
                                  std::stop_token stop) override {
    deletions += key.starts_with("/registry/configmaps/") ? 1 : 0;
    if (away) {
      return Fail(Reason::kUnavailable, "no connection");
    }
    return ForwardingStorage::Delete(key, expected, std::move(stop));
  }
  std::atomic<int> reads = 0;
  std::atomic<int> deletions = 0;
  std::atomic<bool> away = false;
};

class ReapingCostTest : public ::testing::Test {
 protected:
  ReapingCostTest() { EXPECT_TRUE(api_.Bootstrap({})); }
  http::Response Do(std::string method, const std::string& target, std::string body = {},
                    std::string type = "application/json") {
    return testing::Ask(api_, std::move(method), target, std::move(body), std::move(type));
  }

  std::unique_ptr<storage::MemoryStorage> memory_ = *storage::NewMemoryStorage({});
  CountingStorage storage_{*memory_};
  Api api_{storage_, {}};
};

TEST_F(ReapingCostTest, WhatWaitsIsListedOnly) {
  const std::string team = "/api/v1/namespaces/team";
  ASSERT_EQ(Do("POST", "/api/v1/namespaces", R"({"metadata":{"name":"team"}})").status, 201);
  for (int i = 0; i < 20; ++i) {
    ASSERT_EQ(Do("POST", team + "/configmaps",
                 R"({"metadata":{"name":"m)" + std::to_string(i) + R"(","finalizers":["e.x/f"]}})")
                  .status,
              201);
  }
  EXPECT_EQ(Do("DELETE", team).status, 200);
  storage_.reads = 0;
  api_.Reap();
  EXPECT_EQ(storage_.reads, 0);
  EXPECT_THAT(Do("GET", team).body, ::testing::HasSubstr("e.x/f in 20 resource instances"));

  ASSERT_EQ(Do("PATCH", team + "/configmaps/m7", R"({"metadata":{"finalizers":null}})",
               "application/merge-patch+json")
                .status,
            200);
  api_.Reap();
  EXPECT_THAT(Do("GET", team).body, ::testing::HasSubstr("e.x/f in 19 resource instances"));
}

/// Each question may take its time.
TEST_F(ReapingCostTest, AStorageThatIsAwayIsAskedOnce) {
  const std::string team = "/api/v1/namespaces/team";
  ASSERT_EQ(Do("POST", "/api/v1/namespaces", R"({"metadata":{"name":"team"}})").status, 201);
  for (int i = 0; i < 20; ++i) {
    ASSERT_EQ(
        Do("POST", team + "/configmaps", R"({"metadata":{"name":"m)" + std::to_string(i) + R"("}})")
            .status,
        201);
  }
  storage_.away = true;
  EXPECT_EQ(Do("DELETE", team).status, 200);
  EXPECT_EQ(storage_.deletions, 1);
  EXPECT_FALSE(api_.Reap());
  EXPECT_EQ(storage_.deletions, 2);
  storage_.away = false;
  api_.Reap();
  EXPECT_EQ(Do("GET", team).status, 404);
}

}  // namespace
}  // namespace kubexx::apiserver
