// Clients of a server that is started anew, empty, as one in memory is whenever it is restarted.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "kubexx/api/core/v1/resources.gen.h"
#include "kubexx/api/core/v1/schema.gen.h"
#include "kubexx/api/core/v1/types.gen.h"
#include "kubexx/apiserver/server/testing/api_server.h"
#include "kubexx/base/mutex.h"
#include "kubexx/cache/list_watch_from_client.h"
#include "kubexx/cache/shared_informer.h"
#include "kubexx/kubernetes/resource_client.h"
#include "kubexx/rest/rest_client.h"

namespace kubexx::apiserver::controllers {
namespace {

using api::core::v1::ConfigMap;
using apimachinery::ListOptions;
using apimachinery::Result;

std::shared_ptr<rest::RESTClient> ClientOf(const testing::ApiServer& server) {
  return *rest::RESTClient::New({.host = server.url(), .qps = -1});
}

void Create(const testing::ApiServer& server, const std::string& name) {
  ConfigMap map;
  map.metadata.name = name;
  const auto created =
      kubernetes::ResourceClient<ConfigMap>(ClientOf(server), "default").Create(map);
  ASSERT_TRUE(created.has_value()) << created.error().ToString();
}

/// What stands at one address: first one server, then another.
class Address final : public cache::ListerWatcher {
 public:
  explicit Address(const testing::ApiServer& server) { Use(server); }

  void Use(const testing::ApiServer& server) {
    auto source = cache::NewListWatchFromClient(ClientOf(server), api::ResourceOf<ConfigMap>(), "");
    const base::MutexLock lock(mu_);
    source_ = std::move(source);
  }
  Result<codec::ListMeta> List(const ListOptions& options, ObjectSink sink,
                               std::stop_token stop) override {
    return source()->List(options, sink, std::move(stop));
  }
  Result<void> Watch(const ListOptions& options, EventSink sink, std::stop_token stop) override {
    return source()->Watch(options, sink, std::move(stop));
  }

 private:
  std::shared_ptr<cache::ListerWatcher> source() {
    const base::MutexLock lock(mu_);
    return source_;
  }

  base::Mutex mu_;
  std::shared_ptr<cache::ListerWatcher> source_ KX_GUARDED_BY(mu_);
};

class RestartTest : public ::testing::TestWithParam<bool> {};

INSTANTIATE_TEST_SUITE_P(Modes, RestartTest, ::testing::Bool(), [](const auto& param_info) {
  return param_info.param ? "WatchList" : "List";
});

TEST_P(RestartTest, AnInformerFollowsAServerThatWasStartedAnewEmpty) {
  auto first = std::make_unique<testing::ApiServer>();
  for (int i = 0; i < 50; ++i) {
    Create(*first, "old-" + std::to_string(i));
  }
  const auto address = std::make_shared<Address>(*first);
  cache::SharedInformer<ConfigMap> informer(
      address, {.name = "configmaps",
                .use_watch_list = GetParam(),
                .tuning = {.backoff = {.initial = std::chrono::milliseconds(10),
                                       .cap = std::chrono::milliseconds(100)}}});
  informer.Start();
  ASSERT_TRUE(informer.WaitForSync({}));
  EXPECT_GE(informer.Size(), 50U);

  const testing::ApiServer second;
  address->Use(second);
  first.reset();
  // One after the other, so that some come when the watch is open: nothing else tells of a history
  // that is shorter than what is known.
  const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(120);
  int created = 0;
  while ((informer.Contains({"default", "old-0"}) || !informer.Contains({"default", "new-0"})) &&
         std::chrono::steady_clock::now() < give_up) {
    if (created < 40) {
      Create(second, "new-" + std::to_string(created++));
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  EXPECT_FALSE(informer.Contains({"default", "old-0"})) << "waited 120 s";
  EXPECT_TRUE(informer.Contains({"default", "new-0"}));
  Create(second, "last");
  while (!informer.Contains({"default", "last"}) && std::chrono::steady_clock::now() < give_up) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  EXPECT_TRUE(informer.Contains({"default", "last"}));
}

}  // namespace
}  // namespace kubexx::apiserver::controllers
