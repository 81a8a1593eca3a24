// HorizontalPodAutoscalers in both of their versions.
#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "kubexx/apiserver/endpoints/testing/api_fixture.h"

namespace kubexx::apiserver {
namespace {

using codec::JsonTree;
using ::testing::HasSubstr;

constexpr const char* kAutoscalersV1 =
    "/apis/autoscaling/v1/namespaces/default/horizontalpodautoscalers";
constexpr const char* kAutoscalersV2 =
    "/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers";
constexpr const char* kAutoscalerSpec =
    R"("scaleTargetRef":{"kind":"Deployment","name":"d","apiVersion":"apps/v1"},"maxReplicas":3)";

class AutoscalerTest : public testing::ApiFixture {
 protected:
  static std::string Body(const std::string& more = "") {
    return R"({"metadata":{"name":"a"},"spec":{)" + std::string(kAutoscalerSpec) + more + "}}";
  }
  JsonTree Get(const char* path) { return Json(Do("GET", std::string(path) + "/a")); }
  void SetStatus() {
    const http::Response set =
        Do("PATCH", std::string(kAutoscalersV2) + "/a/status",
           R"({"status":{"currentReplicas":2,"desiredReplicas":2,"conditions":[
            {"type":"AbleToScale","status":"True","lastTransitionTime":"2026-01-02T03:04:05Z"}]}})",
           kMergePatch);
    ASSERT_EQ(set.status, 200) << set.body;
  }
};

TEST_F(AutoscalerTest, WhatV1MakesV2Has) {
  const http::Response made =
      Do("POST", kAutoscalersV1, Body(R"(,"targetCPUUtilizationPercentage":70)"));
  ASSERT_EQ(made.status, 201) << made.body;
  EXPECT_EQ(At(Json(made), {"apiVersion"}), "autoscaling/v1");
  EXPECT_EQ(At(Json(made), {"spec", "minReplicas"}), "1");
  const JsonTree v2 = Get(kAutoscalersV2);
  EXPECT_EQ(At(v2, {"apiVersion"}), "autoscaling/v2");
  EXPECT_EQ(At(v2, {"spec", "metrics", "0", "resource", "target", "averageUtilization"}), "70");
  EXPECT_EQ(At(Get(kAutoscalersV1), {"spec", "targetCPUUtilizationPercentage"}), "70");
  EXPECT_EQ(At(v2, {"metadata", "resourceVersion"}),
            At(Json(made), {"metadata", "resourceVersion"}));
}

TEST_F(AutoscalerTest, TheDefaultIsToldAtOnce) {
  EXPECT_EQ(
      At(Json(Do("POST", kAutoscalersV1, Body())), {"spec", "targetCPUUtilizationPercentage"}),
      "80");
  ASSERT_EQ(Do("DELETE", std::string(kAutoscalersV1) + "/a").status, 200);
  const JsonTree made =
      Json(Do("POST", kAutoscalersV2, Body(R"(,"behavior":{"scaleDown":{"selectPolicy":"Min"}})")));
  EXPECT_EQ(At(made, {"spec", "metrics", "0", "resource", "target", "averageUtilization"}), "80");
  EXPECT_EQ(At(made, {"spec", "behavior", "scaleUp", "policies"}),
            R"([{"type":"Pods","value":4,"periodSeconds":15},)"
            R"({"type":"Percent","value":100,"periodSeconds":15}])");
  EXPECT_EQ(At(made, {"spec", "behavior", "scaleDown", "selectPolicy"}), "Min");
}

TEST_F(AutoscalerTest, V2TakesNoAnnotationsOfV1) {
  const http::Response made =
      Do("POST", kAutoscalersV2,
         R"({"metadata":{"name":"a","annotations":{"autoscaling.alpha.kubernetes.io/metrics":"[]",
             "note":"x"}},"spec":{)" +
             std::string(kAutoscalerSpec) + "}}");
  ASSERT_EQ(made.status, 201) << made.body;
  EXPECT_EQ(At(Json(made), {"metadata", "annotations"}), R"({"note":"x"})");
}

TEST_F(AutoscalerTest, AWriteInV1KeepsTheStatus) {
  ASSERT_EQ(Do("POST", kAutoscalersV2, Body()).status, 201);
  SetStatus();
  JsonTree v1 = Get(kAutoscalersV1);
  EXPECT_THAT(At(v1, {"metadata", "annotations", "autoscaling.alpha.kubernetes.io/conditions"}),
              HasSubstr("AbleToScale"));
  v1["metadata"].Erase("annotations");
  v1["spec"]["maxReplicas"] = 9;
  const http::Response updated = Do("PUT", std::string(kAutoscalersV1) + "/a", v1.ToJson());
  ASSERT_EQ(updated.status, 200) << updated.body;
  EXPECT_THAT(updated.body, HasSubstr("AbleToScale"));
  const JsonTree v2 = Get(kAutoscalersV2);
  EXPECT_EQ(At(v2, {"spec", "maxReplicas"}), "9");
  EXPECT_EQ(At(v2, {"status", "conditions", "0", "type"}), "AbleToScale");
  EXPECT_EQ(At(v2, {"metadata", "annotations"}), "");
}

