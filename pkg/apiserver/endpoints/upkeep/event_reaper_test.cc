#include "kubexx/apiserver/endpoints/upkeep/event_reaper.h"

#include <gmock/gmock.h>

#include <chrono>
#include <cstdint>
#include <stop_token>
#include <string>
#include <utility>

#include "kubexx/apiserver/endpoints/testing/api_fixture.h"
#include "kubexx/apiserver/endpoints/testing/forwarding_storage.h"
#include "kubexx/apiserver/storage/memory.h"
#include "kubexx/base/testing/fake_clock.h"

namespace kubexx::apiserver {
namespace {

struct EventClock {
  base::testing::FakeClock event_clock_;
};

class EventReaperTest : EventClock, public testing::ApiFixture {
 protected:
  EventReaperTest() : ApiFixture({.clock = event_clock_, .cacher = {.clock = event_clock_}}) {}
  void Pass(std::chrono::minutes time, const std::stop_token& stop = {}) {
    event_clock_.Advance(time);
    Tick(stop);
  }
};

TEST_F(EventReaperTest, EventsGoAnHourAfterTheyWereLastWritten) {
  const std::string events = "/api/v1/namespaces/default/events";
  for (const char* const name : {"old", "told"}) {
    ASSERT_EQ(Do("POST", events,
                 R"({"metadata":{"name":")" + std::string(name) +
                     R"("},"involvedObject":{"namespace":"default"}})")
                  .status,
              201);
  }
  const std::string other = "/apis/events.k8s.io/v1/namespaces/default/events";
  ASSERT_EQ(Do("POST", other, R"({"metadata":{"name":"other"}})").status, 201);
  Pass(std::chrono::minutes(50));
  EXPECT_EQ(Do("GET", events + "/old").status, 200);
  ASSERT_EQ(Do("PATCH", events + "/told", R"({"count":2})", kMergePatch).status, 200);
  Pass(std::chrono::minutes(20));
  EXPECT_EQ(Do("GET", events + "/old").status, 404);
  EXPECT_EQ(Do("GET", other + "/other").status, 404);
  EXPECT_EQ(Do("GET", events + "/told").status, 200);
  Pass(std::chrono::minutes(60));
  EXPECT_EQ(Do("GET", events + "/told").status, 404);
}

TEST_F(EventReaperTest, AnEventThatCannotBeReadKeepsNoOther) {
  const std::string events = "/api/v1/namespaces/default/events";
  ASSERT_TRUE(storage_->Create("/registry/events/default/broken", "nonsense", {}).has_value());
  ASSERT_EQ(
      Do("POST", events, R"({"metadata":{"name":"old"},"involvedObject":{"namespace":"default"}})")
          .status,
      201);
  Pass(std::chrono::minutes(70));
  EXPECT_EQ(Do("GET", events + "/old").status, 404);
}

TEST_F(EventReaperTest, ManyAreDeletedInSeveralTurns) {
  constexpr std::int64_t kMany = 2000;
  for (std::int64_t i = 0; i < kMany; ++i) {
    ASSERT_TRUE(
        storage_
            ->Create(
                "/registry/events/default/e" + std::to_string(i),
                R"({"kind":"Event","apiVersion":"v1","metadata":{"name":"e","namespace":"default","creationTimestamp":"1970-01-01T00:00:00Z"}})",
                {})
            .has_value());
  }
  api_.Reap();
  std::int64_t left = *storage_->Count("/registry/events/", {});
  EXPECT_GT(left, kMany / 2) << "others wait behind the first turn";
  EXPECT_LT(left, kMany);
  // Further turns wait for no interval.
  for (int turn = 0; turn < 30 && api_.Reap(); ++turn) {
    left = *storage_->Count("/registry/events/", {});
  }
  EXPECT_EQ(*storage_->Count("/registry/events/", {}), 0);
}

TEST_F(EventReaperTest, WhatIsStoppedIsDoneLater) {
  const std::string events = "/api/v1/namespaces/default/events";
  ASSERT_EQ(
      Do("POST", events, R"({"metadata":{"name":"old"},"involvedObject":{"namespace":"default"}})")
          .status,
      201);
  std::stop_source stop;
  stop.request_stop();
  Pass(std::chrono::minutes(70), stop.get_token());
  EXPECT_EQ(Do("GET", events + "/old").status, 200);
  Pass(std::chrono::minutes(0));
  EXPECT_EQ(Do("GET", events + "/old").status, 404);
}

