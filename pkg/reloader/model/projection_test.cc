#include "kubexx/reloader/model/projection.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kubexx/api/apps/v1/schema.gen.h"
#include "kubexx/api/apps/v1/types.gen.h"
#include "kubexx/api/core/v1/schema.gen.h"
#include "kubexx/api/core/v1/types.gen.h"
#include "kubexx/codec/codec.h"
#include "kubexx/codec/json_tree.h"
#include "kubexx/reloader/kinds/custom_phase.h"
#include "kubexx/reloader/model/kept_source.h"
#include "kubexx/reloader/model/restored_mark.h"

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
  EXPECT_TRUE(done) << done.error().ToString();
  const auto source = SourceFrom(type, object);
  EXPECT_TRUE(source) << source.error().ToString();
  return *source;
}

TEST(ProjectSource, HashesDataAndBinaryDataOfAConfigMapTogether) {
  core::ConfigMap config_map;
  config_map.metadata.namespace_ = "ns";
  config_map.metadata.name = "x";
  config_map.data = {{"a", "1"}, {"c", "3"}};
  config_map.binary_data["b"] = apimachinery::Bytes("foo");
  const Source want{.id = {SourceType::kConfigMap, {"ns", "x"}},
                    .digest = DigestOf("a=1;b=Zm9v;c=3"),
                    .prints = KeyPrintsOf(config_map)};
  EXPECT_EQ(Projected(SourceType::kConfigMap, Protobuf(config_map)), want);
  EXPECT_EQ(Projected(SourceType::kConfigMap,
                      Json(R"({"metadata":{"namespace":"ns","name":"x"},"data":{"c":"3","a":"1"},)"
                           R"("binaryData":{"b":"Zm9v"}})")),
            want);
}

/// A ConfigMap that allows these namespaces, as it is kept with or without the flag.
Source Allowing(const std::string& namespaces, bool other_namespaces = true) {
  core::ConfigMap config_map;
  config_map.metadata.annotations[std::string(kAllowedNamespaces)] = namespaces;
  cache::Object object = Protobuf(config_map);
  AnnotationKeys keys;
  keys.other_namespaces = other_namespaces;
  EXPECT_TRUE(ProjectSource(SourceType::kConfigMap, keys, object));
  return SourceFrom(SourceType::kConfigMap, object).value_or(Source{});
}

TEST(ProjectSource, KeepsTheNamespacesThatMayNameTheSource) {
  const Source some = Allowing(" shop,bank,, shop , Not/One");
  EXPECT_EQ(some.allowed, "bank,shop");
  EXPECT_TRUE(Allows(some, "shop"));
  EXPECT_FALSE(Allows(some, "sho"));
  EXPECT_FALSE(Allows(some, ""));
  EXPECT_FALSE(Allows(some, "bank,shop"));
  EXPECT_TRUE(Allows(Allowing("shop, *"), "any"));
  EXPECT_FALSE(Allows(Allowing(""), "shop"));
  EXPECT_FALSE(Allows(Allowing("**"), "shop"));
  EXPECT_FALSE(Allows(Source{}, ""));
}

TEST(ProjectSource, KeepsNothingOfNamespacesWithoutTheFlag) {
  EXPECT_EQ(Allowing("shop", false), Allowing("", false));
  EXPECT_FALSE(Allows(Allowing("*", false), "shop"));
}

TEST(ProjectSource, KeepsABoundedListOfNamespaces) {
  std::string many;
  for (int i = 0; i < 300; ++i) {
    many += "ns-" + std::to_string(i) + ",";
  }
  EXPECT_EQ(Allowing(many).allowed, "") << "a part of it would look like all of it";
}

TEST(ProjectSource, HashesTheDecodedBytesOfASecret) {
  const Source source = Projected(
      SourceType::kSecret,
      Json(
          R"({"metadata":{"namespace":"ns","name":"x"},"type":"Opaque","data":{"key":"dXBkYXRlZA=="}})"));
  EXPECT_EQ(source.digest.ToString(), "6b3093988321555757cc9b88a5f2d59101a0261c");
}

