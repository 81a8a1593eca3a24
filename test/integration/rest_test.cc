// The REST client and the typed resource client against a real API server.
#include <gmock/gmock.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <latch>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "kubexx/api/apps/v1/resources.gen.h"
#include "kubexx/api/apps/v1/types.gen.h"
#include "kubexx/api/core/v1/resources.gen.h"
#include "kubexx/api/core/v1/types.gen.h"
#include "kubexx/api/meta/v1/types.gen.h"
#include "kubexx/base/testing/await.h"
#include "kubexx/codec/watch_reader.h"
#include "kubexx/kubernetes/resource_client.h"
#include "kubexx/rest/rest_client.h"

namespace kubexx {
namespace {

using api::apps::v1::Deployment;
using api::core::v1::ConfigMap;
using api::core::v1::Namespace;
using apimachinery::ListOptions;
using apimachinery::Reason;
using apimachinery::Result;
using codec::WatchEventType;
using kubernetes::ResourceClient;
using kubernetes::WatchEvent;
using rest::PatchType;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Pair;

rest::Config LoadTestConfig() {
  const char* path = std::getenv("KUBEXX_TEST_KUBECONFIG");
  auto config =
      rest::LoadKubeconfig({.path = path == nullptr ? "KUBEXX_TEST_KUBECONFIG is not set" : path});
  EXPECT_TRUE(config) << config.error().ToString();
  config->qps = -1;
  return *config;
}

std::shared_ptr<rest::RESTClient> Connect(const rest::Config& config) {
  auto client = rest::RESTClient::New(config);
  EXPECT_TRUE(client) << client.error().ToString();
  return *client;
}

// A namespace of its own for each test, removed at the end.
class RestIntegrationTest : public ::testing::Test {
 protected:
  void SetUp() override {
    static std::atomic<int> count = 0;
    // A process may have the number of one before; a namespace without controllers stays for ever.
    name_ = "rest-" + std::to_string(::getpid()) + "-" + std::to_string(++count) + "-" +
            std::to_string(std::chrono::steady_clock::now().time_since_epoch().count() % 1000000);
    Namespace wanted;
    wanted.metadata.name = name_;
    const auto created = ResourceClient<Namespace>(client_, "").Create(wanted);
    ASSERT_TRUE(created) << created.error().ToString();
    maps_ = std::make_unique<ResourceClient<ConfigMap>>(client_, name_);
  }
  void TearDown() override { EXPECT_TRUE(ResourceClient<Namespace>(client_, "").Delete(name_)); }

  static ConfigMap Map(const std::string& name, const std::string& value = "v") {
    ConfigMap map;
    map.metadata.name = name;
    map.data = {{"key", value}};
    return map;
  }

  rest::Config config_ = LoadTestConfig();
  std::shared_ptr<rest::RESTClient> client_ = Connect(config_);
  std::string name_;
  std::unique_ptr<ResourceClient<ConfigMap>> maps_;
};

TEST_F(RestIntegrationTest, CreatesReadsUpdatesAndDeletes) {
  const auto created = maps_->Create(Map("a"), {.field_manager = "it"});
  ASSERT_TRUE(created) << created.error().ToString();
  EXPECT_EQ(created->metadata.namespace_, name_);
  EXPECT_NE(created->metadata.uid, "");
  ASSERT_FALSE(created->metadata.managed_fields.empty());
  EXPECT_EQ(created->metadata.managed_fields.front().manager, "it");
  const auto read = maps_->Get("a");
  ASSERT_TRUE(read);
  EXPECT_EQ(*read, *created);

  ConfigMap changed = *read;
  changed.data["key"] = "w";
  const auto updated = maps_->Update(changed);
  ASSERT_TRUE(updated) << updated.error().ToString();
  EXPECT_EQ(updated->data.at("key"), "w");
  EXPECT_NE(updated->metadata.resource_version, read->metadata.resource_version);

  const auto dry = maps_->Delete("a", {.dry_run = true});
  EXPECT_TRUE(dry) << dry.error().ToString();
  EXPECT_TRUE(maps_->Get("a")) << "a dry run deletes nothing";
  const auto removed = maps_->Delete("a", {.uid = updated->metadata.uid});
  EXPECT_TRUE(removed) << removed.error().ToString();
  EXPECT_FALSE(maps_->Get("a"));
}

TEST_F(RestIntegrationTest, ReportsTheServersErrors) {
  const auto missing = maps_->Get("nope");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().reason, Reason::kNotFound);
  EXPECT_EQ(missing.error().code, 404);
  EXPECT_EQ(missing.error().message, "configmaps \"nope\" not found");
  EXPECT_EQ(missing.error().details.name, "nope");
  EXPECT_EQ(missing.error().details.kind, "configmaps");

