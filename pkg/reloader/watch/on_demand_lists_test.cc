#include "kubexx/reloader/watch/on_demand_lists.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "kubexx/base/executor/executor.h"
#include "kubexx/base/testing/await.h"
#include "kubexx/base/testing/fake_clock.h"
#include "kubexx/cache/shared_informer_base.h"
#include "kubexx/cache/testing/fake_source.h"
#include "kubexx/reloader/plan/baseline.h"

namespace kubexx::reloader {
namespace {

using apimachinery::Reason;
using apimachinery::Status;
using std::chrono::seconds;

const SourceId kUsed{SourceType::kConfigMap, {"ns", "used"}};
const SourceId kStoredLate{SourceType::kConfigMap, {"ns", "stored-late"}};
const SourceId kUnused{SourceType::kConfigMap, {"ns", "unused"}};

const Status kWatchRefusal(Reason::kForbidden, "no", 403);
constexpr int kEveryWatch = std::numeric_limits<int>::max();

/// A kind whose watches fail, with its lists on demand.
class OnDemandListsTest : public testing::Test {
 protected:
  explicit OnDemandListsTest(const Status& why = kWatchRefusal) {
    server_->FailWatches(why, kEveryWatch);
    informer_->Start();
    KX_AWAIT(
        !(why.reason == Reason::kForbidden ? !source_->IsOnDemand() : !informer_->HasSynced()));
    lists_.Start();
  }
  ~OnDemandListsTest() override {
    lists_.Stop();
    informer_->Stop();
  }

  /// Lets `time` pass in steps, as long as fewer than `n` changes have been passed on. Time passes
  /// only while the lists wait for it.
  std::vector<SourceId> PassedWithin(base::Duration time, std::size_t n) {
    const base::TimePoint end = lists_clock_.Now() + time;
    KX_UNTIL(Passed().size() >= n || lists_clock_.Now() >= end) {
      if (lists_clock_.Sleepers() > 0) {
        lists_clock_.Advance(std::chrono::milliseconds(100));
      }
    }
    return Passed();
  }
  /// Lets a short time pass for the threads that wait for it.
  void PassTime() {
    for (base::testing::FakeClock* clock : {&clock_, &lists_clock_}) {
      if (clock->Sleepers() > 0) {
        clock->Advance(std::chrono::milliseconds(100));
      }
    }
  }
  std::ptrdiff_t TimesPassed(const SourceId& source) {
    return std::ranges::count(Passed(), source);
  }
  std::vector<SourceId> Passed() {
    const base::MutexLock lock(mu_);
    return passed_;
  }

  base::testing::FakeClock clock_;  ///< of the reflector: the watch is not tried again by itself
  base::testing::FakeClock lists_clock_;
  metrics::Registry registry_;
  std::shared_ptr<Fallbacks> fallbacks_ = std::make_shared<Fallbacks>(&registry_, clock_);
  std::shared_ptr<cache::testing::FakeSource> server_ =
      std::make_shared<cache::testing::FakeSource>();
  /// Lists of single namespaces, which are recorded.
  std::shared_ptr<cache::ListerWatcher> InNamespace(const std::string& namespace_) {
    return std::make_shared<cache::ListWatch>(
        [this, namespace_](const apimachinery::ListOptions& options,
                           cache::ListerWatcher::ObjectSink sink, std::stop_token stop) {
          {
            const base::MutexLock lock(mu_);
            listed_.push_back(namespace_ + "@" + options.resource_version);
          }
          return server_->List(
              options,
              [&](cache::Object&& object) {
                return object.key.namespace_ == namespace_ ? sink(std::move(object))
                                                           : apimachinery::Result<void>();
              },
              std::move(stop));
        },
        nullptr);
  }
  std::vector<std::string> Listed() {
    const base::MutexLock lock(mu_);
    return listed_;
  }