TEST(ProjectSource, KnowsDataThatWerePutBack) {
  core::ConfigMap config_map;
  config_map.metadata.uid = "u1";
  config_map.data = {{"a", "1"}};
  RestoredMark mark{.uid = "u1",
                    .good = DigestOf("a=1"),
                    .bad = DigestOf("a=2"),
                    .at = apimachinery::Time{.seconds = 1}};
  const auto is_restored = [&config_map](const RestoredMark& says) {
    says.WriteTo(config_map.metadata.annotations);
    return Projected(SourceType::kConfigMap, Protobuf(config_map)).restored;
  };
  EXPECT_FALSE(Projected(SourceType::kConfigMap, Protobuf(config_map)).restored);
  EXPECT_TRUE(is_restored(mark));
  EXPECT_EQ(Projected(SourceType::kConfigMap, Protobuf(config_map)).settled, std::nullopt);
  mark.settled = apimachinery::Time{.seconds = 2};
  EXPECT_TRUE(is_restored(mark));
  EXPECT_EQ(Projected(SourceType::kConfigMap, Protobuf(config_map)).settled, mark.settled);
  mark.uid = "u2";
  EXPECT_FALSE(is_restored(mark)) << "the mark is of another object";
  mark.uid = "u1";
  config_map.data["a"] = "3";
  EXPECT_FALSE(is_restored(mark)) << "somebody has written other data since";
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

TEST(ProjectSource, KeepsTheHelmRelease) {
  const auto release_of = [](const std::string& annotations) {
    const std::string metadata =
        R"("metadata":{"namespace":"ns","name":"x","annotations":)" + annotations + "}";
    cache::Object workload = Json("{" + metadata + "}");
    EXPECT_TRUE(ProjectWorkload(WorkloadKind::kDeployment, {}, workload));
    const std::string release = Projected(SourceType::kSecret, Json("{" + metadata + "}")).release;
    EXPECT_EQ(WorkloadFrom(WorkloadKind::kDeployment, workload)->release, release);
    return release;
  };
  EXPECT_EQ(
      release_of(R"({"meta.helm.sh/release-name":"shop","meta.helm.sh/release-namespace":"prod"})"),
      "prod/shop");
  EXPECT_EQ(release_of(R"({"meta.helm.sh/release-name":"shop"})"), "");
  EXPECT_EQ(release_of("{}"), "");
}

TEST(ProjectSource, EveryPauseButFalseHolds) {
  for (const auto& [value, is_paused] :
       {std::pair("true", true), std::pair("yes", true), std::pair("", true),
        std::pair("False", true), std::pair("false", false)}) {
    const Source source = Projected(
        SourceType::kConfigMap, Json(R"({"metadata":{"namespace":"ns","name":"x","annotations":)"
                                     R"({"reloader.kubexx.io/paused":")" +
                                     std::string(value) + R"("}},"data":{"a":"1"}})"));
    EXPECT_EQ(source.paused, is_paused) << value;
  }
  EXPECT_FALSE(Projected(SourceType::kConfigMap, Json(R"({"metadata":{"name":"x"}})")).paused);
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
  EXPECT_FALSE(SourceFrom(SourceType::kConfigMap, Json(R"({"digest":"MTI="})")));
  core::ConfigMap config_map;
  config_map.metadata.name = "x";
  EXPECT_FALSE(SourceFrom(SourceType::kConfigMap, Protobuf(config_map)));
  cache::Object short_digest = Json("{}");
  StoreKept(KeptSource{.digest = apimachinery::Bytes("12")}, short_digest);
  EXPECT_FALSE(SourceFrom(SourceType::kConfigMap, short_digest));
}

// A cluster may have a hundred thousand of these objects.
TEST(ProjectSource, KeepsTheDigestAndLittleElse) {
  cache::Object object = Json(
      R"({"metadata":{"namespace":"ns","name":"x","labels":{"a":"b"}},"data":{"key":"value"}})");
  ASSERT_TRUE(ProjectSource(SourceType::kConfigMap, {}, object));
  constexpr std::size_t kPrints =
      7;  // six bytes for the key, and one that says that they are known
  EXPECT_EQ(object.bytes.size(), sizeof(Digest) + 2 + kPrints + 2);
}

