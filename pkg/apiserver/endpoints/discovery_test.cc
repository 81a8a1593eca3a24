#include "kubexx/apiserver/endpoints/discovery.h"

#include <gmock/gmock.h>

#include <string>
#include <vector>

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
  EXPECT_EQ(StorageHashOf("/apis/admissionregistration.k8s.io/v1", "mutatingadmissionpolicies"),
            "LYmCf+UMVdg=");
  EXPECT_EQ(
      StorageHashOf("/apis/admissionregistration.k8s.io/v1", "mutatingadmissionpolicybindings"),
      "90V5FRZZ3Zg=");
  EXPECT_EQ(StorageHashOf("/apis/apiextensions.k8s.io/v1", "customresourcedefinitions"),
            "jfWCUB31mvA=");
}

TEST_F(DiscoveryTest, VersionsAreInTheOrderOfKubernetes) {
  const std::string version = R"("served":true,"schema":{"openAPIV3Schema":{"type":"object"}})";
  const http::Response made = Do(
      "POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
      R"({"metadata":{"name":"bolts.example.com"},"spec":{"group":"example.com","scope":"Cluster",
          "names":{"plural":"bolts","kind":"Bolt"},"versions":[
          {"name":"v1alpha1","storage":false,)" +
          version + R"(},{"name":"v2beta1","storage":false,)" + version +
          R"(},{"name":"v1","storage":true,)" + version + "}]}}");
  ASSERT_EQ(made.status, 201) << made.body;
  const codec::JsonTree group = Json(Do("GET", "/apis/example.com"));
  EXPECT_EQ(At(group, {"preferredVersion", "version"}), "v1");
  std::vector<std::string> versions;
  for (const codec::JsonTree& one : group.At({"versions"})->elements()) {
    versions.emplace_back(one.TextAt("version"));
  }
  EXPECT_THAT(versions, ::testing::ElementsAre("v1", "v2beta1", "v1alpha1"));
}

}  // namespace
}  // namespace kubexx::apiserver