  const auto first = maps_->Create(Map("a"));
  ASSERT_TRUE(first);
  const auto again = maps_->Create(Map("a"));
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().reason, Reason::kAlreadyExists);

  ASSERT_TRUE(maps_->Patch("a", PatchType::kMerge, R"({"data":{"key":"newer"}})"));
  const auto stale = maps_->Update(*first);
  ASSERT_FALSE(stale);
  EXPECT_EQ(stale.error().reason, Reason::kConflict);
  EXPECT_EQ(stale.error().code, 409);
  const auto other_uid = maps_->Delete("a", {.uid = "00000000-0000-0000-0000-000000000000"});
  ASSERT_FALSE(other_uid);
  EXPECT_EQ(other_uid.error().reason, Reason::kConflict);

  Deployment empty;
  empty.metadata.name = "d";
  const auto invalid = ResourceClient<Deployment>(client_, name_).Create(empty);
  ASSERT_FALSE(invalid);
  EXPECT_EQ(invalid.error().reason, Reason::kInvalid);
  std::vector<std::string> fields;
  for (const auto& cause : invalid.error().details.causes) {
    fields.push_back(cause.field);
  }
  EXPECT_THAT(fields, Contains("spec.selector"));

  const auto bad_patch = maps_->Patch("a", PatchType::kJson, "{}");
  ASSERT_FALSE(bad_patch);
  EXPECT_EQ(bad_patch.error().reason, Reason::kBadRequest);
}

TEST_F(RestIntegrationTest, AppliesAllPatchTypes) {
  ASSERT_TRUE(maps_->Create(Map("a")));
  const auto json =
      maps_->Patch("a", PatchType::kJson, R"([{"op":"add","path":"/data/j","value":"1"}])");
  ASSERT_TRUE(json) << json.error().ToString();
  const auto merge = maps_->Patch("a", PatchType::kMerge, R"({"data":{"m":"2","key":null}})");
  ASSERT_TRUE(merge) << merge.error().ToString();
  const auto strategic = maps_->Patch("a", PatchType::kStrategicMerge, R"({"data":{"s":"3"}})",
                                      {.field_manager = "strategist"});
  ASSERT_TRUE(strategic) << strategic.error().ToString();
  const std::string apply =
      "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {m: \"9\"}\n";
  const auto conflict = maps_->Patch("a", PatchType::kApply, apply, {.field_manager = "applier"});
  ASSERT_FALSE(conflict) << "another manager owns data.m";
  EXPECT_EQ(conflict.error().reason, Reason::kConflict);
  ASSERT_FALSE(conflict.error().details.causes.empty());
  EXPECT_EQ(conflict.error().details.causes.front().field, ".data.m");
  const auto forced =
      maps_->Patch("a", PatchType::kApply, apply, {.field_manager = "applier", .force = true});
  ASSERT_TRUE(forced) << forced.error().ToString();
  EXPECT_EQ(forced->data, (std::map<std::string, std::string>{{"j", "1"}, {"m", "9"}, {"s", "3"}}));
}

TEST_F(RestIntegrationTest, UpdatesTheStatusAlone) {
  const ResourceClient<Deployment> deployments(client_, name_);
  auto made = codec::DecodeJson<Deployment>(
      R"({"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"d"},
    "spec":{"replicas":2,"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},
    "spec":{"containers":[{"name":"c","image":"i"}]}}}})");
  ASSERT_TRUE(made) << made.error().ToString();
  auto created = deployments.Create(*made);
  ASSERT_TRUE(created) << created.error().ToString();
  created->status.replicas = 7;
  created->spec.replicas = 5;
  const auto updated = deployments.UpdateStatus(*created);
  ASSERT_TRUE(updated) << updated.error().ToString();
  EXPECT_EQ(updated->status.replicas, 7);
  EXPECT_EQ(updated->spec.replicas, 2);
}

