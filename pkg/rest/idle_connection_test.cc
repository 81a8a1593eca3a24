#include <gmock/gmock.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <latch>
#include <map>
#include <optional>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "kubexx/base/mutex.h"
#include "kubexx/base/testing/await.h"
#include "kubexx/base/testing/fake_clock.h"
#include "kubexx/rest/rest_client.h"
#include "kubexx/rest/testing/client.h"
#include "kubexx/rest/testing/fake_server.h"
#include "kubexx/rest/testing/forwarding_proxy.h"
#include "kubexx/rest/testing/usual_server.h"

// Load balancers and servers close connections that have not been used for a while.

namespace kubexx::rest {
namespace {

using testing::ClientFor;
using testing::FakeConnection;
using testing::FakeServer;
using testing::ForwardingProxy;
using testing::UsualAuthority;
using testing::UsualCaIf;
using testing::UsualTls;
using testing::UsualTlsIf;

constexpr int kConnections = 3;

struct IdleCase {
  std::string name;
  std::string verb;
  bool tls;
  std::string unasked;  // the bytes that the server sends before it closes
};

class IdleConnectionTest : public ::testing::TestWithParam<IdleCase> {
 protected:
  // Answers one request on each of the first connections, all of which are open at that time, and
  // closes them when the test says so.
  void Serve(FakeConnection& connection) {
    if (++connections_ > kConnections) {
      while (const auto request = connection.ReadRequest()) {
        writes_ += request->method == GetParam().verb ? 1 : 0;
        connection.Respond(200, "application/json", "{}");
      }
      return;
    }
    if (connection.ReadRequest()) {
      all_open_.count_down();
      KX_AWAIT(all_open_.try_wait());
      connection.Respond(200, "application/json", "{}");
      KX_AWAIT(idle_for_long_.try_wait());
      connection.Write(GetParam().unasked);
      connection.Shutdown();
      closed_.count_down();
    }
  }
  std::string Url() const { return server_.Url(); }

