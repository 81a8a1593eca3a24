// A reflector that runs in steps, by a clock that moves only when a test says so.
#include "kubexx/cache/reflector_task.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "kubexx/base/executor/executor.h"
#include "kubexx/base/mutex.h"
#include "kubexx/base/testing/await.h"
#include "kubexx/base/testing/fake_clock.h"
#include "kubexx/cache/reflector.h"
#include "kubexx/cache/testing/map_store.h"

namespace kubexx::cache {
namespace {

using apimachinery::Fail;
using apimachinery::ListOptions;
using apimachinery::Reason;
using apimachinery::Result;
using apimachinery::Status;
using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;
using testing::MapStore;

/// Bytes that are no event.
struct Noise {};
/// A clean end.
struct CleanEnd {};
/// An exception.
struct ThrownNews {};
using TaskNews = std::variant<WatchEvent, Noise, CleanEnd, ThrownNews, Status>;

/// A source whose watches tell when something has come. Lists have no objects.
class TellingSource final : public ListerWatcher {
 public:
  Result<codec::ListMeta> List(const ListOptions&, ObjectSink, std::stop_token stop) override {
    ++lists_;
    if (blocks_) {
      base::testing::AwaitStop(stop);
      return Fail(Reason::kCancelled, "stopped");
    }
    const base::MutexLock lock(mu_);
    if (list_failures_ > 0) {
      --list_failures_;
      return Fail(Reason::kUnavailable, "connection refused");
    }
    return codec::ListMeta{.resource_version = list_version_};
  }
  Result<void> Watch(const ListOptions&, EventSink, std::stop_token) override {
    ADD_FAILURE() << "a task does not wait in a watch";
    return {};
  }
  bool CanStartWatch() const override { return true; }
  Result<std::unique_ptr<OpenWatch>> StartWatch(const ListOptions& options,
                                                std::stop_token stop) override {
    ++watches_;
    if (blocks_watches_) {
      base::testing::AwaitStop(stop);
      return Fail(Reason::kCancelled, "stopped");
    }
    const base::MutexLock lock(mu_);
    watched_from_ = options.resource_version;
    news_.clear();
    return std::make_unique<TellingWatch>(*this);
  }
  Result<std::string> CurrentVersion(std::stop_token) override {
    const base::MutexLock lock(mu_);
    return list_version_;
  }

  /// The open watch brings this next.
  void Bring(TaskNews news) {
    const base::MutexLock lock(mu_);
    news_.push_back(std::move(news));
    if (tell_) {
      tell_();
    }
  }
  void BringObject(std::string_view name, std::string_view version) {
    Bring(WatchEvent{.object = {.bytes = "x",
                                .key = {"ns", std::string(name)},
                                .resource_version = std::string(version)}});
  }
  void FailLists(int times) {
    const base::MutexLock lock(mu_);
    list_failures_ = times;
  }
  void SetListVersion(std::string version) {
    const base::MutexLock lock(mu_);
    list_version_ = std::move(version);
  }
  std::string watched_from() const {
    const base::MutexLock lock(mu_);
    return watched_from_;
  }

  const std::atomic<int>& lists() const { return lists_; }
  const std::atomic<int>& watches() const { return watches_; }
  const std::atomic<int>& open() const { return open_; }
  /// How often a read has found nothing, after which the reflector was to be told.
  const std::atomic<int>& armed() const { return armed_; }
  std::atomic<bool> blocks_ = false;          ///< lists wait for the stop
  std::atomic<bool> blocks_watches_ = false;  ///< watches do, before they begin

 private:
  class TellingWatch final : public OpenWatch {
   public:
    explicit TellingWatch(TellingSource& owner) : owner_(owner) { ++owner_.open_; }
    TellingWatch(const TellingWatch&) = delete;
    TellingWatch& operator=(const TellingWatch&) = delete;
    ~TellingWatch() override {
      const base::MutexLock lock(owner_.mu_);
      owner_.tell_ = {};
      --owner_.open_;
    }
    Result<Found> Read(EventSink sink) override {
      std::optional<TaskNews> news;
      {
        const base::MutexLock lock(owner_.mu_);
        if (owner_.news_.empty()) {
          return Found::kNothing;
        }
        news = std::move(owner_.news_.front());
        owner_.news_.pop_front();
      }
      if (auto* event = std::get_if<WatchEvent>(&*news)) {
        KX_RETURN_IF_ERROR(sink(std::move(*event)));
      } else if (const auto* status = std::get_if<Status>(&*news)) {
        return Fail(*status);
      } else if (std::holds_alternative<ThrownNews>(*news)) {
        throw std::runtime_error("broken");
      }
      return std::holds_alternative<CleanEnd>(*news) ? Found::kEnd : Found::kSome;
    }
    void Notify(std::function<void()> tell) override {
      const base::MutexLock lock(owner_.mu_);
      owner_.tell_ = std::move(tell);
    }
    base::TimePoint Arm() override {
      ++owner_.armed_;
      return base::TimePoint::max();
    }

