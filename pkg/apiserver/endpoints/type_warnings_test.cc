#include <gmock/gmock.h>

#include <string>

#include "kubexx/apiserver/endpoints/testing/api_fixture.h"

namespace kubexx::apiserver {
namespace {

using ::testing::HasSubstr;

/// "" for what no warning says.
std::string WarningOf(const http::Response& response) {
  for (const auto& [name, value] : response.headers) {
    if (name == "Warning") {
      return value;
    }
  }
  return {};
}

class TypeWarningsTest : public testing::ApiFixture {};

TEST_F(TypeWarningsTest, WhatHasNoEffectIsSaid) {
  const std::string admission = "/apis/admissionregistration.k8s.io/v1/";
  const std::string name = R"({"metadata":{"name":"a"}})";
  for (const std::string& path :
       {admission + "validatingadmissionpolicies", admission + "validatingadmissionpolicybindings",
        std::string("/api/v1/namespaces/default/resourcequotas"),
        std::string("/api/v1/namespaces/default/limitranges"),
        std::string("/apis/apiregistration.k8s.io/v1/apiservices")}) {
    const http::Response made = Do("POST", path, name);
    EXPECT_EQ(made.status, 201) << made.body;
    EXPECT_THAT(WarningOf(made), HasSubstr("has no effect")) << path;
    const http::Response changed =
        Do("PATCH", path + "/a", R"({"metadata":{"labels":{"a":"b"}}})", kMergePatch);
    EXPECT_THAT(WarningOf(changed), HasSubstr("has no effect")) << path;
  }
  EXPECT_EQ(WarningOf(Do("POST", "/api/v1/namespaces/default/configmaps", name)), "");
}

TEST_F(TypeWarningsTest, ManyWarningsAreCut) {
  std::string body = R"({"metadata":{"name":"m"})";
  for (int i = 0; i < 100; ++i) {
    body += ",\"" + std::string(1000, 'x') + std::to_string(i) + "\":1";
  }
  const http::Response made = Do("POST", "/api/v1/namespaces/default/configmaps", body + "}");
  EXPECT_EQ(made.status, 201);
  std::size_t bytes = 0;
  for (const auto& [name, value] : made.headers) {
    bytes += name == "Warning" ? value.size() : 0;
  }
  EXPECT_GT(bytes, 1000U);
  EXPECT_LT(bytes, 5000U);
}

}  // namespace
}  // namespace kubexx::apiserver
