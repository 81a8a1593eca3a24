#include "network.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "kubexx/apiserver/storage/memory.h"
#include "kubexx/base/clock.h"
#include "kubexx/rest/rest_client.h"
#include "scheduler.h"

namespace kubexx::simulation {
namespace {

using apimachinery::Reason;
using apimachinery::Result;
using ::testing::HasSubstr;

constexpr const char* kSources = "/api/v1/namespaces/default/configmaps";
constexpr const char* kOperator = "operator-a.1";

/// A server, the network and a client, within a simulation.
class NetworkHarness {
 public:
  explicit NetworkHarness(bool faulty)
      : storage_(*apiserver::storage::NewMemoryStorage({})),
        network_(oracle::Random(1), [](const std::string&, const rest::HttpRequest&) {}),
        server_(std::make_shared<Server>(*storage_, apiserver::ApiOptions{}, Server::Observer{})),
        client_(
            *rest::RESTClient::New({.host = "http://simulation",
                                    .qps = -1,
                                    .round_tripper = network_.ConnectionsOf(kOperator, faulty)})) {
    network_.SetServer(server_);
  }
  ~NetworkHarness() {
    network_.SetServer(nullptr);
    server_->Kill();
  }
  NetworkHarness(const NetworkHarness&) = delete;
  NetworkHarness& operator=(const NetworkHarness&) = delete;

  /// All requests meet this from now on.
  void Always(Fault fault) {
    FaultRates rates{};
    rates[static_cast<std::size_t>(fault)] = fault == Fault::kNone ? 0 : 1000;
    network_.SetRates(rates);
  }
  Result<rest::Response> Make(const std::string& name) {
    return client_->Post()
        .AbsPath(kSources)
        .Body(codec::Encoding::kJson, R"({"metadata":{"name":")" + name + R"("}})")
        .Do();
  }
  Result<rest::Response> Get(const std::string& name) {
    return client_->Get().AbsPath(std::string(kSources) + "/" + name).Do();
  }
  Network& network() { return network_; }
  Server& server() { return *server_; }
  rest::RESTClient& client() { return *client_; }

