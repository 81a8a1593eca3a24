/// @file
/// The CRDs of reload policies on the API server of the integration tests.
#ifndef KUBEXX_TEST_INTEGRATION_POLICY_CRDS_H_
#define KUBEXX_TEST_INTEGRATION_POLICY_CRDS_H_

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>

#include "cluster_fixture.h"
#include "kubexx/api/apiextensions/v1/resources.gen.h"
#include "kubexx/api/apiextensions/v1/schema.gen.h"
#include "kubexx/api/apiextensions/v1/types.gen.h"
#include "kubexx/base/testing/places/places.h"
#include "kubexx/codec/codec.h"
#include "kubexx/codec/yaml.h"
#include "kubexx/kubernetes/resource_client.h"
#include "kubexx/reloadpolicy/reloadpolicy_v1alpha1.gen.h"
#include "kubexx/rest/rest_client.h"

namespace kubexx::integration {

/// Installs them from the chart and waits until they are served. They stay: tests that run beside
/// each other share them.
inline void InstallPolicyCrds(const std::shared_ptr<rest::RESTClient>& client) {
  using api::apiextensions::v1::CustomResourceDefinition;
  const kubernetes::ResourceClient<CustomResourceDefinition> crds(client, "");
  for (const char* plural : {"reloadpolicies", "clusterreloadpolicies"}) {
    const std::filesystem::path path = base::testing::SourceTree() / "helm/kubexx-reloader/crds" /
                                       ("kubexx.io_" + std::string(plural) + ".yaml");
    std::ifstream file(path);
    const auto json = codec::YamlToJson(std::string(std::istreambuf_iterator<char>(file), {}));
    ASSERT_TRUE(json) << path << ": " << json.error().ToString();
    ASSERT_THAT(*json, testing::SizeIs(1));
    const auto crd = codec::DecodeJson<CustomResourceDefinition>(json->front());
    ASSERT_TRUE(crd) << crd.error().ToString();
    if (const auto created = crds.Create(*crd); !created) {
      ASSERT_EQ(created.error().reason, apimachinery::Reason::kAlreadyExists)
          << created.error().ToString();
    }
  }
  ASSERT_TRUE(Await([&] {
    return kubernetes::ResourceClient<reloadpolicy::v1alpha1::ReloadPolicy>(client, "default")
        .List()
        .has_value();
  }));
}

}  // namespace kubexx::integration

#endif  // KUBEXX_TEST_INTEGRATION_POLICY_CRDS_H_
