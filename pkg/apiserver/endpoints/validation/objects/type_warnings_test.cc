#include <gmock/gmock.h>

#include <string>

#include "kubexx/apiserver/endpoints/testing/api_fixture.h"

namespace kubexx::apiserver {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

/// "" for what no warning says.
std::string WarningOf(const http::Response& response) {
  for (const auto& [name, value] : response.headers) {
    if (name == "Warning") {
      return value;
    }
  }
  return {};
}

/// The apiVersion and kind of an answer, as members of JSON.
std::string TypeOf(const http::Response& response) {
  const auto object = codec::JsonTree::Parse(response.body);
  EXPECT_TRUE(object) << response.body;
  return object ? R"("apiVersion":")" + std::string(object->TextAt("apiVersion")) +
                      R"(","kind":")" + std::string(object->TextAt("kind")) + "\""
                : "";
}

class TypeWarningsTest : public testing::ApiFixture {};

TEST_F(TypeWarningsTest, WhatHasNoEffectIsSaid) {
  const std::string admission = "/apis/admissionregistration.k8s.io/v1/";
  const std::string name = R"({"metadata":{"name":"a"}})";
  for (const std::string& path :
       {admission + "validatingadmissionpolicies", admission + "validatingadmissionpolicybindings",
        admission + "mutatingadmissionpolicies", admission + "mutatingadmissionpolicybindings",
        std::string("/api/v1/namespaces/default/resourcequotas"),
        std::string("/api/v1/namespaces/default/limitranges"),
        std::string("/apis/apiregistration.k8s.io/v1/apiservices"),
        std::string("/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas"),
        std::string("/apis/flowcontrol.apiserver.k8s.io/v1/prioritylevelconfigurations")}) {
    const http::Response made = Do("POST", path, name);
    EXPECT_EQ(made.status, 201) << made.body;
    EXPECT_THAT(WarningOf(made), HasSubstr("has no effect")) << path;
    const http::Response changed =
        Do("PATCH", path + "/a", R"({"metadata":{"labels":{"a":"b"}}})", kMergePatch);
    EXPECT_THAT(WarningOf(changed), HasSubstr("has no effect")) << path;
    const http::Response put = Do("PUT", path + "/a", changed.body);
    EXPECT_EQ(put.status, 200) << put.body;
    EXPECT_THAT(WarningOf(put), HasSubstr("has no effect")) << path;
    const http::Response applied =
        Do("PATCH", path + "/b?fieldManager=m", "{" + TypeOf(made) + R"(,"metadata":{"name":"b"}})",
           "application/apply-patch+yaml");
    EXPECT_EQ(applied.status, 201) << applied.body;
    EXPECT_THAT(WarningOf(applied), HasSubstr("has no effect")) << path;
  }
  EXPECT_EQ(WarningOf(Do("POST", "/api/v1/namespaces/default/configmaps", name)), "");
}

TEST_F(TypeWarningsTest, RulesThatAreNotEvaluatedAreWarnedOf) {
  const auto definition = [](const std::string& name, const std::string& rules) {
    return R"({"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition",)"
           R"("metadata":{"name":")" +
           name + R"(s.x.io"},"spec":{"group":"x.io","scope":"Cluster","names":{"plural":")" +
           name + R"(s","kind":")" + name +
           R"("},"versions":[{"name":"v1","served":true,"storage":true,"schema":)"
           R"({"openAPIV3Schema":{"type":"object","properties":{"spec":{"type":"object")" +
           rules + "}}}}}]}}";
  };
  const std::string rules = R"(,"x-kubernetes-validations":[{"rule":"self.count > 1"}])";
  const auto warned = StartsWith("299 - \"x-kubernetes-validations are kept but not evaluated");
  const std::string path = testing::kDefinitions;
  const http::Response made = Do("POST", path, definition("a", rules));
  EXPECT_EQ(made.status, 201) << made.body;
  EXPECT_THAT(WarningOf(made), warned);
  const http::Response changed =
      Do("PATCH", path + "/as.x.io", R"({"metadata":{"labels":{"a":"b"}}})", kMergePatch);
  EXPECT_EQ(changed.status, 200) << changed.body;
  EXPECT_THAT(WarningOf(changed), warned);
  const http::Response put = Do("PUT", path + "/as.x.io", changed.body);
  EXPECT_EQ(put.status, 200) << put.body;
  EXPECT_THAT(WarningOf(put), warned);
  const http::Response applied = Do("PATCH", path + "/bs.x.io?fieldManager=m",
                                    definition("b", rules), "application/apply-patch+yaml");
  EXPECT_EQ(applied.status, 201) << applied.body;
  EXPECT_THAT(WarningOf(applied), warned);
  const http::Response without = Do("POST", path, definition("c", ""));
  EXPECT_EQ(without.status, 201) << without.body;
  EXPECT_EQ(WarningOf(without), "");
}

TEST_F(TypeWarningsTest, LevelsOfPodSecurityHaveNoEffect) {
  const auto make = [this](const std::string& name, const std::string& label) {
    return WarningOf(Do("POST", "/api/v1/namespaces",
                        R"({"metadata":{"name":")" + name + R"(","labels":{)" + label + "}}}"));
  };
  EXPECT_THAT(make("a", R"("pod-security.kubernetes.io/enforce":"restricted")"),
              HasSubstr("no Pod Security"));
  EXPECT_THAT(make("b", R"("pod-security.kubernetes.io/warn":"baseline")"),
              HasSubstr("no Pod Security"));
  EXPECT_EQ(make("c", R"("pod-security.kubernetes.io/enforce":"privileged")"), "");
  EXPECT_EQ(make("d", R"("a":"b")"), "");
}

TEST_F(TypeWarningsTest, AWarningOfALongNameIsCut) {
  const http::Response made =
      Do("POST", "/api/v1/namespaces/default/configmaps",
         R"({"metadata":{"name":"m"},")" + std::string(70'000, 'x') + R"(":1})");
  EXPECT_EQ(made.status, 201) << made.body;
  EXPECT_THAT(WarningOf(made), HasSubstr("unknown field"));
  EXPECT_LT(WarningOf(made).size(), 5000U);
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
