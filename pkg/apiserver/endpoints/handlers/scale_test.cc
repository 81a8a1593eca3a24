#include <gmock/gmock.h>

#include <string>

#include "kubexx/apiserver/endpoints/testing/api_fixture.h"

namespace kubexx::apiserver {
namespace {

using codec::JsonTree;
using ::testing::HasSubstr;

constexpr const char* kScaledDeployments = "/apis/apps/v1/namespaces/default/deployments";

class ScaleTest : public testing::ApiFixture {
 protected:
  static std::string Deployment(const std::string& name, const std::string& selector) {
    return R"({"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":")" + name +
           R"("},"spec":{"replicas":7,"selector":)" + selector +
           R"(,"template":{"metadata":{"labels":{"a":"b","tier":"web"}},)"
           R"("spec":{"containers":[{"name":"c","image":"c"}]}}}})";
  }
  void MakeDeployment(const std::string& name, const std::string& selector) {
    const http::Response made = Do("POST", kScaledDeployments, Deployment(name, selector));
    ASSERT_EQ(made.status, 201) << made.body;
  }
  static std::string ScaleAt(const std::string& name) {
    return std::string(kScaledDeployments) + "/" + name + "/scale";
  }
  std::string SelectorOfScale(const std::string& name) {
    return At(Json(Do("GET", ScaleAt(name))), {"status", "selector"});
  }
  std::string Replicas() { return At(Json(Do("GET", ScaleAt("d"))), {"spec", "replicas"}); }
};

/// Autoscalers find the pods by it.
TEST_F(ScaleTest, TheSelectorHasAllRequirements) {
  MakeDeployment("labels", R"({"matchLabels":{"a":"b"}})");
  EXPECT_EQ(SelectorOfScale("labels"), "a=b");
  MakeDeployment("both", R"({"matchLabels":{"a":"b"},"matchExpressions":[)"
                         R"({"key":"tier","operator":"In","values":["web","db"]},)"
                         R"({"key":"Z","operator":"DoesNotExist"}]})");
  EXPECT_EQ(SelectorOfScale("both"), "!Z,a=b,tier in (db,web)");
  MakeDeployment("expressions", R"({"matchExpressions":[{"key":"a","operator":"Exists"},)"
                                R"({"key":"tier","operator":"NotIn","values":["db"]}]})");
  EXPECT_EQ(SelectorOfScale("expressions"), "a,tier notin (db)");
}

TEST_F(ScaleTest, APlainSelectorIsOfLabels) {
  const std::string controllers = "/api/v1/namespaces/default/replicationcontrollers";
  ASSERT_EQ(Do("POST", controllers,
               R"({"metadata":{"name":"c"},"spec":{"selector":{"a":"b","matchLabels":"x"},)"
               R"("template":{"metadata":{"labels":{"a":"b","matchLabels":"x"}},)"
               R"("spec":{"containers":[{"name":"c","image":"c"}]}}}})")
                .status,
            201);
  EXPECT_EQ(At(Json(Do("GET", controllers + "/c/scale")), {"status", "selector"}),
            "a=b,matchLabels=x");
}

}  // namespace
}  // namespace kubexx::apiserver
