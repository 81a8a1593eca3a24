#include "kubexx/reloader/watch/workload_list_watch.h"

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "kubexx/base/testing/await.h"
#include "kubexx/base/testing/fake_clock.h"
#include "kubexx/cache/testing/fake_source.h"
#include "kubexx/reloader/watch/served_apis.h"

namespace kubexx::reloader {
namespace {

using apimachinery::ListOptions;
using apimachinery::Reason;
using apimachinery::Result;
using apimachinery::Status;
using std::chrono::seconds;

const Status kNotAllowed(Reason::kForbidden, "no", 403);
const Status kMissing(Reason::kNotFound, "the server could not find the requested resource", 404);

class WorkloadListWatchTest : public testing::Test {
 protected:
  struct Listed {
    Result<codec::ListMeta> meta;
    std::vector<std::string> names{};
  };
  Listed List() {
    std::vector<std::string> names;
    auto meta = list_watch_.List({},
                                 [&](cache::Object&& object) -> Result<void> {
                                   names.push_back(object.key.name);
                                   return {};
                                 },
                                 {});
    return {std::move(meta), std::move(names)};
  }
  static ListOptions From(std::string version) {
    ListOptions options;
    options.resource_version = std::move(version);
    return options;
  }
  Result<void> WatchFrom(const std::string& version, const std::stop_token& stop = {}) {
    return list_watch_.Watch(
        From(version), [](cache::WatchEvent&&) { return Result<void>(); }, stop);
  }
  double Gauge(const std::string& verb) {
    return registry_.Gauge("kubexx_reloader_fallback", "", {{"kind", "CronJob"}, {"verb", verb}})
        .Value();
  }

