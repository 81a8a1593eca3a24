#include "kubexx/apiserver/cacher/watch_cache.h"

#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "kubexx/apiserver/object/resource_type.h"
#include "kubexx/apiserver/resources/builtin_types.h"

namespace kubexx::apiserver {
namespace {

using ::testing::ElementsAre;

/// Writes each event as "ADDED 7", with the object's version.
class VersionFrames final : public FrameFormat {
 public:
  apimachinery::Result<std::string> Frame(codec::WatchEventType type, const ResourceType&,
                                          std::string_view json) const override {
    const auto tree = codec::JsonTree::Parse(json);
    return std::string(ToString(type)) + " " +
           (tree ? std::string(tree->Find("metadata")->TextAt("name")) : "");
  }
};

class WatchCacheTest : public ::testing::Test {
 protected:
  WatchCacheTest() { EXPECT_TRUE(cache_.BeginReplace()->Commit("5")); }

  static ResourceTypeRef Maps() {
    for (const ResourceTypeRef& type : BuiltinTypes()) {
      if (type->plural == "configmaps") {
        return type;
      }
    }
    return nullptr;
  }
  static cache::Object Map(const std::string& name, const std::string& version) {
    cache::Object object;
    object.encoding = codec::Encoding::kJson;
    object.bytes = R"({"metadata":{"name":")" + name + R"(","namespace":"d","resourceVersion":")" +
                   version + "\"}}";
    object.key = {.namespace_ = "d", .name = name};
    object.resource_version = version;
    return object;
  }
  std::shared_ptr<CacheWatcher> Watch(std::int64_t from) {
    WatcherOptions options;
    options.format = std::make_shared<VersionFrames>();
    auto watcher = std::make_shared<CacheWatcher>(Maps(), std::move(options));
    cache_.Add(watcher, {.revision = from});
    return watcher;
  }
  static std::vector<std::string> Taken(CacheWatcher& watcher) {
    std::vector<http::BodyStream::Chunk> chunks;
    EXPECT_TRUE(watcher.Take(chunks));
    std::vector<std::string> texts;
    for (const http::BodyStream::Chunk& chunk : chunks) {
      texts.push_back(*chunk);
    }
    return texts;
  }

  WatchCache cache_{Maps(), base::Clock::Real(), 100};
};

// `etcdctl del --prefix` makes several changes with one revision.
TEST_F(WatchCacheTest, AVersionIsThereWhenAllOfItsChangesAre) {
  const auto before = Watch(5);
  cache_.MoreFollow();
  ASSERT_TRUE(cache_.Add(Map("a", "6")));
  EXPECT_FALSE(cache_.Has(6));
  EXPECT_EQ(cache_.List({}).revision, 5);
  const auto between = Watch(cache_.List({}).revision);
  ASSERT_TRUE(cache_.Add(Map("b", "6")));
  EXPECT_TRUE(cache_.Has(6));
  EXPECT_EQ(cache_.List({}).revision, 6);
  EXPECT_THAT(Taken(*before), ElementsAre("ADDED a", "ADDED b"));
  EXPECT_THAT(Taken(*between), ElementsAre("ADDED a", "ADDED b"));
}

TEST_F(WatchCacheTest, AVersionThatWasCutOffIsWholeWithTheNext) {
  cache_.MoreFollow();
  ASSERT_TRUE(cache_.Add(Map("a", "6")));
  cache_.MoreFollow();
  ASSERT_TRUE(cache_.Add(Map("b", "7")));
  EXPECT_EQ(cache_.List({}).revision, 6);
  cache_.Bookmark("9");
  EXPECT_EQ(cache_.List({}).revision, 9);
  EXPECT_THAT(Taken(*Watch(6)), ElementsAre("ADDED b"));
}

TEST_F(WatchCacheTest, AWatchAmongManyChangesOfOneVersionGetsAllOfThem) {
  std::vector<std::string> expected;
  for (int i = 100; i < 140; ++i) {
    cache_.MoreFollow();
    ASSERT_TRUE(cache_.Add(Map(std::to_string(i), "6")));
    expected.push_back("ADDED " + std::to_string(i));
  }
  const auto watcher = Watch(5);
  ASSERT_TRUE(cache_.Add(Map("last", "6")));
  expected.emplace_back("ADDED last");
  EXPECT_EQ(Taken(*watcher), expected);
}

}  // namespace
}  // namespace kubexx::apiserver
