/// @file
/// What tests with objects of any kind share: making them, and custom resources that end with the
/// test.
#ifndef KUBEXX_TEST_INTEGRATION_CUSTOM_FIXTURE_H_
#define KUBEXX_TEST_INTEGRATION_CUSTOM_FIXTURE_H_

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "cluster_fixture.h"
#include "kubexx/apimachinery/group_version.h"
#include "kubexx/apimachinery/status.h"
#include "kubexx/base/ascii.h"
#include "kubexx/dynamic/dynamic_client.h"

namespace kubexx::integration {

class CustomResourceTest : public ClusterTest {
 protected:
  using GroupVersionResource = apimachinery::GroupVersionResource;

  void TearDown() override {
    for (const std::string& name : crds_) {
      (void)Crds().Delete(name);
    }
    ClusterTest::TearDown();
  }

  /// In the test's namespace.
  dynamic::DynamicResource In(const GroupVersionResource& resource) const {
    return dynamic::DynamicClient(client_).Resource(resource, namespace_);
  }
  dynamic::Unstructured Make(const GroupVersionResource& resource, const std::string& json) const {
    const auto object = dynamic::Unstructured::Parse(json);
    EXPECT_TRUE(object) << object.error().ToString();
    const auto created = In(resource).Create(*object);
    EXPECT_TRUE(created) << created.error().ToString();
    return created ? *created : dynamic::Unstructured();
  }
  /// A custom resource without a schema. Without the subresource status its generation counts every
  /// change. Served when this returns.
  void MakeCrd(const GroupVersionResource& resource, const std::string& kind,
               bool has_status = false) {
    crds_.push_back(resource.resource + "." + resource.group);
    const auto crd = dynamic::Unstructured::Parse(
        R"({"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition",)"
        R"("metadata":{"name":")" +
        crds_.back() + R"("},"spec":{"group":")" + resource.group + R"(","scope":"Namespaced",)" +
        R"("names":{"kind":")" + kind + R"(","plural":")" + resource.resource +
        R"(","singular":")" + base::ToLower(kind) + R"("},"versions":[{"name":")" +
        resource.version + R"(","served":true,"storage":true,)" +
        (has_status ? R"("subresources":{"status":{}},)" : "") +
        R"("schema":{"openAPIV3Schema":{"type":"object",)" +
        R"("x-kubernetes-preserve-unknown-fields":true}}}]}})");
    ASSERT_TRUE(crd) << crd.error().ToString();
    // That of an earlier test may still be going.
    auto created = Crds().Create(*crd);
    const auto is_in_the_way = [&] {
      return !created && created.error().reason == apimachinery::Reason::kAlreadyExists;
    };
    ASSERT_TRUE(Await([&] {
      if (is_in_the_way()) {
        created = Crds().Create(*crd);
      }
      return !is_in_the_way();
    }));
    ASSERT_TRUE(created) << created.error().ToString();
    ASSERT_TRUE(Await([&] { return In(resource).List().has_value(); }));
  }

 private:
  dynamic::DynamicResource Crds() const {
    return dynamic::DynamicClient(client_).Resource(
        {"apiextensions.k8s.io", "v1", "customresourcedefinitions"});
  }

  std::vector<std::string> crds_;
};

}  // namespace kubexx::integration

#endif  // KUBEXX_TEST_INTEGRATION_CUSTOM_FIXTURE_H_
