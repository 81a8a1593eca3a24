#include "kubexx/kubernetes/resource_client.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "kubexx/api/core/v1/resources.gen.h"
#include "kubexx/api/core/v1/types.gen.h"
#include "kubexx/codec/envelope.h"
#include "kubexx/rest/testing/fake_server.h"
#include "kubexx/rest/testing/recorder.h"

namespace kubexx::testdata {

// A custom resource: its table is written by hand and has no protobuf tags.
struct Widget {
  api::meta::v1::ObjectMeta metadata{};
  std::string color{};
};

constexpr apimachinery::ResourceInfo kWidgets{"example.com", "v1", "Widget", "widgets", true};

}  // namespace kubexx::testdata

namespace kubexx::codec {

// GCC supports it for such types too.
#pragma GCC diagnostic ignored "-Winvalid-offsetof"

template <>
const TypeSchema& SchemaOf<testdata::Widget>() {
  static const FieldSchema kFields[] = {{.name = "metadata",
                                         .kind = Kind::kMessage,
                                         .offset = offsetof(testdata::Widget, metadata),
                                         .message = &SchemaOf<api::meta::v1::ObjectMeta>()},
                                        {.name = "color",
                                         .kind = Kind::kString,
                                         .flags = kOmitEmpty,
                                         .offset = offsetof(testdata::Widget, color)}};
  static const TypeSchema kSchema{.name = "Widget",
                                  .group = "example.com",
                                  .version = "v1",
                                  .kind = "Widget",
                                  .fields = kFields};
  return kSchema;
}

}  // namespace kubexx::codec

namespace kubexx::api {

template <>
constexpr const apimachinery::ResourceInfo& ResourceOf<testdata::Widget>() {
  return testdata::kWidgets;
}

}  // namespace kubexx::api

