#include "kubexx/cache/reflector.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "kubexx/base/testing/await.h"
#include "kubexx/base/testing/fake_clock.h"
#include "kubexx/cache/testing/auto_clock.h"
#include "kubexx/cache/testing/chaos.h"
#include "kubexx/cache/testing/fake_source.h"
#include "kubexx/cache/testing/map_store.h"
#include "kubexx/metrics/registry.h"

namespace kubexx::cache {
namespace {

using apimachinery::Reason;
using testing::AutoClock;
using testing::FakeSource;
using testing::MapStore;

MapStore::Content ContentOf(const FakeSource& source) {
  MapStore::Content content;
  for (const auto& [key, object] : source.objects()) {
    content[key] = object.bytes;
  }
  return content;
}

class ReflectorTest : public ::testing::TestWithParam<bool> {
 protected:
  ~ReflectorTest() override { Stop(); }

  ReflectorOptions Options() {
    return {.clock = clock_, .registry = &registry_, .seed = 1, .use_watch_list = GetParam()};
  }
  void Start() { Start(Options()); }
  void Start(ReflectorOptions options) {
    reflector_ = std::make_unique<Reflector>("things", source_, store_, std::move(options));
    thread_ = std::jthread([this](const std::stop_token& stop) { reflector_->Run(stop); });
  }
  void Stop() {
    thread_.request_stop();
    if (thread_.joinable()) {
      thread_.join();
    }
  }
  void AwaitEqual() { store_.AwaitContent(ContentOf(*source_)); }
  /// The number of requests for a full state.
  int FullStates() const { return store_.replaces(); }
  double Metric(const std::string& name) {
    return registry_.Counter(name, "", {{"name", "things"}}).Value();
  }

