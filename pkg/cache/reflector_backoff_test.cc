// Tests how long a reflector waits for a server that becomes unreachable again and again.
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "kubexx/cache/reflector.h"
#include "kubexx/cache/testing/auto_clock.h"
#include "kubexx/cache/testing/map_store.h"

namespace kubexx::cache {
namespace {

using apimachinery::Fail;
using apimachinery::ListOptions;
using apimachinery::Reason;
using apimachinery::Result;
using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;
using testing::AutoClock;

/// A simulated server. Its clock moves only when somebody waits for it. Each watch lives for `life`
/// and then breaks, and the server is unreachable for `outage` afterwards.
struct BreakingServer {
  base::Duration life{};
  base::Duration outage{};
  bool sends_events = true;
  base::Duration refusal{};  ///< how long it takes to fail
  /// Tells by a watch's number, from 0, whether the version of that watch has expired.
  std::function<bool(int)> expired = [](int) { return false; };
  int max_watches = 6;

  AutoClock clock{};
  std::stop_source stop{};
  base::TimePoint back{};  ///< from its outage
  int version = 100;
  int requests = 0;                        ///< since the outage began
  std::vector<base::Duration> late{};      ///< each watch, after the server was there again
  std::vector<int> refused{};              ///< requests of each outage
  std::vector<base::TimePoint> lists{};    ///< that were answered
  std::vector<base::TimePoint> watches{};  ///< that were answered

  bool IsAway() {
    ++requests;
    if (clock.Now() >= back) {
      return false;
    }
    clock.Advance(refusal);
    return true;
  }
  Result<codec::ListMeta> List() {
    if (IsAway()) {
      return Fail(Reason::kUnavailable, "connection refused");
    }
    lists.push_back(clock.Now());
    return codec::ListMeta{.resource_version = std::to_string(version)};
  }
  Result<void> Watch(ListerWatcher::EventSink sink) {
    if (IsAway()) {
      return Fail(Reason::kUnavailable, "connection refused");
    }
    const int number = static_cast<int>(watches.size());
    watches.push_back(clock.Now());
    late.push_back(number == 0 ? base::Duration(0) : clock.Now() - back);
    refused.push_back(requests - 1);
    if (number + 1 >= max_watches) {
      stop.request_stop();
      return {};
    }
    if (expired(number)) {
      return Fail(Reason::kExpired, "too old resource version", 410);
    }
    if (sends_events) {
      const std::string next = std::to_string(++version);
      KX_RETURN_IF_ERROR(
          sink({.object = {.bytes = "x", .key = {"ns", "a"}, .resource_version = next}}));
    }
    clock.Advance(life);
    back = clock.Now() + outage;
    requests = 0;
    return Fail(Reason::kUnavailable, "connection reset");
  }