namespace kubexx::kubernetes {
namespace {

using api::core::v1::ConfigMap;
using apimachinery::Reason;
using apimachinery::Result;
using rest::PatchType;
using rest::testing::FakeConnection;
using rest::testing::FakeRequest;
using rest::testing::Recorder;
using testdata::Widget;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

constexpr const char* kProtobuf = "application/vnd.kubernetes.protobuf";

std::string Enveloped(const ConfigMap& map) {
  std::string out;
  codec::WriteEnvelope("v1", "ConfigMap", codec::EncodeProtobuf(map), out);
  return out;
}

ConfigMap Map(const std::string& name) {
  ConfigMap map;
  map.metadata.name = name;
  map.metadata.resource_version = "7";
  map.data = {{"k", "v"}};
  return map;
}

TEST(ResourceClientTest, BuiltInTypesTravelAsProtobuf) {
  Recorder server([](FakeConnection& connection, const FakeRequest&) {
    connection.Respond(200, kProtobuf, Enveloped(Map("a")));
  });
  const ResourceClient<ConfigMap> maps(server.client(), "ns");
  const auto created =
      maps.Create(Map("a"), {.field_manager = "m", .field_validation = "Strict", .dry_run = true});
  ASSERT_TRUE(created) << created.error().ToString();
  EXPECT_EQ(*created, Map("a"));
  const FakeRequest request = server.last();
  EXPECT_EQ(request.method, "POST");
  EXPECT_EQ(request.target,
            "/api/v1/namespaces/ns/configmaps?fieldManager=m&fieldValidation=Strict&dryRun=All");
  EXPECT_EQ(request.body, Enveloped(Map("a")));
  EXPECT_THAT(request.headers, Contains(Pair("content-type", kProtobuf)));
  EXPECT_THAT(request.headers,
              Contains(Pair("accept", "application/vnd.kubernetes.protobuf,application/json")));
}

TEST(ResourceClientTest, CustomResourcesTravelAsJson) {
  const std::string json =
      R"({"kind":"Widget","apiVersion":"example.com/v1","metadata":{"name":"w"},"color":"red"})";
  Recorder server([&json](FakeConnection& connection, const FakeRequest&) {
    connection.Respond(200, "application/json", json);
  });
  const ResourceClient<Widget> widgets(server.client(), "ns");
  Widget widget;
  widget.metadata.name = "w";
  widget.color = "red";
  const auto updated = widgets.Update(widget);
  ASSERT_TRUE(updated) << updated.error().ToString();
  EXPECT_EQ(updated->color, "red");
  const FakeRequest request = server.last();
  EXPECT_EQ(request.method, "PUT");
  EXPECT_EQ(request.target, "/apis/example.com/v1/namespaces/ns/widgets/w");
  EXPECT_THAT(request.headers, Contains(Pair("content-type", "application/json")));
  EXPECT_THAT(request.headers, Contains(Pair("accept", "application/json")));
  EXPECT_THAT(request.body, HasSubstr(R"("color":"red")"));
}

TEST(ResourceClientTest, ReadsJsonWhenTheServerPrefersIt) {
  Recorder server([](FakeConnection& connection, const FakeRequest&) {
    connection.Respond(200, "application/json", codec::EncodeJson(Map("a")));
  });
  const auto map = ResourceClient<ConfigMap>(server.client(), "ns").Get("a");
  ASSERT_TRUE(map) << map.error().ToString();
  EXPECT_EQ(*map, Map("a"));
}

TEST(ResourceClientTest, WritesJsonWhereTheServerTakesNoProtobuf) {
  Recorder server([](FakeConnection& connection, const FakeRequest& request) {
    const bool json = request.headers.at("content-type") == "application/json";
    connection.Respond(json ? 201 : 415, "application/json",
                       json ? codec::EncodeJson(Map("a")) : "{}");
  });
  const ResourceClient<ConfigMap> maps(server.client(), "ns");
  const auto created = maps.Create(Map("a"));
  ASSERT_TRUE(created) << created.error().ToString();
  EXPECT_EQ(*created, Map("a"));
  EXPECT_EQ(server.last().body, codec::EncodeJson(Map("a")));
  ASSERT_TRUE(maps.Update(Map("a")));
  EXPECT_EQ(server.targets().size(), 3);  // it is not asked again what it takes
}

TEST(ResourceClientTest, AllNamespacesClientWritesToTheObjectsOwn) {
  Recorder server([](FakeConnection& connection, const FakeRequest&) {
    connection.Respond(200, kProtobuf, Enveloped(Map("a")));
  });
  const ResourceClient<ConfigMap> maps(server.client(), "");
  ConfigMap map = Map("a");
  map.metadata.namespace_ = "own";
  ASSERT_TRUE(maps.Update(map));
  EXPECT_EQ(server.last().target, "/api/v1/namespaces/own/configmaps/a");
  const auto nowhere = maps.Get("a");
  ASSERT_FALSE(nowhere);
  EXPECT_EQ(nowhere.error().reason, Reason::kBadRequest);
}

TEST(ResourceClientTest, SendsPatchAndDeleteOptions) {
  Recorder server([](FakeConnection& connection, const FakeRequest&) {
    connection.Respond(200, kProtobuf, Enveloped(Map("a")));
  });
  const ResourceClient<ConfigMap> maps(server.client(), "ns");
  ASSERT_TRUE(maps.Patch("a", PatchType::kApply, "{}",
                         {.field_manager = "m", .force = true, .subresource = "status"}));
  EXPECT_EQ(server.last().target,
            "/api/v1/namespaces/ns/configmaps/a/status?fieldManager=m&force=true");
  EXPECT_EQ(server.last().body, "{}");
  ASSERT_TRUE(maps.Delete("a", {.propagation = Propagation::kForeground,
                                .grace_period_seconds = 0,
                                .uid = "u",
                                .resource_version = "5",
                                .dry_run = true}));
  EXPECT_EQ(server.last().method, "DELETE");
  EXPECT_EQ(
      server.last().body,
      R"({"kind":"DeleteOptions","apiVersion":"v1","gracePeriodSeconds":0,)"
      R"("preconditions":{"uid":"u","resourceVersion":"5"},"propagationPolicy":"Foreground","dryRun":["All"]})");
  ASSERT_TRUE(maps.DeleteCollection({}, {.label_selector = "a=b"}));
  EXPECT_EQ(server.last().target, "/api/v1/namespaces/ns/configmaps?labelSelector=a%3Db");
}

std::string Page(const std::vector<std::string>& names, const std::string& token) {
  std::string items;
  for (const std::string& name : names) {
    items += (items.empty() ? "" : ",") + std::string(R"({"metadata":{"name":")") + name + R"("}})";
  }
  return R"({"kind":"ConfigMapList","apiVersion":"v1","metadata":{"resourceVersion":"9","continue":")" +
         token + R"("},"items":[)" + items + "]}";
}