  AutoClock clock_;
  metrics::Registry registry_;
  std::shared_ptr<FakeSource> source_ = std::make_shared<FakeSource>();
  MapStore store_;
  std::unique_ptr<Reflector> reflector_;
  std::jthread thread_;
};

INSTANTIATE_TEST_SUITE_P(Modes, ReflectorTest, ::testing::Bool(), [](const auto& param_info) {
  return param_info.param ? "WatchList" : "List";
});

TEST_P(ReflectorTest, TheStoreFollowsTheSource) {
  source_->Put({"a", "1"}, "x");
  source_->Put({"a", "2"}, "x");
  Start();
  store_.AwaitReplaces(1);
  AwaitEqual();
  source_->Put({"a", "1"}, "y");
  source_->Put({"b", "3"}, "z");
  source_->Delete({"a", "2"});
  AwaitEqual();
  EXPECT_EQ(FullStates(), 1);
}

TEST_P(ReflectorTest, ABrokenWatchResumesWithoutAnotherFullState) {
  Start();
  store_.AwaitReplaces(1);
  source_->AwaitCaughtUp();
  for (int i = 0; i < 20; ++i) {
    const int watches = source_->watches();
    source_->BreakWatches({Reason::kUnavailable, "connection reset"});
    source_->Put({"a", std::to_string(i % 3)}, std::to_string(i));
    source_->AwaitWatches(watches + 1);
    AwaitEqual();
  }
  EXPECT_EQ(FullStates(), 1);
  EXPECT_EQ(Metric("reflector_relists_total"), 0);
  EXPECT_GE(Metric("reflector_watches_total"), 21);
}

TEST_P(ReflectorTest, AnOutageIsWaitedOutInPlace) {
  Start();
  store_.AwaitReplaces(1);
  source_->AwaitCaughtUp();
  source_->FailWatches({Reason::kUnavailable, "connection refused"}, 12);
  source_->DropWatches();
  source_->Put({"a", "1"}, "written meanwhile");
  AwaitEqual();
  EXPECT_EQ(FullStates(), 1);
  EXPECT_GT(clock_.slept(), std::chrono::minutes(2));
}

TEST_P(ReflectorTest, AServerThatSaysWhenIsAskedThenWhateverTheBackoffIs) {
  ReflectorOptions options = Options();
  options.tuning.backoff = {.initial = std::chrono::minutes(10), .cap = std::chrono::hours(1)};
  Start(std::move(options));
  store_.AwaitReplaces(1);
  source_->AwaitCaughtUp();
  apimachinery::Status starting(Reason::kTooManyRequests, "storage is (re)initializing", 429);
  starting.details.retry_after = std::chrono::seconds(1);
  source_->FailWatches(starting, 9);
  source_->BreakWatches(starting);
  source_->Put({"a", "1"}, "written meanwhile");
  AwaitEqual();
  EXPECT_GE(clock_.slept(), std::chrono::seconds(10));
  EXPECT_LT(clock_.slept(), std::chrono::seconds(20));
}

TEST_P(ReflectorTest, AServerThatSaysWhenForEverGetsTheBackoff) {
  ReflectorOptions options = Options();
  options.tuning.backoff = {.initial = std::chrono::minutes(10), .cap = std::chrono::hours(1)};
  Start(std::move(options));
  store_.AwaitReplaces(1);
  source_->AwaitCaughtUp();
  apimachinery::Status busy(Reason::kTooManyRequests, "slow down", 429);
  busy.details.retry_after = std::chrono::seconds(1);
  source_->FailWatches(busy, 10);
  source_->BreakWatches(busy);
  source_->Put({"a", "1"}, "written meanwhile");
  AwaitEqual();
  EXPECT_GE(clock_.slept(), std::chrono::minutes(10));
}

TEST_P(ReflectorTest, AnExpiredVersionGivesAFullState) {
  source_->Put({"a", "1"}, "x");
  source_->Put({"a", "2"}, "x");
  Start();
  store_.AwaitReplaces(1);
  source_->AwaitCaughtUp();
  source_->BreakWatches({Reason::kExpired, "too old resource version", 410});
  source_->Delete({"a", "2"});
  source_->Put({"a", "3"}, "x");
  source_->Compact();
  store_.AwaitReplaces(2);
  AwaitEqual();
  Stop();
  EXPECT_GE(Metric("reflector_relists_total"), 1);
}

TEST_P(ReflectorTest, ARestoredBackupIsFollowed) {
  source_->Put({"a", "1"}, "old");
  const auto backup = source_->objects();
  const auto version = std::stoull(source_->resource_version());
  source_->Put({"a", "1"}, "new");
  source_->Put({"a", "2"}, "new");
  Start();
  store_.AwaitReplaces(1);
  source_->AwaitCaughtUp();
  source_->FailWatches({Reason::kUnavailable, "connection refused"}, 3);
  source_->RestoreBackup(backup, version);
  store_.AwaitReplaces(2);
  AwaitEqual();
  source_->Put({"a", "9"}, "after");
  AwaitEqual();
}

TEST_P(ReflectorTest, ARestoreThatNoRequestMetIsNoticedWhenTheNextWatchEnds) {
  source_->Put({"a", "1"}, "old");
  const auto backup = source_->objects();
  const auto version = std::stoull(source_->resource_version());
  Start();
  AwaitEqual();
  source_->AwaitCaughtUp();
  for (int i = 0; i < 100; ++i) {
    source_->Put({"a", "2"}, std::to_string(i));
  }
  AwaitEqual();
  const int watches = source_->watches();
  source_->RestoreBackup(backup, version);
  source_->AwaitWatches(watches + 1);
  source_->AwaitCaughtUp();
  source_->DropWatches();
  AwaitEqual();
}

TEST_P(ReflectorTest, RenewalsOfAWatchAskForNothing) {
  Start();
  for (int i = 1; i <= 10; ++i) {
    source_->AwaitWatches(i);
    source_->AwaitCaughtUp();
    source_->Put({"a", "1"}, std::to_string(i));
    AwaitEqual();
    source_->DropWatches();
  }
  source_->AwaitWatches(11);
  Stop();
  EXPECT_EQ(source_->lists(), GetParam() ? 0 : 1);
}

TEST_P(ReflectorTest, AWatchAfterABreakIsShortAndThenTheVersionIsAskedFor) {
  Start();
  store_.AwaitReplaces(1);
  source_->Put({"a", "1"}, "x");
  AwaitEqual();
  source_->AwaitCaughtUp();
  const int lists = source_->lists();
  source_->BreakWatches({Reason::kUnavailable, "connection reset"});
  source_->AwaitWatches(2);
  source_->AwaitCaughtUp();
  EXPECT_EQ(source_->lists(), lists);
  source_->DropWatches();
  source_->AwaitWatches(3);
  Stop();
  EXPECT_EQ(source_->lists(), lists + 1);
  EXPECT_EQ(FullStates(), 1);
  EXPECT_LT(source_->watch_requests()[1].timeout.count(), 60);
  EXPECT_GE(source_->watch_requests()[1].timeout.count(), 30);
  EXPECT_GE(source_->watch_requests()[2].timeout.count(), 300);
}

/// A server that was started anew without data. It accepts a watch from a version that it has not
/// reached, lets it wait, and then sends `event`.
class StartedAnew {
 public:
  explicit StartedAnew(WatchEvent event) : event_(std::move(event)) {}