TEST(ProjectSource, KeepsAllThatCounts) {
  cache::Object object = Json("{}");
  const Source want{.id = {SourceType::kSecret, {"ns", "x"}},
                    .digest = DigestOf("a"),
                    .ignore = true,
                    .match = true,
                    .paused = true,
                    .keys = "k",
                    .prints = {.packed = "p"},
                    .release = "r"};
  StoreKept(KeptSource{.digest = BytesOf(want.digest),
                       .ignore = true,
                       .match = true,
                       .paused = true,
                       .as_created = true,
                       .keys = "k",
                       .release = "r",
                       .prints = apimachinery::Bytes(std::string("p"))},
            object);
  EXPECT_EQ(*SourceFrom(SourceType::kSecret, object), want);
  EXPECT_TRUE(IsAsCreated(object));
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

std::string WorkloadJson(WorkloadKind kind, std::string_view status = "{}",
                         std::string_view image = "busybox:1") {
  std::string pod = kPodSpec;
  pod.replace(pod.find("busybox:1"), 9, image);
  const std::string json =
      R"({"metadata":{"namespace":"ns","name":"w","uid":"u1","resourceVersion":"7","annotations":)"
      R"({"reloader.stakater.com/auto":"true","other":"x"}},"spec":{"template":{"metadata":{"annotations":)"
      R"({"secret.reloader.stakater.com/reload":"s","prometheus.io/scrape":"true"}},"spec":)" +
      pod + R"(}},"status":)" + std::string(status) + "}";
  if (kind != WorkloadKind::kCronJob) {
    return json;
  }
  codec::JsonTree tree = *codec::JsonTree::Parse(json);
  codec::JsonTree job_template = codec::JsonTree::Object();
  job_template["spec"] = tree["spec"];
  tree["spec"] = codec::JsonTree::Object();
  tree["spec"]["jobTemplate"] = std::move(job_template);
  tree.Erase("status");
  return tree.ToJson();
}

/// Returns the phase of a workload without status.
reloadpolicy::Phase FirstPhase(WorkloadKind kind) {
  switch (kind) {
    case WorkloadKind::kDeployment:
    case WorkloadKind::kDeploymentConfig:
      return reloadpolicy::Phase::kUpdating;
    case WorkloadKind::kStatefulSet:
      return reloadpolicy::Phase::kUnavailable;
    case WorkloadKind::kDaemonSet:
      return reloadpolicy::Phase::kWithoutPods;
    default:
      return reloadpolicy::Phase::kComplete;
  }
}

class WorkloadProjection : public testing::TestWithParam<WorkloadKind> {};

TEST_P(WorkloadProjection, KeepsWhatDecides) {
  cache::Object object = Json(WorkloadJson(GetParam()));
  ASSERT_TRUE(ProjectWorkload(GetParam(), {}, object));
  EXPECT_THAT(object.bytes, Not(HasSubstr("busybox")));
  EXPECT_THAT(object.bytes, Not(HasSubstr("prometheus")));
  auto workload = WorkloadFrom(GetParam(), object);
  ASSERT_TRUE(workload);
  EXPECT_EQ(workload->template_version.digest.empty(),
            GetParam() == WorkloadKind::kCronJob || GetParam() == WorkloadKind::kJob);
  workload->template_version = {};
  const auto cm = [](std::string name) {
    return Reference{SourceType::kConfigMap, std::move(name)};
  };
  const auto secret = [](std::string name) {
    return Reference{SourceType::kSecret, std::move(name)};
  };
  EXPECT_EQ(*workload,
            (Workload{.id = {GetParam(), {"ns", "w"}},
                      .uid = "u1",
                      .annotations = {{"reloader.stakater.com/auto", "true"}},
                      .template_annotations = {{"secret.reloader.stakater.com/reload", "s"}},
                      .volumes = {{"cm", {cm("by-volume")}},
                                  {"sec", {secret("sec-by-volume")}},
                                  {"both", {cm("p1"), secret("p2")}}},
                      .containers = {{.name = "app",
                                      .mounts = {"both"},
                                      .references = {cm("by-key"), secret("sec-by-key"),
                                                     cm("by-env"), secret("sec-by-env")},
                                      .variables = {{"STAKATER_X_CONFIGMAP", "abc"}}}},
                      .init_containers = {{.name = "init", .mounts = {"cm"}}},
                      .used_keys = {{{SourceType::kConfigMap, "by-key"}, "k"},
                                    {{SourceType::kSecret, "sec-by-key"}, "k"}},
                      .phase = FirstPhase(GetParam())}));
}

TEST_P(WorkloadProjection, TellsPodTemplatesApart) {
  cache::Object a = Json(WorkloadJson(GetParam()));
  cache::Object b = Json(WorkloadJson(GetParam(), "{}", "nginx:2"));
  ASSERT_TRUE(ProjectWorkload(GetParam(), {}, a));
  ASSERT_TRUE(ProjectWorkload(GetParam(), {}, b));
  const auto before = WorkloadFrom(GetParam(), a);
  auto now = WorkloadFrom(GetParam(), b);
  ASSERT_TRUE(before);
  ASSERT_TRUE(now);
  EXPECT_FALSE(HasOtherTemplate(*before, *now)) << "the generation is the same";
  now->template_version.generation++;
  const bool follows = GetParam() != WorkloadKind::kCronJob && GetParam() != WorkloadKind::kJob;
  EXPECT_EQ(HasOtherTemplate(*before, *now), follows);
  now->template_version = before->template_version;
  EXPECT_EQ(*now, *before) << "nothing else of it counts";
}

TEST_P(WorkloadProjection, RefusesGarbage) {
  cache::Object object = Json(GetParam() == WorkloadKind::kCronJob
                                  ? R"({"spec":{"jobTemplate":{"spec":{"template":7}}}})"
                                  : R"({"spec":{"template":7}})");
  EXPECT_FALSE(ProjectWorkload(GetParam(), {}, object));
}

// Most workloads use their sources as a whole, and there may be a hundred thousand workloads.
TEST(ProjectWorkload, UsedKeysTakeNoMemoryWhereAllAreUsed) {
  const auto size_with = [](const std::string& container) {
    cache::Object object =
        Json(R"({"metadata":{"namespace":"ns","name":"w"},"spec":{"template":{"spec":)"
             R"({"containers":[{"name":"app",)" +
             container + R"(}]}}}})");
    EXPECT_TRUE(ProjectWorkload(WorkloadKind::kDeployment, {}, object));
    return object.bytes.size();
  };
  const std::size_t whole = size_with(R"("envFrom":[{"configMapRef":{"name":"c"}}])");
  EXPECT_EQ(size_with(R"("envFrom":[{"configMapRef":{"name":"c"}}],"env":[{"name":"A",)"
                      R"("valueFrom":{"configMapKeyRef":{"name":"c","key":"k"}}}])"),
            whole);
  EXPECT_GT(size_with(R"("env":[{"name":"A",)"
                      R"("valueFrom":{"configMapKeyRef":{"name":"c","key":"k"}}}])"),
            whole);
}

TEST(ProjectWorkload, StatusOfADeploymentDoesNotCount) {
  cache::Object a = Json(WorkloadJson(WorkloadKind::kDeployment));
  cache::Object b = Json(WorkloadJson(WorkloadKind::kDeployment, R"({"observedGeneration":9})"));
  ASSERT_TRUE(ProjectWorkload(WorkloadKind::kDeployment, {}, a));
  ASSERT_TRUE(ProjectWorkload(WorkloadKind::kDeployment, {}, b));
  EXPECT_EQ(a.bytes, b.bytes);
}

TEST(ProjectWorkload, WhenOthersWroteTheTemplateIsKept) {
  cache::Object object =
      Json(R"({"metadata":{"namespace":"ns","name":"w","managedFields":[{"manager":"helm",)"
           R"("operation":"Update","time":"1970-01-01T00:01:40Z","fieldsType":"FieldsV1",)"
           R"("fieldsV1":{"f:spec":{"f:template":{}}}}]},"spec":{"template":{}}})");
  ASSERT_TRUE(ProjectWorkload(WorkloadKind::kDeployment, {}, object));
  const auto deployment = WorkloadFrom(WorkloadKind::kDeployment, object);
  ASSERT_TRUE(deployment);
  EXPECT_EQ(deployment->template_written, apimachinery::Time{.seconds = 100});
  Workload rollout{.template_ref = TemplateRef{"Deployment", "w"}};
  TakeTemplateOf(*deployment, rollout);
  EXPECT_EQ(rollout.template_written, apimachinery::Time{.seconds = 100});
}

TEST(ProjectWorkload, WhenItWasCreatedIsKeptOfARolloutWhosePodsAreOfADeploymentsTemplate) {
  for (const char* const spec :
       {R"("workloadRef":{"apiVersion":"apps/v1","kind":"Deployment","name":"w"})",
        R"("template":{})"}) {
    cache::Object object = Json(R"({"metadata":{"namespace":"ns","name":"w","creationTimestamp":)"
                                R"("1970-01-01T00:01:40Z"},"spec":{)" +
                                std::string(spec) + "}}");
    ASSERT_TRUE(ProjectWorkload(WorkloadKind::kRollout, {}, object));
    const auto rollout = WorkloadFrom(WorkloadKind::kRollout, object);
    ASSERT_TRUE(rollout);
    EXPECT_EQ(rollout->created, IsOfDeployment(*rollout)
                                    ? std::optional(apimachinery::Time{.seconds = 100})
                                    : std::nullopt);
  }
}

TEST(ProjectWorkload, APauseCounts) {
  for (const WorkloadKind kind : {WorkloadKind::kDeployment, WorkloadKind::kDeploymentConfig}) {
    for (const char* paused : {"true", "false"}) {
      cache::Object object = Json(R"({"metadata":{"namespace":"ns","name":"w"},"spec":{"paused":)" +
                                  std::string(paused) + R"(,"template":{}}})");
      ASSERT_TRUE(ProjectWorkload(kind, {}, object));
      EXPECT_EQ(WorkloadFrom(kind, object)->paused, std::string_view(paused) == "true");
    }
  }
}

TEST(ProjectWorkload, OfACronJobItIsKeptWhetherAChangeRunsIt) {
  const auto is_suspended = [](const std::string& annotations, const char* suspend) {
    cache::Object object =
        Json(R"({"apiVersion":"batch/v1","kind":"CronJob","metadata":{"name":"w","namespace":"ns",)"
             R"("uid":"u1","annotations":{)" +
             annotations + R"(}},"spec":{"suspend":)" + suspend +
             R"(,"jobTemplate":{"spec":{"template":{"spec":{"containers":[{"name":"app"}]}}}}}})");
    EXPECT_TRUE(ProjectWorkload(WorkloadKind::kCronJob, {}, object));
    return WorkloadFrom(WorkloadKind::kCronJob, object)->suspended;
  };
  EXPECT_TRUE(is_suspended("", "true"));
  EXPECT_FALSE(is_suspended("", "false"));
  EXPECT_FALSE(is_suspended(R"("reloader.kubexx.io/run-suspended":"true")", "true"));
}

TEST(ProjectWorkload, OfAJobItIsKeptWhetherTheOperatorHasMadeItWithItsBaseline) {
  const std::string json =
      R"({"metadata":{"namespace":"ns","name":"w","uid":"u2","creationTimestamp":)"
      R"("1970-01-01T00:01:40Z","annotations":{"reloader.kubexx.io/baseline":"v1 >u1"},)"
      R"("managedFields":[{"manager":"Reloader","operation":"Update",)"
      R"("time":"1970-01-01T00:01:40Z","fieldsType":"FieldsV1","fieldsV1":{"f:metadata":)"
      R"({"f:annotations":{"f:reloader.kubexx.io/baseline":{}}},"f:spec":{"f:template":{}}}}]},)"
      R"("spec":{"template":{}}})";
  for (const WorkloadKind kind : {WorkloadKind::kJob, WorkloadKind::kDeployment}) {
    cache::Object object = Json(json);
    ASSERT_TRUE(ProjectWorkload(kind, {}, object));
    const auto workload = WorkloadFrom(kind, object);
    ASSERT_TRUE(workload);
    EXPECT_EQ(workload->is_made_with_baseline, kind == WorkloadKind::kJob);
  }
}

TEST(ProjectWorkload, OfAJobThatIsOverOnlyTheNameIsKept) {
  for (const char* status : {R"({"conditions":[{"type":"Complete","status":"True"}]})",
                             R"({"conditions":[{"type":"Failed","status":"True"}]})"}) {
    cache::Object object = Json(WorkloadJson(WorkloadKind::kJob, status));
    ASSERT_TRUE(ProjectWorkload(WorkloadKind::kJob, {}, object));
    const auto workload = WorkloadFrom(WorkloadKind::kJob, object);
    ASSERT_TRUE(workload);
    EXPECT_EQ(*workload, (Workload{.id = {WorkloadKind::kJob, {"ns", "w"}}, .uid = "u1"}));
  }
  cache::Object object = Json(
      WorkloadJson(WorkloadKind::kJob, R"({"conditions":[{"type":"Suspended","status":"True"}]})"));
  ASSERT_TRUE(ProjectWorkload(WorkloadKind::kJob, {}, object));
  EXPECT_FALSE(WorkloadFrom(WorkloadKind::kJob, object)->containers.empty());
}

TEST(ProjectWorkload, ARolloutKeepsWhoseTemplateItRuns) {
  cache::Object object =
      Json(R"({"metadata":{"namespace":"ns","name":"w","annotations":)"
           R"({"reloader.stakater.com/rollout-strategy":"restart"}},)"
           R"("spec":{"workloadRef":{"apiVersion":"apps/v1","kind":"Deployment","name":"base"}},)"
           R"("status":{"observedGeneration":"7"}})");
  ASSERT_TRUE(ProjectWorkload(WorkloadKind::kRollout, {}, object));
  const auto workload = WorkloadFrom(WorkloadKind::kRollout, object);
  ASSERT_TRUE(workload);
  EXPECT_EQ(workload->template_ref, (TemplateRef{"Deployment", "base"}));
  EXPECT_EQ(workload->annotations.at("reloader.stakater.com/rollout-strategy"), "restart");
}

TEST(ProjectWorkload, ACustomKindIsReadWherePeopleHaveSaid) {
  AddCustomKinds({{.group = "stable.example.com",
                   .version = "v1",
                   .kind = "ProjectedWorker",
                   .resource = "projectedworkers",
                   .pod_template = {"spec", "pool", "pods"},
                   .done = {{.condition = "Ready"}}}});
  const auto kind = ParseWorkloadKind("ProjectedWorker");
  ASSERT_TRUE(kind);
  EXPECT_FALSE(IsBuiltIn(*kind));
  EXPECT_EQ(ResourceOf(*kind).plural, "projectedworkers");
  EXPECT_THAT(AllWorkloadKinds(), testing::Contains(*kind));
  const auto projected = [&](const std::string& ready, const std::string& metadata = "") {
    cache::Object object = Json(
        R"({"metadata":{"namespace":"ns","name":"w","uid":"u",)" + metadata +
        R"("generation":4,"managedFields":[{"manager":)"
        R"("Reloader","operation":"Update","time":"2026-01-02T00:00:00Z","fieldsV1":)"
        R"({"f:spec":{"f:pool":{"f:pods":{"f:spec":{"f:containers":{}}}}}}}]},)"
        R"("spec":{"paused":true,"workloadRef":{"kind":"Deployment","name":"x"},"template":{"spec":)"
        R"({"containers":[{"name":"wrong"}]}},"pool":{"pods":{"spec":{"containers":[{"name":"app",)"
        R"("envFrom":[{"secretRef":{"name":"db"}}],"env":[{"name":"STAKATER_DB_SECRET","value":"1"}]}]}}}},)"
        R"("status":{"conditions":[{"type":"Ready","status":")" +
        ready + R"("}]}})");
    EXPECT_TRUE(ProjectWorkload(*kind, {}, object));
    const auto workload = WorkloadFrom(*kind, object);
    EXPECT_TRUE(workload);
    return workload.value_or(Workload());
  };
  const Workload workload = projected("True");
  EXPECT_EQ(workload.id, (WorkloadId{*kind, {"ns", "w"}}));
  ASSERT_EQ(workload.containers.size(), 1);
  EXPECT_EQ(workload.containers.front().name, "app");
  EXPECT_THAT(workload.containers.front().references,
              ElementsAre(Reference{SourceType::kSecret, "db"}));
  EXPECT_EQ(workload.phase, reloadpolicy::Phase::kComplete);
  EXPECT_FALSE(workload.paused);
  EXPECT_FALSE(workload.template_ref);
  ASSERT_TRUE(workload.stampers.contains("STAKATER_DB_SECRET"));
  EXPECT_TRUE(workload.stampers.at("STAKATER_DB_SECRET").is_operator);
  EXPECT_EQ(projected("False").phase, reloadpolicy::Phase::kUpdating);
  EXPECT_FALSE(workload.presumed);
  const auto mark = StatusMark(
      *CustomKindOf(*kind),
      *codec::JsonTree::Parse(R"({"status":{"conditions":[{"type":"Ready","status":"True"}]}})"));
  const std::string rolled = R"("annotations":{"reloader.kubexx.io/rollout-state":"started u",)"
                             R"("reloader.kubexx.io/status-before":")" +
                             mark.value_or("") + R"("},)";
  EXPECT_EQ(projected("True", rolled).phase, reloadpolicy::Phase::kUnseen);
  EXPECT_EQ(projected("True", rolled).presumed, reloadpolicy::Phase::kComplete);
  EXPECT_FALSE(projected("False", rolled).presumed) << "somebody has written it since";
}

INSTANTIATE_TEST_SUITE_P(Kinds, WorkloadProjection, testing::ValuesIn(kWorkloadKinds),
                         [](const auto& row) { return std::string(KindName(row.param)); });

}  // namespace
}  // namespace kubexx::reloader