  std::shared_ptr<cache::testing::FakeSource> server_ =
      std::make_shared<cache::testing::FakeSource>();
  base::testing::FakeClock clock_;
  metrics::Registry registry_;
  std::shared_ptr<Fallbacks> fallbacks_ = std::make_shared<Fallbacks>(&registry_, clock_);
  std::atomic<bool> served_ = true;
  std::atomic<base::Duration> max_age_{};  ///< of the answer that the last question asked for
  WorkloadListWatch list_watch_{
      server_,
      fallbacks_,
      {.kind = WorkloadKind::kCronJob,
       .is_served = [this](base::Duration max_age, const std::stop_token&) -> Result<bool> {
         max_age_ = max_age;
         return served_;
       },
       .clock = clock_}};
};

TEST_F(WorkloadListWatchTest, PassesEverythingOnWithAllRights) {
  server_->Put({"ns", "a"}, "1");
  const Listed listed = List();
  ASSERT_TRUE(listed.meta);
  EXPECT_EQ(listed.names, std::vector<std::string>{"a"});
  std::stop_source stop;
  std::string seen;
  std::jthread watch([&] {
    (void)list_watch_.Watch(
        From(listed.meta->resource_version),
        [&](cache::WatchEvent&& event) -> Result<void> {
          seen = event.object.key.name;
          stop.request_stop();
          return {};
        },
        stop.get_token());
  });
  server_->Put({"ns", "b"}, "1");
  watch.join();
  EXPECT_EQ(seen, "b");
  EXPECT_FALSE(list_watch_.IsOnDemand());
  EXPECT_EQ(Gauge("watch"), 0);
}

TEST_F(WorkloadListWatchTest, WhileItWaitsForTheApiAnAnswerThatOthersHaveGotWillDo) {
  served_ = false;
  ASSERT_TRUE(List().meta);
  EXPECT_EQ(max_age_.load(), ServedApis::kNow) << "nobody knows yet";
  for (int i = 0; i < 10; ++i) {
    ASSERT_TRUE(List().meta);
  }
  EXPECT_EQ(max_age_.load(), ServedApis::kOfLate);
  served_ = true;
  ASSERT_TRUE(List().meta);
  ASSERT_TRUE(List().meta);
  EXPECT_EQ(max_age_.load(), ServedApis::kNow);
}

TEST_F(WorkloadListWatchTest, WithoutWatchItListsWhenAsked) {
  server_->FailWatches(kNotAllowed, 1000000);
  const Listed first = List();
  ASSERT_TRUE(first.meta);
  Result<void> ended;
  std::jthread watch([&] { ended = WatchFrom(first.meta->resource_version); });
  clock_.AwaitSleepers(1);
  EXPECT_TRUE(list_watch_.IsOnDemand());
  EXPECT_EQ(Gauge("watch"), 1);
  const std::uint64_t number = list_watch_.AskForList();
  clock_.Advance(seconds(1));
  watch.join();
  ASSERT_FALSE(ended);
  EXPECT_EQ(ended.error().reason, Reason::kExpired);

  server_->Put({"ns", "new"}, "1");
  const Listed second = List();
  EXPECT_EQ(second.names, std::vector<std::string>{"new"});
  EXPECT_EQ(server_->list_requests().back().resource_version, "");  // it asks for the present state
  std::stop_source stop;
  std::jthread next([&] { (void)WatchFrom(second.meta->resource_version, stop.get_token()); });
  EXPECT_EQ(list_watch_.AwaitList(number, {}), second.meta->resource_version);
  stop.request_stop();
}

TEST_F(WorkloadListWatchTest, AskingForTheVersionAnswersNoDemand) {
  server_->FailWatches(kNotAllowed, 1000000);
  const Listed first = List();
  ASSERT_TRUE(first.meta);
  list_watch_.AskForList();
  EXPECT_EQ(list_watch_.CurrentVersion({}), first.meta->resource_version);
  Result<void> ended;
  std::jthread watch([&] { ended = WatchFrom(first.meta->resource_version); });
  clock_.AdvanceToSleeper(seconds(1));
  watch.join();
  ASSERT_FALSE(ended);
  EXPECT_EQ(ended.error().reason, Reason::kExpired) << "the list is still due";
}

// A caller that waits for the report of a missing right changes a source next.
TEST_F(WorkloadListWatchTest, IsOnDemandBeforeAnybodyHearsOfTheRefusal) {
  server_->FailWatches(kNotAllowed, 1000000);
  const Listed listed = List();
  ASSERT_TRUE(listed.meta);
  std::stop_source stop;
  std::jthread watch([&] { (void)WatchFrom(listed.meta->resource_version, stop.get_token()); });
  KX_AWAIT_NE(Gauge("watch"), 0);
  EXPECT_TRUE(list_watch_.IsOnDemand());
  clock_.AwaitSleepers(1);
  stop.request_stop();
}

TEST_F(WorkloadListWatchTest, IsInDoubtUntilAWatchTellsOfSomething) {
  using Hearing = WorkloadListWatch::Hearing;
  EXPECT_EQ(list_watch_.hearing(), Hearing::kInDoubt);
  const Listed listed = List();
  ASSERT_TRUE(listed.meta);
  std::stop_source stop;
  std::jthread watch([&] { (void)WatchFrom(listed.meta->resource_version, stop.get_token()); });
  server_->AwaitCaughtUp();
  EXPECT_EQ(list_watch_.hearing(), Hearing::kInDoubt) << "it may be refused yet";
  server_->SendBookmark();
  KX_AWAIT_EQ(list_watch_.hearing(), Hearing::kWatched);
  server_->DropWatches();
  watch.join();
  EXPECT_EQ(list_watch_.hearing(), Hearing::kInDoubt) << "the next one may be refused";
  server_->FailWatches(kNotAllowed, 1000000);
  watch = std::jthread([&] { (void)WatchFrom(listed.meta->resource_version, stop.get_token()); });
  KX_AWAIT_EQ(list_watch_.hearing(), Hearing::kOnDemand);
  stop.request_stop();
}

TEST_F(WorkloadListWatchTest, AskingManyTimesIsOneListASecond) {
  server_->FailWatches(kNotAllowed, 1000000);
  ASSERT_TRUE(List().meta);
  Result<void> ended;
  std::jthread watch([&] { ended = WatchFrom("10"); });
  clock_.AwaitSleepers(1);
  for (int i = 0; i < 100; ++i) {
    (void)list_watch_.AskForList();
  }
  EXPECT_EQ(server_->lists(), 1);
  clock_.Advance(seconds(1));
  watch.join();
  EXPECT_EQ(ended.error().reason, Reason::kExpired);
}

TEST_F(WorkloadListWatchTest, WatchesOnceItMay) {
  server_->FailWatches(kNotAllowed, 1);
  const Listed listed = List();
  std::stop_source stop;
  std::atomic<bool> told = false;
  std::jthread watch([&] {
    (void)list_watch_.Watch(
        From(listed.meta->resource_version),
        [&](cache::WatchEvent&&) -> Result<void> {
          told = true;
          return {};
        },
        stop.get_token());
  });
  clock_.AwaitSleepers(1);
  EXPECT_TRUE(list_watch_.IsOnDemand());
  clock_.Advance(seconds(1));
  server_->Put({"ns", "a"}, "1");
  KX_AWAIT(told);
  EXPECT_FALSE(list_watch_.IsOnDemand());
  EXPECT_EQ(Gauge("watch"), 0);
  EXPECT_EQ(list_watch_.AwaitList(list_watch_.AskForList(), {}), std::nullopt);
  stop.request_stop();
}

/// The same with lists of single namespaces.
class WorkloadListWatchPartsTest : public WorkloadListWatchTest {
 protected:
  WorkloadListWatchPartsTest() {
    server_->FailWatches(kNotAllowed, 1);
    server_->Put({"ns", "a"}, "1");
    server_->Put({"other", "b"}, "1");
    version_ =
        by_parts_.List({}, [](cache::Object&&) { return Result<void>(); }, {})->resource_version;
  }
  /// Watches in the background until the watch ends.
  std::jthread Watch(Result<void>& ended, bool initial_events = false) {
    ListOptions options = From(version_);
    options.send_initial_events = initial_events;
    std::jthread watch([this, options, &ended] {
      ended = by_parts_.Watch(options,
                              [this](cache::WatchEvent&& event) -> Result<void> {
                                told_.push_back(event.object.key.name);
                                return {};
                              },
                              {});
    });
    if (!initial_events) {
      clock_.AwaitSleepers(1);
    }
    return watch;
  }
  std::optional<std::vector<std::string>> ListNamespace(const std::string& version) {
    std::vector<std::string> names;
    const bool handed =
        by_parts_.ListNamespace("ns", version,
                                [&](std::vector<cache::Object>&& objects) -> Result<void> {
                                  for (const cache::Object& object : objects) {
                                    names.push_back(object.key.name);
                                  }
                                  return {};
                                },
                                {});
    return handed ? std::optional(names) : std::nullopt;
  }

