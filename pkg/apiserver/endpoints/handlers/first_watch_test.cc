// Tests the first watch of a resource, which begins before anybody has needed its cache.
#include <gmock/gmock.h>

#include <cstdint>
#include <string>
#include <vector>

#include "kubexx/apiserver/endpoints/testing/api_fixture.h"

namespace kubexx::apiserver {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pointee;

class FirstWatchTest : public testing::ApiFixture {
 protected:
  std::string Version(const http::Response& response) {
    return At(Json(response), {"metadata", "resourceVersion"});
  }

  const std::string leases_ = "/apis/coordination.k8s.io/v1/namespaces/default/leases";
};

TEST_F(FirstWatchTest, BeginsAtTheListBeforeIt) {
  const std::string listed = Version(Do("GET", leases_));
  ASSERT_EQ(Do("POST", leases_, R"({"metadata":{"name":"a"}})").status, 201);
  ASSERT_EQ(Do("POST", "/api/v1/namespaces", R"({"metadata":{"name":"other"}})").status, 201);
  EXPECT_THAT(
      Watched(leases_ + "?watch=true&resourceVersion=" + listed),
      ElementsAre(Pointee(AllOf(HasSubstr(R"("type":"ADDED")"), HasSubstr(R"("name":"a")")))));
}

TEST_F(FirstWatchTest, BeginsAtTheWriteBeforeIt) {
  const std::string created = Version(Do("POST", leases_, R"({"metadata":{"name":"a"}})"));
  ASSERT_EQ(Do("DELETE", leases_ + "/a").status, 200);
  EXPECT_THAT(
      Watched(leases_ + "?watch=true&fieldSelector=metadata.name%3Da&resourceVersion=" + created),
      ElementsAre(Pointee(HasSubstr(R"("type":"DELETED")"))));
}

TEST_F(FirstWatchTest, IsToldWhatTheStorageHasForgotten) {
  const std::string listed = Version(Do("GET", leases_));
  ASSERT_EQ(Do("POST", leases_, R"({"metadata":{"name":"a"}})").status, 201);
  ASSERT_EQ(Do("DELETE", leases_ + "/a").status, 200);
  ASSERT_TRUE(storage_->Compact(*storage_->CurrentRevision({}), {}));
  EXPECT_THAT(Watched(leases_ + "?watch=true&resourceVersion=" + listed),
              ElementsAre(Pointee(HasSubstr(R"("reason":"Expired")"))));
}

// The version is of another history, for example from before the server's restart. Nothing older is
// delivered.
TEST_F(FirstWatchTest, OfAVersionOfTheFutureIsToldThatNobodyHasIt) {
  ASSERT_EQ(Do("POST", leases_, R"({"metadata":{"name":"a"}})").status, 201);
  const std::int64_t latest = *storage_->CurrentRevision({});
  EXPECT_THAT(
      Watched(leases_ + "?watch=true&resourceVersion=" + std::to_string(latest + 1)),
      ElementsAre(Pointee(AllOf(HasSubstr(R"("type":"ERROR")"), HasSubstr(R"("code":410)")))));
}

}  // namespace
}  // namespace kubexx::apiserver
