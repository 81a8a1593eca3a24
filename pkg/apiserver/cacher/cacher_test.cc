#include "kubexx/apiserver/cacher/cacher.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <atomic>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "kubexx/apiserver/object/stored_object.h"
#include "kubexx/apiserver/resources/builtin_types.h"
#include "kubexx/apiserver/storage/memory.h"
#include "kubexx/base/clock.h"
#include "kubexx/base/testing/await.h"
#include "kubexx/base/testing/fake_clock.h"

namespace kubexx::apiserver {
namespace {

using apimachinery::Result;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// Writes each event as "ADDED a", so that tests are easy to read.
class PlainFrames final : public FrameFormat {
 public:
  apimachinery::Result<std::string> Frame(codec::WatchEventType type, const ResourceType&,
                                          std::string_view json) const override {
    ++frames;
    const auto tree = codec::JsonTree::Parse(json);
    const codec::JsonTree* const name = tree ? tree->At({"metadata", "name"}) : nullptr;
    const bool end = json.find("initial-events-end") != std::string_view::npos;
    return std::string(ToString(type)) + (name == nullptr ? "" : " " + *name->AsString()) +
           (end ? " end" : "");
  }
  mutable int frames = 0;
};

/// A storage that counts how often its past events are read.
class CountingStorage final : public storage::Storage {
 public:
  explicit CountingStorage(storage::Storage& storage) : storage_(storage) {}

  Result<storage::KeyValue> Get(std::string_view key, storage::Revision revision,
                                std::stop_token stop) override {
    return storage_.Get(key, revision, stop);
  }
  Result<storage::KeyValue> Create(std::string_view key, std::string value,
                                   std::stop_token stop) override {
    return storage_.Create(key, std::move(value), stop);
  }
  Result<storage::Swap> CompareAndSwap(std::string_view key, storage::Revision expected,
                                       std::string value, std::stop_token stop) override {
    return storage_.CompareAndSwap(key, expected, std::move(value), stop);
  }
  Result<storage::Deleted> Delete(std::string_view key, storage::Revision expected,
                                  std::stop_token stop) override {
    return storage_.Delete(key, expected, stop);
  }
  Result<storage::ListResult> GetList(std::string_view prefix, const storage::ListOptions& options,
                                      ItemSink sink, std::stop_token stop) override {
    return storage_.GetList(prefix, options, sink, stop);
  }
  Result<std::int64_t> Count(std::string_view prefix, std::stop_token stop) override {
    return storage_.Count(prefix, stop);
  }
  Result<storage::Revision> CurrentRevision(std::stop_token stop) override {
    return storage_.CurrentRevision(stop);
  }
  Result<void> Watch(std::string_view prefix, const storage::WatchOptions& options, EventSink sink,
                     std::stop_token stop) override {
    ++watches;
    if (silent) {
      (void)base::Clock::Real().SleepFor(std::chrono::hours(1), stop);
      return {};
    }
    return storage_.Watch(prefix, options, sink, stop);
  }
  void RequestProgress(std::string_view prefix) override { storage_.RequestProgress(prefix); }
  Result<void> Compact(storage::Revision revision, std::stop_token stop) override {
    return storage_.Compact(revision, stop);
  }

  std::atomic<int> watches = 0;
  std::atomic<bool> silent = false;

 private:
  storage::Storage& storage_;
};

class CacherTest : public ::testing::Test {
 protected:
  CacherTest()
      : storage_(*storage::NewMemoryStorage({})), format_(std::make_shared<PlainFrames>()) {
    for (const ResourceTypeRef& type : BuiltinTypes()) {
      if (type->plural == "configmaps") {
        type_ = type;
      }
    }
    Put("a", "x");
    Begin(3);
  }

  /// Makes a new cache with a window of so many events.
  void Begin(std::size_t window) {
    cacher_ = std::make_unique<Cacher>(
        type_, *storage_, CacherOptions{.window = window, .patience = std::chrono::minutes(1)});
    EXPECT_TRUE(cacher_->WaitForLatest({}));
  }

  std::int64_t Put(const std::string& name, const std::string& label) {
    codec::JsonTree object = codec::JsonTree::Object();
    object["metadata"]["name"] = name;
    object["metadata"]["labels"]["l"] = label;
    const std::string key = type_->StorageKey({.namespace_ = "default", .name = name});
    const std::string value = *StoredOf(*type_, object, StoredForm::kJson);
    const auto written = storage::GuaranteedUpdate(
        *storage_, key,
        [&](const storage::KeyValue&) -> apimachinery::Result<std::optional<std::string>> {
          return std::optional(value);
        },
        {.create_if_missing = true}, {});
    EXPECT_TRUE(written);
    return written ? written->mod_revision : 0;
  }
  void Delete(const std::string& name) {
    EXPECT_TRUE(
        storage_->Delete(type_->StorageKey({.namespace_ = "default", .name = name}), 0, {}));
  }