  std::shared_ptr<WorkloadListWatch> source_ = std::make_shared<WorkloadListWatch>(
      server_, fallbacks_,
      WorkloadListWatch::Options{
          .in_namespace = [this](const std::string& namespace_) { return InNamespace(namespace_); },
          .clock = clock_});
  std::shared_ptr<cache::SharedInformerBase> informer_ =
      std::make_shared<cache::SharedInformerBase>(
          source_,
          cache::InformerOptions{.name = "test", .clock = clock_, .use_watch_list = false});
  base::Mutex mu_;
  std::vector<SourceId> passed_ KX_GUARDED_BY(mu_);
  std::vector<std::string> listed_ KX_GUARDED_BY(mu_);
  OnDemandLists lists_{{{.list_watch = source_, .informer = informer_}},
                       lists_clock_,
                       [this](const SourceId& source, const std::optional<Digest>&) {
                         const base::MutexLock lock(mu_);
                         passed_.push_back(source);
                       },
                       std::make_shared<base::Executor>()};
};

TEST_F(OnDemandListsTest, AChangeIsPassedOnOnceItsNamespaceIsListed) {
  server_->Put({"ns", "web"}, "1");
  server_->Put({"other", "web"}, "1");
  EXPECT_TRUE(lists_.Changed(kUsed, std::nullopt, true, 11));
  KX_AWAIT(informer_->Contains({"ns", "web"}));
  EXPECT_EQ(Listed(), std::vector<std::string>{"ns@11"});
  EXPECT_FALSE(informer_->Contains({"other", "web"}));
  EXPECT_EQ(PassedWithin(std::chrono::hours(1), 1), std::vector{kUsed});
}

TEST_F(OnDemandListsTest, ForManyNamespacesEverythingIsListed) {
  server_->Put({"other", "web"}, "1");
  // The first changes may pass one by one. The others wait for the next round.
  for (int i = 0; i < 20; ++i) {
    lists_.Changed({SourceType::kConfigMap, {std::to_string(i), "config"}}, std::nullopt, true);
  }
  KX_UNTIL(Passed().size() >= 20 && informer_->Contains({"other", "web"})) {
    clock_.Advance(std::chrono::milliseconds(100));  // the reflector lists once a second
    lists_clock_.Advance(std::chrono::milliseconds(100));
  }
}

TEST_F(OnDemandListsTest, WhatNothingUsesWaitsForItsTimeOrTheNextList) {
  for (std::size_t i = 1; i <= 6; ++i) {  // its next time is half a minute away then
    lists_.Changed(kUnused, std::nullopt, false);
    ASSERT_EQ(PassedWithin(std::chrono::hours(1), i).size(), i);
  }
  const std::size_t listed = Listed().size();
  lists_.Changed(kUnused, kNoSource, false);
  EXPECT_EQ(PassedWithin(seconds(20), 7).size(), 6U);
  EXPECT_EQ(Listed().size(), listed);
  EXPECT_EQ(lists_.Before("ns").size(), 1U) << "a workload that a list brings must not miss it";
  lists_.Changed(kUsed, std::nullopt, true);
  EXPECT_EQ(PassedWithin(std::chrono::hours(1), 8).size(), 8U) << "one list answers both";
}

TEST_F(OnDemandListsTest, AKindThatCannotBeListedHoldsUpNoChange) {
  server_->FailLists(Status(Reason::kServiceUnavailable, "down", 503), kEveryWatch);
  for (int i = 0; i < 20; ++i) {
    lists_.Changed({SourceType::kConfigMap, {std::to_string(i), "config"}}, std::nullopt, true);
  }
  KX_UNTIL(Passed().size() >= 20) {
    clock_.Advance(std::chrono::milliseconds(100));
    lists_clock_.Advance(std::chrono::milliseconds(100));
  }
}

TEST_F(OnDemandListsTest, AListThatComesLateBringsNoWorkloadThatMissesItsChange) {
  server_->Put({"ns", "web"}, "1");  // it was made before the change, and is listed only after it
  server_->FailLists(Status(Reason::kServiceUnavailable, "down", 503), kEveryWatch);
  lists_.Changed(kUsed, kNoSource, true, 11);
  KX_UNTIL(!Passed().empty()) {
    PassTime();
  }
  EXPECT_FALSE(informer_->Contains({"ns", "web"}));
  EXPECT_EQ(lists_.Before("ns").size(), 1U) << "the list that comes later may bring the workload";
  server_->FailLists(Status(Reason::kServiceUnavailable, "down", 503), 0);
  KX_UNTIL(lists_.Before("ns").empty()) {
    PassTime();
  }
  EXPECT_TRUE(informer_->Contains({"ns", "web"}));
  EXPECT_EQ(Passed(), (std::vector{kUsed, kUsed})) << "for those that the list has brought";
}

TEST_F(OnDemandListsTest, AListOfANamespaceThatIsStoredLateBringsNoWorkloadThatMissesItsChange) {
  std::atomic<bool> is_stuck = false;
  std::atomic<int> told = 0;
  const auto slow = informer_->AddRawHandler("slow",
                                             [&](const cache::RawEvent&) {
                                               ++told;
                                               KX_AWAIT(!is_stuck);
                                             },
                                             {.buffer = 1, .overflow = cache::Overflow::kHoldBack});
  const auto change_all = [&](const std::string& to) {
    for (int i = 0; i < 1000; ++i) {
      server_->Put({"ns", "web-" + std::to_string(i)}, to);
    }
    lists_.Changed(kUsed, kNoSource, true);
  };
  change_all("1");
  KX_UNTIL(lists_.Before("ns").empty()) {
    PassTime();
  }
  KX_AWAIT_GE(told, 1000);  // the objects of the first list do not wait in the buffer
  is_stuck = true;
  const std::size_t passed = Passed().size();
  change_all("2");
  KX_UNTIL(Passed().size() > passed) {
    PassTime();
  }
  // The store accepts nothing more while the handler holds it back.
  server_->Put({"ns", "web"}, "1");
  lists_.Changed(kStoredLate, kNoSource, true);
  KX_UNTIL(TimesPassed(kStoredLate) == 1) {
    PassTime();
  }
  EXPECT_FALSE(informer_->Contains({"ns", "web"}));
  EXPECT_EQ(
      std::ranges::count(lists_.Before("ns"), kStoredLate, &std::pair<SourceId, Digest>::first), 1)
      << "the workload is stored later";
  const std::size_t listed = Listed().size();
  const std::ptrdiff_t used = TimesPassed(kUsed);
  lists_.Changed(kUsed, kNoSource, true);
  KX_UNTIL(TimesPassed(kUsed) > used) {
    PassTime();
  }
  EXPECT_EQ(Listed().size(), listed) << "the store's queue has no room for one more";
  is_stuck = false;
  KX_UNTIL(lists_.Before("ns").empty()) {
    PassTime();
  }
  EXPECT_TRUE(informer_->Contains({"ns", "web"}));
  EXPECT_EQ(TimesPassed(kStoredLate), 2) << "for what has been stored since";
}

/// It is not known yet whether the kind may be watched.
class DoubtfulListsTest : public OnDemandListsTest {
 protected:
  DoubtfulListsTest() : OnDemandListsTest(Status(Reason::kUnavailable, "down")) {}