   private:
    TellingSource& owner_;
  };

  std::atomic<int> lists_ = 0;
  std::atomic<int> watches_ = 0;
  std::atomic<int> open_ = 0;
  std::atomic<int> armed_ = 0;
  mutable base::Mutex mu_;
  int list_failures_ KX_GUARDED_BY(mu_) = 0;
  std::string list_version_ KX_GUARDED_BY(mu_) = "10";
  std::string watched_from_ KX_GUARDED_BY(mu_);
  std::deque<TaskNews> news_ KX_GUARDED_BY(mu_);
  std::function<void()> tell_ KX_GUARDED_BY(mu_);
};

/// A store that has room or has none.
class RoomStore final : public ReflectorStore {
 public:
  Result<void> Add(Object&& object) override { return inner_.Add(std::move(object)); }
  Result<void> Update(Object&& object) override { return inner_.Update(std::move(object)); }
  Result<void> Delete(Object&& object) override { return inner_.Delete(std::move(object)); }
  std::unique_ptr<Replacement> BeginReplace() override { return inner_.BeginReplace(); }
  void Bookmark(std::string_view version) override { inner_.Bookmark(version); }
  Result<void> Resync() override { return inner_.Resync(); }
  bool HasRoom(const std::function<void()>& wake) override {
    const base::MutexLock lock(mu_);
    if (!is_full_) {
      return true;
    }
    wake_ = wake;
    ++refusals_;
    return false;
  }

  void Fill() {
    const base::MutexLock lock(mu_);
    is_full_ = true;
  }
  void Empty() {
    std::function<void()> wake;
    {
      const base::MutexLock lock(mu_);
      is_full_ = false;
      wake = std::exchange(wake_, {});
    }
    if (wake) {
      wake();
    }
  }
  const std::atomic<int>& refusals() const { return refusals_; }
  const MapStore& inner() const { return inner_; }

 private:
  MapStore inner_;
  std::atomic<int> refusals_ = 0;
  base::Mutex mu_;
  bool is_full_ KX_GUARDED_BY(mu_) = false;
  std::function<void()> wake_ KX_GUARDED_BY(mu_);
};

class ReflectorTaskTest : public ::testing::Test {
 protected:
  ReflectorTaskTest() {
    options_.use_watch_list = false;
    options_.seed = 1;
    options_.tuning.backoff.jitter = 0;
    options_.on_error = [](const Status&) {};
    executor_->Start();
  }

  void Start() {
    reflector_.emplace("things", source_, store_, options_);
    Begin();
  }
  void Begin() {
    task_.emplace(*reflector_, executor_);
    task_->Start(stop_.get_token());
  }
  /// Starts, and waits until the watch is open and quiet.
  void StartQuiet() {
    Start();
    AwaitQuiet(1);
  }
  /// Waits until reads of watches have found nothing so often.
  void AwaitQuiet(int times,
                  const base::testing::Where& where = base::testing::Where::current()) const {
    base::testing::Patience patience("a quiet watch", where);
    while (source_->armed() < times) {
      patience.Pause(source_->armed().load(), source_->lists().load(), source_->watches().load());
    }
  }

