#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "kubexx/apiserver/storage/testing/conformance.h"
#include "kubexx/apiserver/storage/testing/watch_recorder.h"
#include "kubexx/base/testing/await.h"

namespace kubexx::apiserver::storage::testing {
namespace {

using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;

Revision CreatedAt(Storage& storage, const std::string& key, std::string value) {
  Result<KeyValue> made = storage.Create(key, std::move(value), {});
  EXPECT_TRUE(made.has_value()) << made.error().ToString();
  return made ? made->mod_revision : 0;
}

Revision MustSwap(Storage& storage, const std::string& key, Revision expected, std::string value) {
  const Result<Swap> swap = storage.CompareAndSwap(key, expected, std::move(value), {});
  EXPECT_TRUE(swap.has_value()) << swap.error().ToString();
  EXPECT_TRUE(swap && swap->done);
  return swap ? swap->current.mod_revision : 0;
}

Revision MustDelete(Storage& storage, const std::string& key) {
  const Result<Deleted> gone = storage.Delete(key, 0, {});
  EXPECT_TRUE(gone.has_value()) << gone.error().ToString();
  return gone ? gone->revision : 0;
}

void WatchesFromTheOld(Storage& storage, const std::string& prefix) {
  const Revision before = CreatedAt(storage, prefix + "before", "x");
  const Revision put = CreatedAt(storage, prefix + "a", "one");
  const Revision changed = MustSwap(storage, prefix + "a", put, "two");
  const Revision gone = MustDelete(storage, prefix + "a");
  WatchRecorder watch(storage, prefix, {.from_revision = before});
  std::vector<EventRef> events = watch.Await(3);
  ASSERT_EQ(events.size(), 3U);
  EXPECT_EQ(events[0]->type, Event::Type::kPut);
  EXPECT_EQ(events[0]->kv.key, prefix + "a");
  EXPECT_EQ(*events[0]->kv.value, "one");
  EXPECT_EQ(events[0]->kv.mod_revision, put);
  EXPECT_EQ(events[0]->kv.create_revision, put);
  EXPECT_EQ(events[0]->prev.mod_revision, 0);
  EXPECT_EQ(events[1]->type, Event::Type::kPut);
  EXPECT_EQ(*events[1]->kv.value, "two");
  EXPECT_EQ(events[1]->kv.create_revision, put);
  EXPECT_EQ(events[1]->kv.mod_revision, changed);
  EXPECT_EQ(*events[1]->prev.value, "one");
  EXPECT_EQ(events[1]->prev.mod_revision, put);
  EXPECT_EQ(events[2]->type, Event::Type::kDelete);
  EXPECT_EQ(events[2]->kv.key, prefix + "a");
  EXPECT_EQ(events[2]->kv.mod_revision, gone);
  EXPECT_EQ(*events[2]->prev.value, "two");
  EXPECT_EQ(events[2]->prev.mod_revision, changed);

  // The watch goes on with the new events.
  const Revision again = CreatedAt(storage, prefix + "a", "three");
  events = watch.Await(4);
  ASSERT_EQ(events.size(), 4U);
  EXPECT_EQ(events[3]->kv.create_revision, again);
  EXPECT_EQ(events[3]->prev.mod_revision, 0);
}

void WatchesFromNow(Storage& storage, const std::string& prefix) {
  const Revision old = CreatedAt(storage, prefix + "old", "x");
  WatchRecorder watch(storage, prefix, {});
  // The watch exists when it answers. Requests that come before that may have no effect.
  std::jthread asking([&storage](const std::stop_token& stop) {
    while (base::Clock::Real().SleepFor(std::chrono::milliseconds(10), stop)) {
      storage.RequestProgress({});
    }
  });
  EXPECT_GE(watch.AwaitProgress(old), old);
  asking.request_stop();
  const Revision now = CreatedAt(storage, prefix + "new", "x");
  const std::vector<EventRef> events = watch.Await(1);
  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(events[0]->kv.mod_revision, now);
}

void WatchesFromTheFuture(Storage& storage, const std::string& prefix) {
  const Revision first = CreatedAt(storage, prefix + "0", "x");
  WatchRecorder watch(storage, prefix, {.from_revision = first + 3});
  Revision last = first;
  for (int number = 1; last < first + 5; ++number) {
    last = CreatedAt(storage, prefix + std::to_string(number), "x");
  }
  const std::vector<EventRef> events = watch.Await(static_cast<std::size_t>(2));
  ASSERT_GE(events.size(), 2U);
  EXPECT_EQ(events[0]->kv.mod_revision, first + 4);
}

void WatchesOfAnotherHistoryAreRefused(Storage& storage, const std::string& prefix) {
  const Revision now = CreatedAt(storage, prefix + "0", "x");
  WatchRecorder late(storage, prefix, {.from_revision = now + 100, .was_given_out = true});
  EXPECT_EQ(late.AwaitEnd().reason, Reason::kExpired);
  WatchRecorder watch(storage, prefix, {.from_revision = now, .was_given_out = true});
  const Revision next = CreatedAt(storage, prefix + "1", "x");
  const std::vector<EventRef> events = watch.Await(1);
  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(events[0]->kv.mod_revision, next);
}

void WatchesSeeTheirPrefixOnly(Storage& storage, const std::string& prefix) {
  const Revision start = CreatedAt(storage, prefix + "start", "x");
  WatchRecorder watch(storage, prefix + "b/", {.from_revision = start});
  CreatedAt(storage, prefix + "bc/1", "x");
  CreatedAt(storage, prefix + "a/1", "x");
  CreatedAt(storage, prefix + "b0", "x");
  const Revision mine = CreatedAt(storage, prefix + "b/1", "x");
  const std::vector<EventRef> events = watch.Await(1);
  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(events[0]->kv.mod_revision, mine);
}

/// Creates, updates and deletes keys of its own `rounds` times.
void Churn(Storage& storage, const std::string& key, int rounds) {
  for (int round = 0; round < rounds; ++round) {
    const Revision made = CreatedAt(storage, key, "one");
    MustSwap(storage, key, made, "two");
    MustDelete(storage, key);
  }
}

void WatchesSeeEveryRevisionOnceInOrder(Storage& storage, const std::string& prefix) {
  constexpr int kWriters = 4;
  constexpr int kRounds = 25;
  const Revision start = CreatedAt(storage, prefix + "start", "x");
  std::vector<std::unique_ptr<WatchRecorder>> watches;
  for (int watch = 0; watch < 4; ++watch) {
    watches.push_back(
        std::make_unique<WatchRecorder>(storage, prefix, WatchOptions{.from_revision = start}));
  }
  {
    std::vector<std::jthread> writers;
    for (int writer = 0; writer < kWriters; ++writer) {
      writers.emplace_back(
          [&storage, key = prefix + std::to_string(writer)] { Churn(storage, key, kRounds); });
    }
  }
  for (const auto& watch : watches) {
    const std::vector<EventRef> events = watch->Await(kWriters * kRounds * 3);
    ASSERT_EQ(events.size(), static_cast<std::size_t>(kWriters * kRounds * 3));
    Revision last = start;
    for (const EventRef& event : events) {
      // Nobody else writes here, so no revision is missing.
      EXPECT_EQ(event->kv.mod_revision, last + 1);
      last = event->kv.mod_revision;
      EXPECT_EQ(event->prev.mod_revision == 0,
                event->type == Event::Type::kPut && event->kv.create_revision == last);
    }
  }
}

void ProgressIsToldWhenAskedFor(Storage& storage, const std::string& prefix) {
  const Revision start = CreatedAt(storage, prefix + "start", "x");
  WatchRecorder watch(storage, prefix + "none/", {.from_revision = start});
  const Revision now = CreatedAt(storage, prefix + "other", "x");
  std::jthread asking([&storage](const std::stop_token& stop) {
    while (base::Clock::Real().SleepFor(std::chrono::milliseconds(10), stop)) {
      storage.RequestProgress({});
    }
  });
  EXPECT_GE(watch.AwaitProgress(now), now);
  EXPECT_TRUE(watch.Await(0).empty());
}

void ProgressIsToldInTime(Storage& storage, const std::string& prefix) {
  const Revision start = CreatedAt(storage, prefix + "start", "x");
  WatchRecorder watch(storage, prefix + "none/",
                      {.from_revision = start, .progress_interval = std::chrono::milliseconds(20)});
  const Revision now = CreatedAt(storage, prefix + "other", "x");
  EXPECT_GE(watch.AwaitProgress(now), now);
}

void SlowWatchersLoseNothing(Storage& storage, const std::string& prefix) {
  constexpr int kKeys = 300;
  const Revision start = CreatedAt(storage, prefix + "start", "x");
  base::Mutex mu;
  base::CondVar changed;
  bool first_came = false;
  bool released = false;
  const auto slow = [&](const Event&) {
    const base::MutexLock lock(mu);
    first_came = true;
    changed.notify_all();
    KX_AWAIT_CHANGE(changed, mu, released);
  };
  WatchOptions options;
  options.from_revision = start;
  options.max_behind = 50;
  auto watch = std::make_unique<WatchRecorder>(storage, prefix, options, slow);
  CreatedAt(storage, prefix + "1000", "x");
  {
    const base::MutexLock lock(mu);
    KX_AWAIT_CHANGE(changed, mu, first_came);
  }
  for (int number = 1; number < kKeys; ++number) {
    CreatedAt(storage, prefix + std::to_string(1000 + number), "x");
  }
  {
    const base::MutexLock lock(mu);
    released = true;
    changed.notify_all();
  }
  std::vector<EventRef> events = watch->Await(kKeys);
  if (events.size() < kKeys) {
    EXPECT_EQ(watch->AwaitEnd().reason, Reason::kTooManyRequests) << watch->AwaitEnd().ToString();
    options.from_revision = events.empty() ? start : events.back()->kv.mod_revision;
    options.max_behind = 1000000;
    watch = std::make_unique<WatchRecorder>(storage, prefix, options);
    for (const EventRef& event : watch->Await(kKeys - events.size())) {
      events.push_back(event);
    }
  }
  ASSERT_EQ(events.size(), static_cast<std::size_t>(kKeys));
  for (int number = 0; number < kKeys; ++number) {
    EXPECT_EQ(events[static_cast<std::size_t>(number)]->kv.key,
              prefix + std::to_string(1000 + number));
  }
}

void StopAndSinkErrorsEndWatches(Storage& storage, const std::string& prefix) {
  const Revision start = CreatedAt(storage, prefix + "start", "x");
  WatchRecorder idle(storage, prefix, {.from_revision = start + 1});
  CreatedAt(storage, prefix + "a", "x");
  CreatedAt(storage, prefix + "b", "x");
  idle.Await(1);
  idle.Stop();
  EXPECT_EQ(idle.AwaitEnd().reason, Reason::kCancelled);

  const auto failing = [](EventRef) -> Result<void> {
    return Fail(Reason::kInvalid, "no more of it");
  };
  const Result<void> ended = storage.Watch(prefix, {.from_revision = start}, failing, {});
  ASSERT_FALSE(ended.has_value());
  EXPECT_EQ(ended.error().reason, Reason::kInvalid);

  std::stop_source source;
  int given = 0;
  const auto stopping = [&source, &given](EventRef) -> Result<void> {
    ++given;
    source.request_stop();
    return {};
  };
  const Result<void> stopped =
      storage.Watch(prefix, {.from_revision = start}, stopping, source.get_token());
  ASSERT_FALSE(stopped.has_value());
  EXPECT_EQ(stopped.error().reason, Reason::kCancelled);
  EXPECT_EQ(given, 1);
}

}  // namespace

std::vector<ConformanceCase> WatchCases() {
  return {
      {"WatchesFromTheOld", WatchesFromTheOld},
      {"WatchesFromNow", WatchesFromNow},
      {"WatchesFromTheFuture", WatchesFromTheFuture},
      {"WatchesOfAnotherHistoryAreRefused", WatchesOfAnotherHistoryAreRefused},
      {"WatchesSeeTheirPrefixOnly", WatchesSeeTheirPrefixOnly},
      {"WatchesSeeEveryRevisionOnceInOrder", WatchesSeeEveryRevisionOnceInOrder},
      {"ProgressIsToldWhenAskedFor", ProgressIsToldWhenAskedFor},
      {"ProgressIsToldInTime", ProgressIsToldInTime},
      {"SlowWatchersLoseNothing", SlowWatchersLoseNothing},
      {"StopAndSinkErrorsEndWatches", StopAndSinkErrorsEndWatches},
  };
}

}  // namespace kubexx::apiserver::storage::testing