 private:
  std::unique_ptr<apiserver::storage::MemoryStorage> storage_;
  Network network_;
  std::shared_ptr<Server> server_;
  std::shared_ptr<rest::RESTClient> client_;
};

void OnNetwork(bool faulty, const std::function<void(NetworkHarness&)>& what) {
  Scheduler scheduler({.seed = 3});
  scheduler.Run([&] {
    NetworkHarness harness(faulty);
    what(harness);
  });
}

TEST(NetworkTest, CarriesRequestsAndAnswers) {
  OnNetwork(false, [](NetworkHarness& harness) {
    harness.Always(Fault::kRefused);  // of those that are faulty
    EXPECT_TRUE(harness.Make("one"));
    const auto found = harness.Get("one");
    ASSERT_TRUE(found) << found.error().ToString();
    EXPECT_THAT(found->body, HasSubstr(R"("name":"one")"));
    EXPECT_EQ(harness.Get("other").error().code, 404);
  });
}

TEST(NetworkTest, WhatIsLostBeforeOrAfterTheServerHasSeenIt) {
  OnNetwork(true, [](NetworkHarness& harness) {
    for (const Fault fault : {Fault::kLostRequest, Fault::kRefused, Fault::kUnanswered}) {
      harness.Always(fault);
      EXPECT_EQ(harness.Make("before").error().reason, Reason::kUnavailable) << ToString(fault);
    }
    harness.Always(Fault::kLostAnswer);
    EXPECT_EQ(harness.Make("after").error().reason, Reason::kUnavailable);
    harness.Always(Fault::kNone);
    EXPECT_EQ(harness.Get("before").error().code, 404);
    EXPECT_TRUE(harness.Get("after"));
  });
}

TEST(NetworkTest, AnswersOfOthersComeWithTheirCodes) {
  OnNetwork(true, [](NetworkHarness& harness) {
    const std::pair<Fault, int> kCodes[] = {
        {Fault::kServerError, 500}, {Fault::kUnavailable, 503}, {Fault::kTooManyBare, 429}};
    for (const auto& [fault, code] : kCodes) {
      harness.Always(fault);
      EXPECT_EQ(harness.Get("any").error().code, code);
    }
  });
}

TEST(NetworkTest, ABodyIsCutInTheMiddle) {
  OnNetwork(true, [](NetworkHarness& harness) {
    EXPECT_TRUE(harness.Make("one"));
    harness.Always(Fault::kCut);
    std::size_t cut = 0;
    for (int i = 0; i < 20; ++i) {
      const auto found = harness.client().Get().AbsPath("/openapi/v2").Do();
      cut += !found && found.error().reason == Reason::kUnavailable ? 1 : 0;
    }
    EXPECT_EQ(cut, 20U) << "it is longer than what comes through";
  });
}

/// How a watch ends during which this happens.
Result<void> WatchWhile(NetworkHarness& harness, const std::function<void()>& happens) {
  Result<void> watched;
  {
    const std::jthread watches([&] {
      watched = harness.client().Get().AbsPath(kSources).Watch().Stream(
          [](const rest::Request::StreamHead&) -> Result<void> { return {}; },
          [](std::string_view) -> Result<void> { return {}; }, {}, std::nullopt);
    });
    base::Clock::Real().SleepFor(std::chrono::seconds(5), {});
    happens();
  }
  return watched;
}

TEST(NetworkTest, ADeadServerRefusesAndItsConnectionsEnd) {
  OnNetwork(false, [](NetworkHarness& harness) {
    EXPECT_FALSE(WatchWhile(harness, [&] {
      harness.network().SetServer(nullptr);
      harness.server().Kill();
    }));
    EXPECT_EQ(harness.Get("any").error().reason, Reason::kUnavailable);
  });
}

TEST(NetworkTest, AClientThatIsRefusedLosesItsConnectionsUntilItMayReconnect) {
  OnNetwork(false, [](NetworkHarness& harness) {
    EXPECT_FALSE(WatchWhile(harness, [&] { harness.network().Refuse(kOperator); }));
    EXPECT_EQ(harness.Get("any").error().reason, Reason::kUnavailable);
    harness.network().Reconnect(kOperator);
    EXPECT_EQ(harness.Get("any").error().code, 404);
  });
}

TEST(NetworkTest, OfATypeWhoseWatchesStandStillNothingIsTold) {
  OnNetwork(false, [](NetworkHarness& harness) {
    std::string told;
    const auto watch = [&](std::string_view other) {
      told.clear();
      std::jthread watches([&](const std::stop_token& stop) {
        (void)harness.client().Get().AbsPath(kSources).Watch().Stream(
            [](const rest::Request::StreamHead&) -> Result<void> { return {}; },
            [&](std::string_view piece) -> Result<void> {
              told.append(piece);
              return {};
            },
            stop, std::nullopt);
      });
      base::Clock::Real().SleepFor(std::chrono::seconds(5), {});
      harness.network().StallWatches(other);
      EXPECT_TRUE(harness.Make("made-beside-" + std::string(other)));
      base::Clock::Real().SleepFor(std::chrono::seconds(5), {});
    };
    watch("secrets");
    EXPECT_THAT(told, HasSubstr("made-beside-secrets"));
    watch("configmaps");
    EXPECT_THAT(told, ::testing::Not(HasSubstr("made-beside-configmaps")));
  });
}

TEST(NetworkTest, WhatADelayedWatchTellsArrivesAtItsTime) {
  OnNetwork(false, [](NetworkHarness& harness) {
    constexpr std::chrono::seconds kLate{30};
    std::optional<base::TimePoint> told;
    const std::jthread watches([&](const std::stop_token& stop) {
      (void)harness.client().Get().AbsPath(kSources).Watch().Stream(
          [](const rest::Request::StreamHead&) -> Result<void> { return {}; },
          [&](std::string_view) -> Result<void> {
            told = told.value_or(base::Clock::Real().Now());
            return {};
          },
          stop, std::nullopt);
    });
    base::Clock::Real().SleepFor(std::chrono::seconds(5), {});
    const base::TimePoint then = base::Clock::Real().Now() + kLate;
    harness.network().DelayWatches("configmaps", then);
    EXPECT_TRUE(harness.Make("late"));
    base::Clock::Real().SleepFor(kLate * 2, {});
    ASSERT_TRUE(told);
    EXPECT_GE(*told, then);
  });
}

TEST(NetworkTest, WhatIsBegunWhenAnAnswerArrivesIsTheClients) {
  OnNetwork(false, [](NetworkHarness& harness) {
    Scheduler& scheduler = *Scheduler::Current();
    const Actor client = scheduler.NewActor("client");
    std::optional<Actor> told;
    const Actor self = scheduler.Become(client);
    const auto trip = harness.network()
                          .ConnectionsOf(kOperator, false)
                          ->Start({.method = "GET", .target = kSources, .stream = true});
    trip->Notify([&] { told = scheduler.actor(); });
    scheduler.Become(self);
    base::Clock::Real().SleepFor(std::chrono::seconds(5), {});
    EXPECT_EQ(told, client);
  });
}

TEST(NetworkTest, OneClientsRequestsForLeasesFailAndNoOthers) {
  OnNetwork(true, [](NetworkHarness& harness) {
    const auto lease = [&harness] {
      return harness.client()
          .Get()
          .AbsPath("/apis/coordination.k8s.io/v1/namespaces/default/leases/l")
          .Do();
    };
    EXPECT_EQ(lease().error().code, 404);
    harness.network().HoldUpLeases("operator-b.2", /*answers=*/true);
    EXPECT_EQ(lease().error().code, 404);
    harness.network().HoldUpLeases(kOperator, /*answers=*/true);
    EXPECT_EQ(lease().error().code, 503);
    EXPECT_TRUE(harness.Make("one"));
    harness.network().HoldUpLeases(kOperator, /*answers=*/false);
    EXPECT_EQ(lease().error().reason, Reason::kUnavailable);
    harness.network().HoldUpLeases("", /*answers=*/false);
    EXPECT_EQ(lease().error().code, 404);
  });
}

}  // namespace
}  // namespace kubexx::simulation