TEST_F(RestIntegrationTest, ListsInPagesAndBySelector) {
  constexpr int kCount = 1100;  // three pages of 500
  {
    std::vector<std::jthread> writers;
    for (int w = 0; w < 4; ++w) {
      writers.emplace_back([this, w] {
        for (int i = w; i < kCount; i += 4) {
          ConfigMap map = Map("m" + std::to_string(i));
          map.metadata.labels["parity"] = i % 2 == 0 ? "even" : "odd";
          const auto created = maps_->Create(map);
          ASSERT_TRUE(created) << created.error().ToString();
        }
      });
    }
  }
  const auto all = maps_->List({.field_selector = "metadata.name!=kube-root-ca.crt"});
  ASSERT_TRUE(all) << all.error().ToString();
  EXPECT_EQ(all->items.size(), std::size_t{kCount});
  EXPECT_NE(all->metadata.resource_version, "");
  EXPECT_EQ(all->metadata.continue_, "");
  const auto odd = maps_->List({.label_selector = "parity=odd"});
  ASSERT_TRUE(odd);
  EXPECT_EQ(odd->items.size(), std::size_t{kCount} / 2);
  const auto page = maps_->List({.limit = 10});
  ASSERT_TRUE(page);
  EXPECT_EQ(page->items.size(), 10U);
  EXPECT_NE(page->metadata.continue_, "");
  const auto next = maps_->List({.limit = 10, .continue_ = page->metadata.continue_});
  ASSERT_TRUE(next);
  EXPECT_NE(next->items.front().metadata.name, page->items.front().metadata.name);
  const auto bad = maps_->List({.label_selector = "a=b=c"});
  ASSERT_FALSE(bad);
  EXPECT_EQ(bad.error().reason, Reason::kBadRequest);
  ASSERT_TRUE(maps_->DeleteCollection({}, {.label_selector = "parity"}));
  EXPECT_EQ(maps_->List({.label_selector = "parity"})->items.size(), 0U);
}

TEST_F(RestIntegrationTest, WatchDeliversEachChange) {
  const auto list = maps_->List();
  ASSERT_TRUE(list);
  std::jthread writer([this] {
    EXPECT_TRUE(maps_->Create(Map("a", "1")));
    EXPECT_TRUE(maps_->Patch("a", PatchType::kMerge, R"({"data":{"key":"2"}})"));
    EXPECT_TRUE(maps_->Delete("a"));
  });
  std::vector<std::string> seen;
  const auto result = maps_->Watch(
      {.field_selector = "metadata.name=a",
       .resource_version = list->metadata.resource_version,
       .timeout = std::chrono::seconds(60)},
      [&seen](WatchEvent<ConfigMap>&& event) -> Result<void> {
        seen.push_back(std::to_string(static_cast<int>(event.type)) + event.object.data["key"]);
        return seen.size() < 3 ? Result<void>() : apimachinery::Fail(Reason::kConflict, "enough");
      },
      {});
  EXPECT_EQ(result.error().message, "enough");
  EXPECT_THAT(seen, ::testing::ElementsAre("01", "12", "22"));
}

TEST_F(RestIntegrationTest, WatchEndsByTimeoutStopAndExpiry) {
  const auto ignore = [](WatchEvent<ConfigMap>&&) -> Result<void> { return {}; };
  const auto timed = maps_->Watch({.timeout = std::chrono::seconds(1)}, ignore, {});
  EXPECT_TRUE(timed) << timed.error().ToString();

  std::stop_source stop;
  ASSERT_TRUE(maps_->Create(Map("a")));
  const auto stopped = maps_->Watch(
      {},
      [&stop](WatchEvent<ConfigMap>&&) -> Result<void> {
        stop.request_stop();
        return {};
      },
      stop.get_token());
  ASSERT_FALSE(stopped);
  EXPECT_EQ(stopped.error().reason, Reason::kCancelled);

  const auto expired = maps_->Watch({.resource_version = "1"}, ignore, {});
  ASSERT_FALSE(expired);
  EXPECT_TRUE(apimachinery::IsExpired(expired.error())) << expired.error().ToString();
}

// Raw watches in both encodings: the same three frames.
TEST_F(RestIntegrationTest, WatchSpeaksProtobufAndJson) {
  ASSERT_TRUE(maps_->Create(Map("a")));
  for (const codec::Encoding encoding : {codec::Encoding::kProtobuf, codec::Encoding::kJson}) {
    codec::WatchReader reader(encoding);
    std::string name;
    const auto result =
        client_->Get()
            .Resource(api::core::v1::kConfigMapResource)
            .Namespace(name_)
            .Watch()
            .Options({.field_selector = "metadata.name=a"})
            .Accept({encoding})
            .Stream(
                [encoding](const rest::Request::StreamHead& head) -> Result<void> {
                  EXPECT_EQ(head.encoding, encoding);
                  return {};
                },
                [&](std::string_view chunk) {
                  return reader.Feed(chunk, [&](const codec::WatchFrame& frame) -> Result<void> {
                    KX_ASSIGN_OR_RETURN(const ConfigMap map,
                                        codec::Decode<ConfigMap>(frame.encoding, frame.object));
                    name = map.metadata.name;
                    return apimachinery::Fail(Reason::kConflict, "enough");
                  });
                },
                {});
    EXPECT_EQ(result.error().message, "enough");
    EXPECT_EQ(name, "a");
  }
}

