#include <gmock/gmock.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <latch>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "kubexx/base/testing/await.h"
#include "kubexx/base/testing/fake_clock.h"
#include "kubexx/rest/rest_client.h"
#include "kubexx/rest/testing/certificates.h"
#include "kubexx/rest/testing/client.h"
#include "kubexx/rest/testing/fake_server.h"
#include "kubexx/rest/testing/forwarding_proxy.h"

// Tests TLS through a proxy that forwards bytes, from end to end.

namespace kubexx::rest {
namespace {

using apimachinery::Reason;
using apimachinery::Result;
using testing::CertificateAuthority;
using testing::ClientFor;
using ::testing::Each;
using ::testing::ElementsAre;
using testing::FakeConnection;
using testing::FakeServer;
using testing::FakeServerTls;
using testing::ForwardingProxy;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::kConfigMaps;
using ::testing::Not;
using ::testing::SizeIs;

const CertificateAuthority& TunnelAuthority() {
  static const CertificateAuthority authority("tunnel");
  return authority;
}

FakeServerTls TunnelServerTls() {
  const auto issued = TunnelAuthority().Issue({.alternative_names = "DNS:api.example"});
  return {.certificate = issued.certificate, .key = issued.key};
}

// An API server whose name only the proxy can resolve.
void ServeApi(FakeConnection& connection) {
  while (const auto request = connection.ReadRequest()) {
    if (request->target.find("watch=true") != std::string::npos) {
      connection.RespondChunked(200, "application/json;stream=watch");
      for (int i = 0; i < 100; ++i) {
        connection.WriteChunk("event " + std::to_string(i) + "\n");
      }
      connection.EndChunks();
    } else if (request->target == "/api/v1/configmaps") {
      connection.RespondChunked(200, "application/json");
      const std::string block(100'000, 'x');
      for (int i = 0; i < 30; ++i) {
        connection.WriteChunk(block);
      }
      connection.EndChunks();
    } else {
      connection.Respond(200, "application/json",
                         request->method + " " + request->headers.at("host") + " " +
                             connection.ServerName() + " " + request->body +
                             (request->headers.contains("proxy-authorization") ? " leak" : ""));
    }
  }
}

class TunnelTest : public ::testing::TestWithParam<std::string> {
 protected:
  std::shared_ptr<RESTClient> Client(std::string proxy_url, RESTClient::Options options = {}) {
    return ClientFor({.host = "https://api.example:6443",
                      .tls = {.ca_data = TunnelAuthority().certificate()},
                      .proxy_url = std::move(proxy_url)},
                     options);
  }
  static std::string Stream(Request request) {
    std::string body;
    const auto result = request.Stream([](const auto&) -> Result<void> { return {}; },
                                       [&body](std::string_view bytes) -> Result<void> {
                                         body += bytes;
                                         return {};
                                       },
                                       {});
    return result ? body : result.error().ToString();
  }

  FakeServer server_{ServeApi, TunnelServerTls()};
  ForwardingProxy proxy_{{{"api.example:6443", server_.port()}}, GetParam()};
};

TEST_P(TunnelTest, RequestsListsAndWatchesGoThroughIt) {
  const auto client = Client(proxy_.Url());
  for (int round = 0; round < 3; ++round) {
    const auto got = client->Get().AbsPath("/version").Do();
    ASSERT_TRUE(got) << got.error().ToString();
    EXPECT_EQ(got->body, "GET api.example:6443 api.example ");
    const auto patched = client->Patch(PatchType::kMerge)
                             .Resource(kConfigMaps)
                             .Namespace("ns")
                             .Name("x")
                             .Body(codec::Encoding::kJson, "{}")
                             .Do();
    ASSERT_TRUE(patched) << patched.error().ToString();
    EXPECT_EQ(patched->body, "PATCH api.example:6443 api.example {}");
    Request list = client->Get();
    list.Resource(kConfigMaps);
    EXPECT_EQ(Stream(std::move(list)).size(), 3'000'000U);
    Request watch = client->Get();
    watch.Resource(kConfigMaps).Watch();
    const std::string events = Stream(std::move(watch));
    EXPECT_TRUE(events.starts_with("event 0\n")) << events.substr(0, 200);
    EXPECT_TRUE(events.ends_with("event 99\n"));
  }
  EXPECT_THAT(proxy_.requests(), Not(IsEmpty()));
  EXPECT_THAT(proxy_.requests(), Each("CONNECT api.example:6443"));
  EXPECT_LT(proxy_.requests().size(), 12U) << "tunnels are used again";
}

// Quiet streams have tunnels of their own, with another timeout.
TEST_P(TunnelTest, QuietStreamsGoThroughIt) {
  const auto client = Client(proxy_.Url());
  Request log = client->Get();
  log.Resource(kConfigMaps).Namespace("ns").Name("x").SubResource("log");
  EXPECT_THAT(Stream(std::move(log)), HasSubstr("GET api.example:6443"));
  const std::size_t before = proxy_.requests().size();
  const auto got = client->Get().AbsPath("/version").Do();
  EXPECT_TRUE(got) << got.error().ToString();
  EXPECT_EQ(proxy_.requests().size(), before + 1) << "the log's tunnel is not one for others";
}

TEST_P(TunnelTest, ManyAtOnceAndTheirTunnelsBreak) {
  const auto client = Client(proxy_.Url());
  std::atomic<int> answers = 0;
  {
    std::vector<std::jthread> callers;
    for (int i = 0; i < 8; ++i) {
      callers.emplace_back([&] {
        for (int n = 0; n < 20; ++n) {
          answers += client->Get().AbsPath("/version").Do() ? 1 : 0;
        }
      });
    }
  }
  EXPECT_EQ(answers, 160);
  proxy_.DropConnections();
  const auto after = client->Get().AbsPath("/version").Do();
  EXPECT_TRUE(after) << after.error().ToString();
}

TEST_P(TunnelTest, TheCertificateIsTheServersAndIsChecked) {
  const auto client = ClientFor({.host = "https://other.example:6443",
                                 .tls = {.ca_data = TunnelAuthority().certificate()},
                                 .proxy_url = proxy_.Url()});
  ForwardingProxy proxy({{"other.example:6443", server_.port()}});
  const auto wrong = ClientFor({.host = "https://other.example:6443",
                                .tls = {.ca_data = TunnelAuthority().certificate()},
                                .proxy_url = proxy.Url()})
                         ->Get()
                         .AbsPath("/version")
                         .Do();
  ASSERT_FALSE(wrong);
  EXPECT_THAT(wrong.error().message, HasSubstr("not valid for other.example"));
  // The test's proxy does not know this host.
  const auto unknown = client->Get().AbsPath("/version").Do();
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().reason, Reason::kUnavailable);
  EXPECT_THAT(unknown.error().message, HasSubstr("the proxy refused a tunnel: 502"));
}

INSTANTIATE_TEST_SUITE_P(Credentials, TunnelTest, ::testing::Values("", "me:pass"),
                         [](const auto& user) { return user.param.empty() ? "None" : "Basic"; });

class TunnelWithUserTest : public TunnelTest {};
INSTANTIATE_TEST_SUITE_P(Credentials, TunnelWithUserTest, ::testing::Values("me:pass"));

TEST_P(TunnelWithUserTest, WithoutCredentialsItSaysSo) {
  const auto refused = Client(proxy_.UrlWithoutUser())->Get().AbsPath("/version").Do();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().reason, Reason::kUnavailable);
  EXPECT_THAT(refused.error().message, HasSubstr("the proxy refused a tunnel: 407"));
}

// A proxy that does not do what the client asks.
TEST(BadProxyTest, IsNamedInTheError) {
  struct Case {
    std::string answer;
    std::string message;
  };
  for (const Case& c : {Case{"", "the proxy closed the connection"},
                        Case{"SSH-2.0-OpenSSH\r\n\r\n", "the proxy's answer is not HTTP"}}) {
    FakeServer proxy([&c](FakeConnection& connection) {
      connection.ReadRequest();
      connection.Write(c.answer);
    });
    const auto client = ClientFor({.host = "https://api.example:6443", .proxy_url = proxy.Url()});
    const auto result = client->Get().AbsPath("/version").MaxRetries(0).Do();
    ASSERT_FALSE(result);
    EXPECT_THAT(result.error().message, HasSubstr(c.message));
  }
  const auto nobody =
      ClientFor({.host = "https://api.example:6443",
                 .proxy_url = "http://127.0.0.1:" + std::to_string(testing::UnusedPort())});
  const auto result = nobody->Get().AbsPath("/version").Do();
  ASSERT_FALSE(result);
  EXPECT_THAT(result.error().message, HasSubstr("cannot connect to the proxy"));
}

TEST(BadProxyTest, ThatSaysNothingIsGivenUp) {
  base::testing::FakeClock clock;
  std::latch asked(1);
  FakeServer proxy([&asked](FakeConnection& connection) {
    connection.ReadRequest();
    asked.count_down();
    connection.AwaitPeer();
  });
  const auto client =
      ClientFor({.host = "https://api.example:6443", .proxy_url = proxy.Url()}, {.clock = clock});
  Result<Response> result;
  std::jthread caller([&] { result = client->Get().AbsPath("/version").Do(); });
  KX_AWAIT(asked.try_wait());
  clock.AdvanceToSleeper(std::chrono::seconds(30));
  caller.join();
  ASSERT_FALSE(result);
  EXPECT_THAT(result.error().message, HasSubstr("connect timeout"));
}

// A proxy from the environment, and a server with an address of this machine that is not a loopback
// address: a loopback address never has a proxy.
class EnvironmentProxyTest : public ::testing::Test {
 protected:
  ~EnvironmentProxyTest() override {
    ::unsetenv("HTTPS_PROXY");
    ::unsetenv("NO_PROXY");
  }
  std::string Ask() {
    const Config config{
        .host = "https://127.1:" + std::to_string(server_.port()),
        .tls = {.server_name = "api.example", .ca_data = TunnelAuthority().certificate()}};
    const auto answer = ClientFor(config)->Get().AbsPath("/version").Do();
    return answer ? "ok" : answer.error().ToString();
  }

  FakeServer server_{ServeApi, TunnelServerTls()};
  ForwardingProxy proxy_{{{"127.1:" + std::to_string(server_.port()), server_.port()}}};
};

TEST_F(EnvironmentProxyTest, IsUsedUnlessNoProxyNamesTheServer) {
  ::setenv("HTTPS_PROXY", proxy_.Url().c_str(), 1);
  EXPECT_EQ(Ask(), "ok");
  EXPECT_THAT(proxy_.requests(), ElementsAre("CONNECT 127.1:" + std::to_string(server_.port())));
  ::setenv("NO_PROXY", "other.example,127.1", 1);
  EXPECT_EQ(Ask(), "ok");
  EXPECT_THAT(proxy_.requests(), SizeIs(1)) << "the second request went straight";
}

}  // namespace
}  // namespace kubexx::rest