  std::atomic<int> connections_ = 0;
  std::atomic<int> writes_ = 0;
  std::latch all_open_{kConnections};
  std::latch idle_for_long_{1};
  std::latch closed_{kConnections};
  FakeServer server_{[this](FakeConnection& connection) { Serve(connection); },
                     UsualTlsIf(GetParam().tls)};
};

TEST_P(IdleConnectionTest, AWriteDoesNotUseOneThatWasClosed) {
  const auto client = ClientFor({.host = Url(), .tls = {.ca_data = UsualCaIf(GetParam().tls)}});
  {
    std::vector<std::jthread> callers;
    for (int i = 0; i < kConnections; ++i) {
      callers.emplace_back([&client] {
        const auto answer = client->Get().AbsPath("/x").Do();
        EXPECT_TRUE(answer) << answer.error().ToString();
      });
    }
  }
  idle_for_long_.count_down();
  KX_AWAIT(closed_.try_wait());
  Request write = client->Verb(GetParam().verb);
  write.AbsPath("/x");
  if (GetParam().verb != "DELETE") {
    write.Body(codec::Encoding::kJson, "{}");
  }
  const auto answer = write.Do();
  EXPECT_TRUE(answer) << answer.error().ToString();
  EXPECT_EQ(writes_, 1);
}

INSTANTIATE_TEST_SUITE_P(
    Writes, IdleConnectionTest,
    ::testing::Values(IdleCase{"Plain", "PUT", false, ""}, IdleCase{"Tls", "PUT", true, ""},
                      IdleCase{"WithoutBody", "DELETE", true, ""},
                      IdleCase{"AfterATimeout", "PATCH", false,
                               "HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\n\r\n"}),
    [](const auto& idle) { return idle.param.name; });

TEST(IdleTunnelTest, AWriteDoesNotUseOneThatWasClosed) {
  std::atomic<int> writes = 0;
  FakeServer server(
      [&writes](FakeConnection& connection) {
        while (const auto request = connection.ReadRequest()) {
          writes += request->method == "PUT" ? 1 : 0;
          connection.Respond(200, "application/json", "{}");
        }
      },
      UsualTls());
  for (const ProxyProtocol protocol :
       {ProxyProtocol::kHttp, ProxyProtocol::kHttps, ProxyProtocol::kSocks5}) {
    ForwardingProxy proxy({{"api.example:6443", server.port()}}, "", protocol);
    const auto client = ClientFor({.host = "https://api.example:6443",
                                   .tls = {.ca_data = UsualAuthority().certificate()},
                                   .proxy_url = proxy.Url()});
    const auto write = [&client] {
      const auto answer = client->Put().AbsPath("/x").Body(codec::Encoding::kJson, "{}").Do();
      return answer ? std::string("ok") : answer.error().ToString();
    };
    writes = 0;
    EXPECT_EQ(write(), "ok");
    EXPECT_EQ(write(), "ok");
    EXPECT_EQ(proxy.requests().size(), 1U) << "the tunnel was not used again";
    proxy.DropConnections();
    EXPECT_EQ(write(), "ok");
    EXPECT_EQ(writes, 3);
    EXPECT_EQ(proxy.requests().size(), 2U);
  }
}

struct LostCase {
  std::string name;
  bool tls;
  bool tunnel;
};

class LostWriteTest : public ::testing::TestWithParam<LostCase> {};

// When cpprestsdk cannot repeat a write, it puts a connection into its pool that it has not opened,
// and the request that takes it fails.
TEST_P(LostWriteTest, DoesNotFailTheNextRequests) {
  std::atomic<int> connections = 0;
  FakeServer server(testing::ClosesOnSecondRequest(connections), UsualTlsIf(GetParam().tls));
  ForwardingProxy proxy({{"api.example:6443", server.port()}});
  Config config{.host = GetParam().tunnel ? "https://api.example:6443" : server.Url()};
  config.tls.ca_data = UsualCaIf(GetParam().tls);
  config.proxy_url = GetParam().tunnel ? proxy.Url() : "";
  base::testing::FakeClock clock;
  const auto client = ClientFor(config, testing::WithoutDeadlines(clock));
  const auto write = [&client] {
    const auto answer = client->Put().AbsPath("/x").Body(codec::Encoding::kJson, "{}").Do();
    return answer ? std::string("ok") : answer.error().ToString();
  };
  std::string lost = "ok";
  while (lost == "ok" && connections < 100) {  // One that was just used may not be free again yet.
    lost = write();
  }
  EXPECT_THAT(lost, ::testing::HasSubstr("the server may have executed the request"));
  EXPECT_EQ(write(), "ok");
  EXPECT_TRUE(client->Get().AbsPath("/x").Do()) << "would wait for the clock to try again";
}

INSTANTIATE_TEST_SUITE_P(Lost, LostWriteTest,
                         ::testing::Values(LostCase{"Plain", false, false},
                                           LostCase{"Tls", true, false},
                                           LostCase{"Tunnel", true, true}),
                         [](const auto& lost) { return lost.param.name; });

/// How a server ends a connection right after it has executed a write.
enum class LostHow : std::uint8_t {
  kClosed,  ///< TLS says so first
  kReset,
  kCut,  ///< without a word of TLS
};

class WriteLostInATunnelTest : public ::testing::TestWithParam<std::tuple<std::string, LostHow>> {};

TEST_P(WriteLostInATunnelTest, IsNotSentAgain) {
  const auto& [verb, broken] = GetParam();
  base::Mutex mu;
  std::map<std::string, int> done;  // by target
  std::atomic<bool> again = false;
  FakeServer server(
      [&mu, &done, &again, how = broken](FakeConnection& connection) {
        for (int n = 1; const auto request = connection.ReadRequest(); ++n) {
          {
            const base::MutexLock lock(mu);
            again = ++done[request->target] > 1 || again;
          }
          if (n == 2) {
            if (how == LostHow::kReset) {
              connection.Reset();
            } else if (how == LostHow::kCut) {
              connection.Shutdown();
            }
            return;
          }
          connection.Respond(200, "application/json", "{}");
        }
      },
      UsualTls());
  ForwardingProxy proxy({{"api.example:6443", server.port()}});
  base::testing::FakeClock clock;  // it stands still
  const auto client = ClientFor({.host = "https://api.example:6443",
                                 .tls = {.ca_data = UsualAuthority().certificate()},
                                 .proxy_url = proxy.Url()},
                                testing::WithoutDeadlines(clock));
  std::size_t sent = 0;
  std::optional<apimachinery::Status> lost;
  while (!lost && !again && sent < 1000) {  // A tunnel is free again some time after the answer.
    Request write = client->Verb(verb);
    write.AbsPath("/x/" + std::to_string(sent++));
    if (verb != "DELETE") {
      write.Body(codec::Encoding::kJson, "{}");
    }
    if (const auto answer = write.Do(); !answer) {
      lost = answer.error();
    }
  }
  EXPECT_FALSE(again) << "write " << sent - 1 << " was sent twice";
  ASSERT_TRUE(lost) << "no tunnel was used again";
  EXPECT_EQ(lost->reason, apimachinery::Reason::kUnavailable);
  EXPECT_THAT(lost->message, ::testing::HasSubstr("the server may have executed the request"));
  const base::MutexLock lock(mu);
  EXPECT_EQ(done.size(), sent);
  EXPECT_THAT(done, ::testing::Each(::testing::Pair(::testing::_, 1)));
}

std::string NameOfLost(LostHow how) {
  return how == LostHow::kClosed ? "Closed" : how == LostHow::kReset ? "Reset" : "Cut";
}

INSTANTIATE_TEST_SUITE_P(
    Verbs, WriteLostInATunnelTest,
    ::testing::Combine(::testing::Values("POST", "PUT", "PATCH", "DELETE"),
                       ::testing::Values(LostHow::kClosed, LostHow::kReset, LostHow::kCut)),
    [](const auto& lost) { return std::get<0>(lost.param) + NameOfLost(std::get<1>(lost.param)); });

}  // namespace
}  // namespace kubexx::rest
