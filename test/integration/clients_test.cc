// Every kind of client and every type of patch against a real API server.
#include <gmock/gmock.h>

#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "cluster_fixture.h"
#include "kubexx/api/apps/v1/resources.gen.h"
#include "kubexx/api/apps/v1/types.gen.h"
#include "kubexx/api/registry.gen.h"
#include "kubexx/base/testing/await.h"
#include "kubexx/base/testing/places/places.h"
#include "kubexx/codec/convert.h"
#include "kubexx/discovery/rest_mapper.h"
#include "kubexx/dynamic/dynamic_client.h"
#include "kubexx/dynamic/dynamic_informer.h"
#include "kubexx/dynamic/metadata_client.h"
#include "kubexx/kubernetes/scale_methods.h"
#include "kubexx/kubernetes/subresources.h"
#include "kubexx/kubernetes/testing/widget_v1.gen.h"
#include "kubexx/scale/scale_client.h"

namespace kubexx::integration {
namespace {

using apimachinery::GroupVersionResource;
using apimachinery::Reason;
using apimachinery::Result;
using dynamic::Unstructured;
using kubernetes::RawPatch;
using kubernetes::testing::Widget;
using rest::PatchType;
using ::testing::IsSupersetOf;

const GroupVersionResource kConfigMaps{.group = "", .version = "v1", .resource = "configmaps"};
const GroupVersionResource kWidgets{
    .group = "test.example.com", .version = "v1", .resource = "widgets"};
const GroupVersionResource kCrds{
    .group = "apiextensions.k8s.io", .version = "v1", .resource = "customresourcedefinitions"};

// A patch of each type that gives the label "by" the type's name.
struct LabelPatch {
  std::string by;
  RawPatch patch;
  kubernetes::PatchOptions options{};
};

std::vector<LabelPatch> LabelPatches(const std::string& api_version, const std::string& kind) {
  const std::string by = R"({"metadata":{"labels":{"by":)";
  return {{"json",
           {.type = PatchType::kJson,
            .text = R"([{"op":"add","path":"/metadata/labels","value":{"by":"json"}}])"}},
          {"merge", {.type = PatchType::kMerge, .text = by + R"("merge"}}})"}},
          {"strategic", {.type = PatchType::kStrategicMerge, .text = by + R"("strategic"}}})"}},
          {"apply",
           {.type = PatchType::kApply,
            .text = "apiVersion: " + api_version + "\nkind: " + kind +
                    "\nmetadata: {labels: {by: apply}}\n"},
           {.field_manager = "it", .force = true}}};
}

class ClientsTest : public ClusterTest {
 protected:
  void SetUp() override {
    ClusterTest::SetUp();
    if (HasFatalFailure()) {
      return;
    }
    std::ifstream file(base::testing::SourceTree() / "pkg/kubernetes/testing/widgets.yaml");
    const std::string yaml{std::istreambuf_iterator<char>(file), {}};
    const auto json = codec::Convert(yaml, {.from = codec::FileFormat::kYaml}, api::Registry());
    ASSERT_TRUE(json) << json.error().ToString();
    const auto crd = Unstructured::Parse(*json);
    ASSERT_TRUE(crd) << crd.error().ToString();
    const auto crds = dynamic::DynamicClient(client_).Resource(kCrds);
    const auto created = crds.Create(*crd);
    ASSERT_TRUE(created || created.error().reason == Reason::kAlreadyExists)
        << created.error().ToString();
    ASSERT_TRUE(Await([this] { return Widgets().List().has_value(); }));
    mapper_ = std::make_shared<discovery::RestMapper>(
        std::make_shared<discovery::CachedDiscovery>(discovery::DiscoveryClient(client_)));
  }

  kubernetes::ClientWith<Widget, kubernetes::ScaleMethods> Widgets() const {
    return {client_, namespace_};
  }
  dynamic::DynamicResource Dynamic(const GroupVersionResource& resource) const {
    return dynamic::DynamicClient(client_).Resource(resource, namespace_);
  }
  dynamic::MetadataResource Metadata(const GroupVersionResource& resource) const {
    return dynamic::MetadataClient(client_).Resource(resource, namespace_);
  }

  void CreateWidget(const std::string& name) const {
    Widget widget;
    widget.metadata.name = name;
    widget.spec.color = "red";
    widget.spec.replicas = 1;
    widget.spec.config.emplace().raw = R"({"free":{"form":[1,2]}})";
    const auto created = Widgets().Create(widget, {.field_validation = "Strict"});
    ASSERT_TRUE(created) << created.error().ToString();
    EXPECT_EQ(created->spec, widget.spec);
  }