TEST_F(AutoscalerTest, AStatusInV1IsThatOfV2) {
  ASSERT_EQ(Do("POST", kAutoscalersV2, Body()).status, 201);
  SetStatus();
  const http::Response set =
      Do("PATCH", std::string(kAutoscalersV1) + "/a/status",
         R"({"status":{"currentReplicas":1,"currentCPUUtilizationPercentage":33},
             "spec":{"maxReplicas":7}})",
         kMergePatch);
  ASSERT_EQ(set.status, 200) << set.body;
  const JsonTree v2 = Get(kAutoscalersV2);
  EXPECT_EQ(At(v2, {"spec", "maxReplicas"}), "3");
  EXPECT_EQ(At(v2, {"status", "currentReplicas"}), "1");
  EXPECT_EQ(At(v2, {"status", "currentMetrics", "0", "resource", "current", "averageUtilization"}),
            "33");
  EXPECT_EQ(At(v2, {"status", "conditions", "0", "type"}), "AbleToScale");
}

TEST_F(AutoscalerTest, ListsAndWatchesAreInTheVersionThatWasAskedFor) {
  const std::string version = At(Json(Do("GET", kAutoscalersV1)), {"metadata", "resourceVersion"});
  ASSERT_EQ(Do("POST", kAutoscalersV2, Body()).status, 201);
  for (const char* const path : {kAutoscalersV1, kAutoscalersV2}) {
    const std::string api_version = path == kAutoscalersV1 ? "autoscaling/v1" : "autoscaling/v2";
    EXPECT_EQ(At(Json(Do("GET", path)), {"apiVersion"}), api_version);
    EXPECT_EQ(At(Json(Do("GET", path)), {"items", "0", "metadata", "name"}), "a");
    const http::Response watch =
        Do("GET", std::string(path) + "?watch=1&resourceVersion=" + version);
    ASSERT_NE(watch.stream, nullptr) << watch.body;
    std::vector<http::BodyStream::Chunk> events;
    watch.stream->Take(events);
    watch.stream->Closed();
    ASSERT_EQ(events.size(), 1U);
    EXPECT_THAT(*events[0], HasSubstr(R"("apiVersion":")" + api_version + "\""));
  }
  EXPECT_THAT(Do("GET", kAutoscalersV1).body, HasSubstr(R"("targetCPUUtilizationPercentage":80)"));
}

TEST_F(AutoscalerTest, DiscoveryHasBothAndPrefersV2) {
  const JsonTree group = Json(Do("GET", "/apis/autoscaling"));
  EXPECT_EQ(At(group, {"preferredVersion", "version"}), "v2");
  EXPECT_EQ(At(group, {"versions", "1", "version"}), "v1");
  for (const std::string version : {"v1", "v2"}) {
    const JsonTree list = Json(Do("GET", "/apis/autoscaling/" + version));
    EXPECT_EQ(At(list, {"resources", "0", "storageVersionHash"}), "qwQve8ut294=");
  }
}

TEST_F(AutoscalerTest, ANamespaceTakesThemAlong) {
  ASSERT_EQ(Do("POST", "/api/v1/namespaces", R"({"metadata":{"name":"n"}})").status, 201);
  const std::string path = "/apis/autoscaling/v1/namespaces/n/horizontalpodautoscalers";
  ASSERT_EQ(Do("POST", path, Body()).status, 201);
  ASSERT_EQ(Do("DELETE", "/api/v1/namespaces/n").status, 200);
  EXPECT_EQ(Do("GET", path + "/a").status, 404);
}

class StoredInProtobufTest : public AutoscalerTest {
 protected:
  StoredInProtobufTest() : api2_(*storage_, Patient({.form = StoredForm::kProtobuf})) {}
  Api api2_;
};

TEST_F(StoredInProtobufTest, BothVersionsReadIt) {
  http::Request request;
  request.method = "POST";
  request.path = kAutoscalersV1;
  request.body = Body(R"(,"targetCPUUtilizationPercentage":70)");
  request.headers = {{"Content-Type", "application/json"}};
  ASSERT_EQ(api2_.Handle(request).status, 201);
  EXPECT_EQ(At(Get(kAutoscalersV1), {"spec", "targetCPUUtilizationPercentage"}), "70");
  EXPECT_EQ(
      At(Get(kAutoscalersV2), {"spec", "metrics", "0", "resource", "target", "averageUtilization"}),
      "70");
  const auto stored = storage_->Get("/registry/horizontalpodautoscalers/default/a", 0, {});
  ASSERT_TRUE(stored);
  EXPECT_THAT(*stored->value, HasSubstr("autoscaling/v2"));
}

}  // namespace
}  // namespace kubexx::apiserver
