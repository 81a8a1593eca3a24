// The library's own clients against the server: lists, watches and informers in both encodings.
#include <gmock/gmock.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <map>
#include <mutex>
#include <string>

#include "kubexx/api/apps/v1/types.gen.h"
#include "kubexx/api/core/v1/resources.gen.h"
#include "kubexx/api/core/v1/types.gen.h"
#include "kubexx/apiserver/server/testing/api_server.h"
#include "kubexx/base/testing/await.h"
#include "kubexx/informers/shared_informer_factory.h"
#include "kubexx/kubernetes/apply.h"
#include "kubexx/kubernetes/apps_v1.gen.h"
#include "kubexx/kubernetes/clientset.gen.h"
#include "kubexx/kubernetes/core_v1.gen.h"
#include "kubexx/rest/config.h"
#include "kubexx/rest/rest_client.h"

namespace kubexx {
namespace {

using api::core::v1::ConfigMap;
using cache::Ref;

bool Await(const std::function<bool()>& condition) {
  return base::testing::HoldsSoon(condition, std::chrono::milliseconds(5));
}

/// With TLS and a token, as in the kubeconfig that the server writes.
class ClientTest : public ::testing::Test {
 protected:
  ClientTest() : server_(Options()) {
    const std::string path = ::testing::TempDir() + "/apiserver-client-test-" +
                             std::to_string(::getpid()) + ".kubeconfig";
    std::FILE* const file = std::fopen(path.c_str(), "w");
    std::fputs(server_.kubeconfig().c_str(), file);
    std::fclose(file);
    auto config = rest::LoadKubeconfig({.path = path});
    std::remove(path.c_str());
    EXPECT_TRUE(config) << (config ? "" : config.error().ToString());
    config->qps = -1;
    auto client = rest::RESTClient::New(*config);
    EXPECT_TRUE(client);
    client_ = *client;
  }
  static apiserver::ApiServerOptions Options() {
    apiserver::ApiServerOptions options;
    options.token = apimachinery::Bytes(std::string("a-token"));
    return options;
  }
  static ConfigMap Map(const std::string& name, const std::string& value) {
    ConfigMap object;
    object.metadata.name = name;
    object.data["value"] = value;
    return object;
  }

  testing::ApiServer server_;
  std::shared_ptr<rest::RESTClient> client_;
};

TEST_F(ClientTest, TypedObjectsAreWrittenAndRead) {
  auto maps = kubernetes::Clientset(client_).CoreV1().ConfigMaps("default");
  auto created = maps.Create(Map("a", "1"));
  ASSERT_TRUE(created) << created.error().ToString();
  EXPECT_NE(created->metadata.uid, "");
  created->data["value"] = "2";
  const auto updated = maps.Update(*created);
  ASSERT_TRUE(updated) << updated.error().ToString();
  const auto stale = maps.Update(*created);
  ASSERT_FALSE(stale);
  EXPECT_EQ(stale.error().reason, apimachinery::Reason::kConflict);
  const auto got = maps.Get("a");
  ASSERT_TRUE(got);
  EXPECT_EQ(got->data.at("value"), "2");
  EXPECT_EQ(*got, *updated);
  ASSERT_TRUE(maps.Delete("a"));
  const auto gone = maps.Get("a");
  ASSERT_FALSE(gone);
  EXPECT_EQ(gone.error().reason, apimachinery::Reason::kNotFound);
}

TEST_F(ClientTest, ObjectsAreApplied) {
  using Data = std::map<std::string, std::string>;
  auto maps = kubernetes::Clientset(client_).CoreV1().ConfigMaps("default");
  kubernetes::ApplyObject<ConfigMap> mine("applied", "default");
  mine.Set(&ConfigMap::data, Data{{"k", "1"}, {"l", "1"}});
  const auto created = maps.Apply(mine, {.field_manager = "me"});
  ASSERT_TRUE(created) << created.error().ToString();
  EXPECT_EQ(created->data.size(), 2U);

  kubernetes::ApplyObject<ConfigMap> yours("applied", "default");
  yours.Set(&ConfigMap::data, Data{{"k", "2"}});
  const auto refused = maps.Apply(yours, {.field_manager = "you"});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().reason, apimachinery::Reason::kConflict);
  ASSERT_EQ(refused.error().details.causes.size(), 1U);
  EXPECT_EQ(refused.error().details.causes[0].field, ".data.k");
  const auto forced = maps.Apply(yours, {.field_manager = "you", .force = true});
  ASSERT_TRUE(forced) << forced.error().ToString();
  EXPECT_EQ(forced->data.at("k"), "2");

  // What the manager still has, as a beginning of its next config.
  const auto owned = kubernetes::ExtractOwned(*forced, "me");
  ASSERT_TRUE(owned) << owned.error().ToString();
  EXPECT_EQ(owned->tree().At({"data"})->ToJson(), R"({"l":"1"})");
  const auto left =
      maps.Apply(kubernetes::ApplyObject<ConfigMap>("applied", "default"), {.field_manager = "me"});
  ASSERT_TRUE(left) << left.error().ToString();
  EXPECT_EQ(left->data, (Data{{"k", "2"}}));
}

TEST_F(ClientTest, AnInformerFollowsEveryChange) {
  auto maps = kubernetes::Clientset(client_).CoreV1().ConfigMaps("default");
  ASSERT_TRUE(maps.Create(Map("before", "1")));
  std::mutex mu;
  std::map<std::string, std::string> known;
  const auto set = [&](const ConfigMap& object) {
    const std::lock_guard lock(mu);
    known[object.metadata.name] = object.data.at("value");
  };
  informers::SharedInformerFactory factory(client_, {});
  const auto informer = factory.InformerFor<ConfigMap>();
  auto subscription = informer->AddEventHandler(
      "known",
      cache::EventHandler<ConfigMap>{
          .on_add = [&](const Ref<ConfigMap>& object, bool) { set(*object); },
          .on_update = [&](const Ref<ConfigMap>&, const Ref<ConfigMap>& object) { set(*object); },
          .on_delete =
              [&](const Ref<ConfigMap>& object, bool) {
                const std::lock_guard lock(mu);
                known.erase(object->metadata.name);
              }});
  factory.Start();
  for (int i = 0; i < 50; ++i) {
    ASSERT_TRUE(maps.Create(Map("m" + std::to_string(i), "1")));
  }
  for (int i = 0; i < 50; i += 2) {
    ASSERT_TRUE(maps.Delete("m" + std::to_string(i)));
  }
  auto before = maps.Get("before");
  ASSERT_TRUE(before);
  before->data["value"] = "2";
  ASSERT_TRUE(maps.Update(*before));
  EXPECT_TRUE(Await([&] {
    const std::lock_guard lock(mu);
    return known.size() == 26 && known.contains("before") && known.at("before") == "2";
  }));
  subscription.Reset();
  factory.Shutdown();
}

}  // namespace
}  // namespace kubexx