  std::shared_ptr<ListerWatcher> Source() {
    return std::make_shared<ListWatch>(
        [this](const apimachinery::ListOptions& options, ListerWatcher::ObjectSink sink,
               std::stop_token) -> apimachinery::Result<codec::ListMeta> {
          KX_ASSIGN_OR_RETURN(const std::string version, SendState(options, sink));
          return codec::ListMeta{.resource_version = version};
        },
        [this](const apimachinery::ListOptions& options, ListerWatcher::EventSink sink,
               std::stop_token stop) -> apimachinery::Result<void> {
          if (options.send_initial_events.value_or(false)) {
            const auto add = [&sink](Object&& object) {
              return sink({.type = codec::WatchEventType::kAdded, .object = std::move(object)});
            };
            KX_ASSIGN_OR_RETURN(const std::string version, SendState(options, add));
            KX_RETURN_IF_ERROR(sink({.type = codec::WatchEventType::kBookmark,
                                     .object = {.resource_version = version},
                                     .initial_events_end = true}));
          }
          if (watches_++ == 0) {
            KX_RETURN_IF_ERROR(sink(WatchEvent(event_)));
          }
          while (base::Clock::Real().SleepFor(std::chrono::hours(1), stop)) {
          }
          return apimachinery::Fail(Reason::kCancelled, "stopped");
        });
  }
  /// The number of lists, including full states that a watch brought.
  int lists() const { return lists_; }

 private:
  apimachinery::Result<std::string> SendState(const apimachinery::ListOptions& options,
                                              ListerWatcher::ObjectSink sink) {
    if (lists_++ == 0) {
      KX_RETURN_IF_ERROR(sink({.encoding = codec::Encoding::kJson,
                               .bytes = "old",
                               .key = {"a", "1"},
                               .resource_version = "99"}));
      return "100";
    }
    EXPECT_EQ(options.resource_version, "") << "a version that this server does not have";
    return "8";
  }

