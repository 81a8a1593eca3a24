#include "kubexx/apiserver/endpoints/discovery/discovery.h"

#include <gmock/gmock.h>

#include <span>
#include <string>
#include <string_view>
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
  /// The resource in a document of one version of a group, or in all of aggregated discovery.
  static const codec::JsonTree* Named(const codec::JsonTree* list, std::string_view member,
                                      std::string_view name) {
    for (const codec::JsonTree& one :
         list == nullptr ? std::span<const codec::JsonTree>() : list->elements()) {
      if (one.TextAt(member) == name) {
        return &one;
      }
    }
    return nullptr;
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

/// What Kubernetes' conformance wants every server to have.
struct Wanted {
  std::string_view group;
  std::string_view version;
  std::string_view resource;
};
constexpr Wanted kWanted[] = {
    {"admissionregistration.k8s.io", "v1", "validatingwebhookconfigurations"},
    {"apiextensions.k8s.io", "v1", "customresourcedefinitions"},
    {"apiregistration.k8s.io", "v1", "apiservices"},
    {"apps", "v1", "deployments"},
    {"authentication.k8s.io", "v1", "tokenreviews"},
    {"authorization.k8s.io", "v1", "selfsubjectaccessreviews"},
    {"autoscaling", "v1", "horizontalpodautoscalers"},
    {"autoscaling", "v2", "horizontalpodautoscalers"},
    {"batch", "v1", "jobs"},
    {"certificates.k8s.io", "v1", "certificatesigningrequests"},
    {"coordination.k8s.io", "v1", "leases"},
    {"discovery.k8s.io", "v1", "endpointslices"},
    {"events.k8s.io", "v1", "events"},
    {"networking.k8s.io", "v1", "ingresses"},
    {"node.k8s.io", "v1", "runtimeclasses"},
    {"policy", "v1", "poddisruptionbudgets"},
    {"scheduling.k8s.io", "v1", "priorityclasses"},
    {"storage.k8s.io", "v1", "csinodes"}};

TEST_F(DiscoveryTest, BothFormsHaveWhatConformanceWants) {
  headers_ = {{"Accept", "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"}};
  const codec::JsonTree all = Json(Do("GET", "/apis"));
  headers_.clear();
  EXPECT_EQ(At(all, {"kind"}), "APIGroupDiscoveryList");
  for (const Wanted& wanted : kWanted) {
    const std::string group_version = std::string(wanted.group) + "/" + std::string(wanted.version);
    const codec::JsonTree list = Json(Do("GET", "/apis/" + group_version));
    EXPECT_EQ(At(list, {"groupVersion"}), group_version);
    EXPECT_NE(Named(list.Find("resources"), "name", wanted.resource), nullptr) << group_version;
    const codec::JsonTree* group = nullptr;
    for (const codec::JsonTree& one : all.At({"items"})->elements()) {
      group = At(one, {"metadata", "name"}) == wanted.group ? &one : group;
    }
    ASSERT_NE(group, nullptr) << wanted.group;
    const auto* const version = Named(group->Find("versions"), "version", wanted.version);
    ASSERT_NE(version, nullptr) << group_version;
    EXPECT_NE(Named(version->Find("resources"), "resource", wanted.resource), nullptr)
        << group_version;
  }
}

TEST_F(DiscoveryTest, TheAggregatedFormNamesOtherVersionsOnly) {
  headers_ = {{"Accept", "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"}};
  const codec::JsonTree core = Json(Do("GET", "/api"));
  const auto* const pods =
      Named(core.At({"items", "0", "versions", "0", "resources"}), "resource", "pods");
  ASSERT_NE(pods, nullptr);
  EXPECT_EQ(At(*pods, {"responseKind"}), R"({"group":"","version":"","kind":"Pod"})");
  const auto* const status = Named(pods->Find("subresources"), "subresource", "status");
  ASSERT_NE(status, nullptr);
  EXPECT_EQ(At(*status, {"responseKind"}), R"({"group":"","version":"","kind":"Pod"})");
  const auto* const eviction = Named(pods->Find("subresources"), "subresource", "eviction");
  ASSERT_NE(eviction, nullptr);
  EXPECT_EQ(At(*eviction, {"responseKind"}),
            R"({"group":"policy","version":"v1","kind":"Eviction"})");
}

}  // namespace
}  // namespace kubexx::apiserver
