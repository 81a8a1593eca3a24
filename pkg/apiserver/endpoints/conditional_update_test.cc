#include <gmock/gmock.h>

#include <string>
#include <tuple>

#include "kubexx/apiserver/endpoints/testing/api_fixture.h"

namespace kubexx::apiserver {
namespace {

class ConditionalUpdateTest : public testing::ApiFixture {};

TEST_F(ConditionalUpdateTest, SomeTypesNeedAVersion) {
  ASSERT_EQ(Do("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", R"({
      "metadata":{"name":"gears.example.com"},
      "spec":{"group":"example.com","scope":"Namespaced","names":{"plural":"gears","kind":"Gear"},
       "versions":[{"name":"v1","served":true,"storage":true,
        "schema":{"openAPIV3Schema":{"type":"object"}}}]}})")
                .status,
            201);
  for (const auto& [path, group, resource] :
       {std::tuple("/apis/example.com/v1/namespaces/default/gears", "example.com", "gears"),
        {"/apis/policy/v1/namespaces/default/poddisruptionbudgets", "policy",
         "poddisruptionbudgets"},
        {"/apis/node.k8s.io/v1/runtimeclasses", "node.k8s.io", "runtimeclasses"}}) {
    ASSERT_EQ(Do("POST", path, R"({"metadata":{"name":"g"}})").status, 201) << path;
    const std::string one = std::string(path) + "/g";
    for (const char* const version : {"", R"(,"resourceVersion":"0")"}) {
      const http::Response refused =
          Do("PUT", one, R"({"metadata":{"name":"g")" + std::string(version) + "}}");
      EXPECT_EQ(refused.status, 422) << refused.body;
      EXPECT_EQ(Message(refused), std::string(resource) + "." + group +
                                      " \"g\" is invalid: metadata.resourceVersion: Invalid "
                                      "value: 0: must be specified for an update");
    }
    EXPECT_EQ(Do("PUT", one, Do("GET", one).body).status, 200);
    EXPECT_EQ(Do("PATCH", one, R"({"metadata":{"labels":{"a":"b"}}})", kMergePatch).status, 200);
  }
}

}  // namespace
}  // namespace kubexx::apiserver
