#include "kubexx/dynamic/unstructured.h"

#include <gmock/gmock.h>

#include <string>

#include "kubexx/api/core/v1/types.gen.h"

namespace kubexx::dynamic {
namespace {

using apimachinery::Reason;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

constexpr const char* kWidget =
    R"({"kind":"Widget","apiVersion":"example.com/v1","metadata":{"name":"w","namespace":"ns",)"
    R"("uid":"u","resourceVersion":"7","generation":3,"labels":{"a":"1","odd":5},)"
    R"("annotations":{"b":"2"},"finalizers":["x/y"]},"spec":{"size":2,"ratio":0.5,"on":false,)"
    R"("parts":[{"name":"p0"},{"name":"p1"}]},"unknown":{"kept":true}})";

Unstructured WidgetObject() {
  auto object = Unstructured::Parse(kWidget);
  EXPECT_TRUE(object) << object.error().ToString();
  return object ? *object : Unstructured();
}

TEST(UnstructuredTest, KeepsWhatItDoesNotKnow) { EXPECT_EQ(WidgetObject().ToJson(), kWidget); }

TEST(UnstructuredTest, GivesWhatAllObjectsHave) {
  const Unstructured widget = WidgetObject();
  EXPECT_EQ(widget.GetKind(), (apimachinery::GroupVersionKind{
                                  .group = "example.com", .version = "v1", .kind = "Widget"}));
  EXPECT_EQ(widget.Name(), "w");
  EXPECT_EQ(widget.Namespace(), "ns");
  EXPECT_EQ(widget.Uid(), "u");
  EXPECT_EQ(widget.ResourceVersion(), "7");
  EXPECT_EQ(widget.Generation(), 3);
  EXPECT_THAT(widget.Labels(), ElementsAre(Pair("a", "1")));
  EXPECT_THAT(widget.Annotations(), ElementsAre(Pair("b", "2")));
  EXPECT_THAT(widget.Finalizers(), ElementsAre("x/y"));
}

TEST(UnstructuredTest, ReadsNestedValues) {
  const Unstructured widget = WidgetObject();
  EXPECT_EQ(widget.GetInt({"spec", "size"}), 2);
  EXPECT_EQ(widget.GetDouble({"spec", "ratio"}), 0.5);
  EXPECT_EQ(widget.GetBool({"spec", "on"}), false);
  EXPECT_EQ(widget.GetString({"spec", "parts", "1", "name"}), "p1");
  EXPECT_EQ(widget.GetInt({"spec", "nothing"}), std::nullopt);
  EXPECT_EQ(widget.GetBool({"spec", "size"}), std::nullopt);
  EXPECT_EQ(widget.GetString({"spec", "size"}), "");
  EXPECT_THAT(widget.GetStringMap({"spec", "size"}), IsEmpty());
  EXPECT_EQ(widget.Get({"spec", "parts", "2"}), nullptr);
}

TEST(UnstructuredTest, SetsAndRemoves) {
  Unstructured widget({.group = "example.com", .version = "v1", .kind = "Widget"}, "w", "ns");
  ASSERT_TRUE(widget.Set({"spec", "limits", "cpu"}, 0));
  ASSERT_TRUE(widget.Set({"spec", "names"}, codec::JsonTree::Array({"a", "b"})));
  ASSERT_TRUE(widget.Set({"spec", "names", "1"}, "c"));
  widget.SetLabels({{"k", "v"}});
  widget.SetAnnotations({});
  widget.SetResourceVersion("5");
  widget.SetResourceVersion("");
  EXPECT_EQ(widget.ToJson(),
            R"({"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"w",)"
            R"("namespace":"ns","labels":{"k":"v"},"annotations":{}},)"
            R"("spec":{"limits":{"cpu":0},"names":["a","c"]}})");
  EXPECT_TRUE(widget.Remove({"spec", "limits"}));
  EXPECT_FALSE(widget.Remove({"spec", "limits"}));
  EXPECT_FALSE(widget.Remove({"nothing", "here"}));
  EXPECT_FALSE(widget.Remove({}));
  for (const auto& failed : {widget.Set({"kind", "inside"}, 1),
                             widget.Set({"spec", "names", "9"}, 1), widget.Set({}, 1)}) {
    ASSERT_FALSE(failed);
    EXPECT_EQ(failed.error().reason, Reason::kBadRequest);
  }
}

TEST(UnstructuredTest, ConvertsFromAndToTypes) {
  api::core::v1::ConfigMap map;
  map.metadata.name = "m";
  map.data = {{"k", "v"}};
  auto object = Unstructured::From(map);
  ASSERT_TRUE(object);
  EXPECT_EQ(object->Kind(), "ConfigMap");
  EXPECT_EQ(object->GetString({"data", "k"}), "v");
  const auto back = object->To<api::core::v1::ConfigMap>();
  ASSERT_TRUE(back) << back.error().ToString();
  EXPECT_EQ(*back, map);
  EXPECT_FALSE(WidgetObject().To<api::core::v1::ConfigMap>());
}

TEST(UnstructuredTest, MetadataIsTyped) {
  Unstructured widget = WidgetObject();
  EXPECT_FALSE(widget.Metadata());  // a label that is no string
  widget.SetLabels({{"a", "1"}});
  auto metadata = widget.Metadata();
  ASSERT_TRUE(metadata) << metadata.error().ToString();
  EXPECT_EQ(metadata->generation, 3);
  metadata->name = "renamed";
  widget.SetMetadata(*metadata);
  EXPECT_EQ(widget.Name(), "renamed");
  ASSERT_TRUE(Unstructured().Metadata());
  widget.SetName("w2");
  widget.SetNamespace("ns2");
  EXPECT_EQ(widget.Name() + widget.Namespace(), "w2ns2");
}

TEST(UnstructuredTest, OnlyJsonObjectsAreRead) {
  for (const char* text : {"[]", "5", "{", ""}) {
    const auto object = Unstructured::Parse(text);
    ASSERT_FALSE(object);
    EXPECT_EQ(object.error().reason, Reason::kMalformed);
  }
  const auto binary = codec::Decode<Unstructured>(codec::Encoding::kProtobuf, "\x0a");
  ASSERT_FALSE(binary);
  EXPECT_EQ(binary.error().reason, Reason::kUnsupportedMediaType);
}

}  // namespace
}  // namespace kubexx::dynamic
