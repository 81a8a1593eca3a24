#include "kubexx/apiserver/object/autoscaler_versions.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>

namespace kubexx::apiserver {
namespace {

using codec::JsonTree;

JsonTree Parsed(std::string_view json) {
  auto tree = JsonTree::Parse(json);
  EXPECT_TRUE(tree) << json;
  return tree ? std::move(*tree) : JsonTree();
}

JsonTree V1(const std::string& spec_and_status, const std::string& metadata = R"({"name":"a"})") {
  return Parsed(R"({"kind":"HorizontalPodAutoscaler","apiVersion":"autoscaling/v1","metadata":)" +
                metadata + "," + spec_and_status + "}");
}

JsonTree V2(const std::string& spec_and_status, const std::string& metadata = R"({"name":"a"})") {
  return Parsed(R"({"kind":"HorizontalPodAutoscaler","apiVersion":"autoscaling/v2","metadata":)" +
                metadata + "," + spec_and_status + "}");
}

JsonTree ToV1(const JsonTree& object) { return AutoscalerInVersion(object, "autoscaling/v1"); }
JsonTree ToV2(const JsonTree& object) { return AutoscalerInVersion(object, "autoscaling/v2"); }

std::string Annotation(const JsonTree& object, const std::string& name) {
  const JsonTree* const found =
      object.At({"metadata", "annotations", "autoscaling.alpha.kubernetes.io/" + name});
  return found == nullptr || found->AsString() == nullptr ? "" : *found->AsString();
}

constexpr const char* kCpu50 =
    R"([{"type":"Resource","resource":{"name":"cpu","target":{"type":"Utilization","averageUtilization":50}}}])";

TEST(AutoscalerVersionsTest, TheUtilizationOfTheCpuIsAFieldOfV1) {
  const JsonTree v1 = V1(
      R"("spec":{"minReplicas":1,"maxReplicas":3,"targetCPUUtilizationPercentage":50},"status":{"currentReplicas":2})");
  const JsonTree v2 = ToV2(v1);
  EXPECT_EQ(v2.TextAt("apiVersion"), "autoscaling/v2");
  EXPECT_EQ(v2.At({"spec", "metrics"})->ToJson(), kCpu50);
  EXPECT_EQ(v2.At({"status", "currentReplicas"})->ToJson(), "2");
  EXPECT_EQ(ToV1(v2), v1);
}

TEST(AutoscalerVersionsTest, WithoutMetricsItGoesByEightyPercent) {
  const JsonTree v2 = ToV2(V1(R"("spec":{"maxReplicas":3})"));
  EXPECT_EQ(v2.At({"spec", "metrics", "0", "resource", "target", "averageUtilization"})->ToJson(),
            "80");
}

// The texts are those of kube-apiserver.
TEST(AutoscalerVersionsTest, OtherMetricsAreInAnAnnotationOfV1) {
  const JsonTree v2 = V2(R"("spec":{"maxReplicas":3,"metrics":[
      {"type":"Resource","resource":{"name":"memory","target":{"type":"AverageValue","averageValue":"1Gi"}}},
      {"type":"Resource","resource":{"name":"cpu","target":{"type":"Utilization","averageUtilization":50}}},
      {"type":"Pods","pods":{"metric":{"name":"rps","selector":{"matchLabels":{"a":"b"}}},
                             "target":{"type":"AverageValue","averageValue":"7"}}},
      {"type":"Object","object":{"describedObject":{"kind":"Service","name":"s","apiVersion":"v1"},
                                 "target":{"type":"AverageValue","averageValue":"5"},"metric":{"name":"m"}}},
      {"type":"External","external":{"metric":{"name":"q"},"target":{"type":"Value","value":"9"}}},
      {"type":"ContainerResource","containerResource":{"name":"cpu","container":"c",
          "target":{"type":"Utilization","averageUtilization":3}}}]},"status":{})");
  const JsonTree v1 = ToV1(v2);
  EXPECT_EQ(v1.At({"spec", "targetCPUUtilizationPercentage"})->ToJson(), "50");
  EXPECT_EQ(
      Annotation(v1, "metrics"),
      R"([{"type":"Resource","resource":{"name":"memory","targetAverageValue":"1Gi"}},)"
      R"({"type":"Pods","pods":{"metricName":"rps","targetAverageValue":"7","selector":{"matchLabels":{"a":"b"}}}},)"
      R"({"type":"Object","object":{"target":{"kind":"Service","name":"s","apiVersion":"v1"},"metricName":"m","targetValue":"0","averageValue":"5"}},)"
      R"({"type":"External","external":{"metricName":"q","targetValue":"9"}},)"
      R"({"type":"ContainerResource","containerResource":{"name":"cpu","targetAverageUtilization":3,"container":"c"}}])");
  const JsonTree back = ToV2(v1);
  EXPECT_EQ(back.At({"spec", "metrics"})->size(), 6U);
  EXPECT_EQ(back.At({"spec", "metrics", "2", "object"})->ToJson(),
            R"({"describedObject":{"kind":"Service","name":"s","apiVersion":"v1"},)"
            R"("metric":{"name":"m"},"target":{"averageValue":"5","type":"AverageValue"}})");
  EXPECT_EQ(back.At({"spec", "metrics", "5", "resource", "name"})->ToJson(), "\"cpu\"");
  EXPECT_EQ(back.At({"metadata", "annotations"}), nullptr);
}