  void Run(double jitter = 0) {
    const auto source = std::make_shared<ListWatch>(
        [this](const ListOptions&, ListerWatcher::ObjectSink, std::stop_token) { return List(); },
        [this](const ListOptions&, ListerWatcher::EventSink sink, std::stop_token) {
          return Watch(sink);
        });
    testing::MapStore store;
    ReflectorOptions options{.clock = clock, .seed = 1, .use_watch_list = false};
    options.tuning.backoff.jitter = jitter;
    options.on_error = [](const apimachinery::Status&) {};
    Reflector("things", source, store, std::move(options)).Run(stop.get_token());
  }
};

TEST(RepeatedPageTest, AListWhoseTokenDoesNotMoveIsGivenUp) {
  testing::AutoClock clock;
  std::stop_source stop;
  int pages = 0;
  std::vector<std::string> errors;
  const auto source = std::make_shared<ListWatch>(
      [&](const ListOptions&, ListerWatcher::ObjectSink,
          std::stop_token) -> apimachinery::Result<codec::ListMeta> {
        if (++pages == 1000) {
          stop.request_stop();
        }
        return codec::ListMeta{.resource_version = "5", .continue_ = "the same"};
      },
      [](const ListOptions&, ListerWatcher::EventSink, std::stop_token) {
        return apimachinery::Result<void>();
      });
  testing::MapStore store;
  ReflectorOptions options{.clock = clock, .seed = 1, .use_watch_list = false};
  options.on_error = [&](const apimachinery::Status& status) {
    errors.push_back(status.message);
    stop.request_stop();
  };
  Reflector("things", source, store, std::move(options)).Run(stop.get_token());
  EXPECT_EQ(pages, 2);
  ASSERT_EQ(errors.size(), 1U);
  EXPECT_NE(errors[0].find("same token again"), std::string::npos) << errors[0];
}

class BreakingWatchTest : public ::testing::TestWithParam<std::tuple<seconds, bool>> {};

TEST_P(BreakingWatchTest, ComesBackAsSoonAfterTheFifthTimeAsAfterTheFirst) {
  for (const double jitter : {0.0, 1.0}) {
    BreakingServer server{.life = std::get<0>(GetParam()),
                          .outage = seconds(4),
                          .sends_events = std::get<1>(GetParam())};
    server.Run(jitter);
    ASSERT_EQ(server.late.size(), 6U);
    for (std::size_t i = 1; i < server.late.size(); ++i) {
      // The attempts come at 0.8, 2.4 and 5.6 s, and with jitter no later than at twice these
      // times.
      EXPECT_LE(server.late[i], jitter == 0 ? milliseconds(1600) : milliseconds(7200)) << i;
    }
    EXPECT_LE(server.lists.size(), 12U) << "no full state, but the version is asked for";
  }
}

INSTANTIATE_TEST_SUITE_P(Lives, BreakingWatchTest,
                         ::testing::Combine(::testing::Values(seconds(10), seconds(3600)),
                                            ::testing::Bool()),
                         [](const auto& lives) {
                           return std::to_string(std::get<0>(lives.param).count()) + "s" +
                                  (std::get<1>(lives.param) ? "WithEvents" : "Quiet");
                         });

TEST(ReflectorBackoffTest, AServerThatCutsEachWatchAfterAnEventIsAskedLessAndLess) {
  // The server breaks watches at once, or after about the time of the first delay.
  for (const base::Duration life : {milliseconds(0), milliseconds(900)}) {
    BreakingServer server{.life = life, .max_watches = 20};
    server.Run();
    ASSERT_EQ(server.watches.size(), 20U);
    EXPECT_GE(server.watches[19] - server.watches[18], seconds(30));
    EXPECT_GE(server.watches[19] - server.watches[9], minutes(4));
  }
}

// All clients ask the server as soon as it can be reached.
TEST(ReflectorBackoffTest, AServerThatComesForLessTimeThanItsClientsWaitGetsNoMoreRequests) {
  BreakingServer server{.life = seconds(20), .outage = minutes(10)};
  server.Run();
  ASSERT_EQ(server.refused.size(), 6U);
  EXPECT_LE(server.refused[1], 26) << "a watch, and delays from 0.8 s to 30 s";
  for (std::size_t i = 2; i < server.refused.size(); ++i) {
    EXPECT_LE(server.refused[i], 21) << "a watch, and delays of 30 s";
  }
}

// The attempt is like one to connect to an address from which no answer comes.
TEST(ReflectorBackoffTest, AnAttemptThatTakesItsTimeIsNoWatchThatWorks) {
  BreakingServer server{.life = seconds(20), .outage = hours(1), .refusal = seconds(30)};
  server.Run();
  ASSERT_EQ(server.refused.size(), 6U);
  for (std::size_t i = 1; i < server.refused.size(); ++i) {
    EXPECT_LE(server.refused[i], 80) << "30 s for each attempt, and for most of the delays";
  }
}

TEST(ReflectorBackoffTest, AnOutageAfterALongLifeBeginsWithShortDelays) {
  BreakingServer server{.life = minutes(1), .outage = minutes(10), .max_watches = 3};
  server.Run();
  ASSERT_EQ(server.refused.size(), 3U);
  EXPECT_EQ(server.refused[2], server.refused[1]);
}

// When a list takes longer than the server's history lasts, each watch brings events, breaks, and
// cannot be resumed.
TEST(ReflectorBackoffTest, FullStatesComeLessAndLessHoweverWellTheWatchesInBetweenWork) {
  BreakingServer server{
      .life = seconds(5), .expired = [](int watch) { return watch % 2 == 1; }, .max_watches = 30};
  server.Run();
  ASSERT_GE(server.lists.size(), 14U);
  EXPECT_GE(server.lists[13] - server.lists[7], minutes(2));
}

}  // namespace
}  // namespace kubexx::cache
