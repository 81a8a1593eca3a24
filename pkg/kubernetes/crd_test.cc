// What hack/codegen --crd has written for testing/widgets.yaml.
#include <gmock/gmock.h>

#include <string>

#include "kubexx/cache/typed_object.h"
#include "kubexx/codec/codec.h"
#include "kubexx/kubernetes/resource_client.h"
#include "kubexx/kubernetes/testing/widget_v1.gen.h"
#include "kubexx/rest/testing/recorder.h"

namespace kubexx::kubernetes {
namespace {

using rest::testing::FakeConnection;
using rest::testing::FakeRequest;
using rest::testing::Recorder;
using TestWidget = testing::Widget;

constexpr const char* kFull =
    R"({"kind":"Widget","apiVersion":"test.example.com/v1","metadata":{"name":"w"},)"
    R"("spec":{"class":"c","color":"red","config":{"any":[1,{"x":null}]},"enabled":false,)"
    R"("grid":[[1,2],[]],"labels":{"a":"b"},"limits":{"cpu":{"max":"50%"},"mem":{"max":3},"x":{}},)"
    R"("maxBytes":9007199254740993,"owner":{"name":""},"parts":[{"count":0,"flags":[true,false],)"
    R"("name":"p"}],"paused":false,"port":80,"replicas":0,"secretData":"c2VjcmV0",)"
    R"("startTime":"2026-01-02T03:04:05.1234567890+01:00","tags":["t",""],"weight":0.5},)"
    R"("status":{"phase":"Ready","replicas":0}})";

TEST(GeneratedCustomResourceTest, RoundTripsEveryKindOfField) {
  const auto widget = codec::DecodeJson<TestWidget>(kFull);
  ASSERT_TRUE(widget) << widget.error().ToString();
  EXPECT_EQ(widget->spec.class_, "c");
  EXPECT_EQ(widget->spec.replicas, 0);
  EXPECT_EQ(widget->spec.max_bytes, 9007199254740993);
  EXPECT_EQ(widget->spec.secret_data->view(), "secret");
  EXPECT_EQ(widget->spec.limits->at("cpu").max, apimachinery::IntOrString("50%"));
  EXPECT_EQ(widget->spec.start_time->ToTime()->ToString(), "2026-01-02T02:04:05Z");
  EXPECT_EQ(widget->status->phase, "Ready");
  EXPECT_EQ(codec::EncodeJson(*widget), kFull);
}

TEST(GeneratedCustomResourceTest, GoesIntoACacheAndComesOut) {
  auto widget = codec::DecodeJson<TestWidget>(kFull);
  ASSERT_TRUE(widget) << widget.error().ToString();
  widget->metadata.namespace_ = "ns";
  widget->metadata.resource_version = "7";
  const cache::Object object = cache::EncodeObject(*widget);
  EXPECT_EQ(object.encoding, codec::Encoding::kJson) << "there is no protobuf for it";
  EXPECT_EQ(object.key.ToString(), "ns/w");
  EXPECT_EQ(object.resource_version, "7");
  EXPECT_EQ(cache::DecodeObject<TestWidget>(object).value(), *widget);
}

TEST(GeneratedCustomResourceTest, LeavesOutWhatIsNotRequiredAndNotSet) {
  EXPECT_EQ(codec::EncodeJson(TestWidget()),
            R"({"kind":"Widget","apiVersion":"test.example.com/v1","metadata":{},)"
            R"("spec":{"color":"","enabled":false,"parts":[],"weight":0}})");
}

TEST(GeneratedCustomResourceTest, TellsFieldsThatDoNotFit) {
  const auto widget = codec::DecodeJson<TestWidget>(R"({"spec":{"parts":[{"count":"many"}]}})");
  ASSERT_FALSE(widget);
  EXPECT_EQ(widget.error().details.causes.at(0).field, "spec.parts[0].count");
}

TEST(GeneratedCustomResourceTest, WorksWithClientsAndApply) {
  Recorder server([](FakeConnection& connection, const FakeRequest&) {
    connection.Respond(200, "application/json", kFull);
  });
  const ResourceClient<TestWidget> widgets(server.client(), "ns");
  const auto got = widgets.Get("w");
  ASSERT_TRUE(got) << got.error().ToString();
  EXPECT_EQ(server.last().target, "/apis/test.example.com/v1/namespaces/ns/widgets/w");
  ASSERT_TRUE(widgets.UpdateStatus(*got));
  ApplyObject<TestWidget> apply("w");
  apply.Set(&TestWidget::spec, &testing::WidgetSpec::replicas, 0)
      .In(&TestWidget::spec)
      .Append(&testing::WidgetSpec::parts)
      .Set(&testing::WidgetSpecPartsItem::name, "p");
  EXPECT_EQ(apply.ToJson(),
            R"({"apiVersion":"test.example.com/v1","kind":"Widget","metadata":{"name":"w"},)"
            R"("spec":{"replicas":0,"parts":[{"name":"p"}]}})");
  ASSERT_TRUE(widgets.Apply(apply, {.field_manager = "m"}));
}

}  // namespace
}  // namespace kubexx::kubernetes
