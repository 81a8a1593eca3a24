/// @file
/// CustomResourceDefinitions in files, on the API server of the integration tests.
#ifndef KUBEXX_TEST_INTEGRATION_CRD_FILE_H_
#define KUBEXX_TEST_INTEGRATION_CRD_FILE_H_

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>

#include "kubexx/api/apiextensions/v1/resources.gen.h"
#include "kubexx/api/apiextensions/v1/schema.gen.h"
#include "kubexx/api/apiextensions/v1/types.gen.h"
#include "kubexx/apimachinery/status.h"
#include "kubexx/base/testing/places/places.h"
#include "kubexx/codec/codec.h"
#include "kubexx/codec/yaml.h"
#include "kubexx/kubernetes/resource_client.h"
#include "kubexx/rest/rest_client.h"

namespace kubexx::integration {

/// Installs the only definition of a file of the tree. It stays: tests that run beside each other
/// share it.
inline void InstallCrd(const std::shared_ptr<rest::RESTClient>& client, const std::string& path) {
  using api::apiextensions::v1::CustomResourceDefinition;
  std::ifstream file(base::testing::SourceTree() / path);
  const auto json = codec::YamlToJson(std::string(std::istreambuf_iterator<char>(file), {}));
  ASSERT_TRUE(json) << path << ": " << json.error().ToString();
  ASSERT_THAT(*json, testing::SizeIs(1)) << path;
  const auto crd = codec::DecodeJson<CustomResourceDefinition>(json->front());
  ASSERT_TRUE(crd) << crd.error().ToString();
  const kubernetes::ResourceClient<CustomResourceDefinition> crds(client, "");
  if (const auto created = crds.Create(*crd, {.field_validation = "Strict"}); !created) {
    ASSERT_EQ(created.error().reason, apimachinery::Reason::kAlreadyExists)
        << created.error().ToString();
  }
}

}  // namespace kubexx::integration

#endif  // KUBEXX_TEST_INTEGRATION_CRD_FILE_H_
