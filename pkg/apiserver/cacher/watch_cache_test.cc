#include "kubexx/apiserver/cacher/watch_cache.h"

#include <gmock/gmock.h>

#include <chrono>
#include <cstddef>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "kubexx/apiserver/object/resource_type.h"
#include "kubexx/apiserver/resources/builtin_types.h"
#include "kubexx/base/testing/fake_clock.h"

namespace kubexx::apiserver {
namespace {

using ::testing::ElementsAre;

/// Writes each event as "ADDED 7", with the object's version.
class VersionFrames final : public FrameFormat {
 public:
  apimachinery::Result<std::string> Frame(codec::WatchEventType type, const ResourceType&,
                                          std::string_view json) const override {
    const auto tree = codec::JsonTree::Parse(json);
    const auto* const metadata = tree ? tree->Find("metadata") : nullptr;
    return std::string(ToString(type)) + " " +
           (metadata != nullptr ? std::string(metadata->TextAt("name")) : "");
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
  static cache::Object Map(const std::string& name, const std::string& version,
                           const std::string& label = "", const std::string& namespace_ = "d",
                           std::size_t size = 0) {
    cache::Object object;
    object.encoding = codec::Encoding::kJson;
    object.bytes = R"({"metadata":{"name":")" + name + R"(","namespace":")" + namespace_ +
                   R"(","labels":{"l":")" + label + R"("},"resourceVersion":")" + version +
                   R"("},"data":{"x":")" + std::string(size, 'x') + "\"}}";
    object.key = {.namespace_ = namespace_, .name = name};
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
  /// A watch that begins with the present state.
  std::shared_ptr<CacheWatcher> WatchAll(const std::string& labels = "",
                                         const std::string& namespace_ = "") {
    WatcherOptions options;
    options.format = std::make_shared<VersionFrames>();
    options.selection.namespace_ = namespace_;
    options.selection.labels = *apimachinery::LabelSelector::Parse(labels);
    auto watcher = std::make_shared<CacheWatcher>(Maps(), std::move(options));
    cache_.Add(watcher, {.initial_events = true});
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

  base::testing::FakeClock clock_{};
  WatchCache cache_{Maps(), clock_, {.events = 100, .bytes = 200000, .old_bytes = 100000}};
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

/// Otherwise many watches that nobody reads would need memory for each object.
TEST_F(WatchCacheTest, WatchesThatBeginShareTheState) {
  int version = 6;
  for (int i = 100; i < 200; ++i) {
    ASSERT_TRUE(cache_.Add(Map(std::to_string(i), std::to_string(version++))));
  }
  std::vector<std::shared_ptr<CacheWatcher>> watchers;
  for (int i = 0; i < 100; ++i) {
    watchers.push_back(WatchAll(i % 2 == 0 ? "" : "l=", i % 3 == 0 ? "" : "d"));
    ASSERT_TRUE(cache_.Update(Map("100", std::to_string(version++))));
  }
  EXPECT_LE(cache_.List({}).items.back().use_count(), 30);
  for (const std::shared_ptr<CacheWatcher>& watcher : watchers) {
    EXPECT_GE(Taken(*watcher).size(), 100U);
  }
  EXPECT_LE(cache_.List({}).items.back().use_count(), 3) << "it, its event and the list";
}

/// Otherwise a few watches of single objects, read by nobody, would keep many whole states.
TEST_F(WatchCacheTest, AWatchOfFewObjectsKeepsNoOthers) {
  int version = 6;
  for (int i = 1000; i < 1300; ++i) {
    ASSERT_TRUE(
        cache_.Add(Map(std::to_string(i), std::to_string(version++), i % 100 == 0 ? "a" : "b")));
  }
  const auto few = WatchAll("l=a");
  const auto one_changed = [&] {
    EXPECT_TRUE(cache_.Update(Map("1000", std::to_string(version++), "a")));
    return WatchAll("l=a");
  }();
  const CachedList list = cache_.List({});
  EXPECT_EQ(list.items[1].use_count(), 2) << "the list and the cache";
  EXPECT_EQ(list.items[100].use_count(), 4) << "and each of the two watches";
  EXPECT_THAT(Taken(*few), ElementsAre("ADDED 1000", "ADDED 1100", "ADDED 1200", "MODIFIED 1000"));
  EXPECT_THAT(Taken(*one_changed), ElementsAre("ADDED 1000", "ADDED 1100", "ADDED 1200"));
}

/// Otherwise each of them would keep a whole state in memory that nobody else needs.
TEST_F(WatchCacheTest, WatchesThatNobodyReadsEndWhenTheyHoldTooMuch) {
  int version = 6;
  const auto replace_all = [&] {
    for (int i = 100; i < 180; ++i) {
      ASSERT_TRUE(cache_.Update(
          Map(std::to_string(i), std::to_string(version++), i < 102 ? "few" : "", "d", 10000)));
    }
  };
  std::vector<std::shared_ptr<CacheWatcher>> watchers;
  for (int round = 0; round < 6; ++round) {
    replace_all();
    watchers.push_back(WatchAll());
    watchers.push_back(WatchAll("l=few"));
  }
  const auto goes_on = [](CacheWatcher& watcher) {
    std::vector<http::BodyStream::Chunk> chunks;
    return watcher.Take(chunks);
  };
  for (const std::size_t i : {0U, 1U, 2U, 3U}) {
    EXPECT_FALSE(goes_on(*watchers[i])) << i;
  }
  for (const std::size_t i : {8U, 9U, 10U, 11U}) {
    EXPECT_TRUE(goes_on(*watchers[i])) << i << ": the cache has had twice as much since";
  }
}

TEST_F(WatchCacheTest, AWatchBeginsWithTheStateOfItsTime) {
  const unsigned seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  std::map<std::string, std::pair<std::string, std::string>> model;  // namespace/name: label
  struct Begun {
    std::shared_ptr<CacheWatcher> watcher{};
    std::vector<std::string> expected{};
  };
  std::vector<Begun> begun;
  for (int version = 6; version < 600; ++version) {
    const std::string name = std::to_string(100 + random() % 40);
    const std::string namespace_ = random() % 2 == 0 ? "d" : "e";
    const std::string label = random() % 2 == 0 ? "a" : "b";
    const std::string key = namespace_ + "/" + name;
    if (random() % 4 == 0 && model.contains(key)) {
      ASSERT_TRUE(cache_.Delete(Map(name, std::to_string(version), label, namespace_)));
      model.erase(key);
    } else {
      ASSERT_TRUE(cache_.Update(Map(name, std::to_string(version), label, namespace_)));
      model[key] = {namespace_, label};
    }
    if (random() % 3 != 0) {
      continue;
    }
    const std::string of = random() % 2 == 0 ? "" : "e";
    const bool selects = random() % 2 == 0;
    Begun one{.watcher = WatchAll(selects ? "l=a" : "", of)};
    for (const auto& [at, value] : model) {
      if ((of.empty() || value.first == of) && (!selects || value.second == "a")) {
        one.expected.push_back("ADDED " + at.substr(2));
      }
    }
    begun.push_back(std::move(one));
  }
  for (const Begun& one : begun) {
    std::vector<std::string> taken = Taken(*one.watcher);
    ASSERT_GE(taken.size(), one.expected.size());
    taken.resize(one.expected.size());
    EXPECT_EQ(taken, one.expected);
  }
}

TEST_F(WatchCacheTest, WhatTellsTheBeginningCountsAsWaiting) {
  int version = 6;
  for (int i = 1000; i < 3000; ++i) {
    ASSERT_TRUE(cache_.Add(Map(std::to_string(i), std::to_string(version++))));
  }
  const auto watch = [&] {
    WatcherOptions options;
    options.format = std::make_shared<VersionFrames>();
    options.selection.labels = *apimachinery::LabelSelector::Parse("l in (a,)");
    options.max_waiting_bytes = 200;  // a bit for each object needs more
    auto watcher = std::make_shared<CacheWatcher>(Maps(), std::move(options));
    cache_.Add(watcher, {.initial_events = true});
    return watcher;
  };
  ASSERT_TRUE(cache_.Update(Map("1000", std::to_string(version++), "b")));
  const auto slow = watch();
  const auto reads = watch();
  while (!Taken(*reads).empty()) {
  }
  ASSERT_TRUE(cache_.Update(Map("1001", std::to_string(version++))));
  EXPECT_THAT(Taken(*reads), ElementsAre("MODIFIED 1001"));
  std::vector<http::BodyStream::Chunk> chunks;
  EXPECT_FALSE(slow->Take(chunks));
}

TEST_F(WatchCacheTest, ALargeObjectsPastHasALimit) {
  for (int version = 6; version < 60; ++version) {
    ASSERT_TRUE(cache_.Update(Map("large", std::to_string(version), "", "d", 10000)));
  }
  EXPECT_THAT(Taken(*Watch(58)), ElementsAre("MODIFIED large"));
  std::vector<http::BodyStream::Chunk> chunks;
  EXPECT_TRUE(Watch(59)->Take(chunks)) << "a watch that is up to date";
  EXPECT_TRUE(chunks.empty());
  EXPECT_FALSE(Watch(48)->Take(chunks));
  ASSERT_EQ(chunks.size(), 1U);
  EXPECT_TRUE(chunks[0]->starts_with("ERROR"));
}

// Otherwise who updates a large state could keep everybody from ever watching it: the events since
// a list began would be gone when it has been read.
TEST_F(WatchCacheTest, ThePastIsAsLargeAsTheState) {
  int version = 5;
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < 40; ++i) {
      ASSERT_TRUE(cache_.Update(Map(std::to_string(i), std::to_string(++version), "", "d", 10000)));
    }
  }
  const std::vector<std::string> first = Taken(*Watch(version - 38));
  ASSERT_FALSE(first.empty());
  EXPECT_EQ(first[0], "MODIFIED 2") << "nothing is missing";
}

// An object that became small is large in memory as long as an event has what it was.
TEST_F(WatchCacheTest, WhatObjectsWereCountsToo) {
  int version = 5;
  for (const std::size_t size : {std::size_t{10000}, std::size_t{1}}) {
    for (int i = 0; i < 40; ++i) {
      ASSERT_TRUE(cache_.Update(Map(std::to_string(i), std::to_string(++version), "", "d", size)));
    }
  }
  EXPECT_EQ(Taken(*Watch(version - 15)).size(), 15U);
  std::vector<http::BodyStream::Chunk> chunks;
  EXPECT_FALSE(Watch(version - 30)->Take(chunks)) << "it was 300 KB";
}

TEST_F(WatchCacheTest, OldEventsOfLargeObjectsAreDropped) {
  for (int version = 6; version < 15; ++version) {
    ASSERT_TRUE(cache_.Update(Map("large", std::to_string(version), "", "d", 10000)));
  }
  EXPECT_EQ(Taken(*Watch(6)).size(), 8U);
  clock_.Advance(std::chrono::minutes(6));
  cache_.Tick(clock_.Now(), false);
  std::vector<http::BodyStream::Chunk> chunks;
  EXPECT_FALSE(Watch(6)->Take(chunks));
  EXPECT_EQ(Taken(*Watch(10)).size(), 4U) << "few bytes stay";
}

}  // namespace
}  // namespace kubexx::apiserver