std::vector<std::string> Names(const ObjectList<ConfigMap>& list) {
  std::vector<std::string> names;
  std::ranges::transform(list.items, std::back_inserter(names),
                         [](const ConfigMap& map) { return map.metadata.name; });
  return names;
}

TEST(ResourceClientTest, ListFollowsPages) {
  Recorder server([](FakeConnection& connection, const FakeRequest& request) {
    const bool second = request.target.find("continue=") != std::string::npos;
    connection.Respond(200, "application/json", second ? Page({"c"}, "") : Page({"a", "b"}, "t1"));
  });
  const ResourceClient<ConfigMap> maps(server.client(), "ns");
  const auto list = maps.List(
      {.label_selector = "x", .resource_version = "5", .resource_version_match = "Exact"});
  ASSERT_TRUE(list) << list.error().ToString();
  EXPECT_THAT(Names(*list), ElementsAre("a", "b", "c"));
  EXPECT_EQ(list->metadata.resource_version, "9");
  EXPECT_THAT(
      server.targets(),
      ElementsAre("/api/v1/namespaces/ns/configmaps?labelSelector=x&resourceVersion=5"
                  "&resourceVersionMatch=Exact&limit=500",
                  "/api/v1/namespaces/ns/configmaps?labelSelector=x&continue=t1&limit=500"));
}

TEST(ResourceClientTest, AListWhoseTokenDoesNotMoveFails) {
  Recorder server([](FakeConnection& connection, const FakeRequest& request) {
    const bool first = request.target.find("continue=") == std::string::npos;
    connection.Respond(200, "application/json", Page({"a"}, first ? "t1" : "t2"));
  });
  const auto list = ResourceClient<ConfigMap>(server.client(), "ns").List();
  ASSERT_FALSE(list);
  EXPECT_THAT(list.error().message, HasSubstr("same token again"));
  EXPECT_EQ(server.targets().size(), 3U);
}

TEST(ResourceClientTest, ListThatExpiresBetweenPagesBeginsAnewInOnePiece) {
  Recorder server([](FakeConnection& connection, const FakeRequest& request) {
    if (request.target.find("continue=") != std::string::npos) {
      connection.Respond(
          410, "application/json",
          R"({"kind":"Status","apiVersion":"v1","reason":"Expired","message":"too old","code":410})");
    } else if (request.target.find("limit=") != std::string::npos) {
      connection.Respond(200, "application/json", Page({"a", "gone"}, "t1"));
    } else {
      connection.Respond(200, "application/json", Page({"a", "b", "c"}, ""));
    }
  });
  const auto list = ResourceClient<ConfigMap>(server.client(), "ns").List();
  ASSERT_TRUE(list) << list.error().ToString();
  EXPECT_THAT(Names(*list), ElementsAre("a", "b", "c"));
  EXPECT_EQ(server.targets().size(), 3U);
}

TEST(ResourceClientTest, ListErrorsAreReturned) {
  for (const std::string body :
       {"{", R"({"kind":"ConfigMapList","items":[{"metadata":{"name":5}}]})"}) {
    Recorder server([&body](FakeConnection& connection, const FakeRequest&) {
      connection.Respond(200, "application/json", body);
    });
    const auto list = ResourceClient<ConfigMap>(server.client(), "ns").List();
    ASSERT_FALSE(list) << body;
    EXPECT_EQ(list.error().reason, Reason::kMalformed);
  }
}