  std::shared_ptr<CacheWatcher> Watch(WatchStart start, const std::string& labels = {},
                                      base::TimePoint deadline = base::TimePoint::max()) {
    WatcherOptions options;
    options.deadline = deadline;
    options.format = format_;
    options.bookmarks = true;
    options.selection.labels = *apimachinery::LabelSelector::Parse(labels);
    auto watcher = std::make_shared<CacheWatcher>(type_, std::move(options));
    cacher_->cache().Add(watcher, start);
    return watcher;
  }
  /// Returns the events that wait for the watcher, after all writes.
  std::vector<std::string> Taken(CacheWatcher& watcher) {
    EXPECT_TRUE(cacher_->WaitForLatest({}));
    std::vector<http::BodyStream::Chunk> chunks;
    alive_ = watcher.Take(chunks);
    std::vector<std::string> texts;
    for (const http::BodyStream::Chunk& chunk : chunks) {
      texts.push_back(*chunk);
    }
    return texts;
  }

  std::unique_ptr<storage::MemoryStorage> storage_;
  ResourceTypeRef type_;
  std::shared_ptr<PlainFrames> format_;
  std::unique_ptr<Cacher> cacher_;
  bool alive_ = true;
};

TEST_F(CacherTest, InitialEventsComeFirstAndTheirEndIsMarked) {
  Put("b", "x");
  EXPECT_TRUE(cacher_->WaitForLatest({}));
  const auto watcher = Watch({.initial_events = true, .mark_end = true});
  Put("a", "y");
  EXPECT_THAT(Taken(*watcher), ElementsAre("ADDED a", "ADDED b", "BOOKMARK end", "MODIFIED a"));
  EXPECT_TRUE(alive_);
}

TEST_F(CacherTest, BookmarksComeAtTheIntervalThatIsAskedFor) {
  base::testing::FakeClock clock;
  cacher_ = std::make_unique<Cacher>(
      type_, *storage_,
      CacherOptions{.clock = clock, .bookmark_interval = std::chrono::minutes(10)});
  EXPECT_TRUE(cacher_->WaitForLatest({}));
  const auto watcher = Watch({.initial_events = true});
  clock.Advance(std::chrono::minutes(9));
  cacher_->Tick(clock.Now());
  EXPECT_THAT(Taken(*watcher), ElementsAre("ADDED a"));
  clock.Advance(std::chrono::minutes(1));
  cacher_->Tick(clock.Now());
  EXPECT_THAT(Taken(*watcher), ElementsAre("BOOKMARK"));
  cacher_.reset();  // before its clock
}

// Seed 595 of 400 hours: the watches of a type that nobody wrote ended before any bookmark was due.
TEST_F(CacherTest, AWatchEndsWithABookmark) {
  const base::TimePoint now = base::Clock::Real().Now();
  EXPECT_TRUE(cacher_->WaitForLatest({}));
  const auto watcher = Watch({.initial_events = true}, {}, now + std::chrono::minutes(5));
  cacher_->cache().Tick(now + std::chrono::minutes(4), false);
  EXPECT_THAT(Taken(*watcher), ElementsAre("ADDED a"));
  EXPECT_TRUE(alive_);
  cacher_->cache().Tick(now + std::chrono::minutes(5), false);
  EXPECT_THAT(Taken(*watcher), ElementsAre("BOOKMARK"));
  EXPECT_FALSE(alive_);
}

TEST_F(CacherTest, SelectedObjectsComeAndGo) {
  const auto watcher = Watch({.initial_events = true}, "l=x");
  Put("a", "y");
  Put("a", "x");
  Put("a", "x");
  Delete("a");
  Put("c", "z");
  EXPECT_THAT(Taken(*watcher),
              ElementsAre("ADDED a", "DELETED a", "ADDED a", "MODIFIED a", "DELETED a"));
}

TEST_F(CacherTest, WatchesBeginInThePast) {
  const std::int64_t from = Put("b", "x");
  Put("c", "x");
  Delete("b");
  EXPECT_TRUE(cacher_->WaitForLatest({}));
  const auto watcher = Watch({.revision = from});
  EXPECT_THAT(Taken(*watcher), ElementsAre("ADDED c", "DELETED b"));
}

TEST_F(CacherTest, WatchesFromTheFutureBeginThere) {
  const std::int64_t next = Put("b", "x") + 1;
  EXPECT_TRUE(cacher_->WaitForLatest({}));
  const auto watcher = Watch({.revision = next});
  Put("c", "x");
  Put("d", "x");
  EXPECT_THAT(Taken(*watcher), ElementsAre("ADDED d"));
}

TEST_F(CacherTest, AVersionThatNobodyHasIsOfAnotherHistory) {
  const std::int64_t latest = Put("b", "x");
  EXPECT_TRUE(cacher_->ReachBack(latest, {})) << "perhaps before the cache has it";
  const auto checked = cacher_->ReachBack(latest + 1, {});
  ASSERT_FALSE(checked);
  EXPECT_EQ(checked.error().reason, apimachinery::Reason::kExpired);
}

TEST_F(CacherTest, AWatchReachesBackBeforeTheCacheBegan) {
  const std::int64_t listed = Put("b", "x");
  Put("b", "y");
  Delete("a");
  Put("c", "x");
  EXPECT_TRUE(storage_->Create("/registry/other/x", "{}", {}));
  Begin(3);
  EXPECT_TRUE(cacher_->ReachBack(listed, {}));
  const auto all = Watch({.revision = listed});
  const auto selected = Watch({.revision = listed}, "l=x");
  Put("b", "z");
  EXPECT_THAT(Taken(*all), ElementsAre("MODIFIED b", "DELETED a", "ADDED c", "MODIFIED b"));
  EXPECT_THAT(Taken(*selected), ElementsAre("DELETED b", "DELETED a", "ADDED c"));
}

TEST_F(CacherTest, AnotherWatchReachesBackFurther) {
  const std::int64_t first = Put("b", "x");
  const std::int64_t second = Put("c", "x");
  Put("d", "x");
  Begin(3);
  EXPECT_TRUE(cacher_->ReachBack(second, {}));
  EXPECT_TRUE(cacher_->ReachBack(first, {}));
  EXPECT_TRUE(cacher_->ReachBack(second, {}));
  EXPECT_THAT(Taken(*Watch({.revision = first})), ElementsAre("ADDED c", "ADDED d"));
  EXPECT_THAT(Taken(*Watch({.revision = second})), ElementsAre("ADDED d"));
}

TEST_F(CacherTest, ItReachesBackNoFurtherThanTheStorageAndItsWindow) {
  const std::int64_t first = Put("b", "x");
  for (int i = 0; i < 4; ++i) {
    Put("c", std::to_string(i));
  }
  Begin(3);
  EXPECT_TRUE(cacher_->ReachBack(first, {})) << "too many changes";
  EXPECT_THAT(Taken(*Watch({.revision = first})), ElementsAre("ERROR"));
  const std::int64_t compacted = Put("d", "x");
  EXPECT_TRUE(storage_->Compact(Put("d", "y"), {}));
  Begin(3);
  EXPECT_TRUE(cacher_->ReachBack(compacted, {}));
  EXPECT_THAT(Taken(*Watch({.revision = compacted})), ElementsAre("ERROR"));
}

TEST_F(CacherTest, APastThatThereIsNoRoomForIsNotRead) {
  const std::int64_t first = Put("b", "x");
  const std::int64_t second = Put("c", "x");
  CountingStorage counting(*storage_);
  Cacher cacher(type_, counting, {.window = 2, .patience = std::chrono::minutes(1)});
  EXPECT_TRUE(cacher.WaitForLatest({}));
  // The window is full, and no event in it has been lost.
  Put("d", "x");
  EXPECT_TRUE(cacher.WaitForLatest({}));
  EXPECT_TRUE(cacher.ReachBack(second - 1, {}));
  EXPECT_EQ(cacher.cache().Room().events, 0U);
  const int before = counting.watches;
  EXPECT_TRUE(cacher.ReachBack(first - 1, {}));
  EXPECT_EQ(counting.watches, before);
}

TEST_F(CacherTest, APastThatIsTooMuchIsReadOnce) {
  const std::int64_t first = Put("b", "x");
  for (int i = 0; i < 4; ++i) {
    Put("c", std::to_string(i));
  }
  const std::int64_t last = Put("d", "x");
  CountingStorage counting(*storage_);
  Cacher cacher(type_, counting, {.window = 3, .patience = std::chrono::minutes(1)});
  EXPECT_TRUE(cacher.WaitForLatest({}));
  EXPECT_TRUE(cacher.ReachBack(first, {}));
  const int once = counting.watches;
  EXPECT_TRUE(cacher.ReachBack(first, {})) << "and the watch is refused as one that is too late";
  EXPECT_TRUE(cacher.ReachBack(first - 1, {})) << "still further back";
  EXPECT_EQ(counting.watches, once);
  EXPECT_TRUE(cacher.ReachBack(last - 1, {})) << "there is room for that";
  EXPECT_GT(counting.watches, once);
}

TEST_F(CacherTest, APastOfLargeObjectsIsNotReadToItsEnd) {
  const storage::Revision before = *storage_->CurrentRevision({});
  const auto large = [&](int i) {
    return R"({"metadata":{"name":"large"},"data":{"x":")" + std::string(1 << 20, 'x') +
           std::to_string(i) + "\"}}";
  };
  const std::string key = type_->prefix + "d/large";
  ASSERT_TRUE(storage_->Create(key, large(0), {}));
  for (int i = 1; i < 30; ++i) {
    const auto now = storage_->Get(key, 0, {});
    ASSERT_TRUE(storage_->CompareAndSwap(key, now->mod_revision, large(i), {}));
  }
  const PastRange range{.after = before, .until = *storage_->CurrentRevision({}), .limit = 100};
  const auto some = PastChanges(*type_, *storage_, range, base::Clock::Real(), {});
  ASSERT_FALSE(some) << "30 MiB, and as much of what was there before";
  EXPECT_EQ(some.error().reason, apimachinery::Reason::kExpired);
  PastRange wide = range;
  wide.max_bytes = 64 << 20;
  const auto all = PastChanges(*type_, *storage_, wide, base::Clock::Real(), {});
  ASSERT_TRUE(all) << all.error().ToString();
  EXPECT_EQ(all->size(), 30U);
}

TEST_F(CacherTest, AStorageThatIsSilentAboutThePastHoldsUpNobodyForLong) {
  const std::int64_t first = Put("b", "x");
  Put("c", "x");
  CountingStorage quiet(*storage_);
  base::testing::FakeClock clock;
  Cacher cacher(type_, quiet, {.clock = clock, .window = 3, .patience = std::chrono::seconds(3)});
  EXPECT_TRUE(cacher.WaitForLatest({}));
  KX_AWAIT(quiet.watches > 0);  // the cache's own watch, which goes on
  quiet.silent = true;
  std::atomic<int> done = 0;
  const auto reach = [&](const std::stop_token& stop) {
    Result<void> reached = cacher.ReachBack(first, stop);
    ++done;
    return reached;
  };
  Result<void> reached;
  Result<void> reached_next;
  std::jthread reader([&] { reached = reach({}); });
  KX_AWAIT(quiet.watches > 1);
  std::stop_source gives_up;
  gives_up.request_stop();
  EXPECT_FALSE(reach(gives_up.get_token())) << "who goes does not wait for the others";
  std::jthread next([&] { reached_next = reach({}); });
  KX_UNTIL(done == 3) {
    if (clock.Sleepers() > 0) {
      clock.Advance(std::chrono::milliseconds(100));
    }
  }
  reader.join();
  next.join();
  // The watches are told that they come too late, and then list.
  EXPECT_TRUE(reached) << reached.error().ToString();
  EXPECT_TRUE(reached_next) << reached_next.error().ToString();
}

TEST_F(CacherTest, AVersionThatNobodyHasIsNotWaitedFor) {
  const auto waited = cacher_->WaitFor(*storage_->CurrentRevision({}) + 1, {});
  ASSERT_FALSE(waited);
  EXPECT_TRUE(apimachinery::IsTooLargeResourceVersion(waited.error()));
}

TEST_F(CacherTest, APastThatIsForgottenIsAnError) {
  const std::int64_t from = Put("b", "x");
  for (int i = 0; i < 4; ++i) {
    Put("c", std::to_string(i));
  }
  EXPECT_TRUE(cacher_->WaitForLatest({}));
  const auto watcher = Watch({.revision = from});
  EXPECT_THAT(Taken(*watcher), ElementsAre("ERROR"));
  EXPECT_FALSE(alive_);
}

TEST_F(CacherTest, AnEventIsEncodedOnceForAllWatchers) {
  const std::int64_t from = Put("b", "x");
  EXPECT_TRUE(cacher_->WaitForLatest({}));
  std::vector<std::shared_ptr<CacheWatcher>> watchers;
  for (int i = 0; i < 10; ++i) {
    watchers.push_back(Watch({.revision = from}));
  }
  Put("b", "y");
  for (const auto& watcher : watchers) {
    EXPECT_THAT(Taken(*watcher), ElementsAre("MODIFIED b"));
  }
  EXPECT_EQ(format_->frames, 1);
}

TEST_F(CacherTest, ASlowWatcherIsEnded) {
  WatcherOptions options;
  options.format = format_;
  options.max_waiting_frames = 2;
  const auto watcher = std::make_shared<CacheWatcher>(type_, std::move(options));
  cacher_->cache().Add(watcher, {.revision = Put("b", "x")});
  for (int i = 0; i < 3; ++i) {
    Put("b", std::to_string(i));
  }
  EXPECT_THAT(Taken(*watcher), IsEmpty());
  EXPECT_FALSE(alive_);
}

TEST_F(CacherTest, WatchesEndAfterWhatHasHappenedUntilThen) {
  const auto watcher = Watch({.initial_events = true});
  const std::int64_t until = Put("b", "x");
  Put("c", "x");
  EXPECT_TRUE(cacher_->WaitFor(until, {}));
  cacher_->EndAt(until);
  EXPECT_EQ(cacher_->cache().watchers(), 0U);
  EXPECT_THAT(Taken(*Watch({.revision = until - 1})), ElementsAre("ADDED b"));
  EXPECT_FALSE(alive_);
  cacher_->EndAt(until + 10);
  EXPECT_EQ(cacher_->cache().watchers(), 0U);
}

TEST_F(CacherTest, WatchesGoOnUntilTheVersionThatTheyEndAt) {
  const auto watcher = Watch({.initial_events = true});
  const std::int64_t now = *storage_->CurrentRevision({});
  cacher_->EndAt(now + 2);
  EXPECT_THAT(Taken(*watcher), ElementsAre("ADDED a"));
  EXPECT_TRUE(alive_);
  Put("b", "x");
  Delete("b");
  Put("c", "x");
  EXPECT_THAT(Taken(*watcher), ElementsAre("ADDED b", "DELETED b"));
  EXPECT_FALSE(alive_);
}

TEST_F(CacherTest, ClosedWatchersAreForgotten) {
  const auto watcher = Watch({.initial_events = true});
  EXPECT_EQ(cacher_->cache().watchers(), 1U);
  watcher->Closed();
  cacher_->cache().Tick(base::Clock::Real().Now(), false);
  EXPECT_EQ(cacher_->cache().watchers(), 0U);
}

// The first events of a watch are compared with its selector while changes go on.
TEST_F(CacherTest, WatchesThatBeginAmongChangesMissNoneAndGetNoneTwice) {
  constexpr int kChanges = 2'000;
  Begin(2 * kChanges);
  const std::int64_t from = Put("a", "x");
  std::vector<std::string> expected;
  for (int i = 0; i < kChanges; ++i) {
    expected.push_back("ADDED n" + std::to_string(i));
  }
  std::vector<std::string> sorted = expected;
  std::ranges::sort(sorted);
  std::vector<std::shared_ptr<CacheWatcher>> watchers;
  {
    const std::jthread writer([&] {
      for (int i = 0; i < kChanges; ++i) {
        Put("n" + std::to_string(i), "y");
      }
    });
    while (watchers.size() < 50) {
      EXPECT_TRUE(cacher_->WaitForLatest({}));
      watchers.push_back(Watch({.revision = from}, "l=y"));
      watchers.push_back(Watch({.initial_events = true}, "l=y"));
    }
  }
  for (std::size_t i = 0; i < watchers.size(); ++i) {
    std::vector<std::string> told;
    for (auto some = Taken(*watchers[i]); !some.empty(); some = Taken(*watchers[i])) {
      told.insert(told.end(), some.begin(), some.end());
    }
    EXPECT_TRUE(alive_);
    if (i % 2 == 0) {
      EXPECT_EQ(told, expected);
    } else {  // objects that existed before come in the order of their names
      std::ranges::sort(told);
      EXPECT_EQ(told, sorted);
    }
  }
}

TEST_F(CacherTest, ItWaitsForTheVersionThatIsAskedFor) {
  // The write is of another type. The cache learns of its revision because it asks the storage for
  // it.
  EXPECT_TRUE(storage_->Create("/registry/other/x", "{}", {}));
  EXPECT_TRUE(cacher_->WaitForLatest({}));
  const auto current = storage_->CurrentRevision({});
  ASSERT_TRUE(current);
  EXPECT_GE(cacher_->cache().List({}).revision, *current);
  const auto waited =
      cacher_->cache().WaitFor(*current + 1, base::Clock::Real().Now(), std::stop_token());
  ASSERT_FALSE(waited);
  EXPECT_TRUE(apimachinery::IsTooLargeResourceVersion(waited.error()));
}

}  // namespace
}  // namespace kubexx::apiserver