  base::testing::FakeClock clock_;
  std::shared_ptr<base::Executor> executor_ =
      std::make_shared<base::Executor>(base::ExecutorOptions{.threads = 2});
  std::shared_ptr<TellingSource> source_ = std::make_shared<TellingSource>();
  RoomStore store_;
  ReflectorOptions options_{.clock = clock_};
  std::stop_source stop_;
  std::optional<Reflector> reflector_;
  std::optional<ReflectorTask> task_;
};

TEST_F(ReflectorTaskTest, ListsWatchesAndResumesWhereAWatchHasEnded) {
  StartQuiet();
  EXPECT_EQ(source_->watched_from(), "10");
  source_->BringObject("a", "11");
  store_.inner().AwaitContent({{{"ns", "a"}, "x"}});
  source_->Bring(CleanEnd{});
  KX_AWAIT_EQ(source_->watches(), 2);
  KX_AWAIT_EQ(source_->watched_from(), "11");
  EXPECT_EQ(source_->lists(), 1);
  EXPECT_EQ(reflector_->LastSyncResourceVersion(), "11");
}

TEST_F(ReflectorTaskTest, WaitsLongerAfterEachFailure) {
  source_->FailLists(3);
  Start();
  int lists = 1;
  for (const milliseconds delay : {milliseconds(800), milliseconds(1600), milliseconds(3200)}) {
    KX_AWAIT_EQ(source_->lists(), lists);
    clock_.AwaitSleepers(1);
    clock_.Advance(delay - milliseconds(1));
    EXPECT_EQ(source_->lists(), lists) << "it waits";
    clock_.Advance(milliseconds(1));
    ++lists;
  }
  store_.inner().AwaitReplaces(1);
  EXPECT_EQ(source_->lists(), 4);
}

TEST_F(ReflectorTaskTest, ListsAgainAtOnceWhenTheVersionIsTooOld) {
  StartQuiet();
  source_->BringObject("a", "11");
  store_.inner().AwaitContent({{{"ns", "a"}, "x"}});
  source_->SetListVersion("20");
  source_->Bring(Status(Reason::kExpired, "too old resource version", 410));
  store_.inner().AwaitReplaces(2);
  KX_AWAIT_EQ(source_->watched_from(), "20");
  EXPECT_EQ(source_->lists(), 2);
  EXPECT_EQ(source_->open(), 1) << "the first one is closed";
}

TEST_F(ReflectorTaskTest, ClosesAWatchThatIsSilentForTooLong) {
  options_.tuning.watch_idle_timeout = minutes(1);
  StartQuiet();
  clock_.AwaitSleepers(1);
  clock_.Advance(seconds(40));
  source_->BringObject("a", "11");
  store_.inner().AwaitContent({{{"ns", "a"}, "x"}});
  AwaitQuiet(2);
  clock_.AwaitSleepers(1);
  clock_.Advance(seconds(59));
  EXPECT_EQ(source_->watches(), 1) << "the event was a sign of life";
  clock_.AwaitSleepers(1);
  clock_.Advance(seconds(1));
  KX_AWAIT(source_->open() == 0 || source_->watches() == 2);
  KX_UNTIL(source_->watches() == 2) {
    clock_.Advance(seconds(1));
  }
  KX_AWAIT_EQ(source_->watched_from(), "11");
}

// A proxy may keep a connection alive whose other end is gone.
TEST_F(ReflectorTaskTest, BytesThatAreNoEventDoNotKeepASilentWatchAlive) {
  options_.tuning.watch_idle_timeout = minutes(1);
  StartQuiet();
  clock_.AwaitSleepers(1);
  clock_.Advance(seconds(40));
  source_->Bring(Noise{});
  AwaitQuiet(2);
  clock_.AwaitSleepers(1);
  clock_.Advance(seconds(20));
  KX_AWAIT(source_->open() == 0 || source_->watches() == 2);
}

TEST_F(ReflectorTaskTest, ResyncsWhileAWatchIsQuiet) {
  options_.resync_period = minutes(10);
  StartQuiet();
  for (int resyncs = 1; resyncs <= 3; ++resyncs) {
    clock_.AwaitSleepers(1);
    clock_.Advance(minutes(10));
    store_.inner().AwaitResyncs(resyncs);
    AwaitQuiet(1 + resyncs);
  }
}

TEST_F(ReflectorTaskTest, DoesNothingUntilTheStoreHasRoom) {
  options_.resync_period = minutes(10);
  store_.Fill();
  Start();
  KX_AWAIT(store_.refusals() >= 1);
  clock_.Advance(hours(1));
  EXPECT_EQ(source_->lists(), 0);
  store_.Empty();
  AwaitQuiet(1);
  const int resyncs = store_.inner().resyncs();
  store_.Fill();
  source_->BringObject("a", "11");
  KX_AWAIT_EQ(store_.refusals(), 2);
  clock_.Advance(hours(1));
  EXPECT_EQ(store_.inner().resyncs(), resyncs) << "a resync would only make the store fuller";
  EXPECT_TRUE(store_.inner().content().empty());
  store_.Empty();
  store_.inner().AwaitContent({{{"ns", "a"}, "x"}});
  EXPECT_EQ(store_.inner().resyncs(), resyncs + 1);
}

TEST_F(ReflectorTaskTest, TheTimeInWhichTheStoreHasNoRoomIsNoSilence) {
  options_.tuning.watch_idle_timeout = minutes(1);
  StartQuiet();
  store_.Fill();
  source_->Bring(Noise{});
  KX_AWAIT(store_.refusals() >= 1);
  clock_.Advance(hours(1));
  store_.Empty();
  AwaitQuiet(2);
  EXPECT_EQ(source_->watches(), 1);
}

TEST_F(ReflectorTaskTest, ASourceThatThrowsHasFailed) {
  std::atomic<int> errors = 0;
  options_.on_error = [&errors](const Status& status) {
    EXPECT_THAT(status.message, ::testing::HasSubstr("broken"));
    ++errors;
  };
  StartQuiet();
  source_->Bring(ThrownNews{});
  KX_AWAIT_EQ(errors, 1);
  KX_UNTIL(source_->watches() == 2) {
    clock_.Advance(seconds(1));
  }
  AwaitQuiet(2);
  EXPECT_EQ(source_->open(), 1) << "the one that threw is closed";
}

TEST_F(ReflectorTaskTest, StartsWithAFullStateWhenItRunsAgain) {
  StartQuiet();
  stop_.request_stop();
  KX_AWAIT_EQ(source_->open(), 0);
  KX_AWAIT(task_->HasEnded());
  stop_ = std::stop_source();
  Begin();
  store_.inner().AwaitReplaces(2);
  AwaitQuiet(2);
  EXPECT_EQ(source_->lists(), 2);
}

/// Where a stop finds the task.
enum class StopIn : std::uint8_t { kList, kBackoff, kBeginOfWatch, kQuietWatch, kFullStore };

class ReflectorTaskStopTest : public ReflectorTaskTest,
                              public ::testing::WithParamInterface<StopIn> {
 protected:
  void Reach() {
    switch (GetParam()) {
      case StopIn::kList:
        source_->blocks_ = true;
        Start();
        KX_AWAIT_EQ(source_->lists(), 1);
        return;
      case StopIn::kBackoff:
        source_->FailLists(1);
        Start();
        KX_AWAIT_EQ(source_->lists(), 1);
        clock_.AwaitSleepers(1);
        return;
      case StopIn::kBeginOfWatch:
        source_->blocks_watches_ = true;
        Start();
        KX_AWAIT_EQ(source_->watches(), 1);
        return;
      case StopIn::kQuietWatch:
        StartQuiet();
        return;
      case StopIn::kFullStore:
        StartQuiet();
        store_.Fill();
        source_->BringObject("a", "11");
        KX_AWAIT(store_.refusals() >= 1);
        return;
    }
  }
  /// Nothing makes it go on: no time, no event and no room.
  void ExpectOver() {
    const int lists = source_->lists();
    const int watches = source_->watches();
    clock_.Advance(hours(1));
    source_->BringObject("b", "12");
    store_.Empty();
    EXPECT_EQ(source_->open(), 0);
    EXPECT_EQ(source_->lists(), lists);
    EXPECT_EQ(source_->watches(), watches);
    EXPECT_TRUE(store_.inner().content().empty());
  }
};

TEST_P(ReflectorTaskStopTest, EndsByTheTokenAndClosesItsConnection) {
  Reach();
  EXPECT_FALSE(task_->HasEnded());
  stop_.request_stop();
  KX_AWAIT(task_->HasEnded());
  KX_AWAIT_EQ(source_->open(), 0);
  ExpectOver();
}

TEST_P(ReflectorTaskStopTest, EndsByStopAndByTheDestructor) {
  Reach();
  task_->Stop();
  EXPECT_TRUE(task_->HasEnded());
  task_.reset();
  ExpectOver();
  stop_.request_stop();  // nobody listens any more
}

TEST_P(ReflectorTaskStopTest, MayBeDestroyedAtOnce) {
  Reach();
  task_.reset();
  ExpectOver();
}

INSTANTIATE_TEST_SUITE_P(States, ReflectorTaskStopTest,
                         ::testing::Values(StopIn::kList, StopIn::kBackoff, StopIn::kBeginOfWatch,
                                           StopIn::kQuietWatch, StopIn::kFullStore));

}  // namespace
}  // namespace kubexx::cache
