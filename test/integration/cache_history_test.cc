// What a reflector does when the server has forgotten what it asks for: for real, with etcd
// compacted and the API server's watch cache started anew.
#include <gmock/gmock.h>

#include <atomic>
#include <mutex>
#include <thread>

#include "cluster_fixture.h"
#include "kubexx/api/core/v1/resources.gen.h"
#include "kubexx/cache/list_watch_from_client.h"
#include "kubexx/cache/reflector.h"
#include "kubexx/cache/testing/map_store.h"
#include "kubexx/metrics/registry.h"

namespace kubexx::integration {
namespace {

using apimachinery::ListOptions;
using apimachinery::Result;
using apimachinery::Status;
using cache::ListerWatcher;

class CacheHistoryTest : public ClusterTest, public ::testing::WithParamInterface<bool> {
 protected:
  std::shared_ptr<ListerWatcher> Source() const {
    return cache::NewListWatchFromClient(client_, api::ResourceOf<ConfigMap>(), namespace_,
                                         {.accept = {codec::Encoding::kProtobuf}});
  }
  // Nothing from before can be had any longer, from neither etcd nor the watch cache.
  static void ForgetHistory() {
    CompactHistory();
    KillApiServer();
    StartApiServer();
  }
  std::map<std::string, std::string> Stored() const {
    std::map<std::string, std::string> out;
    for (const auto& [key, bytes] : store_.content()) {
      const auto object = codec::Decode<ConfigMap>(codec::Encoding::kProtobuf, bytes);
      EXPECT_TRUE(object.has_value()) << object.error().ToString();
      out[key.name] = object->data.at("value");
    }
    return out;
  }

  cache::testing::MapStore store_;
};

INSTANTIATE_TEST_SUITE_P(Modes, CacheHistoryTest, ::testing::Bool(), [](const auto& param_info) {
  return param_info.param ? "WatchList" : "List";
});

TEST_P(CacheHistoryTest, AWatchFromACompactedVersionIsFollowedByAFullState) {
  if (!CanRestartApiServer()) {
    FAIL() << "KUBEXX_CLUSTER is not set; run these tests with: hack/test --integration";
  }
  for (int i = 0; i < 5; ++i) {
    Create("object-" + std::to_string(i), "first");
  }
  // The source, with watches that can be broken and held off.
  const auto source = Source();
  std::atomic<bool> hold = false;
  std::mutex mu;
  std::stop_source broken;
  const auto list = [&](const ListOptions& options, ListerWatcher::ObjectSink sink,
                        std::stop_token stop) { return source->List(options, sink, stop); };
  const auto watch = [&](const ListOptions& options, ListerWatcher::EventSink sink,
                         std::stop_token stop) -> Result<void> {
    std::stop_source own;
    {
      const std::lock_guard lock(mu);
      broken = own;
    }
    const std::stop_callback forward(stop, [&own] { own.request_stop(); });
    if (hold) {
      return apimachinery::Fail(apimachinery::Reason::kUnavailable, "held off");
    }
    return source->Watch(options, sink, own.get_token());
  };
  std::atomic<int> expired = 0;
  cache::ReflectorOptions options{
      .use_watch_list = GetParam(),
      .on_error = [&expired](const Status& status) { expired += apimachinery::IsExpired(status); }};
  options.tuning.backoff.initial = options.tuning.backoff.cap = std::chrono::milliseconds(100);
  cache::Reflector reflector("configmaps", std::make_shared<cache::ListWatch>(list, watch), store_,
                             std::move(options));
  const std::jthread thread([&reflector](const std::stop_token& stop) { reflector.Run(stop); });
  store_.AwaitReplaces(1);
  hold = true;
  {
    const std::lock_guard lock(mu);
    broken.request_stop();
  }
  Update("object-1", "second");
  ASSERT_TRUE(ConfigMaps().Delete("object-2").has_value());
  Create("object-9", "new");
  EXPECT_NE(Stored(), Listed());
  ForgetHistory();
  hold = false;
  ASSERT_TRUE(Await([this] { return Stored() == Listed(); }));
  EXPECT_GE(expired, 1);
  EXPECT_GE(store_.replaces(), 2);
}

// kube-apiserver takes a watch from a version that its restored etcd has not reached, and is
// silent.
TEST_P(CacheHistoryTest, ARestoredBackupIsFollowed) {
  if (!CanRestartApiServer()) {
    FAIL() << "KUBEXX_CLUSTER is not set; run these tests with: hack/test --integration";
  }
  Create("kept", "first");
  SaveData();
  cache::ReflectorOptions options{.use_watch_list = GetParam()};
  options.tuning.backoff.cap = std::chrono::seconds(2);
  cache::Reflector reflector("configmaps", Source(), store_, std::move(options));
  const std::jthread thread([&reflector](const std::stop_token& stop) { reflector.Run(stop); });
  store_.AwaitReplaces(1);
  // More than a server writes by itself when it starts.
  Create("lost", "0");
  for (int i = 1; i <= 1000; ++i) {
    Update("lost", std::to_string(i));
  }
  ASSERT_TRUE(Await([this] { return Stored() == Listed(); }));
  RestoreData();
  StartApiServer();
  Update("kept", "second");
  EXPECT_TRUE(Await([this] { return Stored() == Listed(); }));
  EXPECT_EQ(Stored().count("lost"), 0U);
  Update("kept", "third");
  EXPECT_TRUE(Await([this] { return Stored() == Listed(); }));
}

TEST_P(CacheHistoryTest, APagedListWhoseHistoryIsForgottenIsReadInOnePiece) {
  if (!CanRestartApiServer()) {
    FAIL() << "KUBEXX_CLUSTER is not set; run these tests with: hack/test --integration";
  }
  for (int i = 0; i < 25; ++i) {
    Create("object-" + std::to_string(i), "first");
  }
  const auto source = Source();
  std::atomic<int> pages = 0;
  std::atomic<int> expired = 0;
  const auto list = [&](const ListOptions& requested, ListerWatcher::ObjectSink sink,
                        std::stop_token stop) {
    ListOptions options = requested;
    if (options.resource_version == "0") {
      options.resource_version.clear();  // from etcd, which pages; "0" is read in one piece
    }
    if (++pages == 2) {
      Update("object-3", "second");
      ForgetHistory();
    }
    auto result = source->List(options, sink, stop);
    expired += !result && apimachinery::IsExpired(result.error()) ? 1 : 0;
    return result;
  };
  const auto watch = [&](const ListOptions& options, ListerWatcher::EventSink sink,
                         std::stop_token stop) { return source->Watch(options, sink, stop); };
  cache::ReflectorOptions options{.use_watch_list = false};
  options.tuning.page_size = 10;
  options.tuning.force_pages = GetParam();
  cache::Reflector reflector("configmaps", std::make_shared<cache::ListWatch>(list, watch), store_,
                             std::move(options));
  const std::jthread thread([&reflector](const std::stop_token& stop) { reflector.Run(stop); });
  ASSERT_TRUE(Await([this] { return store_.replaces() > 0 && Stored() == Listed(); }));
  EXPECT_GE(expired, 1);
  EXPECT_EQ(store_.replaces(), 1);
}

}  // namespace
}  // namespace kubexx::integration