  std::shared_ptr<discovery::RestMapper> mapper_;
};

TEST_F(ClientsTest, TypedClientsSendEveryPatch) {
  Create("m", "1");
  for (const LabelPatch& patch : LabelPatches("v1", "ConfigMap")) {
    const auto map = ConfigMaps().Patch("m", patch.patch.type, patch.patch.text, patch.options);
    ASSERT_TRUE(map) << patch.by << ": " << map.error().ToString();
    EXPECT_EQ(map->metadata.labels.at("by"), patch.by);
  }
  CreateWidget("w");
  for (const LabelPatch& patch : LabelPatches("test.example.com/v1", "Widget")) {
    const auto widget = Widgets().Patch("w", patch.patch.type, patch.patch.text, patch.options);
    if (patch.patch.type == PatchType::kStrategicMerge) {
      ASSERT_FALSE(widget);
      EXPECT_EQ(widget.error().reason, Reason::kUnsupportedMediaType);
      continue;
    }
    ASSERT_TRUE(widget) << patch.by << ": " << widget.error().ToString();
    EXPECT_EQ(widget->metadata.labels.at("by"), patch.by);
  }
}

TEST_F(ClientsTest, DynamicClientsSendEveryPatch) {
  Create("m", "1");
  CreateWidget("w");
  for (const LabelPatch& patch : LabelPatches("v1", "ConfigMap")) {
    const auto map = Dynamic(kConfigMaps).Patch("m", patch.patch, patch.options);
    ASSERT_TRUE(map) << patch.by << ": " << map.error().ToString();
    EXPECT_EQ(map->Labels().at("by"), patch.by);
  }
  for (const LabelPatch& patch : LabelPatches("test.example.com/v1", "Widget")) {
    const auto widget = Dynamic(kWidgets).Patch("w", patch.patch, patch.options);
    EXPECT_EQ(widget.has_value(), patch.patch.type != PatchType::kStrategicMerge) << patch.by;
  }
}

TEST_F(ClientsTest, MetadataClientsSendEveryPatch) {
  Create("m", "1");
  CreateWidget("w");
  for (const LabelPatch& patch : LabelPatches("v1", "ConfigMap")) {
    const auto map = Metadata(kConfigMaps).Patch("m", patch.patch, patch.options);
    ASSERT_TRUE(map) << patch.by << ": " << map.error().ToString();
    EXPECT_EQ(map->metadata.labels.at("by"), patch.by);
  }
  const auto widget = Metadata(kWidgets).Get("w");
  ASSERT_TRUE(widget) << widget.error().ToString();
  EXPECT_EQ(widget->metadata.name, "w");
  const auto list = Metadata(kWidgets).List();
  ASSERT_TRUE(list) << list.error().ToString();
  ASSERT_EQ(list->items.size(), 1U);
  EXPECT_EQ(list->items[0].metadata.uid, widget->metadata.uid);
  ASSERT_TRUE(Metadata(kConfigMaps).Delete("m"));
  EXPECT_EQ(ConfigMaps().Get("m").error().reason, Reason::kNotFound);
}

TEST_F(ClientsTest, DynamicClientsDoWhatTypedOnesDo) {
  CreateWidget("typed");
  auto object = Dynamic(kWidgets).Get("typed");
  ASSERT_TRUE(object) << object.error().ToString();
  EXPECT_EQ(object->GetString({"spec", "config", "free", "form", "1"}), "");
  EXPECT_EQ(object->GetInt({"spec", "config", "free", "form", "1"}), 2);
  const auto typed = Widgets().Get("typed");
  ASSERT_TRUE(typed) << typed.error().ToString();
  const auto decoded = object->To<Widget>();
  ASSERT_TRUE(decoded) << decoded.error().ToString();
  EXPECT_EQ(*decoded, *typed);

  Unstructured other = *object;
  other.SetName("dynamic");
  other.SetResourceVersion("");
  other.Remove({"metadata", "uid"});
  ASSERT_TRUE(Dynamic(kWidgets).Create(other));
  const auto list = Dynamic(kWidgets).List();
  ASSERT_TRUE(list) << list.error().ToString();
  ASSERT_EQ(list->items.size(), 2U);
  EXPECT_EQ(list->items[0].Kind(), "Widget");

  ASSERT_TRUE(object->Set({"spec", "color"}, "blue"));
  ASSERT_TRUE(Dynamic(kWidgets).Update(*object));
  const auto stale = Dynamic(kWidgets).Update(*object);
  ASSERT_FALSE(stale);
  EXPECT_EQ(stale.error().reason, Reason::kConflict);
  object->SetResourceVersion("");
  auto current = Dynamic(kWidgets).Get("typed");
  ASSERT_TRUE(current->Set({"status", "phase"}, "Ready"));
  const auto status = Dynamic(kWidgets).UpdateStatus(*current);
  ASSERT_TRUE(status) << status.error().ToString();
  EXPECT_EQ(Widgets().Get("typed")->status->phase, "Ready");
  ASSERT_TRUE(Dynamic(kWidgets).DeleteCollection({}, {}));
  EXPECT_TRUE(Dynamic(kWidgets).List()->items.empty());
}

TEST_F(ClientsTest, DynamicApplyAndSubresources) {
  Unstructured widget({.group = "test.example.com", .version = "v1", .kind = "Widget"}, "a");
  ASSERT_TRUE(widget.Set({"spec", "color"}, "green"));
  ASSERT_TRUE(widget.Set({"spec", "weight"}, 0));
  ASSERT_TRUE(widget.Set({"spec", "enabled"}, false));
  ASSERT_TRUE(widget.Set({"spec", "parts"}, codec::JsonTree::Array()));
  ASSERT_TRUE(widget.Set({"spec", "replicas"}, 2));
  const auto applied = Dynamic(kWidgets).Apply(widget, {.field_manager = "me"});
  ASSERT_TRUE(applied) << applied.error().ToString();
  ASSERT_TRUE(widget.Set({"spec", "color"}, "red"));
  const auto refused = Dynamic(kWidgets).Apply(widget, {.field_manager = "you"});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().reason, Reason::kConflict);
  EXPECT_EQ(refused.error().details.causes.at(0).field, ".spec.color");
  const auto scale = Dynamic(kWidgets).Get("a", "scale");
  ASSERT_TRUE(scale) << scale.error().ToString();
  EXPECT_EQ(scale->Kind(), "Scale");
  EXPECT_EQ(scale->GetInt({"spec", "replicas"}), 2);
}

TEST_F(ClientsTest, InformersOfResourcesNamedAtRunTime) {
  Create("m", "1");
  CreateWidget("w");
  for (const bool watch_list : {true, false}) {
    dynamic::DynamicSharedInformerFactory whole(client_, {.namespace_ = namespace_});
    dynamic::MetadataSharedInformerFactory partial(client_, {.namespace_ = namespace_});
    for (const auto& resource : {kConfigMaps, kWidgets}) {
      (void)whole.InformerFor(resource, {.use_watch_list = watch_list});
      (void)partial.InformerFor(resource, {.use_watch_list = watch_list});
    }
    whole.Start();
    partial.Start();
    ASSERT_TRUE(whole.WaitForCacheSync(base::testing::PatienceEnd().token()));
    ASSERT_TRUE(partial.WaitForCacheSync(base::testing::PatienceEnd().token()));
    const auto map = whole.ListerFor(kConfigMaps).Get(namespace_, "m");
    ASSERT_TRUE(map) << map.error().ToString();
    EXPECT_EQ((*map)->Kind(), "ConfigMap");
    EXPECT_EQ((*map)->GetString({"data", "value"}), "1");
    EXPECT_TRUE(partial.ListerFor(kConfigMaps).Get(namespace_, "m"));
    EXPECT_TRUE(partial.ListerFor(kWidgets).Get(namespace_, "w"));
    const std::string label = watch_list ? "first" : "second";
    const std::string patch = R"({"metadata":{"labels":{"l":")" + label + R"("}}})";
    ASSERT_TRUE(Metadata(kWidgets).Patch("w", {.type = PatchType::kMerge, .text = patch}));
    EXPECT_TRUE(Await([this, &whole, &partial, &label] {
      const auto full = whole.ListerFor(kWidgets).Get(namespace_, "w");
      const auto meta = partial.ListerFor(kWidgets).Get(namespace_, "w");
      return full && (*full)->GetString({"metadata", "labels", "l"}) == label && meta &&
             (*meta)->metadata.labels.contains("l") && (*meta)->metadata.labels.at("l") == label;
    }));
    whole.Shutdown();
    partial.Shutdown();
  }
}

TEST_F(ClientsTest, DiscoveryKnowsTheServer) {
  const discovery::DiscoveryClient client(client_);
  const auto version = client.Version();
  ASSERT_TRUE(version) << version.error().ToString();
  EXPECT_EQ(version->major, "1");
  EXPECT_TRUE(version->git_version.starts_with("v1."));
  const auto paths = client.OpenApiPaths();
  ASSERT_TRUE(paths) << paths.error().ToString();
  ASSERT_TRUE(paths->contains("apis/apps/v1"));
  const auto document = client.OpenApiDocument(paths->at("apis/apps/v1"));
  ASSERT_TRUE(document) << document.error().ToString();
  const auto tree = codec::JsonTree::Parse(*document);
  ASSERT_TRUE(tree) << tree.error().ToString();
  EXPECT_NE(tree->Find("openapi"), nullptr);
}

TEST_F(ClientsTest, RestMapperFindsBuiltInAndCustomResources) {
  const auto deployment = mapper_->ResourceFor("deploy");
  ASSERT_TRUE(deployment) << deployment.error().ToString();
  EXPECT_EQ(deployment->resource.ToString(), "deployments.v1.apps");
  EXPECT_THAT(deployment->subresources, IsSupersetOf({"scale", "status"}));
  const auto node =
      mapper_->MappingFor(apimachinery::GroupVersionKind{.version = "v1", .kind = "Node"});
  ASSERT_TRUE(node) << node.error().ToString();
  EXPECT_FALSE(node->namespaced);
  // A new CustomResourceDefinition appears in discovery a moment after it is served.
  EXPECT_TRUE(Await([this] {
    const auto widget = mapper_->ResourceFor("wd");
    return widget && widget->kind.kind == "Widget" && widget->namespaced;
  }));
}

TEST_F(ClientsTest, ScaleClientScalesBuiltInAndCustomResources) {
  CreateWidget("w");
  api::apps::v1::Deployment deployment;
  deployment.metadata.name = "w";
  deployment.spec.selector.emplace().match_labels = {{"a", "b"}};
  deployment.spec.template_.metadata.labels = {{"a", "b"}};
  auto& container = deployment.spec.template_.spec.containers.emplace_back();
  container.name = "c";
  container.image = "example.com/none:1";
  ASSERT_TRUE(kubernetes::ResourceClient<api::apps::v1::Deployment>(client_, namespace_)
                  .Create(deployment));
  ASSERT_TRUE(Await([this] { return mapper_->ResourceFor("wd").has_value(); }));
  const scale::ScaleClient scales(client_, mapper_);
  for (const auto& [group, kind] :
       {std::pair("apps", "Deployment"), std::pair("test.example.com", "Widget")}) {
    const scale::ScaleTarget target{.kind = {.group = group, .version = "", .kind = kind},
                                    .object = {.namespace_ = namespace_, .name = "w"}};
    auto scale = scales.Get(target);
    ASSERT_TRUE(scale) << kind << scale.error().ToString();
    EXPECT_EQ(scale->spec.replicas, 1);
    scale->spec.replicas = 0;
    const auto updated = scales.Update(target, *scale);
    ASSERT_TRUE(updated) << kind << updated.error().ToString();
    EXPECT_EQ(updated->spec.replicas, 0);
    const auto json = scales.Patch(
        target,
        {.type = PatchType::kJson, .text = R"([{"op":"add","path":"/spec/replicas","value":2}])"});
    ASSERT_TRUE(json) << kind << json.error().ToString();
    const auto merge =
        scales.Patch(target, {.type = PatchType::kMerge, .text = R"({"spec":{"replicas":3}})"});
    ASSERT_TRUE(merge) << kind << merge.error().ToString();
    EXPECT_EQ(merge->spec.replicas, 3);
    // Of a custom resource the API server can neither apply a Scale nor merge one strategically.
    const bool built_in = std::string(group) == "apps";
    const auto apply = scales.Patch(
        target,
        {.type = PatchType::kApply,
         .text = R"({"apiVersion":"autoscaling/v1","kind":"Scale","spec":{"replicas":4}})"},
        {.field_manager = "it", .force = true});
    EXPECT_EQ(apply.has_value(), built_in) << kind;
    const auto strategic = scales.Patch(
        target, {.type = PatchType::kStrategicMerge, .text = R"({"spec":{"replicas":5}})"});
    EXPECT_EQ(strategic.has_value(), built_in) << kind;
  }
  EXPECT_EQ(Widgets().GetScale("w")->spec.replicas, 3);
}

}  // namespace
}  // namespace kubexx::integration
