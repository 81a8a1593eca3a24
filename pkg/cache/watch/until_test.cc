#include "kubexx/cache/watch/until.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "kubexx/api/core/v1/types.gen.h"
#include "kubexx/base/testing/await.h"
#include "kubexx/base/testing/fake_clock.h"
#include "kubexx/cache/shared_informer_base.h"
#include "kubexx/cache/testing/auto_clock.h"
#include "kubexx/cache/testing/fake_source.h"

namespace kubexx::cache {
namespace {

using api::core::v1::ConfigMap;
using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;
using codec::WatchEventType;
using testing::FakeSource;
using ::testing::HasSubstr;

WatchCondition Named(std::string name) {
  return [name = std::move(name)](const WatchEvent& event) -> Result<bool> {
    return event.object.key.name == name;
  };
}

class UntilTest : public ::testing::Test {
 protected:
  UntilOptions Options() { return {.clock = clock_}; }

  testing::AutoClock clock_;
  std::shared_ptr<FakeSource> source_ = std::make_shared<FakeSource>();
};

TEST_F(UntilTest, ARetriedWatchMissesNothingAndTellsNothingTwice) {
  std::stop_source stop;
  std::vector<std::string> seen;
  base::Mutex mu;
  base::CondVar changed;
  const std::string begin = source_->Put({"a", "before"}, "x");
  Result<void> result;
  std::jthread thread([&] {
    const auto sink = [&](WatchEvent&& event) -> Result<void> {
      EXPECT_NE(event.type, WatchEventType::kBookmark);
      base::MutexLock lock(mu);
      seen.push_back(event.object.key.name);
      changed.notify_all();
      return {};
    };
    result = RetryWatch(*source_, {.resource_version = begin}, sink, stop.get_token(), clock_);
  });
  std::vector<std::string> expected;
  for (int i = 0; i < 20; ++i) {
    const int watches = source_->watches();
    source_->SendBookmark();
    source_->BreakWatches({Reason::kUnavailable, "connection reset"});
    source_->Put({"a", std::to_string(i)}, "x");
    expected.push_back(std::to_string(i));
    source_->AwaitWatches(watches + 1);
  }
  {
    base::MutexLock lock(mu);
    KX_AWAIT_CHANGE(changed, mu, seen.size() >= expected.size());
  }
  stop.request_stop();
  thread.join();
  EXPECT_EQ(seen, expected);
  EXPECT_EQ(result.error().reason, Reason::kCancelled);
}

TEST_F(UntilTest, ARetriedWatchEndsWhereItCannotGoOn) {
  const auto ignore = [](WatchEvent&&) -> Result<void> { return {}; };
  const auto watch = [&](const std::string& version) {
    return RetryWatch(*source_, {.resource_version = version}, ignore, {}, clock_).error().reason;
  };
  const std::string version = source_->Put({"a", "1"}, "x");
  EXPECT_EQ(watch(""), Reason::kInvalid);
  EXPECT_EQ(watch("0"), Reason::kInvalid);
  source_->FailWatches({Reason::kForbidden, "no", 403});
  EXPECT_EQ(watch(version), Reason::kForbidden);
  source_->FailWatches({Reason::kUnauthorized, "who", 401});
  EXPECT_EQ(watch(version), Reason::kUnauthorized);
  source_->Put({"a", "2"}, "x");
  source_->Compact();
  EXPECT_EQ(watch(version), Reason::kExpired);
}

TEST_F(UntilTest, AnEventThatCannotBeReadEndsTheWait) {
  const std::string version = source_->Put({"a", "1"}, "x");
  source_->SendUnreadable("it has no name");
  source_->Put({"a", "2"}, "x");
  const auto found =
      Until(*source_, version, {Named("2")}, {}, {.timeout = std::chrono::seconds(30)});
  EXPECT_EQ(found.error().reason, Reason::kMalformed) << "it would be sent again for ever";
  EXPECT_THAT(found.error().message, HasSubstr("it has no name"));
  EXPECT_THAT(found.error().message, HasSubstr("watch"));
}

TEST_F(UntilTest, AnObjectThatMayBeTheOneThatCannotBeReadIsNotTakenForGone) {
  source_->RefuseWatchList();
  source_->PutUnreadable("it has no name");
  const auto gone = WaitFor<ConfigMap>(source_, {"a", "1"},
                                       [](const ConfigMap* object) { return object == nullptr; },
                                       {}, {.timeout = std::chrono::seconds(30)});
  ASSERT_FALSE(gone.has_value());
  EXPECT_EQ(gone.error().reason, Reason::kMalformed);
}

TEST_F(UntilTest, ARetriedWatchPausesAtLeastASecondAndAsTheServerAsks) {
  const std::string version = source_->Put({"a", "1"}, "x");
  apimachinery::Status busy(Reason::kTooManyRequests, "slow down", 429);
  busy.details.retry_after = std::chrono::seconds(7);
  source_->FailWatches(busy, 2);
  source_->Put({"a", "2"}, "x");
  const auto found = Until(*source_, version, {Named("2")}, {}, Options());
  ASSERT_TRUE(found.has_value()) << found.error().ToString();
  EXPECT_EQ(clock_.slept(), std::chrono::seconds(14));
}

TEST_F(UntilTest, ConditionsAreMetInOrder) {
  const std::string version = source_->Put({"a", "0"}, "x");
  for (const char* name : {"2", "1", "2", "3"}) {
    source_->Put({"a", name}, "x");
  }
  const auto found = Until(*source_, version, {Named("1"), Named("2")}, {}, Options());
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->type, WatchEventType::kModified);
}

TEST_F(UntilTest, AnErrorOfAConditionEndsTheWait) {
  const std::string version = source_->Put({"a", "0"}, "x");
  source_->Put({"a", "1"}, "x");
  const auto failing = [](const WatchEvent&) -> Result<bool> {
    return Fail(Reason::kInvalid, "not like this");
  };
  const auto throwing = [](const WatchEvent&) -> Result<bool> { throw std::runtime_error("bug"); };
  EXPECT_EQ(Until(*source_, version, {failing}, {}, Options()).error().reason, Reason::kInvalid);
  EXPECT_THAT(Until(*source_, version, {throwing}, {}, Options()).error().message,
              HasSubstr("bug"));
  EXPECT_EQ(UntilWithSync(source_, {}, {failing}, {}, Options()).error().reason, Reason::kInvalid);
}

TEST_F(UntilTest, TimeAndStopEndTheWait) {
  const std::string version = source_->Put({"a", "0"}, "x");
  base::testing::FakeClock clock;
  const UntilOptions options{.clock = clock, .timeout = std::chrono::seconds(30)};
  for (const bool with_sync : {false, true}) {
    Reason reason = Reason::kUnknown;
    std::jthread waiter([&] {
      reason = with_sync ? UntilWithSync(source_, {}, {Named("never")}, {}, options).error().reason
                         : Until(*source_, version, {Named("never")}, {}, options).error().reason;
    });
    clock.AwaitSleepers(1);
    clock.Advance(std::chrono::seconds(30));
    waiter.join();
    EXPECT_EQ(reason, Reason::kTimeout);
  }
  std::stop_source stop;
  stop.request_stop();
  EXPECT_EQ(
      UntilWithSync(source_, {}, {Named("never")}, stop.get_token(), Options()).error().reason,
      Reason::kCancelled);
  EXPECT_EQ(Until(*source_, version, {Named("never")}, stop.get_token(), Options()).error().reason,
            Reason::kCancelled);
}

TEST_F(UntilTest, WithSyncSeesWhatThereIsAndWhatComes) {
  source_->Put({"a", "there"}, "x");
  const auto there = UntilWithSync(source_, {}, {Named("there")}, {}, Options());
  ASSERT_TRUE(there.has_value() && there->has_value());
  EXPECT_EQ((*there)->type, WatchEventType::kAdded);
  const auto met = UntilWithSync(
      source_,
      [](const SharedInformerBase& informer) -> Result<bool> { return informer.Size() == 1; },
      {Named("never")}, {}, Options());
  ASSERT_TRUE(met.has_value());
  EXPECT_FALSE(met->has_value());
  std::jthread writer([this] {
    source_->AwaitWatches(3);
    source_->AwaitCaughtUp();
    // The wait goes on even when the watch's history is gone.
    source_->BreakWatches({Reason::kExpired, "too old", 410});
    source_->Put({"a", "late"}, "x");
    source_->Compact();
  });
  const auto late = UntilWithSync(source_, {}, {Named("late")}, {}, Options());
  ASSERT_TRUE(late.has_value() && late->has_value());
}

TEST_F(UntilTest, NoConditionIsLookedAtOnceThePreconditionIsTrue) {
  const apimachinery::ObjectKey key{"a", "one"};
  for (int round = 0; round < 50; ++round) {
    source_->Put(key, "ready");
    int looks = 0;
    const auto met = UntilWithSync(
        source_,
        [&](const SharedInformerBase& informer) -> Result<bool> {
          looks = 0;
          // The event of this change is on its way when the precondition becomes true.
          const std::string later = source_->Put(key, "later");
          KX_AWAIT_EQ(informer.GetRaw(key)->resource_version, later);
          return true;
        },
        {[&](const WatchEvent&) -> Result<bool> {
          ++looks;
          return false;
        }},
        {}, Options());
    ASSERT_TRUE(met.has_value()) << met.error().ToString();
    EXPECT_EQ(looks, 0) << "in round " << round;
  }
}

TEST_F(UntilTest, WhatWasFoundIsReturnedWhateverHasBecomeOfIt) {
  const apimachinery::ObjectKey key{"a", "one"};
  for (int round = 0; round < 20; ++round) {
    const auto source = std::make_shared<FakeSource>();
    source->Put(key, "ready");
    const auto found = WaitFor<ConfigMap>(
        source, key,
        [&](const ConfigMap* object) {
          const bool is_ready = object != nullptr && object->data.at("payload") == "ready";
          if (is_ready) {
            // The cache has the object before any condition is asked.
            if (round % 2 == 0) {
              source->Delete(key);
            } else {
              source->Put(key, "not ready");
            }
            source->AwaitCaughtUp();
            // The event is on its way to the condition, which cannot be seen from here. On a busy
            // machine each turn of the others takes milliseconds, so it is time that counts.
            base::Clock& clock = base::Clock::Real();
            const base::TimePoint enough = clock.Now() + std::chrono::microseconds(300);
            for (int i = 0; i < 1000 && clock.Now() < enough; ++i) {
              base::testing::LetOthersRun();
            }
          }
          return is_ready;
        },
        {}, Options());
    ASSERT_TRUE(found.has_value()) << found.error().ToString();
    ASSERT_TRUE(found->has_value()) << "in round " << round;
    EXPECT_EQ((*found)->data.at("payload"), "ready") << "in round " << round;
  }
}

TEST_F(UntilTest, NobodyIsAskedOnceAConditionHasFailed) {
  source_->Put({"a", "1"}, "x");
  int asked = 0;
  const auto failed = UntilWithSync(
      source_,
      [&](const SharedInformerBase&) -> Result<bool> {
        ++asked;
        return true;
      },
      {[](const WatchEvent&) -> Result<bool> { return Fail(Reason::kInvalid, "not like this"); }},
      {}, Options());
  EXPECT_EQ(failed.error().reason, Reason::kInvalid);
  EXPECT_EQ(asked, 0);
}

TEST_F(UntilTest, WaitsForOneObjectAndForItsEnd) {
  const apimachinery::ObjectKey key{"a", "one"};
  const auto has_value = [](const ConfigMap* object) {
    return object != nullptr && object->data.at("payload") == "ready";
  };
  source_->Put({"a", "other"}, "ready");
  source_->Put(key, "not yet");
  std::jthread writer([&] {
    source_->AwaitWatches(1);
    source_->Put(key, "ready");
  });
  const auto ready = WaitFor<ConfigMap>(source_, key, has_value, {}, Options());
  ASSERT_TRUE(ready.has_value() && ready->has_value());
  EXPECT_EQ((*ready)->data.at("payload"), "ready");
  writer = std::jthread([&] {
    source_->AwaitWatches(2);
    source_->Delete(key);
  });
  const auto gone = WaitFor<ConfigMap>(
      source_, key, [](const ConfigMap* object) { return object == nullptr; }, {}, Options());
  ASSERT_TRUE(gone.has_value());
  EXPECT_FALSE(gone->has_value());
}

}  // namespace
}  // namespace kubexx::cache
