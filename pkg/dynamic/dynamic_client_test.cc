#include "kubexx/dynamic/dynamic_client.h"

#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "kubexx/dynamic/metadata_client.h"
#include "kubexx/rest/testing/recorder.h"

namespace kubexx::dynamic {
namespace {

using apimachinery::GroupVersionResource;
using apimachinery::Reason;
using apimachinery::Result;
using rest::testing::FakeConnection;
using rest::testing::FakeRequest;
using rest::testing::Recorder;
using ::testing::ElementsAre;

const GroupVersionResource kWidgets{.group = "example.com", .version = "v1", .resource = "widgets"};
const GroupVersionResource kPods{.group = "", .version = "v1", .resource = "pods"};
constexpr const char* kPath = "/apis/example.com/v1/namespaces/ns/widgets";

Unstructured Widget() {
  Unstructured widget({.group = "example.com", .version = "v1", .kind = "Widget"}, "w", "ns");
  EXPECT_TRUE(widget.Set({"spec", "size"}, 0));
  return widget;
}

// Sends a Widget back.
void Answer(FakeConnection& connection, const FakeRequest&) {
  connection.Respond(200, "application/json", Widget().ToJson());
}

TEST(DynamicClientTest, EveryVerbHasItsRequest) {
  Recorder server(Answer);
  const auto widgets = DynamicClient(server.client()).Resource(kWidgets, "ns");
  const auto expect = [&server](const std::string& method, const std::string& target,
                                const Result<Unstructured>& result) {
    ASSERT_TRUE(result) << result.error().ToString();
    EXPECT_EQ(*result, Widget());
    EXPECT_EQ(server.last().method + " " + server.last().target, method + " " + target);
  };
  const std::string path = kPath;
  expect("GET", path + "/w", widgets.Get("w"));
  expect("GET", path + "/w/scale", widgets.Get("w", "scale"));
  expect("POST", path + "?dryRun=All", widgets.Create(Widget(), {.dry_run = true}));
  EXPECT_EQ(server.last().body, Widget().ToJson());
  expect("POST", path + "/w/token",
         widgets.CreateAt({.name = "w", .subresource = "token"}, Widget()));
  expect("PUT", path + "/w", widgets.Update(Widget()));
  expect("PUT", path + "/w/status", widgets.UpdateStatus(Widget()));
  expect("PUT", path + "/w/scale",
         widgets.UpdateAt({.name = "w", .subresource = "scale"}, Widget()));
  expect("PATCH", path + "/w", widgets.Patch("w", {.type = rest::PatchType::kJson, .text = "[]"}));
  EXPECT_EQ(server.last().headers["content-type"], "application/json-patch+json");
  expect("PATCH", path + "/w?fieldManager=m&force=true",
         widgets.Apply(Widget(), {.field_manager = "m", .force = true}));
  EXPECT_EQ(server.last().headers["content-type"], "application/apply-patch+yaml");
  EXPECT_EQ(server.last().body, Widget().ToJson());
  expect("PATCH", path + "/w/status?fieldManager=m",
         widgets.ApplyStatus(Widget(), {.field_manager = "m"}));
}

TEST(DynamicClientTest, DeletesOneAndMany) {
  Recorder server(Answer);
  const auto widgets = DynamicClient(server.client()).Resource(kWidgets, "ns");
  ASSERT_TRUE(widgets.Delete("w"));
  EXPECT_EQ(server.last().target, std::string(kPath) + "/w");
  ASSERT_TRUE(widgets.DeleteCollection({}, {.label_selector = "a=b"}));
  EXPECT_EQ(server.last().target, std::string(kPath) + "?labelSelector=a%3Db");
  EXPECT_EQ(server.last().method, "DELETE");
}

TEST(DynamicClientTest, RefusesWhatCannotBeSent) {
  Recorder server(Answer);
  const auto widgets = DynamicClient(server.client()).Resource(kWidgets, "ns");
  for (const auto& result : {widgets.Apply(Widget(), {}), widgets.Get(""), widgets.Get("a/b"),
                             widgets.Update(Unstructured())}) {
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().reason, Reason::kBadRequest);
  }
  EXPECT_TRUE(server.targets().empty());
}

TEST(DynamicClientTest, ClusterScopedResourcesHaveNoNamespace) {
  Recorder server(Answer);
  ASSERT_TRUE(DynamicClient(server.client()).Resource(kWidgets).Get("w"));
  EXPECT_EQ(server.last().target, "/apis/example.com/v1/widgets/w");
}

TEST(DynamicClientTest, ListedItemsNameTheirType) {
  Recorder server([](FakeConnection& connection, const FakeRequest&) {
    connection.Respond(
        200, "application/json",
        R"({"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"9"},"items":[)"
        R"({"metadata":{"name":"a"}},{},{"kind":"Own","metadata":{"name":"c"}}]})");
  });
  const auto list = DynamicClient(server.client()).Resource(kPods, "ns").List();
  ASSERT_TRUE(list) << list.error().ToString();
  EXPECT_EQ(list->metadata.resource_version, "9");
  ASSERT_EQ(list->items.size(), 3U);
  EXPECT_EQ(list->items[0].ToJson(), R"({"kind":"Pod","apiVersion":"v1","metadata":{"name":"a"}})");
  EXPECT_EQ(list->items[1].ToJson(), R"({"kind":"Pod","apiVersion":"v1"})");
  EXPECT_EQ(list->items[2].Kind(), "Own");
}

