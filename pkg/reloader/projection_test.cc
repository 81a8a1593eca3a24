#include "kubexx/reloader/projection.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kubexx/api/apps/v1/schema.gen.h"
#include "kubexx/api/apps/v1/types.gen.h"
#include "kubexx/api/core/v1/schema.gen.h"
#include "kubexx/api/core/v1/types.gen.h"
#include "kubexx/codec/codec.h"

namespace kubexx::reloader {
namespace {

namespace core = api::core::v1;
namespace apps = api::apps::v1;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

cache::Object Json(std::string text) {
  return {.encoding = codec::Encoding::kJson, .bytes = std::move(text), .key = {"ns", "x"}};
}

template <class T>
cache::Object Protobuf(const T& object) {
  return {.encoding = codec::Encoding::kProtobuf,
          .bytes = codec::EncodeProtobuf(object),
          .key = {"ns", "x"}};
}

Source Projected(SourceType type, cache::Object object) {
  const auto done = ProjectSource(type, {}, object);
  EXPECT_TRUE(done) << done.status().ToString();
  const auto source = SourceFrom(type, object);
  EXPECT_TRUE(source) << source.status().ToString();
  return *source;
}

TEST(ProjectSource, HashesDataAndBinaryDataOfAConfigMapTogether) {
  core::ConfigMap config_map;
  config_map.metadata.namespace_ = "ns";
  config_map.metadata.name = "x";
  config_map.data = {{"a", "1"}, {"c", "3"}};
  config_map.binary_data["b"] = apimachinery::Bytes("foo");
  const Source want{
      {SourceType::kConfigMap, {"ns", "x"}}, DigestOf("a=1;b=Zm9v;c=3"), false, false};
  EXPECT_EQ(Projected(SourceType::kConfigMap, Protobuf(config_map)), want);
  EXPECT_EQ(Projected(SourceType::kConfigMap,
                      Json(R"({"metadata":{"namespace":"ns","name":"x"},"data":{"c":"3","a":"1"},)"
                           R"("binaryData":{"b":"Zm9v"}})")),
            want);
}

TEST(ProjectSource, HashesTheDecodedBytesOfASecret) {
  const Source source = Projected(
      SourceType::kSecret,
      Json(
          R"({"metadata":{"namespace":"ns","name":"x"},"type":"Opaque","data":{"key":"dXBkYXRlZA=="}})"));
  EXPECT_EQ(source.digest.ToString(), "6b3093988321555757cc9b88a5f2d59101a0261c");
}

TEST(ProjectSource, LeavesNothingOfTheSecret) {
  cache::Object object = Json(
      R"({"metadata":{"namespace":"ns","name":"x","labels":{"l":"SWORDFISH"},)"
      R"("annotations":{"kubectl.kubernetes.io/last-applied-configuration":"SWORDFISH","digest":"SWORDFISH"}},)"
      R"("data":{"password":"U1dPUkRGSVNI"}})");
  ASSERT_TRUE(ProjectSource(SourceType::kSecret, {}, object));
  EXPECT_THAT(object.bytes, Not(HasSubstr("SWORDFISH")));
  EXPECT_THAT(object.bytes, Not(HasSubstr("password")));
}

TEST(ProjectSource, KeepsIgnoreAndMatchWhenTheySayTrue) {
  const auto with = [](const std::string& value) {
    return Projected(
        SourceType::kConfigMap,
        Json(
            R"({"metadata":{"namespace":"ns","name":"x","annotations":{"reloader.stakater.com/ignore":")" +
            value + R"(","reloader.stakater.com/match":")" + value + R"("}}})"));
  };
  EXPECT_TRUE(with("true").ignore);
  EXPECT_TRUE(with("true").match);
  EXPECT_FALSE(with("True").ignore);
  EXPECT_FALSE(with("1").match);
}

TEST(ProjectSource, WithoutDataHasTheDigestOfNothing) {
  EXPECT_EQ(Projected(SourceType::kConfigMap, Json(R"({"metadata":{"name":"x"}})")).digest,
            DigestOf(""));
}

TEST(ProjectSource, RefusesGarbageAndDropsIt) {
  for (const char* bytes : {"{", "SECRET", "[]"}) {
    cache::Object object = Json(bytes);
    EXPECT_FALSE(ProjectSource(SourceType::kSecret, {}, object));
    EXPECT_EQ(object.bytes, "");
  }
}

TEST(SourceFrom, RefusesWhatIsNoProjection) {
  EXPECT_FALSE(SourceFrom(SourceType::kConfigMap, Json(R"({"metadata":{"name":"x"}})")));
  EXPECT_FALSE(SourceFrom(SourceType::kConfigMap,
                          Json(R"({"metadata":{"name":"x","annotations":{"digest":"12"}}})")));
}