  /// The reflector tries to watch again.
  void AwaitHearing(WorkloadListWatch::Hearing hearing) {
    KX_UNTIL(source_->hearing() == hearing) {
      if (clock_.Sleepers() > 0) {
        clock_.Advance(seconds(1));
      }
    }
  }
};

TEST_F(DoubtfulListsTest, AWorkloadMadeSinceTheListIsListedWhenTheWatchIsRefused) {
  server_->Put({"ns", "web"}, "1");
  EXPECT_FALSE(lists_.Changed(kUsed, kNoSource, false, 11)) << "whoever is known is told at once";
  EXPECT_EQ(lists_.Before("ns").size(), 1U) << "any list may bring the workload";
  EXPECT_EQ(lists_.Before("other").size(), 0U);
  server_->FailWatches(kWatchRefusal, kEveryWatch);
  AwaitHearing(WorkloadListWatch::Hearing::kOnDemand);
  EXPECT_EQ(PassedWithin(std::chrono::hours(1), 1), std::vector{kUsed});
  EXPECT_TRUE(informer_->Contains({"ns", "web"}));
  EXPECT_EQ(Listed(), std::vector<std::string>{"ns@11"});
  // One look is enough.
  KX_UNTIL(lists_.Before("ns").empty()) {
    lists_clock_.Advance(seconds(1));
  }
  EXPECT_EQ(Passed().size(), 1U);
}

TEST_F(DoubtfulListsTest, AWorkloadThatTheWatchBringsMissesWhatIsNewerThanIt) {
  EXPECT_FALSE(lists_.Changed(kUsed, kNoSource, false, 12));
  EXPECT_FALSE(lists_.Changed(kUnused, std::nullopt, false, 12)) << "it has just appeared";
  EXPECT_EQ(lists_.BeforeSince("ns", 11).size(), 1U);
  EXPECT_EQ(lists_.BeforeSince("ns", 12).size(), 0U);
  EXPECT_EQ(lists_.BeforeSince("ns", 0).size(), 1U) << "made nobody knows when";
  EXPECT_EQ(lists_.BeforeSince("other", 11).size(), 0U);
  server_->FailWatches(kWatchRefusal, 0);
  server_->Put({"ns", "web"}, "1");
  AwaitHearing(WorkloadListWatch::Hearing::kWatched);
  EXPECT_EQ(lists_.BeforeSince("ns", 11).size(), 1U) << "its event may be on the way";
  KX_UNTIL(lists_.BeforeSince("ns", 11).empty()) {
    lists_clock_.Advance(seconds(1));
  }
  EXPECT_TRUE(Passed().empty());
  EXPECT_FALSE(lists_.Changed(kUsed, kNoSource, false, 13));
  EXPECT_TRUE(lists_.BeforeSince("ns", 11).empty()) << "the watch is not in doubt";
}

}  // namespace
}  // namespace kubexx::reloader
