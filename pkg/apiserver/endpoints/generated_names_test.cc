// Names that the server makes, and somebody has already.
#include <gmock/gmock.h>

#include <memory>
#include <string>
#include <utility>

#include "kubexx/apiserver/endpoints/api.h"
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
    return ForwardingStorage::Create(key, std::move(value), std::move(stop));
  }
  int taken = 0;
};

class GeneratedNamesTest : public ::testing::Test {
 protected:
  GeneratedNamesTest() { EXPECT_TRUE(api_.Bootstrap({})); }
  int Make(const std::string& metadata) {
    http::Request request;
    request.method = "POST";
    request.path = "/api/v1/namespaces/default/configmaps";
    request.headers = {{"Content-Type", "application/json"}};
    request.body = R"({"metadata":)" + metadata + "}";
    return api_.Handle(request).status;
  }

  std::unique_ptr<storage::MemoryStorage> memory_ = *storage::NewMemoryStorage({});
  CrowdedStorage storage_{*memory_};
  Api api_{storage_, {}};
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

}  // namespace
}  // namespace kubexx::apiserver
