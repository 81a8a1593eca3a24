// Kept as kube-apiserver keeps it; test/differential compares the two.
#include "kubexx/apiserver/endpoints/defaults/template_generation.h"

#include <gtest/gtest.h>

#include <string>

#include "kubexx/apiserver/endpoints/testing/api_fixture.h"

namespace kubexx::apiserver {
namespace {

constexpr const char* kDaemonSets = "/apis/apps/v1/namespaces/default/daemonsets";
constexpr const char* kAgent = "/apis/apps/v1/namespaces/default/daemonsets/agent";
constexpr const char* kJsonPatchType = "application/json-patch+json";

class TemplateGenerationTest : public testing::ApiFixture {
 protected:
  static std::string Agent(const std::string& annotations, const std::string& image = "a:1") {
    return R"({"kind":"DaemonSet","apiVersion":"apps/v1","metadata":{"name":"agent",)"
           R"("annotations":)" +
           annotations +
           R"(},"spec":{"selector":{"matchLabels":{"app":"a"}},"template":{"metadata":)"
           R"({"labels":{"app":"a"}},"spec":{"containers":[{"name":"c","image":")" +
           image + R"("}]}}}})";
  }
  int Create(const std::string& annotations) {
    return Do("POST", kDaemonSets, Agent(annotations)).status;
  }
  /// That on the stored object.
  std::string Number() {
    return At(Json(Do("GET", kAgent)), {"metadata", "annotations", kTemplateGeneration});
  }
};

TEST_F(TemplateGenerationTest, CountsTheTemplates) {
  ASSERT_EQ(Create("{}"), 201);
  EXPECT_EQ(Number(), "1");
  const char* const image =
      R"([{"op":"replace","path":"/spec/template/spec/containers/0/image","value":"b:1"}])";
  EXPECT_EQ(Do("PATCH", kAgent, image, kJsonPatchType).status, 200);
  EXPECT_EQ(Number(), "2");
  EXPECT_EQ(Do("PATCH", kAgent, R"({"spec":{"minReadySeconds":5}})", kMergePatch).status, 200);
  EXPECT_EQ(Number(), "2") << "that is no part of the template";
  EXPECT_EQ(Do("PUT", kAgent, Agent("{}", "c:1")).status, 200);
  EXPECT_EQ(Number(), "3");
}

TEST_F(TemplateGenerationTest, NobodyTakesItAwayOrChangesIt) {
  ASSERT_EQ(Create("{}"), 201);
  const char* const remove = R"([{"op":"remove","path":"/metadata/annotations"}])";
  EXPECT_EQ(Do("PATCH", kAgent, remove, kJsonPatchType).status, 200);
  EXPECT_EQ(Number(), "1");
  EXPECT_EQ(Do("PUT", kAgent, Agent(R"({"deprecated.daemonset.template.generation":"9"})")).status,
            200);
  EXPECT_EQ(Number(), "1");
  const std::string status = std::string(kAgent) + "/status";
  const char* const null = R"({"metadata":{"annotations":null}})";
  EXPECT_EQ(Do("PATCH", status, null, kMergePatch).status, 200);
  EXPECT_EQ(Number(), "1");
}

TEST_F(TemplateGenerationTest, WhoMakesADaemonSetMaySayWhereToBegin) {
  EXPECT_EQ(Create(R"({"deprecated.daemonset.template.generation":"seven"})"), 400);
  ASSERT_EQ(Create(R"({"deprecated.daemonset.template.generation":"7"})"), 201);
  EXPECT_EQ(Number(), "7");
}

TEST_F(TemplateGenerationTest, ItBeginsWithOne) {
  ASSERT_EQ(Create(R"({"deprecated.daemonset.template.generation":"-3"})"), 201);
  EXPECT_EQ(Number(), "1");
}

}  // namespace
}  // namespace kubexx::apiserver
