#include "kubexx/apiserver/endpoints/validation/pods/pod_resize.h"

#include <gmock/gmock.h>

#include <string>

#include "kubexx/apiserver/endpoints/testing/api_fixture.h"

namespace kubexx::apiserver {
namespace {

using ::testing::HasSubstr;

class PodResizeTest : public testing::ApiFixture {
 protected:
  void Make(const std::string& resources, const std::string& rest = {}) {
    const http::Response made = Do(
        "POST", testing::kPods,
        R"({"metadata":{"name":"p"},"spec":{"containers":[{"name":"c","image":"i","resources":{)" +
            resources + "}}]" + rest + "}}");
    ASSERT_EQ(made.status, 201) << made.body;
  }
  http::Response Resize(const std::string& spec) {
    return Do("PATCH", kResize, R"({"spec":{)" + spec + "}}",
              "application/strategic-merge-patch+json");
  }
  http::Response ResizeTo(const std::string& resources) {
    return Resize(R"("containers":[{"name":"c","resources":{)" + resources + "}}]");
  }

  const std::string kPod = std::string(testing::kPods) + "/p";
  const std::string kResize = kPod + "/resize";
};

TEST_F(PodResizeTest, ChangesResourcesAndNothingElse) {
  Make(R"("requests":{"cpu":"1","memory":"1Gi"})");
  const http::Response resized =
      Do("PATCH", kResize,
         R"({"metadata":{"labels":{"a":"b"}},"spec":{"nodeName":"n","containers":[{"name":"c",)"
         R"("image":"other","resources":{"requests":{"cpu":"2"}}}]}})",
         "application/strategic-merge-patch+json");
  ASSERT_EQ(resized.status, 200) << resized.body;
  const codec::JsonTree pod = Json(Do("GET", kPod));
  EXPECT_EQ(At(pod, {"spec", "containers", "0", "resources", "requests"}),
            R"({"cpu":"2","memory":"1Gi"})");
  EXPECT_EQ(At(pod, {"spec", "containers", "0", "image"}), "i");
  EXPECT_EQ(At(pod, {"spec", "nodeName"}), "");
  EXPECT_EQ(At(pod, {"metadata", "labels"}), "");
  EXPECT_EQ(At(pod, {"metadata", "generation"}), "2");
  EXPECT_EQ(Json(Do("GET", kResize)).Find("spec")->ToJson(), pod.Find("spec")->ToJson());
  const http::Response put = Do("PUT", kResize, Do("GET", kPod).body);
  EXPECT_EQ(put.status, 200) << put.body;
  EXPECT_EQ(Do("POST", kResize, "{}").status, 405);
  EXPECT_EQ(Do("GET", std::string(testing::kPods) + "/none/resize").status, 404);
}

TEST_F(PodResizeTest, OnlyCpuAndMemoryMayChange) {
  Make(R"("requests":{"cpu":"1"},"limits":{"example.com/x":"1","cpu":"2"})");
  EXPECT_EQ(ResizeTo(R"("limits":{"cpu":"3"})").status, 200);
  const http::Response other =
      ResizeTo(R"("requests":{"example.com/x":"2"},"limits":{"example.com/x":"2"})");
  EXPECT_EQ(other.status, 422);
  EXPECT_THAT(Message(other), HasSubstr("spec: Forbidden: only cpu and memory resources are"));
  EXPECT_THAT(Message(Resize(R"("containers":[{"name":"c","resizePolicy":[{"resourceName":"cpu",)"
                             R"("restartPolicy":"RestartContainer"}]}])")),
              HasSubstr("only cpu and memory"));
  EXPECT_THAT(Message(ResizeTo(R"("limits":{"cpu":"1m"})")), HasSubstr("Invalid value"));
}

TEST_F(PodResizeTest, NothingIsTakenAway) {
  Make(R"("requests":{"cpu":"1","memory":"1Gi"},"limits":{"memory":"2Gi"})");
  EXPECT_THAT(
      Message(ResizeTo(R"("requests":{"cpu":null})")),
      HasSubstr("spec.containers[0].resources.requests: Forbidden: resource requests cannot be"));
  EXPECT_THAT(
      Message(ResizeTo(R"("limits":{"memory":null})")),
      HasSubstr("spec.containers[0].resources.limits: Forbidden: resource limits cannot be"));
}

TEST_F(PodResizeTest, TheClassOfServiceStays) {
  Make(R"("limits":{"cpu":"1","memory":"1Gi"})");
  EXPECT_THAT(Message(ResizeTo(R"("limits":{"cpu":"2"})")),
              HasSubstr("spec: Invalid value: \"Guaranteed\": Pod QOS Class may not change"));
  EXPECT_EQ(ResizeTo(R"("limits":{"cpu":"2"},"requests":{"cpu":"2"})").status, 200);
}

TEST_F(PodResizeTest, ContainersStay) {
  Make(R"("requests":{"cpu":"1"})");
  EXPECT_THAT(Message(Resize(R"("containers":[{"name":"d","image":"i"}])")),
              HasSubstr("spec.containers: Forbidden: containers may not be added or removed"));
  EXPECT_THAT(Message(Resize(R"("initContainers":[{"name":"d","image":"i"}])")),
              HasSubstr("spec.initContainers: Forbidden: initContainers may not be added"));
  const http::Response renamed =
      Do("PATCH", kResize, R"([{"op":"replace","path":"/spec/containers/0/name","value":"d"}])",
         "application/json-patch+json");
  EXPECT_THAT(Message(renamed),
              HasSubstr("spec.containers[0].name: Forbidden: containers may not"));
}

TEST_F(PodResizeTest, PodsOfNodesThatCannotStay) {
  Make(R"("requests":{"cpu":"1"})");
  ASSERT_EQ(Do("PATCH", kPod + "/status",
               R"({"status":{"containerStatuses":[{"name":"c","image":"i","imageID":"x",)"
               R"("ready":true,"restartCount":0,"state":{"running":{}}}]}})",
               kMergePatch)
                .status,
            200);
  EXPECT_THAT(Message(ResizeTo(R"("requests":{"cpu":"2"})")),
              HasSubstr("spec: Forbidden: Pod running on node without support for resize"));
}

TEST_F(PodResizeTest, APodOfItsOwnResourcesIsResized) {
  Make("", R"(,"resources":{"requests":{"cpu":"1"},"limits":{"cpu":"2"}})");
  const http::Response resized = Resize(R"("resources":{"limits":{"cpu":"3"}})");
  EXPECT_EQ(At(Json(resized), {"spec", "resources", "limits", "cpu"}), "3") << resized.body;
  EXPECT_THAT(Message(Resize(R"("resources":null)")), HasSubstr("spec.resources"));
}

TEST_F(PodResizeTest, IsInDiscovery) {
  EXPECT_THAT(Do("GET", "/api/v1").body, HasSubstr(R"("name":"pods/resize")"));
}

}  // namespace
}  // namespace kubexx::apiserver