  std::vector<ListOptions> parts_;
  std::function<void()> while_listing_ = [] {};
  WorkloadListWatch by_parts_{
      server_,
      fallbacks_,
      {.kind = WorkloadKind::kCronJob,
       .in_namespace =
           [this](const std::string& namespace_) {
             return std::make_shared<cache::ListWatch>(
                 [this, namespace_](const ListOptions& options,
                                    cache::ListerWatcher::ObjectSink sink, std::stop_token stop) {
                   parts_.push_back(options);
                   auto listed = server_->List(
                       options,
                       [&](cache::Object&& object) {
                         return object.key.namespace_ == namespace_ ? sink(std::move(object))
                                                                    : Result<void>();
                       },
                       std::move(stop));
                   while_listing_();
                   return listed;
                 },
                 nullptr);
           },
       .clock = clock_}};
  std::string version_;
  std::vector<std::string> told_;
};

TEST_F(WorkloadListWatchPartsTest, ANamespaceIsListedFromTheCacheUnlessThatIsTooOld) {
  EXPECT_EQ(ListNamespace(version_), std::nullopt) << "may be watched, as far as is known";
  Result<void> ended;
  const std::jthread watch = Watch(ended);
  EXPECT_EQ(ListNamespace(version_), std::vector<std::string>{"a"});
  ASSERT_EQ(parts_.size(), 1U);
  EXPECT_EQ(parts_[0].resource_version, version_);
  EXPECT_EQ(parts_[0].resource_version_match, "NotOlderThan");
  EXPECT_EQ(parts_[0].limit, 0) << "a server reads pages from etcd";
  EXPECT_EQ(ListNamespace("9999"), std::vector<std::string>{"a"});
  ASSERT_EQ(parts_.size(), 3U);
  EXPECT_EQ(parts_[2].resource_version, "") << "as it is now";
  while_listing_ = [this] {  // this runs on the reflector's thread
    (void)by_parts_.List({}, [](cache::Object&&) { return Result<void>(); }, {});
  };
  EXPECT_EQ(ListNamespace(""), std::nullopt) << "older than what is being listed";
  server_->FailLists(kNotAllowed);
  while_listing_ = [] {};
  EXPECT_EQ(ListNamespace(""), std::nullopt);
  (void)by_parts_.AskForList();
  clock_.Advance(seconds(1));
}

TEST_F(WorkloadListWatchPartsTest, AfterOneAWatchBeginsWithAList) {
  Result<void> ended;
  std::jthread watch = Watch(ended);
  server_->Put({"ns", "a"}, "2");
  ASSERT_TRUE(ListNamespace(""));
  clock_.Advance(seconds(1));  // it may be watched now, from a version that is too old
  watch.join();
  ASSERT_FALSE(ended);
  EXPECT_EQ(ended.error().reason, Reason::kExpired);
  EXPECT_TRUE(told_.empty()) << "of what was before the list";
  EXPECT_FALSE(by_parts_.IsOnDemand());
  watch = Watch(ended, true);  // a streaming list is a watch, too
  server_->AwaitCaughtUp();
  server_->BreakWatches(Status(Reason::kInternalError, "enough"));
  watch.join();
  EXPECT_EQ(ended.error().message, "enough");
  EXPECT_FALSE(told_.empty());
}

TEST_F(WorkloadListWatchPartsTest, ANamespaceIsListedWhileTheWatchIsTriedAgain) {
  Result<void> ended;
  std::jthread watch = Watch(ended);
  clock_.Advance(seconds(1));
  server_->AwaitCaughtUp();  // the watch is open, and has brought no event
  EXPECT_TRUE(by_parts_.IsOnDemand());
  EXPECT_EQ(ListNamespace(version_), std::vector<std::string>{"a"});
  ASSERT_EQ(parts_.size(), 1U);
  EXPECT_EQ(parts_[0].resource_version_match, "NotOlderThan");
  server_->Put({"ns", "a"}, "2");
  watch.join();
  ASSERT_FALSE(ended);
  EXPECT_EQ(ended.error().reason, Reason::kExpired) << "of what may be before the list";
  EXPECT_TRUE(told_.empty());
  EXPECT_EQ(ListNamespace(""), std::nullopt) << "it may be watched";
}

TEST_F(WorkloadListWatchPartsTest, WhatTheWatchTellsMeanwhileIsNoPlaceForANamespace) {
  Result<void> ended;
  std::jthread watch = Watch(ended);
  clock_.Advance(seconds(1));
  server_->AwaitCaughtUp();
  while_listing_ = [this] {
    server_->Put({"ns", "c"}, "1");
    KX_AWAIT(!by_parts_.IsOnDemand());
  };
  EXPECT_EQ(ListNamespace(""), std::nullopt) << "it would be older than the event";
  server_->BreakWatches(Status(Reason::kInternalError, "enough"));
  watch.join();
  EXPECT_EQ(told_, std::vector<std::string>{"c"});
}

TEST_F(WorkloadListWatchTest, AnApiThatIsNotServedHasNoObjectsUntilItIs) {
  served_ = false;
  server_->Put({"ns", "a"}, "1");
  Listed listed = List();
  ASSERT_TRUE(listed.meta);
  EXPECT_TRUE(listed.names.empty());
  EXPECT_EQ(server_->lists(), 0);
  EXPECT_EQ(Gauge("served"), 1);
  ListOptions initial;
  initial.send_initial_events = true;
  EXPECT_EQ(list_watch_.Watch(initial, [](cache::WatchEvent&&) { return Result<void>(); }, {})
                .error()
                .reason,
            Reason::kForbidden);
  Result<void> ended;
  std::jthread watch([&] { ended = WatchFrom("0"); });
  clock_.AwaitSleepers(1);
  served_ = true;
  clock_.Advance(seconds(1));
  watch.join();
  EXPECT_TRUE(ended);
  listed = List();
  EXPECT_EQ(listed.names, std::vector<std::string>{"a"});
  EXPECT_EQ(Gauge("served"), 0);
}

TEST_F(WorkloadListWatchTest, WithoutListThereIsNothingAtFirstAndLaterWhatThereWas) {
  server_->Put({"ns", "a"}, "1");
  server_->FailLists(kNotAllowed);
  const Listed refused = List();
  ASSERT_TRUE(refused.meta);
  EXPECT_TRUE(refused.names.empty());
  EXPECT_EQ(Gauge("list"), 1);
  EXPECT_EQ(List().names, std::vector<std::string>{"a"});
  EXPECT_EQ(Gauge("list"), 0);
  server_->FailLists(kNotAllowed);
  EXPECT_FALSE(List().meta);  // the store keeps its objects
}

TEST_F(WorkloadListWatchTest, WhatIsThereStaysUntilTheApiHasBeenGoneForAMinute) {
  server_->Put({"ns", "a"}, "1");
  ASSERT_TRUE(List().meta);
  const auto say_missing = [this](bool by_discovery) {
    served_ = !by_discovery;
    server_->FailLists(kMissing, by_discovery ? 0 : 1);
    return List();
  };
  for (const bool by_discovery : {false, true}) {
    EXPECT_EQ(say_missing(by_discovery).meta.error().reason, Reason::kNotFound);
    clock_.Advance(seconds(59));
    EXPECT_FALSE(say_missing(!by_discovery).meta) << "the store keeps what it has";
    EXPECT_EQ(Gauge("served"), 0);
    served_ = true;
    EXPECT_EQ(List().names, std::vector<std::string>{"a"}) << "it was a proxy's answer";
    clock_.Advance(seconds(59));
    EXPECT_FALSE(say_missing(by_discovery).meta) << "the minute begins anew";
    clock_.Advance(seconds(60));
    const Listed gone = say_missing(by_discovery);
    ASSERT_TRUE(gone.meta);
    EXPECT_TRUE(gone.names.empty());
    EXPECT_EQ(Gauge("served"), 1);
    EXPECT_TRUE(say_missing(by_discovery).meta) << "it stays so";
    served_ = true;
    EXPECT_EQ(List().names, std::vector<std::string>{"a"});
  }
}

TEST_F(WorkloadListWatchTest, WhatCameWithAWatchStaysAsWell) {
  server_->Put({"ns", "a"}, "1");
  ListOptions initial;
  initial.send_initial_events = true;
  initial.allow_watch_bookmarks = true;
  std::stop_source stop;
  (void)list_watch_.Watch(
      initial,
      [&](cache::WatchEvent&& event) -> Result<void> {
        if (event.initial_events_end) {
          stop.request_stop();
        }
        return {};
      },
      stop.get_token());
  server_->FailLists(kMissing);
  EXPECT_FALSE(List().meta);
  server_->FailLists(kNotAllowed);
  EXPECT_FALSE(List().meta);
}

TEST_F(WorkloadListWatchTest, SaysOnceThatAFirstListIsLate) {
  int told = 0;
  WorkloadListWatch list_watch(server_, fallbacks_,
                               {.kind = WorkloadKind::kCronJob,
                                .clock = clock_,
                                .on_late = [&told](const Status&) { ++told; }});
  const auto fail = [&](const Status& status) {
    server_->FailLists(status);
    EXPECT_FALSE(list_watch.List({}, [](cache::Object&&) { return Result<void>(); }, {}));
  };
  const Status broken(Reason::kInternalError, "conversion webhook failed", 500);
  const Status away(Reason::kUnavailable, "connection refused");
  fail(broken);
  clock_.Advance(seconds(59));
  fail(broken);
  fail(away);
  clock_.Advance(seconds(1));
  fail(broken);
  EXPECT_EQ(told, 0) << "without a connection nothing is said of this kind";
  ListOptions initial;
  initial.send_initial_events = true;
  clock_.Advance(seconds(60));
  server_->FailWatches(broken);
  EXPECT_FALSE(list_watch.Watch(initial, [](cache::WatchEvent&&) { return Result<void>(); }, {}));
  EXPECT_EQ(told, 1);
  clock_.Advance(seconds(60));
  fail(broken);
  EXPECT_EQ(told, 1);
}

TEST_F(WorkloadListWatchTest, WhoWaitsForAListWaitsNoLongerThanItWants) {
  server_->FailWatches(kNotAllowed, 1000000);
  const Listed listed = List();
  ASSERT_TRUE(listed.meta);
  Result<void> ended;
  std::stop_source stop;
  std::jthread watch([&] { ended = WatchFrom(listed.meta->resource_version, stop.get_token()); });
  clock_.AwaitSleepers(1);
  ASSERT_TRUE(list_watch_.IsOnDemand());
  const std::uint64_t number = list_watch_.AskForList();  // it is never answered
  std::jthread wait(
      [&] { EXPECT_EQ(list_watch_.AwaitList(number, {}, seconds(10)), std::nullopt); });
  clock_.AwaitSleepers(2);
  clock_.Advance(seconds(10));
  wait.join();
  stop.request_stop();
}

TEST_F(WorkloadListWatchTest, AfterARefusalOfListsAnApiThatHasGoneIsBelievedInTheEnd) {
  ASSERT_TRUE(List().meta);
  server_->FailLists(kNotAllowed);
  EXPECT_FALSE(List().meta);
  server_->FailLists(kMissing);
  EXPECT_FALSE(List().meta);
  clock_.Advance(seconds(60));
  server_->FailLists(kMissing);
  EXPECT_TRUE(List().meta);
}

TEST(Fallbacks, AreTriedAgainAfterAMinute) {
  base::testing::FakeClock clock;
  Fallbacks fallbacks(nullptr, clock);
  constexpr Right kPatch{.kind = "CronJob", .verb = "patch", .namespace_ = "ns"};
  EXPECT_TRUE(fallbacks.ShouldTry(kPatch));
  fallbacks.Refused(kPatch, kNotAllowed, "");
  EXPECT_TRUE(fallbacks.IsRefused(kPatch));
  EXPECT_FALSE(fallbacks.ShouldTry(kPatch));
  EXPECT_TRUE(fallbacks.ShouldTry({.kind = "Job", .verb = "patch", .namespace_ = "ns"}));
  clock.Advance(std::chrono::minutes(1));
  EXPECT_TRUE(fallbacks.ShouldTry(kPatch));
  fallbacks.Granted(kPatch);
  EXPECT_FALSE(fallbacks.IsRefused(kPatch));
}

}  // namespace
}  // namespace kubexx::reloader
