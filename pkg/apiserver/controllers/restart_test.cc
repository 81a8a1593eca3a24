// Tests clients of a server that is started anew without data, as a server with its data in memory
// always is.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <utility>

#include "kubexx/api/core/v1/resources.gen.h"
#include "kubexx/api/core/v1/schema.gen.h"
#include "kubexx/api/core/v1/types.gen.h"
#include "kubexx/apiserver/server/testing/api_server.h"
#include "kubexx/base/mutex.h"
#include "kubexx/base/testing/await.h"
#include "kubexx/cache/list_watch_from_client.h"
#include "kubexx/cache/shared_informer.h"
#include "kubexx/kubernetes/resource_client.h"
#include "kubexx/rest/rest_client.h"

namespace kubexx::apiserver::controllers {
namespace {

using api::core::v1::ConfigMap;
using apimachinery::ListOptions;
using apimachinery::Result;

std::shared_ptr<rest::RESTClient> ClientOf(const kubexx::testing::ApiServer& server) {
  return *rest::RESTClient::New({.host = server.url(), .qps = -1});
}

void Create(const kubexx::testing::ApiServer& server, const std::string& name) {
  ConfigMap map;
  map.metadata.name = name;
  const auto created =
      kubernetes::ResourceClient<ConfigMap>(ClientOf(server), "default").Create(map);
  ASSERT_TRUE(created.has_value()) << created.error().ToString();
}

/// The server at one address: first one server, and then another.
class Address final : public cache::ListerWatcher {
 public:
  /// With `lenient`, a watch may begin at a future version, as with kube-apiserver.
  Address(const kubexx::testing::ApiServer& server, bool lenient) : lenient_(lenient) {
    Use(server);
  }

  void Use(const kubexx::testing::ApiServer& server) {
    auto client = ClientOf(server);
    const base::MutexLock lock(mu_);
    source_ = cache::NewListWatchFromClient(client, api::ResourceOf<ConfigMap>(), "");
    client_ = std::move(client);
  }
  Result<codec::ListMeta> List(const ListOptions& options, ObjectSink sink,
                               std::stop_token stop) override {
    return Here().source->List(options, sink, std::move(stop));
  }
  Result<void> Watch(const ListOptions& options, EventSink sink, std::stop_token stop) override {
    const Server here = Here();
    ListOptions asked = options;
    if (lenient_ && !options.send_initial_events) {
      // Our own server refuses such a watch. A lenient one sends the events that come from now on.
      const kubernetes::ResourceClient<ConfigMap> maps(here.client, "");
      KX_ASSIGN_OR_RETURN(const auto now, maps.List({.limit = 1}, stop));
      if (std::stoull(options.resource_version) > std::stoull(now.metadata.resource_version)) {
        asked.resource_version = now.metadata.resource_version;
        future_ = true;
      }
    }
    return here.source->Watch(asked, sink, std::move(stop));
  }
  /// Whether a watch began at a version that the server does not have.
  bool future() const { return future_; }

 private:
  struct Server {
    std::shared_ptr<cache::ListerWatcher> source{};
    std::shared_ptr<rest::RESTClient> client{};
  };
  Server Here() {
    const base::MutexLock lock(mu_);
    return {source_, client_};
  }

  const bool lenient_;
  std::atomic<bool> future_ = false;
  base::Mutex mu_;
  std::shared_ptr<cache::ListerWatcher> source_ KX_GUARDED_BY(mu_);
  std::shared_ptr<rest::RESTClient> client_ KX_GUARDED_BY(mu_);
};

struct RestartMode {
  const char* name;
  bool use_watch_list;
  bool lenient;
};

class RestartTest : public ::testing::TestWithParam<RestartMode> {};

INSTANTIATE_TEST_SUITE_P(Modes, RestartTest,
                         ::testing::Values(RestartMode{"List", false, false},
                                           RestartMode{"WatchList", true, false},
                                           RestartMode{"ListOfALenientServer", false, true},
                                           RestartMode{"WatchListOfALenientServer", true, true}),
                         [](const auto& param_info) { return param_info.param.name; });

TEST_P(RestartTest, AnInformerFollowsAServerThatWasStartedAnewEmpty) {
  // The versions of a store in memory begin with the time. A server that was started anew has
  // higher versions. A server that was restored from a backup has lower ones, and so has this older
  // one.
  std::unique_ptr<kubexx::testing::ApiServer> second;
  if (GetParam().lenient) {
    second = std::make_unique<kubexx::testing::ApiServer>();
  }
  auto first = std::make_unique<kubexx::testing::ApiServer>();
  for (int i = 0; i < 50; ++i) {
    Create(*first, "old-" + std::to_string(i));
  }
  const auto address = std::make_shared<Address>(*first, GetParam().lenient);
  cache::SharedInformer<ConfigMap> informer(
      address, {.name = "configmaps",
                .use_watch_list = GetParam().use_watch_list,
                .tuning = {.backoff = {.initial = std::chrono::milliseconds(10),
                                       .cap = std::chrono::milliseconds(100)}}});
  informer.Start();
  ASSERT_TRUE(informer.WaitForSync(base::testing::PatienceEnd().token()));
  EXPECT_GE(informer.Size(), 50U);

  if (!second) {
    second = std::make_unique<kubexx::testing::ApiServer>();
  }
  address->Use(*second);
  first.reset();
  // The objects are created one by one, so that some are created while the watch is open. Nothing
  // else shows that the history is shorter than the known version.
  // that is shorter than what is known.
  int created = 0;
  KX_UNTIL(!informer.Contains({"default", "old-0"}) && informer.Contains({"default", "new-0"})) {
    if (created < 40) {
      Create(*second, "new-" + std::to_string(created++));
    }
  }
  EXPECT_FALSE(informer.Contains({"default", "old-0"})) << "waited 120 s";
  EXPECT_TRUE(informer.Contains({"default", "new-0"}));
  Create(*second, "last");
  KX_AWAIT(informer.Contains({"default", "last"}));
  EXPECT_TRUE(informer.Contains({"default", "last"}));
  // It depends on the end of the watch before whether the lenient server's first watch begins in
  // its future: a server that was unreachable is asked for its version first.
  EXPECT_TRUE(GetParam().lenient || !address->future());
}

}  // namespace
}  // namespace kubexx::apiserver::controllers