TEST_F(RestIntegrationTest, JsonAndProtobufGiveTheSameObject) {
  ASSERT_TRUE(maps_->Create(Map("a")));
  const auto get = [this](codec::Encoding encoding) {
    return client_->Get()
        .Resource(api::core::v1::kConfigMapResource)
        .Namespace(name_)
        .Name("a")
        .Accept({encoding})
        .Do();
  };
  const auto json = get(codec::Encoding::kJson);
  ASSERT_TRUE(json) << json.error().ToString();
  EXPECT_EQ(json->encoding, codec::Encoding::kJson);
  const auto from_json = codec::DecodeJson<ConfigMap>(json->body);
  ASSERT_TRUE(from_json) << from_json.error().ToString();
  const auto protobuf = maps_->Get("a");
  ASSERT_TRUE(protobuf);
  EXPECT_EQ(*from_json, *protobuf);
}

TEST_F(RestIntegrationTest, WrongCredentialsAreUnauthorized) {
  rest::Config config = config_;
  config.tls.cert_file.clear();
  config.tls.cert_data.clear();
  config.tls.key_file.clear();
  config.tls.key_data.clear();
  config.bearer_token = "not-a-token-SECRET";
  const auto token = ResourceClient<ConfigMap>(Connect(config), name_).Get("a");
  ASSERT_FALSE(token);
  EXPECT_EQ(token.error().reason, Reason::kUnauthorized);
  EXPECT_EQ(token.error().code, 401);
  EXPECT_THAT(token.error().ToString(), ::testing::Not(HasSubstr("SECRET")));
  config.bearer_token.clear();
  const auto anonymous = ResourceClient<ConfigMap>(Connect(config), name_).Get("a");
  ASSERT_FALSE(anonymous);
  EXPECT_EQ(anonymous.error().reason, Reason::kForbidden);
  EXPECT_EQ(anonymous.error().code, 403);
}

TEST_F(RestIntegrationTest, UnknownAuthorityAndWrongNameAreRefused) {
  rest::Config config = config_;
  config.tls.ca_file = config.tls.cert_file;  // some certificate, but not the authority's
  config.tls.ca_data = config.tls.cert_data;
  const auto stranger = ResourceClient<ConfigMap>(Connect(config), name_).List();
  ASSERT_FALSE(stranger);
  EXPECT_EQ(stranger.error().reason, Reason::kUnavailable);
  EXPECT_THAT(stranger.error().message, HasSubstr("TLS handshake: "));
  config = config_;
  config.tls.server_name = "other.example";
  const auto other = ResourceClient<ConfigMap>(Connect(config), name_).List();
  ASSERT_FALSE(other);
  EXPECT_THAT(other.error().message, HasSubstr("not valid for other.example"));
  config.tls.server_name = "kubernetes.default.svc";
  EXPECT_TRUE(ResourceClient<ConfigMap>(Connect(config), name_).List());
}

TEST_F(RestIntegrationTest, ServesManyWatchesAtOnce) {
  constexpr int kWatches = 40;
  std::latch open(kWatches);
  std::atomic<int> saw = 0;
  std::vector<std::jthread> watches;
  const auto list = maps_->List();
  ASSERT_TRUE(list);
  ASSERT_TRUE(maps_->Create(Map("first")));
  for (int i = 0; i < kWatches; ++i) {
    watches.emplace_back([&](const std::stop_token& stop) {
      (void)maps_->Watch(
          {.field_selector = "metadata.namespace=" + name_,
           .resource_version = list->metadata.resource_version},
          [&](WatchEvent<ConfigMap>&& event) -> Result<void> {
            if (event.object.metadata.name == "first") {
              open.count_down();
            }
            if (event.object.metadata.name == "second") {
              ++saw;
            }
            return {};
          },
          stop);
    });
  }
  KX_AWAIT(open.try_wait());
  ASSERT_TRUE(maps_->Create(Map("second")));
  KX_AWAIT_GE(saw, kWatches);
  const auto start = std::chrono::steady_clock::now();
  for (std::jthread& watch : watches) {
    watch.request_stop();
  }
  watches.clear();
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::minutes(1))
      << "a stop ends a watch, which lives for half an hour and longer";
}

}  // namespace
}  // namespace kubexx