TEST(AutoscalerVersionsTest, BehaviorIsInAnAnnotationOfV1) {
  const JsonTree v2 = V2(
      R"("spec":{"maxReplicas":3,"behavior":{"scaleDown":{"stabilizationWindowSeconds":60,
         "policies":[{"type":"Pods","value":1,"periodSeconds":15}]}},"metrics":)" +
      std::string(kCpu50) + R"(},"status":{})");
  const JsonTree v1 = ToV1(v2);
  EXPECT_EQ(Annotation(v1, "behavior"),
            R"({"ScaleUp":null,"ScaleDown":{"StabilizationWindowSeconds":60,"SelectPolicy":null,)"
            R"("Policies":[{"Type":"Pods","Value":1,"PeriodSeconds":15}],"Tolerance":null}})");
  EXPECT_EQ(ToV2(v1), v2);
}

TEST(AutoscalerVersionsTest, WhatTheStatusHasMoreIsInAnnotationsOfV1) {
  const JsonTree v2 = V2(R"("spec":{"maxReplicas":3,"metrics":)" + std::string(kCpu50) + R"(},
      "status":{"currentReplicas":1,"desiredReplicas":1,
      "currentMetrics":[{"type":"Resource","resource":{"name":"cpu",
          "current":{"averageValue":"200m","averageUtilization":40}}}],
      "conditions":[{"type":"AbleToScale","status":"True","lastTransitionTime":null}]})");
  const JsonTree v1 = ToV1(v2);
  EXPECT_EQ(v1.At({"status", "currentCPUUtilizationPercentage"})->ToJson(), "40");
  EXPECT_EQ(
      Annotation(v1, "current-metrics"),
      R"([{"type":"Resource","resource":{"name":"cpu","currentAverageUtilization":40,"currentAverageValue":"200m"}}])");
  EXPECT_EQ(Annotation(v1, "conditions"),
            R"([{"type":"AbleToScale","status":"True","lastTransitionTime":null}])");
  EXPECT_EQ(ToV2(v1), v2);
}

TEST(AutoscalerVersionsTest, AnnotationsThatAreNoneOfItsOwnAreDropped) {
  const std::string metadata =
      R"({"name":"a","annotations":{"autoscaling.alpha.kubernetes.io/metrics":"{broken","note":"x",
          "autoscaling.alpha.kubernetes.io/behavior":"{}","autoscaling.alpha.kubernetes.io/conditions":"1"}})";
  const JsonTree v2 = ToV2(V1(R"("spec":{"maxReplicas":3})", metadata));
  EXPECT_EQ(v2.At({"metadata", "annotations"})->ToJson(), R"({"note":"x"})");
  EXPECT_EQ(v2.At({"spec", "behavior"}), nullptr);
  EXPECT_EQ(v2.At({"status", "conditions"}), nullptr);
  EXPECT_EQ(v2.At({"spec", "metrics"})->size(), 1U);
}

}  // namespace
}  // namespace kubexx::apiserver
