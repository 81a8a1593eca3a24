#include "kubexx/kubernetes/apply.h"

#include <gmock/gmock.h>

#include <string>

#include "kubexx/api/apps/v1/types.gen.h"
#include "kubexx/api/core/v1/types.gen.h"
#include "kubexx/base/testing/large_input.h"
#include "kubexx/kubernetes/apps_v1.gen.h"
#include "kubexx/rest/testing/recorder.h"

namespace kubexx::kubernetes {
namespace {

using api::apps::v1::Deployment;
using api::apps::v1::DeploymentSpec;
using api::core::v1::ConfigMap;
using api::core::v1::Container;
using api::core::v1::ContainerPort;
using api::core::v1::PodSpec;
using api::core::v1::PodTemplateSpec;
using api::core::v1::Volume;
using api::core::v1::VolumeSource;
using api::meta::v1::ObjectMeta;
using apimachinery::Reason;
using rest::testing::FakeConnection;
using rest::testing::FakeRequest;
using rest::testing::Recorder;
using ::testing::HasSubstr;

constexpr const char* kIdentity =
    R"({"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web","namespace":"shop")";

TEST(SparseTest, HasNothingButItsIdentityAtFirst) {
  const ApplyObject<Deployment> web("web", "shop");
  EXPECT_EQ(web.ToJson(), std::string(kIdentity) + "}}");
  EXPECT_EQ(web.name(), "web");
  EXPECT_EQ(web.namespace_(), "shop");
  EXPECT_EQ(ApplyObject<api::core::v1::Node>("n").ToJson(),
            R"({"apiVersion":"v1","kind":"Node","metadata":{"name":"n"}})");
}

TEST(SparseTest, SendsZeroValuesThatAreSet) {
  ApplyObject<Deployment> web("web", "shop");
  web.Set(&Deployment::spec, &DeploymentSpec::replicas, 0)
      .Set(&Deployment::spec, &DeploymentSpec::paused, false)
      .Set(&Deployment::spec, &DeploymentSpec::min_ready_seconds, 0)
      .Set(&Deployment::spec, &DeploymentSpec::template_, &PodTemplateSpec::spec, {});
  EXPECT_EQ(web.ToJson(), std::string(kIdentity) +
                              R"(},"spec":{"replicas":0,"paused":false,"minReadySeconds":0,)"
                              R"("template":{"spec":{}}}})");
}

TEST(SparseTest, SetsNestedListsAndMaps) {
  ApplyObject<Deployment> web("web", "shop");
  web.In(&Deployment::metadata)
      .Put(&ObjectMeta::labels, "app", "web")
      .Put(&ObjectMeta::labels, "a", "");
  auto pod = web.In(&Deployment::spec, &DeploymentSpec::template_, &PodTemplateSpec::spec);
  auto first = pod.Append(&PodSpec::containers);
  pod.Append(&PodSpec::containers).Set(&Container::name, "second");
  first.Set(&Container::name, "first")
      .Set(&Container::args, {"-v", ""})
      .Append(&Container::args, "last");
  first.Append(&Container::ports).Set(&ContainerPort::container_port, 0);
  pod.Set(&PodSpec::host_network, false);
  EXPECT_EQ(web.ToJson(),
            std::string(kIdentity) +
                R"(,"labels":{"app":"web","a":""}},"spec":{"template":{"spec":{"containers":[)"
                R"({"name":"first","args":["-v","","last"],"ports":[{"containerPort":0}]},)"
                R"({"name":"second"}],"hostNetwork":false}}}})");
}

TEST(SparseTest, FieldsOfInlineStructsStandInTheObjectAround) {
  Sparse<Volume> volume;
  volume.Set(&Volume::name, "tmp");
  volume.In(&Volume::volume_source, &VolumeSource::empty_dir);
  EXPECT_EQ(volume.ToJson(), R"({"name":"tmp","emptyDir":{}})");
  VolumeSource source;
  source.host_path.emplace().path = "/data";
  Sparse<Volume> other;
  other.Set(&Volume::volume_source, source);
  EXPECT_EQ(other.ToJson(), R"({"hostPath":{"path":"/data"}})");
}

TEST(SparseTest, OfStructsByValueWhatIsNotZeroIsSet) {
  Container container;
  container.name = "c";
  container.env.emplace_back().name = "E";
  Sparse<PodSpec> pod;
  pod.Append(&PodSpec::containers, container);
  // A Container of its own would write "resources":{} as well.
  EXPECT_EQ(pod.ToJson(), R"({"containers":[{"name":"c","env":[{"name":"E"}]}]})");

  Sparse<Container> sparse;
  sparse.Set(&Container::tty, false);
  pod.Append(&PodSpec::containers, sparse);
  EXPECT_THAT(pod.ToJson(), HasSubstr(R"(,{"tty":false}]})"));

  Sparse<DeploymentSpec> spec;
  spec.Set(&DeploymentSpec::template_, Sparse<PodTemplateSpec>());
  EXPECT_EQ(spec.ToJson(), R"({"template":{}})");
}

TEST(SparseTest, ASecondSetReplacesTheFirst) {
  ApplyObject<ConfigMap> map("m", "ns");
  map.Set(&ConfigMap::data, {{"a", "1"}, {"b", "2"}});
  map.Set(&ConfigMap::data, {{"c", "3"}});
  const ApplyObject<ConfigMap> copy = map;
  map.Put(&ConfigMap::data, "d", "4");
  EXPECT_THAT(map.ToJson(), HasSubstr(R"("data":{"c":"3","d":"4"})"));
  EXPECT_THAT(copy.ToJson(), HasSubstr(R"("data":{"c":"3"})"));
  EXPECT_NE(map, copy);
}

template <class T, class M, class V>
concept Settable = requires(Sparse<T> sparse, M member, V value) { sparse.Set(member, value); };

TEST(SparseTest, TheCompilerChecksMembersAndValues) {
  static_assert(Settable<DeploymentSpec, decltype(&DeploymentSpec::replicas), int>);
  static_assert(!Settable<DeploymentSpec, decltype(&DeploymentSpec::replicas), const char*>);
  static_assert(!Settable<Deployment, decltype(&DeploymentSpec::replicas), int>);
}

Deployment WithManagedFields(const std::string& fields) {
  const std::string json =
      R"({"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web","namespace":"shop",)"
      R"("labels":{"app":"web","team":"x"},"uid":"u","managedFields":[)"
      R"({"manager":"me","operation":"Update","fieldsType":"FieldsV1","fieldsV1":{"f:spec":{}}},)"
      R"({"manager":"me","operation":"Apply","subresource":"status","fieldsV1":{"f:status":)"
      R"({"f:replicas":{}}}},)"
      R"({"manager":"me","operation":"Apply","fieldsV1":)" +
      fields +
      R"(}]},"spec":{"replicas":0,"template":{"spec":{"containers":[)"
      R"({"name":"a","image":"i:1","ports":[{"containerPort":80,"protocol":"TCP"}]},)"
      R"({"name":"b","image":"i:2"}]}}},"status":{"replicas":7}})";
  auto object = codec::DecodeJson<Deployment>(json);
  EXPECT_TRUE(object) << object.error().ToString();
  return object ? *object : Deployment();
}

TEST(ExtractOwnedTest, TakesWhatTheManagerHasApplied) {
  const Deployment object = WithManagedFields(
      R"({"f:metadata":{"f:labels":{"f:app":{}}},"f:spec":{"f:replicas":{},"f:template":{"f:spec":)"
      R"({"f:containers":{"k:{\"name\":\"a\"}":{".":{},"f:image":{},"f:ports":)"
      R"({"k:{\"containerPort\":80,\"protocol\":\"TCP\"}":{".":{},"f:containerPort":{}}}}}}}}})");
  const auto owned = ExtractOwned(object, "me");
  ASSERT_TRUE(owned) << owned.error().ToString();
  EXPECT_EQ(
      owned->ToJson(),
      std::string(kIdentity) +
          R"(,"labels":{"app":"web"}},"spec":{"replicas":0,"template":{"spec":{"containers":)"
          R"([{"image":"i:1","ports":[{"containerPort":80,"protocol":"TCP"}],"name":"a"}]}}}})");
  const auto status = ExtractOwned(object, "me", "status");
  ASSERT_TRUE(status);
  EXPECT_EQ(status->ToJson(), std::string(kIdentity) + R"(},"status":{"replicas":7}})");
}

