#include "kubexx/apiserver/endpoints/validation/pods/pod_qos.h"

#include <gmock/gmock.h>

#include <string>

#include "kubexx/apiserver/endpoints/testing/api_fixture.h"

namespace kubexx::apiserver {
namespace {

using codec::JsonTree;

std::string ClassOf(const std::string& spec) {
  const auto tree = JsonTree::Parse(spec);
  EXPECT_TRUE(tree) << spec;
  return tree ? std::string(QosClassOf(*tree)) : "";
}

TEST(QosClassTest, IsMadeByWhatTheContainersMayHave) {
  EXPECT_EQ(ClassOf(R"({"containers":[{"name":"a"}]})"), "BestEffort");
  EXPECT_EQ(ClassOf(R"({"containers":[{"resources":{"requests":{"ephemeral-storage":"1"}}}]})"),
            "BestEffort");
  EXPECT_EQ(ClassOf(R"({"containers":[{"resources":{"requests":{"cpu":"0"}}}]})"), "BestEffort");
  EXPECT_EQ(ClassOf(R"({"containers":[{"resources":{"requests":{"cpu":"1"}}}]})"), "Burstable");
  const std::string full =
      R"({"resources":{"requests":{"cpu":"1","memory":"1Gi"},"limits":{"cpu":"1000m","memory":"1024Mi"}}})";
  EXPECT_EQ(ClassOf(R"({"containers":[)" + full + "]}"), "Guaranteed");
  EXPECT_EQ(ClassOf(R"({"containers":[)" + full + R"(],"initContainers":[{}]})"), "Burstable");
  EXPECT_EQ(ClassOf(R"({"containers":[)" + full + "," + full + "]}"), "Guaranteed");
  EXPECT_EQ(ClassOf(R"({"containers":[{"resources":{"requests":{"cpu":"1","memory":"1"},
      "limits":{"cpu":"2","memory":"1"}}}]})"),
            "Burstable");
  EXPECT_EQ(ClassOf(R"({"containers":[{}],"resources":{"requests":{"cpu":"1","memory":"1"},
      "limits":{"cpu":"1","memory":"1"}}})"),
            "Guaranteed");
}

using PodQosTest = testing::ApiFixture;

TEST_F(PodQosTest, IsInTheStatusAndStays) {
  constexpr const char* kPods = "/api/v1/namespaces/default/pods";
  const auto made = Do("POST", kPods, R"({"metadata":{"name":"p"},"spec":{"containers":[
      {"name":"c","image":"i","resources":{"limits":{"cpu":"1","memory":"1Gi"}}}]}})");
  ASSERT_EQ(made.status, 201) << made.body;
  EXPECT_EQ(At(Json(made), {"status", "qosClass"}), "Guaranteed");
  const std::string status = std::string(kPods) + "/p/status";
  JsonTree pod = Json(made);
  pod["status"] = JsonTree::Object();
  pod["status"]["phase"] = "Running";
  EXPECT_EQ(At(Json(Do("PUT", status, pod.ToJson())), {"status", "qosClass"}), "Guaranteed");
  const auto other =
      Do("PATCH", status, R"({"status":{"qosClass":"Burstable"}})", "application/merge-patch+json");
  EXPECT_EQ(other.status, 422);
  EXPECT_THAT(other.body, ::testing::HasSubstr("status.qosClass"));
}

}  // namespace
}  // namespace kubexx::apiserver
