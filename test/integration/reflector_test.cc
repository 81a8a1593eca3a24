#include "kubexx/cache/reflector.h"

#include <gmock/gmock.h>

#include <thread>

#include "cluster_fixture.h"
#include "kubexx/api/core/v1/resources.gen.h"
#include "kubexx/cache/list_watch_from_client.h"
#include "kubexx/cache/testing/map_store.h"
#include "kubexx/metrics/registry.h"

namespace kubexx::integration {
namespace {

struct Mode {
  std::string name;
  bool use_watch_list;
  std::vector<codec::Encoding> accept;
};

class ReflectorClusterTest : public ClusterTest, public ::testing::WithParamInterface<Mode> {
 protected:
  std::shared_ptr<cache::ListerWatcher> Source() const {
    return cache::NewListWatchFromClient(client_, api::ResourceOf<ConfigMap>(), namespace_,
                                         {.accept = GetParam().accept});
  }

  // Name and value of every object in the store.
  std::map<std::string, std::string> Stored() const {
    std::map<std::string, std::string> out;
    for (const auto& [key, bytes] : store_.content()) {
      const auto object = codec::Decode<ConfigMap>(GetParam().accept.front(), bytes);
      EXPECT_TRUE(object.has_value()) << object.error().ToString();
      out[key.name] = object->data.at("value");
    }
    return out;
  }

  cache::testing::MapStore store_;
  metrics::Registry registry_;
};

INSTANTIATE_TEST_SUITE_P(
    Modes, ReflectorClusterTest,
    ::testing::Values(Mode{"ProtobufList", false, {codec::Encoding::kProtobuf}},
                      Mode{"ProtobufWatchList", true, {codec::Encoding::kProtobuf}},
                      Mode{"JsonList", false, {codec::Encoding::kJson}},
                      Mode{"JsonWatchList", true, {codec::Encoding::kJson}}),
    [](const auto& param_info) { return param_info.param.name; });

TEST_P(ReflectorClusterTest, FollowsARealServer) {
  for (int i = 0; i < 25; ++i) {
    Create("object-" + std::to_string(i), "first");
  }
  cache::Reflector reflector("configmaps", Source(), store_,
                             {.registry = &registry_,
                              .use_watch_list = GetParam().use_watch_list,
                              .tuning = {.page_size = 7}});
  std::jthread thread([&reflector](const std::stop_token& stop) { reflector.Run(stop); });
  store_.AwaitReplaces(1);
  // The first list may be of any version: what was written last may come by the watch.
  ASSERT_TRUE(Await([this] { return Stored() == Listed(); }));
  Update("object-3", "second");
  Create("late", "new");
  ASSERT_TRUE(ConfigMaps().Delete("object-4").has_value());
  EXPECT_TRUE(Await([this] { return Stored() == Listed(); }));
  EXPECT_EQ(store_.replaces(), 1);
  EXPECT_FALSE(reflector.LastSyncResourceVersion().empty());
}

TEST_P(ReflectorClusterTest, StopsAtOnceWhileTheWatchIsQuiet) {
  cache::Reflector reflector("configmaps", Source(), store_,
                             {.use_watch_list = GetParam().use_watch_list});
  std::jthread thread([&reflector](const std::stop_token& stop) { reflector.Run(stop); });
  store_.AwaitReplaces(1);
  const auto began = std::chrono::steady_clock::now();
  thread.request_stop();
  thread.join();
  // The watch asks for five minutes at least.
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::minutes(1));
}

TEST_P(ReflectorClusterTest, ListsInPages) {
  for (int i = 0; i < 25; ++i) {
    Create("object-" + std::to_string(i), "x");
  }
  apimachinery::ListOptions options{.limit = 10};
  std::vector<std::size_t> pages;
  do {
    std::size_t objects = 0;
    const auto meta =
        Source()->List(options,
                       [&objects](cache::Object&& object) -> apimachinery::Result<void> {
                         EXPECT_FALSE(object.key.name.empty());
                         EXPECT_FALSE(object.resource_version.empty());
                         ++objects;
                         return {};
                       },
                       {});
    ASSERT_TRUE(meta.has_value()) << meta.error().ToString();
    pages.push_back(objects);
    options.continue_ = meta->continue_;
  } while (!options.continue_.empty());
  // The namespace has a ConfigMap of its own only when a controller manager runs.
  ASSERT_EQ(pages.size(), 3U);
  EXPECT_EQ(pages[0], 10U);
  EXPECT_EQ(pages[1], 10U);
  EXPECT_GE(pages[2], 5U);
}

TEST_P(ReflectorClusterTest, AVersionFromTheFutureIsToldApart) {
  const auto result =
      // Versions of a store in memory begin with the time (decision 56): this is beyond it, too.
      Source()->List({.resource_version = "9000000000000000000"},
                     [](cache::Object&&) -> apimachinery::Result<void> { return {}; }, {});
  ASSERT_FALSE(result.has_value());
  EXPECT_TRUE(apimachinery::IsTooLargeResourceVersion(result.error())) << result.error().ToString();
}

}  // namespace
}  // namespace kubexx::integration