TEST(ExtractOwnedTest, OfAStrangerNothingButTheIdentity) {
  const auto owned = ExtractOwned(WithManagedFields("{}"), "you");
  ASSERT_TRUE(owned);
  EXPECT_EQ(*owned, ApplyObject<Deployment>("web", "shop"));
}

TEST(ExtractOwnedTest, ListsByValueAndIndex) {
  api::core::v1::Pod pod;
  pod.metadata.name = "p";
  pod.metadata.finalizers = {"x/a", "x/b", "x/c"};
  pod.spec.host_aliases.resize(1);
  pod.spec.host_aliases[0].hostnames = {"h1", "h2"};
  auto& entry = pod.metadata.managed_fields.emplace_back();
  entry.manager = "me";
  entry.operation = "Apply";
  entry.fields_v1.emplace().raw =
      R"({"f:metadata":{"f:finalizers":{"v:\"x/b\"":{}}},"f:spec":{"f:hostAliases":{"i:0":)"
      R"({"f:hostnames":{"i:1":{}}}},"f:containers":{".":{}}}})";
  const auto owned = ExtractOwned(pod, "me");
  ASSERT_TRUE(owned) << owned.error().ToString();
  EXPECT_EQ(owned->ToJson(),
            R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","finalizers":["x/b"]},)"
            R"("spec":{"containers":[],"hostAliases":[{"hostnames":["h2"]}]}})");
}

