#include "kubexx/apiserver/endpoints/discovery.h"

#include <gmock/gmock.h>

#include <string>

#include "kubexx/apiserver/endpoints/testing/api_fixture.h"

namespace kubexx::apiserver {
namespace {

class DiscoveryTest : public testing::ApiFixture {
 protected:
  /// "" when the resource has none, or is not there.
  std::string StorageHashOf(const std::string& path, const std::string& resource) {
    const codec::JsonTree list = Json(Do("GET", path));
    for (const codec::JsonTree& one : list.At({"resources"})->elements()) {
      if (one.TextAt("name") == resource) {
        return std::string(one.TextAt("storageVersionHash"));
      }
    }
    return {};
  }
};

// The values are those of kube-apiserver.
TEST_F(DiscoveryTest, SaysInWhichVersionObjectsAreStored) {
  EXPECT_EQ(StorageHashOf("/api/v1", "pods"), "xPOwRZ+Yhw8=");
  EXPECT_EQ(StorageHashOf("/api/v1", "pods/status"), "");
  EXPECT_EQ(StorageHashOf("/apis/apps/v1", "deployments"), "8aSe+NMegvE=");
  EXPECT_EQ(StorageHashOf("/api/v1", "events"), "r2yiGXH7wu8=");
  EXPECT_EQ(StorageHashOf("/apis/events.k8s.io/v1", "events"), "r2yiGXH7wu8=");
  EXPECT_EQ(StorageHashOf("/apis/authorization.k8s.io/v1", "subjectaccessreviews"), "");
}

}  // namespace
}  // namespace kubexx::apiserver