constexpr const char* kShortEvents = "/api/v1/namespaces/default/events";

/// Events that live for ten seconds, and say nothing of when they were written.
class ShortEventTest : EventClock, public testing::ApiFixture {
 protected:
  ShortEventTest()
      : ApiFixture({.clock = event_clock_,
                    .cacher = {.clock = event_clock_},
                    .managed_fields = false,
                    .event_ttl = std::chrono::seconds(10)}) {
    Tick();
  }
  void Make(const std::string& name, const std::string& more = {}) {
    EXPECT_EQ(Do("POST", kShortEvents,
                 R"({"metadata":{"name":")" + name +
                     R"("},"involvedObject":{"namespace":"default"})" + more + "}")
                  .status,
              201);
  }
  bool IsThere(const std::string& name) {
    return Do("GET", kShortEvents + ("/" + name)).status == 200;
  }
  /// The server goes on for some seconds.
  void Go(int seconds) {
    for (int i = 0; i < seconds; ++i) {
      event_clock_.Advance(std::chrono::seconds(1));
      Tick();
    }
  }
};

TEST_F(ShortEventTest, EventsGoSoonAfterTheirTime) {
  Go(2);
  for (int round = 0; round < 3; ++round) {
    Make("e");
    Go(9);
    EXPECT_TRUE(IsThere("e"));
    Go(3);
    EXPECT_FALSE(IsThere("e"));
  }
}

TEST_F(ShortEventTest, AWriteGivesAnEventItsWholeTimeAgain) {
  Make("e");
  for (int count = 2; count < 6; ++count) {
    Go(8);
    EXPECT_EQ(Do("PATCH", kShortEvents + std::string("/e"),
                 R"({"count":)" + std::to_string(count) + "}", kMergePatch)
                  .status,
              200);
  }
  Go(8);
  EXPECT_TRUE(IsThere("e"));
  Go(4);
  EXPECT_FALSE(IsThere("e"));
}

TEST_F(ShortEventTest, ATimeThatAnEventTellsKeepsItNoLonger) {
  Make("e", R"(,"lastTimestamp":"2999-01-01T00:00:00Z")");
  Go(12);
  EXPECT_FALSE(IsThere("e"));
}

/// Can say that it is at a revision that it had before it was emptied.
class EmptiedStorage final : public testing::ForwardingStorage {
 public:
  using ForwardingStorage::ForwardingStorage;

  apimachinery::Result<storage::Revision> CurrentRevision(std::stop_token stop) override {
    KX_ASSIGN_OR_RETURN(const storage::Revision revision,
                        ForwardingStorage::CurrentRevision(std::move(stop)));
    return revision + former;
  }
  storage::Revision former = 1'000'000;
};

TEST(EmptiedStoreTest, EventsOfLowerRevisionsThanBeforeAreNotOld) {
  base::testing::FakeClock clock;
  const auto memory = *storage::NewMemoryStorage({});
  EmptiedStorage emptied(*memory);
  Api api(emptied, {.clock = clock, .event_ttl = std::chrono::seconds(10)});
  ASSERT_TRUE(api.Bootstrap({}));
  const auto go = [&](int seconds) {
    for (int i = 0; i < seconds; ++i) {
      clock.Advance(std::chrono::seconds(1));
      while (api.Reap({})) {
      }
    }
  };
  go(30);
  emptied.former = 0;
  const std::string events = "/api/v1/namespaces/default/events";
  ASSERT_EQ(testing::Ask(api, "POST", events,
                         R"({"metadata":{"name":"e"},"involvedObject":{"namespace":"default"}})")
                .status,
            201);
  go(8);
  EXPECT_EQ(testing::Ask(api, "GET", events + "/e").status, 200);
  go(5);
  EXPECT_EQ(testing::Ask(api, "GET", events + "/e").status, 404);
}

}  // namespace
}  // namespace kubexx::apiserver