TEST(ExtractOwnedTest, FindsElementsWhateverTheirKeysLookLike) {
  const Deployment object = WithManagedFields(
      R"({"f:spec":{"f:template":{"f:spec":{"f:containers":)"
      R"({"k:{\"image\":\"i:2\",\"name\":\"b\"}":{".":{},"f:name":{}},"k:{\"name\":\"x\"}":{},)"
      R"("k:{\"name\":\"a\"}":{".":{},"f:ports":{"k:{\"protocol\":\"TCP\",\"containerPort\":80.0}":{}}}}}}}})");
  const auto owned = ExtractOwned(object, "me");
  ASSERT_TRUE(owned) << owned.error().ToString();
  EXPECT_EQ(
      owned->ToJson(),
      std::string(kIdentity) +
          R"(},"spec":{"template":{"spec":{"containers":[{"ports":[{"containerPort":80,"protocol":"TCP"}],)"
          R"("name":"a"},{"name":"b","image":"i:2"}]}}}})");
}

std::string ManyFinalizers(const std::string& before, const std::string& after) {
  constexpr int kFinalizers = base::testing::LargeInput(40'000);
  std::string out;
  for (int i = 0; i < kFinalizers; ++i) {
    out += (i == 0 ? "" : ",") + before + "x/" + std::to_string(i) + after;
  }
  return out;
}

// What reads every step for every element does not end.
TEST(ExtractOwnedTest, ManyElementsAreLookedUpOnceEach) {
  const std::string json = R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"m",)"
                           R"("finalizers":[)" +
                           ManyFinalizers("\"", "\"") +
                           R"(],"managedFields":[{"manager":"me","operation":"Apply","fieldsV1":)"
                           R"({"f:metadata":{"f:finalizers":{)" +
                           ManyFinalizers("\"v:\\\"", "\\\"\":{}") + "}}}}]}}";
  const auto object = codec::DecodeJson<ConfigMap>(json);
  ASSERT_TRUE(object) << object.error().ToString();
  const auto owned = ExtractOwned(*object, "me");
  ASSERT_TRUE(owned) << owned.error().ToString();
  EXPECT_EQ(owned->ToJson(), R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"m",)"
                             R"("finalizers":[)" +
                                 ManyFinalizers("\"", "\"") + "]}}");
}