  const WatchEvent event_;
  std::atomic<int> lists_ = 0;
  std::atomic<int> watches_ = 0;
};

TEST_P(ReflectorTest, AVersionThatGoesBackGivesAFullState) {
  using codec::WatchEventType;
  for (const WatchEventType type :
       {WatchEventType::kBookmark, WatchEventType::kAdded, WatchEventType::kDeleted}) {
    StartedAnew server({.type = type, .object = {.key = {"a", "2"}, .resource_version = "7"}});
    MapStore store;
    Reflector reflector("things", server.Source(), store, Options());
    const std::jthread thread([&reflector](const std::stop_token& stop) { reflector.Run(stop); });
    KX_AWAIT_GE(store.replaces(), 2);
    EXPECT_EQ(server.lists(), 2) << "waited 30 s for another list";
    EXPECT_TRUE(store.content().empty()) << "event type " << static_cast<int>(type);
  }
}

TEST_P(ReflectorTest, AfterA410TheStateIsThereWithoutABackoff) {
  base::testing::FakeClock clock;  // it stands still
  source_->Put({"a", "1"}, "x");
  Reflector reflector(
      "things", source_, store_,
      {.clock = clock,
       .seed = 1,
       .use_watch_list = GetParam(),
       .tuning = {.backoff = {.initial = std::chrono::minutes(10), .cap = std::chrono::hours(1)}}});
  const std::jthread thread([&reflector](const std::stop_token& stop) { reflector.Run(stop); });
  store_.AwaitReplaces(1);
  source_->AwaitCaughtUp();
  source_->BreakWatches({Reason::kExpired, "too old resource version", 410});
  source_->Put({"a", "2"}, "y");
  source_->Compact();
  store_.AwaitReplaces(2);
  AwaitEqual();
}

TEST_P(ReflectorTest, AStoresRefusalLosesNothing) {
  Start();
  store_.AwaitReplaces(1);
  source_->AwaitCaughtUp();
  store_.RefuseOnce();
  source_->Put({"a", "1"}, "refused first");
  AwaitEqual();
  EXPECT_EQ(FullStates(), 2);
}

TEST_P(ReflectorTest, BookmarksMoveTheVersion) {
  Start();
  store_.AwaitReplaces(1);
  source_->Put({"a", "1"}, "x");
  source_->AwaitCaughtUp();
  source_->SendBookmark();
  store_.AwaitBookmark(source_->resource_version());
  Stop();
  EXPECT_EQ(reflector_->LastSyncResourceVersion(), source_->resource_version());
}

TEST_P(ReflectorTest, WatchesAskForARandomLifetime) {
  Start();
  for (int i = 1; i <= 30; ++i) {
    source_->AwaitWatches(i);
    source_->AwaitCaughtUp();
    source_->DropWatches();
  }
  Stop();
  std::set<std::int64_t> lifetimes;
  for (const auto& request : source_->watch_requests()) {
    EXPECT_GE(request.timeout.count(), 300);
    EXPECT_LT(request.timeout.count(), 600);
    EXPECT_TRUE(request.allow_watch_bookmarks);
    lifetimes.insert(request.timeout.count());
  }
  EXPECT_GT(lifetimes.size(), 15U);
}

TEST_P(ReflectorTest, ErrorsAreReported) {
  std::vector<Reason> reasons;
  ReflectorOptions options = Options();
  options.on_error = [&reasons](const auto& status) { reasons.push_back(status.reason); };
  source_->FailLists({Reason::kUnavailable, "refused"}, 2);
  source_->FailWatches({Reason::kUnavailable, "refused"}, 2);
  Start(std::move(options));
  store_.AwaitReplaces(1);
  source_->AwaitCaughtUp();
  Stop();
  EXPECT_EQ(reasons.size(), GetParam() ? 2U : 4U);
  EXPECT_THAT(reasons, ::testing::Each(Reason::kUnavailable));
}

TEST_P(ReflectorTest, RunsAgainAfterAStop) {
  Start();
  store_.AwaitReplaces(1);
  Stop();
  source_->Put({"a", "1"}, "while stopped");
  thread_ = std::jthread([this](const std::stop_token& stop) { reflector_->Run(stop); });
  store_.AwaitReplaces(2);
  AwaitEqual();
}

// This is the property that matters: whatever happens to the source, in the end the store has the
// same objects as the source.
TEST_P(ReflectorTest, LosesNoChangeUnderRandomFaults) {
  const auto first_seed = std::random_device{}();
  for (std::uint64_t seed = first_seed; seed < first_seed + 30ULL; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    source_ = std::make_shared<FakeSource>();
    ReflectorOptions options = Options();
    options.seed = seed;
    options.tuning.page_size = 1 + static_cast<std::int64_t>(seed % 7);
    testing::Chaos chaos(*source_, seed);
    chaos.Run(40);
    Start(std::move(options));
    chaos.Run(300);
    AwaitEqual();
    Stop();
  }
}

TEST_P(ReflectorTest, InternalErrorsAreSatOutForAsLongAsIsAllowed) {
  ReflectorOptions options = Options();
  options.tuning.max_internal_error_retry = std::chrono::minutes(10);
  Start(std::move(options));
  store_.AwaitReplaces(1);
  source_->AwaitCaughtUp();
  source_->FailWatches({Reason::kInternalError, "etcdserver: no leader", 500}, 8);
  source_->DropWatches();
  source_->Put({"a", "1"}, "written meanwhile");
  AwaitEqual();
  EXPECT_EQ(FullStates(), 1);
}

TEST_P(ReflectorTest, InternalErrorsAreNotSatOutForLonger) {
  ReflectorOptions options = Options();
  options.tuning.max_internal_error_retry = std::chrono::seconds(5);
  Start(std::move(options));
  store_.AwaitReplaces(1);
  source_->AwaitCaughtUp();
  source_->FailWatches({Reason::kInternalError, "etcdserver: no leader", 500}, 12);
  source_->DropWatches();
  store_.AwaitReplaces(2);
  AwaitEqual();
}

TEST_P(ReflectorTest, ASilentWatchIsOpenedAgain) {
  base::testing::FakeClock clock;
  ReflectorOptions options{.clock = clock, .seed = 1, .use_watch_list = GetParam()};
  options.tuning.watch_idle_timeout = std::chrono::minutes(3);
  Start(std::move(options));
  store_.AwaitReplaces(1);
  for (int i = 1; i < 5; ++i) {
    source_->AwaitWatches(i);
    source_->AwaitCaughtUp();
    clock.AwaitSleepers(1);
    clock.Advance(std::chrono::minutes(3));
  }
  source_->AwaitWatches(5);
  Stop();
  EXPECT_EQ(FullStates(), 1);
}

TEST_P(ReflectorTest, AResyncMayBeLeftOut) {
  base::testing::FakeClock clock;
  int asked = 0;
  ReflectorOptions options{.clock = clock,
                           .seed = 1,
                           .resync_period = std::chrono::minutes(10),
                           .should_resync = [&asked] { return ++asked % 2 == 0; },
                           .use_watch_list = GetParam()};
  Start(std::move(options));
  store_.AwaitReplaces(1);
  for (int i = 1; i <= 6; ++i) {
    clock.AwaitSleepers(1);
    clock.Advance(std::chrono::minutes(10));
  }
  store_.AwaitResyncs(3);
  Stop();
  EXPECT_EQ(asked, 6);
  EXPECT_EQ(store_.resyncs(), 3);
}

class ReflectorListTest : public ReflectorTest {};
INSTANTIATE_TEST_SUITE_P(List, ReflectorListTest, ::testing::Values(false));

TEST_P(ReflectorListTest, AStoreThatCannotSayWhatItLacksKeepsItsState) {
  source_->Put({"a", "1"}, "x");
  Start();
  AwaitEqual();
  source_->AwaitCaughtUp();
  source_->PutUnreadable("it has no name");
  source_->Put({"a", "2"}, "x");
  AwaitEqual();
  const int lists = source_->lists();
  source_->BreakWatches({Reason::kExpired, "too old resource version", 410});
  source_->AwaitLists(lists + 3);
  EXPECT_EQ(FullStates(), 1);
  source_->MendUnreadable();
  store_.AwaitReplaces(2);
  AwaitEqual();
}

TEST_P(ReflectorListTest, ListsInPages) {
  for (int i = 0; i < 10; ++i) {
    source_->Put({"a", std::to_string(i)}, "x");
  }
  ReflectorOptions options = Options();
  options.tuning.page_size = 3;
  Start(std::move(options));
  store_.AwaitReplaces(1);
  AwaitEqual();
  EXPECT_EQ(source_->lists(), 4);
}

TEST_P(ReflectorListTest, EveryListIsPagedWhereThatIsForced) {
  for (int i = 0; i < 4; ++i) {
    source_->Put({"a", std::to_string(i)}, "x");
  }
  ReflectorOptions options = Options();
  options.tuning.page_size = 3;
  options.tuning.force_pages = true;
  Start(std::move(options));
  store_.AwaitReplaces(1);
  source_->AwaitCaughtUp();
  source_->BreakWatches({Reason::kExpired, "too old resource version", 410});
  store_.AwaitReplaces(2);
  Stop();
  for (const auto& request : source_->list_requests()) {
    EXPECT_EQ(request.limit, 3);
  }
}

TEST_P(ReflectorListTest, AListThatBreaksOffLeavesTheStoreAlone) {
  source_->Put({"a", "1"}, "x");
  source_->Put({"a", "2"}, "x");
  source_->BreakNextListAfter(1, {Reason::kUnavailable, "reset"});
  base::testing::FakeClock clock;
  ReflectorOptions options{.clock = clock, .seed = 1, .use_watch_list = false};
  Start(std::move(options));
  clock.AwaitSleepers(1);
  EXPECT_TRUE(store_.content().empty());
  EXPECT_EQ(store_.replaces(), 0);
  clock.Advance(std::chrono::seconds(2));
  store_.AwaitReplaces(1);
  AwaitEqual();
  Stop();
}

TEST_P(ReflectorListTest, FallsBackToListWhereWatchListIsUnknown) {
  source_->RefuseWatchList();
  source_->Put({"a", "1"}, "x");
  ReflectorOptions options = Options();
  options.use_watch_list = true;
  Start(std::move(options));
  store_.AwaitReplaces(1);
  AwaitEqual();
  EXPECT_EQ(source_->lists(), 1);
  EXPECT_EQ(clock_.slept(), base::Duration::zero());
}

TEST_P(ReflectorListTest, ResyncsWhileTheWatchIsQuiet) {
  base::testing::FakeClock clock;
  ReflectorOptions options{.clock = clock, .seed = 1, .resync_period = std::chrono::minutes(10)};
  Start(std::move(options));
  store_.AwaitReplaces(1);
  for (int i = 1; i <= 3; ++i) {
    clock.AwaitSleepers(1);
    clock.Advance(std::chrono::minutes(10));
    store_.AwaitResyncs(i);
  }
  Stop();
}

}  // namespace
}  // namespace kubexx::cache