// A server or a proxy answers 200 with something else.
TEST(ResourceClientTest, AnswersOfAnotherTypeAreMalformed) {
  std::string status;
  codec::WriteEnvelope("v1", "Status", "", status);
  std::string secrets;
  codec::WriteEnvelope("v1", "SecretList", "", secrets);
  const std::string json = "application/json";
  using Answer = std::pair<std::string, std::string>;
  for (const auto& [type, body] :
       {Answer{json, "{}"}, Answer{json, R"({"error":"backend overloaded"})"},
        Answer{json, R"({"kind":"Status","apiVersion":"v1","status":"Failure","message":"no"})"},
        Answer{json, R"({"kind":"SecretList","apiVersion":"v1","items":[]})"},
        Answer{kProtobuf, status}, Answer{kProtobuf, secrets}}) {
    Recorder server([&type, &body](FakeConnection& connection, const FakeRequest&) {
      connection.Respond(200, type, body);
    });
    const ResourceClient<ConfigMap> maps(server.client(), "ns");
    const auto list = maps.List();
    ASSERT_FALSE(list) << body;
    EXPECT_EQ(list.error().reason, Reason::kMalformed);
    EXPECT_THAT(list.error().message, HasSubstr("GET /api/v1/namespaces/ns/configmaps"));
    const auto got = maps.Get("a");
    ASSERT_FALSE(got) << body;
    EXPECT_EQ(got.error().reason, Reason::kMalformed);
    EXPECT_THAT(got.error().message, HasSubstr("expected ConfigMap"));
    const auto created = maps.Create(Map("a"));
    ASSERT_FALSE(created) << body;
    EXPECT_EQ(created.error().reason, Reason::kMalformed);
  }
}

TEST(ResourceClientTest, MalformedObjectsNameTheRequest) {
  Recorder server([](FakeConnection& connection, const FakeRequest& request) {
    connection.Respond(200, request.target.ends_with("pb") ? kProtobuf : "application/json", "{]");
  });
  const ResourceClient<ConfigMap> maps(server.client(), "ns");
  for (const char* name : {"pb", "json"}) {
    const auto map = maps.Get(name);
    ASSERT_FALSE(map);
    EXPECT_EQ(map.error().reason, Reason::kMalformed);
    EXPECT_THAT(map.error().message,
                HasSubstr("GET /api/v1/namespaces/ns/configmaps/" + std::string(name)));
  }
}

// One of them does not decode, in either encoding, or the answer is no list at all.
TEST(ResourceClientTest, ListsThatDoNotDecodeNameTheObjectAndTheRequest) {
  const std::string bad = R"({"metadata":{"namespace":"ns","name":"bad"},"data":5})";
  const std::string page = R"({"kind":"ConfigMapList","items":[{"metadata":{"name":"a"}},)" + bad;
  std::string items;
  for (const std::string& item : {codec::EncodeProtobuf(Map("a")),
                                  codec::EncodeProtobuf(Map("bad")) + "\x0e"}) {  // no wire type
    items += "\x12" + std::string(1, static_cast<char>(item.size())) + item;
  }
  std::string broken;
  codec::WriteEnvelope("v1", "ConfigMapList", items, broken);
  struct Answer {
    std::string type;
    std::string body;
    std::string object;
  };
  for (const Answer& answer :
       {Answer{"application/json", page + "]}", "items[1], ConfigMap ns/bad"},
        Answer{"application/json", page, "items[1], ConfigMap ns/bad"},
        Answer{kProtobuf, broken, "items[1], ConfigMap"},
        Answer{"application/json", R"({"kind":"ConfigMapList","items":[null]})", "items[0]"},
        Answer{"application/json", R"({"kind":"ConfigMapList","items":[5]})", "items[0]"},
        Answer{"application/json", R"({"items":[{}])", ""}, Answer{"application/json", "[]", ""}}) {
    Recorder server([&answer](FakeConnection& connection, const FakeRequest&) {
      connection.Respond(200, answer.type, answer.body);
    });
    const auto list = ResourceClient<ConfigMap>(server.client(), "ns").List();
    ASSERT_FALSE(list) << answer.body;
    EXPECT_EQ(list.error().reason, Reason::kMalformed);
    EXPECT_THAT(list.error().message, HasSubstr(answer.object)) << answer.body;
    EXPECT_THAT(list.error().message, HasSubstr("GET /api/v1/namespaces/ns/configmaps?limit=500"));
  }
}