constexpr char kPodSpec[] = R"({
  "volumes":[{"name":"plain","emptyDir":{}},
             {"name":"cm","configMap":{"name":"by-volume"}},
             {"name":"sec","secret":{"secretName":"sec-by-volume"}},
             {"name":"both","projected":{"sources":[{"configMap":{"name":"p1"}},{"secret":{"name":"p2"}},
                                                    {"downwardAPI":{}}]}}],
  "initContainers":[{"name":"init","volumeMounts":[{"name":"cm","mountPath":"/x"}]}],
  "containers":[{"name":"app","image":"busybox:1","command":["sh"],
    "env":[{"name":"A","value":"1"},
           {"name":"B","valueFrom":{"configMapKeyRef":{"name":"by-key","key":"k"}}},
           {"name":"C","valueFrom":{"secretKeyRef":{"name":"sec-by-key","key":"k"}}},
           {"name":"STAKATER_X_CONFIGMAP","value":"abc"}],
    "envFrom":[{"configMapRef":{"name":"by-env"}},{"secretRef":{"name":"sec-by-env"}}],
    "volumeMounts":[{"name":"plain","mountPath":"/p"},{"name":"both","mountPath":"/b"}]}]})";

std::string WorkloadJson(std::string_view status = "{}", std::string_view image = "busybox:1") {
  std::string pod = kPodSpec;
  pod.replace(pod.find("busybox:1"), 9, image);
  return R"({"metadata":{"namespace":"ns","name":"w","uid":"u1","resourceVersion":"7","annotations":)"
         R"({"reloader.stakater.com/auto":"true","other":"x"}},"spec":{"template":{"metadata":{"annotations":)"
         R"({"secret.reloader.stakater.com/reload":"s","prometheus.io/scrape":"true"}},"spec":)" +
         pod + R"(}},"status":)" + std::string(status) + "}";
}

class WorkloadProjection : public testing::TestWithParam<WorkloadKind> {};

TEST_P(WorkloadProjection, KeepsWhatDecides) {
  cache::Object object = Json(WorkloadJson());
  ASSERT_TRUE(ProjectWorkload(GetParam(), {}, object));
  EXPECT_THAT(object.bytes, Not(HasSubstr("busybox")));
  EXPECT_THAT(object.bytes, Not(HasSubstr("prometheus")));
  const auto workload = WorkloadFrom(GetParam(), object);
  ASSERT_TRUE(workload);
  const auto cm = [](std::string name) {
    return Reference{SourceType::kConfigMap, std::move(name)};
  };
  const auto secret = [](std::string name) {
    return Reference{SourceType::kSecret, std::move(name)};
  };
  EXPECT_EQ(
      *workload,
      (Workload{.id = {GetParam(), {"ns", "w"}},
                .uid = "u1",
                .annotations = {{"reloader.stakater.com/auto", "true"}},
                .template_annotations = {{"secret.reloader.stakater.com/reload", "s"}},
                .volumes = {{"cm", {cm("by-volume")}},
                            {"sec", {secret("sec-by-volume")}},
                            {"both", {cm("p1"), secret("p2")}}},
                .containers = {{.name = "app",
                                .mounts = {"both"},
                                .references = {cm("by-key"), secret("sec-by-key"), cm("by-env"),
                                               secret("sec-by-env")},
                                .variables = {{"STAKATER_X_CONFIGMAP", "abc"}}}},
                .init_containers = {{.name = "init", .mounts = {"cm"}}},
                .phase = GetParam() == WorkloadKind::kDaemonSet ? reloadpolicy::Phase::kComplete
                                                                : reloadpolicy::Phase::kUpdating}));
}

TEST_P(WorkloadProjection, IsTheSameAfterChangesThatDoNotCount) {
  cache::Object a = Json(WorkloadJson());
  cache::Object b = Json(WorkloadJson(R"({"observedGeneration":9})", "nginx:2"));
  ASSERT_TRUE(ProjectWorkload(GetParam(), {}, a));
  ASSERT_TRUE(ProjectWorkload(GetParam(), {}, b));
  EXPECT_EQ(a.bytes, b.bytes);
}

TEST_P(WorkloadProjection, OfAProjectionIsItself) {
  cache::Object object = Json(WorkloadJson());
  ASSERT_TRUE(ProjectWorkload(GetParam(), {}, object));
  const std::string once = object.bytes;
  ASSERT_TRUE(ProjectWorkload(GetParam(), {}, object));
  EXPECT_EQ(object.bytes, once);
}

TEST_P(WorkloadProjection, RefusesGarbage) {
  cache::Object object = Json(R"({"spec":{"template":7}})");
  EXPECT_FALSE(ProjectWorkload(GetParam(), {}, object));
}

INSTANTIATE_TEST_SUITE_P(Kinds, WorkloadProjection, testing::ValuesIn(kWorkloadKinds),
                         [](const auto& row) { return std::string(KindName(row.param)); });

}  // namespace
}  // namespace kubexx::reloader