TEST(ExtractOwnedTest, RefusesSetsThatCannotBeRead) {
  std::string many_keys;
  for (int i = 0; i < 20; ++i) {
    many_keys += (i == 0 ? "\"k:{\\\"name" : ",\"k:{\\\"name") + std::to_string(i) + "\\\":1}\":{}";
  }
  const std::string in_containers = R"({"f:spec":{"f:template":{"f:spec":{"f:containers":{)";
  for (const std::string& fields :
       {std::string(R"({"f:spec":5})"), in_containers + R"("k:{name":{}}}}}})",
        in_containers + R"("k:[1]":{}}}}}})", in_containers + many_keys + "}}}}}"}) {
    const auto owned = ExtractOwned(WithManagedFields(fields), "me");
    ASSERT_FALSE(owned) << fields;
    EXPECT_EQ(owned.error().reason, Reason::kMalformed);
  }
}

TEST(ApplyTest, SendsAnApplyPatch) {
  Recorder server([](FakeConnection& connection, const FakeRequest&) {
    connection.Respond(200, "application/json",
                       R"({"kind":"Deployment","apiVersion":"apps/v1","spec":{"replicas":3}})");
  });
  const auto deployments = AppsV1Client(server.client()).Deployments("");
  ApplyObject<Deployment> web("web", "shop");
  web.Set(&Deployment::spec, &DeploymentSpec::replicas, 3);
  const auto applied = deployments.Apply(web, {.field_manager = "me", .force = true});
  ASSERT_TRUE(applied) << applied.error().ToString();
  EXPECT_EQ(applied->spec.replicas, 3);
  FakeRequest request = server.last();
  EXPECT_EQ(request.method, "PATCH");
  EXPECT_EQ(request.target,
            "/apis/apps/v1/namespaces/shop/deployments/web?fieldManager=me&force=true");
  EXPECT_EQ(request.headers["content-type"], "application/apply-patch+yaml");
  EXPECT_EQ(request.body, web.ToJson());

  ASSERT_TRUE(deployments.ApplyStatus(web, {.field_manager = "me", .dry_run = true}));
  EXPECT_EQ(server.last().target,
            "/apis/apps/v1/namespaces/shop/deployments/web/status?fieldManager=me&dryRun=All");
}

TEST(ApplyTest, NeedsAFieldManager) {
  Recorder server([](FakeConnection& connection, const FakeRequest&) {
    connection.Respond(500, "text/plain", "not reached");
  });
  const auto applied =
      AppsV1Client(server.client()).Deployments("ns").Apply(ApplyObject<Deployment>("web"), {});
  ASSERT_FALSE(applied);
  EXPECT_EQ(applied.error().reason, Reason::kBadRequest);
  EXPECT_TRUE(server.targets().empty());
}

TEST(ApplyTest, ConflictsNameTheFields) {
  Recorder server([](FakeConnection& connection, const FakeRequest&) {
    connection.Respond(409, "application/json",
                       R"({"kind":"Status","apiVersion":"v1","reason":"Conflict","code":409,)"
                       R"("message":"Apply failed","details":{"causes":[{"reason":)"
                       R"("FieldManagerConflict","message":"conflict with \"you\"","field":)"
                       R"(".spec.replicas"}]}})");
  });
  const auto applied = AppsV1Client(server.client())
                           .Deployments("ns")
                           .Apply(ApplyObject<Deployment>("web"), {.field_manager = "me"});
  ASSERT_FALSE(applied);
  EXPECT_EQ(applied.error().reason, Reason::kConflict);
  ASSERT_EQ(applied.error().details.causes.size(), 1U);
  EXPECT_EQ(applied.error().details.causes[0].field, ".spec.replicas");
}

TEST(ApplyTest, ScaleIsApplied) {
  using Scale = api::autoscaling::v1::Scale;
  Recorder server([](FakeConnection& connection, const FakeRequest& request) {
    connection.Respond(200, "application/json", request.body);
  });
  ApplyObject<Scale> scale("web", "shop");
  scale.Set(&Scale::spec, &api::autoscaling::v1::ScaleSpec::replicas, 0);
  const auto applied =
      AppsV1Client(server.client()).Deployments("shop").ApplyScale(scale, {.field_manager = "me"});
  ASSERT_TRUE(applied) << applied.error().ToString();
  EXPECT_EQ(server.last().target,
            "/apis/apps/v1/namespaces/shop/deployments/web/scale?fieldManager=me");
  EXPECT_EQ(server.last().body,
            R"({"apiVersion":"autoscaling/v1","kind":"Scale","metadata":{"name":"web",)"
            R"("namespace":"shop"},"spec":{"replicas":0}})");
}

}  // namespace
}  // namespace kubexx::kubernetes