TEST(ResourceClientTest, WatchesThatDoNotDecodeNameTheObjectAndTheRequest) {
  struct Answer {
    std::string body;
    std::string object;
  };
  for (const Answer& answer :
       {Answer{R"({"type":"ADDED","object":{"metadata":{"namespace":"ns","name":"bad"},"data":5}})",
               "ConfigMap ns/bad"},
        Answer{R"({"type":"NEITHER","object":{}})", ""}}) {
    Recorder server([&answer](FakeConnection& connection, const FakeRequest&) {
      connection.Respond(200, "application/json;stream=watch", answer.body);
    });
    const auto result =
        ResourceClient<ConfigMap>(server.client(), "ns")
            .Watch({}, [](WatchEvent<ConfigMap>&&) -> Result<void> { return {}; }, {});
    ASSERT_FALSE(result) << answer.body;
    EXPECT_EQ(result.error().reason, Reason::kMalformed);
    EXPECT_THAT(result.error().message, HasSubstr(answer.object));
    EXPECT_THAT(result.error().message,
                HasSubstr("GET /api/v1/namespaces/ns/configmaps?watch=true"));
  }
}

TEST(ResourceClientTest, AnErrorOfAWatchsSinkIsReturnedAsItIs) {
  Recorder server([](FakeConnection& connection, const FakeRequest&) {
    connection.Respond(200, "application/json;stream=watch",
                       R"({"type":"ADDED","object":{"metadata":{"name":"a"}}})");
  });
  const auto result = ResourceClient<ConfigMap>(server.client(), "ns")
                          .Watch({},
                                 [](WatchEvent<ConfigMap>&&) -> Result<void> {
                                   return apimachinery::Fail(Reason::kConflict, "the sink's own");
                                 },
                                 {});
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().message, "the sink's own");
}

TEST(ResourceClientTest, WatchGivesTypedEventsAndItsErrorEvent) {
  Recorder server([](FakeConnection& connection, const FakeRequest&) {
    connection.RespondChunked(200, "application/json;stream=watch");
    connection.WriteChunk(
        R"({"type":"ADDED","object":{"kind":"ConfigMap","metadata":{"name":"a"}}}{"type":"BOOK)");
    connection.WriteChunk(R"(MARK","object":{"metadata":{"resourceVersion":"8"}}})");
    connection.WriteChunk(
        R"({"type":"ERROR","object":{"kind":"Status","apiVersion":"v1","message":"too old",)"
        R"("reason":"Expired","code":410}})");
    connection.EndChunks();
  });
  std::vector<std::pair<codec::WatchEventType, std::string>> events;
  const auto result =
      ResourceClient<ConfigMap>(server.client(), "ns")
          .Watch({.timeout = std::chrono::seconds(300), .allow_watch_bookmarks = true},
                 [&events](WatchEvent<ConfigMap>&& event) -> Result<void> {
                   events.emplace_back(event.type, event.object.metadata.name +
                                                       event.object.metadata.resource_version);
                   return {};
                 },
                 {});
  ASSERT_FALSE(result);
  EXPECT_TRUE(apimachinery::IsExpired(result.error())) << result.error().ToString();
  EXPECT_EQ(result.error().message, "too old");
  EXPECT_THAT(events, ElementsAre(Pair(codec::WatchEventType::kAdded, "a"),
                                  Pair(codec::WatchEventType::kBookmark, "8")));
  EXPECT_EQ(
      server.last().target,
      "/api/v1/namespaces/ns/configmaps?watch=true&timeoutSeconds=300&allowWatchBookmarks=true");
}

}  // namespace
}  // namespace kubexx::kubernetes