TEST(DynamicClientTest, WatchGivesEventsAndItsError) {
  Recorder server([](FakeConnection& connection, const FakeRequest&) {
    connection.RespondChunked(200, "application/json;stream=watch");
    connection.WriteChunk(R"({"type":"ADDED","object":{"kind":"Widget","metadata":{"name":"a"}}})");
    connection.WriteChunk(
        R"({"type":"ERROR","object":{"kind":"Status","apiVersion":"v1","reason":"Expired","code":410}})");
    connection.EndChunks();
  });
  std::vector<std::string> names;
  const auto result = DynamicClient(server.client())
                          .Resource(kWidgets, "ns")
                          .Watch({},
                                 [&names](UnstructuredEvent&& event) -> Result<void> {
                                   names.push_back(event.object.Name());
                                   return {};
                                 },
                                 {});
  ASSERT_FALSE(result);
  EXPECT_TRUE(apimachinery::IsExpired(result.error()));
  EXPECT_THAT(names, ElementsAre("a"));
}

TEST(DynamicClientTest, AnswersThatAreNoObjectsAreMalformed) {
  for (const std::string body :
       {"{}", R"({"error":"backend overloaded"})",
        R"({"kind":"Status","apiVersion":"v1","status":"Failure","message":"no such thing"})"}) {
    Recorder server([&body](FakeConnection& connection, const FakeRequest&) {
      connection.Respond(200, "application/json", body);
    });
    const auto widgets = DynamicClient(server.client()).Resource(kWidgets, "ns");
    EXPECT_FALSE(widgets.List()) << body;
    for (const auto& result : {widgets.Get("w"), widgets.Create(Widget())}) {
      ASSERT_FALSE(result) << body;
      EXPECT_EQ(result.error().reason, Reason::kMalformed);
    }
  }
}

TEST(DynamicClientTest, AStatusOfSuccessAnswersAWrite) {
  Recorder server([](FakeConnection& connection, const FakeRequest&) {
    connection.Respond(201, "application/json",
                       R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Success"})");
  });
  const auto pods = DynamicClient(server.client()).Resource(kPods, "ns");
  const auto bound = pods.CreateAt({.name = "p", .subresource = "binding"}, Widget());
  ASSERT_TRUE(bound) << bound.error().ToString();
  EXPECT_EQ(bound->Kind(), "Status");
  EXPECT_FALSE(pods.Get("p"));
}

constexpr const char* kPartial =
    R"({"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":{"name":"p"}})";

TEST(MetadataClientTest, AsksForMetadataOnly) {
  Recorder server([](FakeConnection& connection, const FakeRequest& request) {
    const bool is_list = request.method == "GET" && request.target.ends_with("limit=500");
    connection.Respond(200, "application/json",
                       is_list ? R"({"kind":"PartialObjectMetadataList","apiVersion":)"
                                 R"("meta.k8s.io/v1","metadata":{},"items":[)" +
                                     std::string(kPartial) + "]}"
                               : kPartial);
  });
  const auto pods = MetadataClient(server.client()).Resource(kPods, "ns");
  const auto pod = pods.Get("p");
  ASSERT_TRUE(pod) << pod.error().ToString();
  EXPECT_EQ(pod->metadata.name, "p");
  EXPECT_EQ(server.last().headers["accept"],
            "application/vnd.kubernetes.protobuf;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,"
            "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1");
  const auto list = pods.List();
  ASSERT_TRUE(list) << list.error().ToString();
  ASSERT_EQ(list->items.size(), 1U);
  EXPECT_EQ(list->items[0], *pod);
  EXPECT_EQ(server.last().headers["accept"],
            "application/vnd.kubernetes.protobuf;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,"
            "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1");
  ASSERT_TRUE(pods.Patch("p", {.type = rest::PatchType::kMerge, .text = "{}"}));
  EXPECT_EQ(server.last().method, "PATCH");
  ASSERT_TRUE(pods.Delete("p"));
  ASSERT_TRUE(pods.DeleteCollection({}, {}));
  EXPECT_EQ(server.last().method, "DELETE");
}

TEST(MetadataClientTest, WatchesMetadata) {
  Recorder server([](FakeConnection& connection, const FakeRequest&) {
    connection.RespondChunked(200, "application/json;stream=watch");
    connection.WriteChunk(R"({"type":"DELETED","object":)" + std::string(kPartial) + "}");
    connection.EndChunks();
  });
  std::vector<std::string> names;
  const auto result = MetadataClient(server.client())
                          .Resource(kPods)
                          .Watch({},
                                 [&names](MetadataResource::Event&& event) -> Result<void> {
                                   EXPECT_EQ(event.type, codec::WatchEventType::kDeleted);
                                   names.push_back(event.object.metadata.name);
                                   return {};
                                 },
                                 {});
  ASSERT_TRUE(result) << result.error().ToString();
  EXPECT_THAT(names, ElementsAre("p"));
  EXPECT_EQ(server.last().headers["accept"],
            "application/vnd.kubernetes.protobuf;as=PartialObjectMetadata;g=meta.k8s.io;v=v1;"
            "stream=watch,"
            "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1;stream=watch");
}

}  // namespace
}  // namespace kubexx::dynamic
